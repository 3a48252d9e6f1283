// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface Token {
    function decimals() external view returns (uint256);
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
}

/// Contracts for tests: they emit the events of Camelot V2 in the published order and follow the published formulas.
contract Factory {
    address public immutable feeTo;
    uint256 public ownerFeeShare = 50000;
    address[] public allPairs;
    mapping(address => uint256) public referrersFeeShare;
    mapping(address => mapping(address => address)) public getPair;

    event PairCreated(address indexed token0, address indexed token1, address pair, uint256 count);

    constructor(address feeTo_) {
        feeTo = feeTo_;
    }

    function allPairsLength() external view returns (uint256) {
        return allPairs.length;
    }

    function createPair(address a, address b) external {
        (address token0, address token1) = a < b ? (a, b) : (b, a);
        require(token0 != token1 && getPair[token0][token1] == address(0));
        address pair = address(new Pair(Token(token0), Token(token1)));
        getPair[token0][token1] = pair;
        getPair[token1][token0] = pair;
        allPairs.push(pair);
        emit PairCreated(token0, token1, pair, allPairs.length);
    }

    function setOwnerFeeShare(uint256 share) external {
        ownerFeeShare = share;
    }

    function setReferrerFeeShare(address referrer, uint256 share) external {
        referrersFeeShare[referrer] = share;
    }
}

contract Pair {
    Factory public immutable factory;
    Token public immutable token0;
    Token public immutable token1;
    uint256 public immutable precisionMultiplier0;
    uint256 public immutable precisionMultiplier1;

    uint112 private reserve0;
    uint112 private reserve1;
    uint16 public token0FeePercent = 300;
    uint16 public token1FeePercent = 300;
    bool public stableSwap;
    uint256 private kLast;

    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 amount);
    event FeePercentUpdated(uint16 token0FeePercent, uint16 token1FeePercent);
    event SetStableSwap(bool prevStableSwap, bool stableSwap);
    event Mint(address indexed sender, uint256 amount0, uint256 amount1);
    event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to);
    event Swap(address indexed sender, uint256 in0, uint256 in1, uint256 out0, uint256 out1, address indexed to);
    event Sync(uint112 reserve0, uint112 reserve1);

    constructor(Token a, Token b) {
        (factory, token0, token1) = (Factory(msg.sender), a, b);
        (precisionMultiplier0, precisionMultiplier1) = (10 ** a.decimals(), 10 ** b.decimals());
    }

    function getReserves() public view returns (uint112, uint112, uint16, uint16) {
        return (reserve0, reserve1, token0FeePercent, token1FeePercent);
    }

    function setFeePercent(uint16 fee0, uint16 fee1) external {
        require(fee0 > 0 && fee0 <= 2000 && fee1 > 0 && fee1 <= 2000);
        (token0FeePercent, token1FeePercent) = (fee0, fee1);
        emit FeePercentUpdated(fee0, fee1);
    }

    function setStableSwap(bool stable) external {
        require(stable != stableSwap);
        bool isOn = payOwner();
        emit SetStableSwap(stableSwap, stable);
        stableSwap = stable;
        kLast = stable && isOn ? curve(reserve0, reserve1) : 0;
    }

    function transfer(address to, uint256 amount) external {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        emit Transfer(msg.sender, to, amount);
    }

    function give(address to, uint256 amount) private {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    /// The owner's share of the growth of a volatile pool, as new shares of the pool.
    function payOwner() private returns (bool isOn) {
        if (stableSwap) return false;
        isOn = factory.feeTo() != address(0);
        if (!isOn) kLast = 0;
        if (!isOn || kLast == 0) return isOn;
        (uint256 now_, uint256 last) = (root(curve(reserve0, reserve1)), root(kLast));
        if (now_ <= last) return isOn;
        uint256 d = 10000000 / factory.ownerFeeShare() - 100;
        uint256 shares = (totalSupply * (now_ - last) * 100) / (now_ * d + last * 100);
        if (shares > 0) give(factory.feeTo(), shares);
    }

    function update() private {
        (uint256 balance0, uint256 balance1) = held();
        require(balance0 <= type(uint112).max && balance1 <= type(uint112).max, "OVERFLOW");
        (reserve0, reserve1) = (uint112(balance0), uint112(balance1));
        emit Sync(reserve0, reserve1);
    }

    function held() private view returns (uint256, uint256) {
        return (token0.balanceOf(address(this)), token1.balanceOf(address(this)));
    }

    function mint(address to) external {
        (uint256 balance0, uint256 balance1) = held();
        (uint256 amount0, uint256 amount1) = (balance0 - reserve0, balance1 - reserve1);
        bool isOn = payOwner();
        uint256 shares;
        if (totalSupply == 0) {
            shares = root(amount0 * amount1) - 1000;
            give(address(0), 1000);
        } else {
            (uint256 by0, uint256 by1) = ((amount0 * totalSupply) / reserve0, (amount1 * totalSupply) / reserve1);
            shares = by0 < by1 ? by0 : by1;
        }
        require(shares > 0);
        give(to, shares);
        update();
        if (isOn) kLast = curve(reserve0, reserve1);
        emit Mint(msg.sender, amount0, amount1);
    }

    function burn(address to) external {
        (uint256 balance0, uint256 balance1) = held();
        uint256 shares = balanceOf[address(this)];
        bool isOn = payOwner();
        (uint256 amount0, uint256 amount1) = ((shares * balance0) / totalSupply, (shares * balance1) / totalSupply);
        require(amount0 > 0 && amount1 > 0);
        totalSupply -= shares;
        balanceOf[address(this)] = 0;
        emit Transfer(address(this), address(0), shares);
        token0.transfer(to, amount0);
        token1.transfer(to, amount1);
        update();
        if (isOn) kLast = curve(reserve0, reserve1);
        emit Burn(msg.sender, amount0, amount1, to);
    }

    function swap(uint256 out0, uint256 out1, address to, bytes calldata, address referrer) external {
        require(out0 + out1 > 0 && out0 < reserve0 && out1 < reserve1, "OUT");
        if (out0 > 0) token0.transfer(to, out0);
        if (out1 > 0) token1.transfer(to, out1);
        (uint256 in0, uint256 in1) = received(out0, out1);
        settle(in0, in1, referrer);
        emit Swap(msg.sender, in0, in1, out0, out1, to);
    }

    function received(uint256 out0, uint256 out1) private view returns (uint256, uint256) {
        (uint256 balance0, uint256 balance1) = held();
        (uint256 kept0, uint256 kept1) = (reserve0 - out0, reserve1 - out1);
        return (balance0 > kept0 ? balance0 - kept0 : 0, balance1 > kept1 ? balance1 - kept1 : 0);
    }

    function settle(uint256 in0, uint256 in1, address referrer) private {
        uint256 left0 = payFees(token0, in0, token0FeePercent, referrer);
        uint256 left1 = payFees(token1, in1, token1FeePercent, referrer);
        (uint256 balance0, uint256 balance1) = held();
        require(curve(balance0 - left0, balance1 - left1) >= curve(reserve0, reserve1), "K");
        update();
    }

    /// Pays out the parts of the fee that leave the pool. The rest stays.
    function payFees(Token token, uint256 amountIn, uint256 fee, address referrer) private returns (uint256 left) {
        left = (amountIn * fee) / 100000;
        if (amountIn == 0) return left;
        uint256 share = referrer == address(0) ? 0 : factory.referrersFeeShare(referrer);
        uint256 part = (amountIn * share * fee) / 100000 ** 2;
        if (share > 0) token.transfer(referrer, part);
        left -= part;
        if (!stableSwap || factory.feeTo() == address(0)) return left;
        part = (amountIn * (100000 - share) * factory.ownerFeeShare() * fee) / 100000 ** 3;
        token.transfer(factory.feeTo(), part);
        left -= part;
    }

    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256) {
        bool is0 = tokenIn == address(token0);
        uint256 fee = is0 ? token0FeePercent : token1FeePercent;
        (uint256 reserveIn, uint256 reserveOut) = is0 ? (reserve0, reserve1) : (reserve1, reserve0);
        if (!stableSwap) {
            uint256 paid = amountIn * (100000 - fee);
            return (paid * reserveOut) / (reserveIn * 100000 + paid);
        }
        amountIn -= (amountIn * fee) / 100000;
        (uint256 unitIn, uint256 unitOut) = is0
            ? (precisionMultiplier0, precisionMultiplier1)
            : (precisionMultiplier1, precisionMultiplier0);
        (uint256 x, uint256 y) = ((reserveIn * 1e18) / unitIn, (reserveOut * 1e18) / unitOut);
        return (scaledOut((amountIn * 1e18) / unitIn, x, y) * unitOut) / 1e18;
    }

    /// The curve alone, without fee and without the rounding to the decimals of a token.
    function scaledOut(uint256 amountIn, uint256 x, uint256 y) public view returns (uint256) {
        return stableSwap ? y - solve(amountIn + x, scaledCurve(x, y), y) : (amountIn * y) / (x + amountIn);
    }

    function curve(uint256 raw0, uint256 raw1) private view returns (uint256) {
        if (!stableSwap) return raw0 * raw1;
        return scaledCurve((raw0 * 1e18) / precisionMultiplier0, (raw1 * 1e18) / precisionMultiplier1);
    }

    function scaledCurve(uint256 x, uint256 y) private pure returns (uint256) {
        return (((x * y) / 1e18) * ((x * x) / 1e18 + (y * y) / 1e18)) / 1e18;
    }

    function cube(uint256 value) private pure returns (uint256) {
        return (((value * value) / 1e18) * value) / 1e18;
    }

    function solve(uint256 x, uint256 target, uint256 y) private pure returns (uint256) {
        for (uint256 i = 0; i < 255; i++) {
            uint256 k = (x * cube(y)) / 1e18 + (cube(x) * y) / 1e18;
            uint256 slope = (3 * x * ((y * y) / 1e18)) / 1e18 + cube(x);
            uint256 step = ((k < target ? target - k : k - target) * 1e18) / slope;
            y = k < target ? y + step : y - step;
            if (step <= 1) return y;
        }
        return y;
    }

    function root(uint256 value) private pure returns (uint256 result) {
        result = value;
        for (uint256 next = value / 2 + 1; next < result; next = (value / result + result) / 2) result = next;
    }
}

/// Trades and provides liquidity with its own tokens, each in one transaction.
contract Trader {
    /// The rounding of a stable pool can make its own quote one unit too high.
    function swap(Pair pair, bool zeroForOne, uint256 amountIn, address referrer) external {
        Token token = zeroForOne ? pair.token0() : pair.token1();
        uint256 out = pair.getAmountOut(amountIn, address(token));
        token.transfer(address(pair), amountIn);
        try pair.swap(zeroForOne ? 0 : out, zeroForOne ? out : 0, address(this), "", referrer) {}
        catch {
            out -= 1;
            pair.swap(zeroForOne ? 0 : out, zeroForOne ? out : 0, address(this), "", referrer);
        }
    }

    function mint(Pair pair, uint256 amount0, uint256 amount1) external {
        pair.token0().transfer(address(pair), amount0);
        pair.token1().transfer(address(pair), amount1);
        pair.mint(address(this));
    }

    function burn(Pair pair, uint256 share, uint256 shares) external {
        pair.transfer(address(pair), (pair.balanceOf(address(this)) * share) / shares);
        pair.burn(address(this));
    }
}
