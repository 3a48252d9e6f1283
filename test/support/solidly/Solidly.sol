// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Contracts for tests: they emit the events of Solidly pools in the published order and follow the published formulas.
/// `second` selects the event layouts: false for Solidly and Velodrome V1, true for Velodrome V2 and Aerodrome.
interface Token {
    function decimals() external view returns (uint256);
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
}

contract Factory {
    bool public immutable second;
    uint256 public stableFee = 5;
    uint256 public volatileFee = 30;
    address[] public allPools;
    mapping(address => uint256) public customFee;
    mapping(address => mapping(address => mapping(bool => address))) private poolOf;

    event PairCreated(address indexed token0, address indexed token1, bool stable, address pair, uint256 count);
    event PoolCreated(address indexed token0, address indexed token1, bool indexed stable, address pool, uint256 count);
    event SetCustomFee(address indexed pool, uint256 fee);

    constructor(bool second_) {
        second = second_;
    }

    function allPoolsLength() external view returns (uint256) {
        return allPools.length;
    }

    function allPairs(uint256 index) external view returns (address) {
        return allPools[index];
    }

    function allPairsLength() external view returns (uint256) {
        return allPools.length;
    }

    /// Only the functions of the own generation answer, as in the published factories.
    function getPool(address a, address b, bool stable) external view returns (address) {
        require(second);
        return poolOf[a][b][stable];
    }

    function getPair(address a, address b, bool stable) external view returns (address) {
        require(!second);
        return poolOf[a][b][stable];
    }

    function getFee(bool stable) public view returns (uint256) {
        require(!second);
        return stable ? stableFee : volatileFee;
    }

    function getFee(address pool, bool stable) public view returns (uint256) {
        require(second);
        uint256 fee = customFee[pool];
        if (fee == 420) return 0;
        return fee != 0 ? fee : stable ? stableFee : volatileFee;
    }

    function setFee(bool stable, uint256 fee) external {
        if (stable) stableFee = fee;
        else volatileFee = fee;
    }

    function setCustomFee(address pool, uint256 fee) external {
        customFee[pool] = fee;
        emit SetCustomFee(pool, fee);
    }

    function createPool(address a, address b, bool stable) external returns (address pool) {
        (address token0, address token1) = a < b ? (a, b) : (b, a);
        require(token0 != token1 && poolOf[token0][token1][stable] == address(0));
        pool = address(new Pool(Token(token0), Token(token1), stable, second));
        poolOf[token0][token1][stable] = pool;
        poolOf[token1][token0][stable] = pool;
        allPools.push(pool);
        if (second) emit PoolCreated(token0, token1, stable, pool, allPools.length);
        else emit PairCreated(token0, token1, stable, pool, allPools.length);
    }
}

contract Pool {
    Factory public immutable factory;
    Token public immutable token0;
    Token public immutable token1;
    bool public immutable stable;
    bool private immutable second;
    uint256 private immutable unit0;
    uint256 private immutable unit1;
    /// Holds the fees, which are no part of the reserves.
    address public immutable fees;

    uint8 public constant decimals = 18;
    uint256 public reserve0;
    uint256 public reserve1;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 amount);
    event Fees(address indexed sender, uint256 amount0, uint256 amount1);
    event Mint(address indexed sender, uint256 amount0, uint256 amount1);
    event Sync(uint256 reserve0, uint256 reserve1);
    event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to);
    event Burn(address indexed sender, address indexed to, uint256 amount0, uint256 amount1);
    event Swap(address indexed sender, uint256 in0, uint256 in1, uint256 out0, uint256 out1, address indexed to);
    event Swap(address indexed sender, address indexed to, uint256 in0, uint256 in1, uint256 out0, uint256 out1);

    constructor(Token a, Token b, bool stable_, bool second_) {
        (factory, token0, token1, stable, second) = (Factory(msg.sender), a, b, stable_, second_);
        (unit0, unit1) = (10 ** a.decimals(), 10 ** b.decimals());
        fees = address(uint160(uint256(keccak256(abi.encode(address(this))))));
    }

    function metadata() external view returns (uint256, uint256, uint256, uint256, bool, address, address) {
        return (unit0, unit1, reserve0, reserve1, stable, address(token0), address(token1));
    }

    function getReserves() external view returns (uint256, uint256, uint256) {
        return (reserve0, reserve1, block.timestamp);
    }

    function fee() public view returns (uint256) {
        return second ? factory.getFee(address(this), stable) : factory.getFee(stable);
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        emit Transfer(msg.sender, to, amount);
        return true;
    }

    function give(address to, uint256 amount) private {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function held() private view returns (uint256, uint256) {
        return (token0.balanceOf(address(this)), token1.balanceOf(address(this)));
    }

    function sync() public {
        (reserve0, reserve1) = held();
        emit Sync(reserve0, reserve1);
    }

    function mint(address to) external returns (uint256 liquidity) {
        (uint256 balance0, uint256 balance1) = held();
        (uint256 amount0, uint256 amount1) = (balance0 - reserve0, balance1 - reserve1);
        if (totalSupply == 0) {
            liquidity = root(amount0 * amount1) - 1000;
            give(second ? address(1) : address(0), 1000);
        } else {
            uint256 by0 = (amount0 * totalSupply) / reserve0;
            uint256 by1 = (amount1 * totalSupply) / reserve1;
            liquidity = by0 < by1 ? by0 : by1;
        }
        require(liquidity > 0);
        give(to, liquidity);
        sync();
        emit Mint(msg.sender, amount0, amount1);
    }

    function burn(address to) external {
        (uint256 balance0, uint256 balance1) = held();
        uint256 liquidity = balanceOf[address(this)];
        (uint256 amount0, uint256 amount1) = ((liquidity * balance0) / totalSupply, (liquidity * balance1) / totalSupply);
        totalSupply -= liquidity;
        balanceOf[address(this)] = 0;
        emit Transfer(address(this), address(0), liquidity);
        token0.transfer(to, amount0);
        token1.transfer(to, amount1);
        sync();
        if (second) emit Burn(msg.sender, to, amount0, amount1);
        else emit Burn(msg.sender, amount0, amount1, to);
    }

    function swap(uint256 out0, uint256 out1, address to) external {
        (uint256 before0, uint256 before1) = (reserve0, reserve1);
        if (out0 > 0) token0.transfer(to, out0);
        if (out1 > 0) token1.transfer(to, out1);
        (uint256 balance0, uint256 balance1) = held();
        uint256 in0 = balance0 > before0 - out0 ? balance0 - (before0 - out0) : 0;
        uint256 in1 = balance1 > before1 - out1 ? balance1 - (before1 - out1) : 0;
        if (in0 > 0) payFee(token0, (in0 * fee()) / 10000);
        if (in1 > 0) payFee(token1, (in1 * fee()) / 10000);
        (balance0, balance1) = held();
        require(product(balance0, balance1) >= product(before0, before1), "K");
        sync();
        if (second) emit Swap(msg.sender, to, in0, in1, out0, out1);
        else emit Swap(msg.sender, in0, in1, out0, out1, to);
    }

    /// The second generation emits no Fees for a fee of zero.
    function payFee(Token token, uint256 amount) private {
        if (second && amount == 0) return;
        token.transfer(fees, amount);
        emit Fees(msg.sender, token == token0 ? amount : 0, token == token1 ? amount : 0);
    }

    function product(uint256 raw0, uint256 raw1) private view returns (uint256) {
        return stable ? curve((raw0 * 1e18) / unit0, (raw1 * 1e18) / unit1) : raw0 * raw1;
    }

    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256) {
        amountIn -= (amountIn * fee()) / 10000;
        bool is0 = tokenIn == address(token0);
        (uint256 reserveIn, uint256 reserveOut) = is0 ? (reserve0, reserve1) : (reserve1, reserve0);
        if (!stable) return scaledOut(amountIn, reserveIn, reserveOut);
        (uint256 unitIn, uint256 unitOut) = is0 ? (unit0, unit1) : (unit1, unit0);
        (uint256 x, uint256 y) = ((reserveIn * 1e18) / unitIn, (reserveOut * 1e18) / unitOut);
        uint256 target = curve(x, y);
        return ((y - solve(x + (amountIn * 1e18) / unitIn, target, y)) * unitOut) / 1e18;
    }

    /// The curve alone, without fee and without the rounding to the decimals of a token.
    function scaledOut(uint256 amountIn, uint256 x, uint256 y) public view returns (uint256) {
        return stable ? y - solve(x + amountIn, curve(x, y), y) : (amountIn * y) / (x + amountIn);
    }

    function curve(uint256 x, uint256 y) private pure returns (uint256) {
        return (((x * y) / 1e18) * ((x * x) / 1e18 + (y * y) / 1e18)) / 1e18;
    }

    /// The y that fulfils the curve for x, found by Newton's method and rounded up.
    function solve(uint256 x, uint256 target, uint256 y) private view returns (uint256) {
        for (uint256 i = 0; i < 255; i++) {
            uint256 k = curve(x, y);
            uint256 slope = (3 * x * ((y * y) / 1e18)) / 1e18 + (((x * x) / 1e18) * x) / 1e18;
            uint256 step = ((k < target ? target - k : k - target) * 1e18) / slope;
            if (step == 0) {
                if (k == target) return y;
                if (k < target && product(x, y + 1) > target) return y + 1;
                if (k > target && curve(x, y - 1) < target) return y;
                step = 1;
            }
            y = k < target ? y + step : y - step;
        }
        revert("y");
    }

    function root(uint256 value) private pure returns (uint256 result) {
        result = value;
        for (uint256 next = value / 2 + 1; next < result; next = (value / result + result) / 2) result = next;
    }
}

/// Trades and provides liquidity with its own tokens, each in one transaction.
contract Trader {
    function create(Factory factory, Token a, Token b, bool stable) external {
        factory.createPool(address(a), address(b), stable);
    }

    function swap(Pool pool, bool zeroForOne, uint256 amountIn) external {
        Token token = zeroForOne ? pool.token0() : pool.token1();
        uint256 out = pool.getAmountOut(amountIn, address(token));
        token.transfer(address(pool), amountIn);
        pool.swap(zeroForOne ? 0 : out, zeroForOne ? out : 0, address(this));
    }

    function mint(Pool pool, uint256 amount0, uint256 amount1) external {
        pool.token0().transfer(address(pool), amount0);
        pool.token1().transfer(address(pool), amount1);
        pool.mint(address(this));
    }

    function burn(Pool pool, uint256 share, uint256 shares) external {
        pool.transfer(address(pool), (pool.balanceOf(address(this)) * share) / shares);
        pool.burn(address(this));
    }

    function mintRange(RangePool pool, int24 lower, int24 upper, uint128 liquidity) external {
        pool.mint(address(this), lower, upper, liquidity, "");
    }

    function burnRange(RangePool pool, int24 lower, int24 upper, uint128 liquidity) external {
        pool.burn(lower, upper, liquidity);
        pool.collect(address(this), lower, upper, type(uint128).max, type(uint128).max);
    }

    function swapRange(RangePool pool, bool zeroForOne, int256 amount, uint160 limit) external {
        pool.swap(address(this), zeroForOne, amount, limit, "");
    }

    function swapPair(Pair pair, bool zeroForOne, uint256 amountIn, uint256 out) external {
        (zeroForOne ? pair.token0() : pair.token1()).transfer(address(pair), amountIn);
        pair.swap(zeroForOne ? 0 : out, zeroForOne ? out : 0, address(this), "");
    }

    /// Calls another contract, such as a position manager.
    function call(address to, bytes calldata data) external {
        (bool isDone,) = to.call(data);
        require(isDone);
    }

    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata) external {
        pay(int256(amount0), int256(amount1));
    }

    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata) external {
        pay(amount0, amount1);
    }

    function pancakeV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata) external {
        pay(int256(amount0), int256(amount1));
    }

    function pancakeV3SwapCallback(int256 amount0, int256 amount1, bytes calldata) external {
        pay(amount0, amount1);
    }

    function pay(int256 amount0, int256 amount1) private {
        if (amount0 > 0) Pool(msg.sender).token0().transfer(msg.sender, uint256(amount0));
        if (amount1 > 0) Pool(msg.sender).token1().transfer(msg.sender, uint256(amount1));
    }
}

/// A pair of Uniswap V2.
interface Pair {
    function token0() external view returns (Token);
    function token1() external view returns (Token);
    function swap(uint256, uint256, address, bytes calldata) external;
}

interface RangePool {
    function initialize(uint160 sqrtPriceX96) external;
    function mint(address, int24, int24, uint128, bytes calldata) external returns (uint256, uint256);
    function burn(int24, int24, uint128) external returns (uint256, uint256);
    function collect(address, int24, int24, uint128, uint128) external returns (uint128, uint128);
    function swap(address, bool, int256, uint160, bytes calldata) external returns (int256, int256);
}

/// Creates Uniswap V3's pools as the factory of Slipstream does: by tick spacing, and with a price before PoolCreated.
/// The position manager of Uniswap V3 computes the address of a pool from its salt.
contract RangeFactory {
    struct Parameters {
        address factory;
        address token0;
        address token1;
        uint24 fee;
        int24 tickSpacing;
    }

    /// What the pool's constructor asks for.
    Parameters public parameters;
    mapping(address => mapping(address => mapping(int24 => address))) public getPool;

    event PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool);

    function createPool(bytes memory code, address a, address b, int24 spacing, uint24 fee, uint160 price) external {
        (address token0, address token1) = a < b ? (a, b) : (b, a);
        parameters = Parameters(address(this), token0, token1, fee, spacing);
        address pool;
        bytes32 salt = keccak256(abi.encode(token0, token1, fee));
        assembly {
            pool := create2(0, add(code, 32), mload(code), salt)
        }
        require(pool != address(0));
        RangePool(pool).initialize(price);
        getPool[token0][token1][spacing] = pool;
        getPool[token1][token0][spacing] = pool;
        emit PoolCreated(token0, token1, spacing, pool);
    }
}
