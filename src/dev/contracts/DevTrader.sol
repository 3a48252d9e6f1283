// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface Erc20 {
    function transfer(address to, uint256 value) external returns (bool);
    function balanceOf(address account) external view returns (uint256);
    function totalSupply() external view returns (uint256);
}

interface V2Factory {
    function createPair(address a, address b) external returns (address);
}

interface V2Pair is Erc20 {
    function getReserves() external view returns (uint112, uint112, uint32);
    function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external;
    function mint(address to) external returns (uint256);
    function burn(address to) external returns (uint256, uint256);
    function sync() external;
}

interface V3Factory {
    function createPool(address a, address b, uint24 fee) external returns (address);
}

interface V3Pool {
    function initialize(uint160 sqrtPriceX96) external;
    function tickSpacing() external view returns (int24);
    function liquidity() external view returns (uint128);
    function slot0() external view returns (uint160, int24, uint16, uint16, uint16, uint8, bool);
    function swap(address to, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data) external returns (int256, int256);
    function mint(address to, int24 lower, int24 upper, uint128 amount, bytes calldata data) external returns (uint256, uint256);
    function burn(int24 lower, int24 upper, uint128 amount) external returns (uint256, uint256);
    function collect(address to, int24 lower, int24 upper, uint128 max0, uint128 max1) external returns (uint128, uint128);
}

/// Trades on many pools in one transaction. It owns the inventory and most of the liquidity; what to do comes packed,
/// one operation a word (see src/dev/operations.ts). An operation that cannot be done is left out, so that no
/// transaction reverts. Development only: its callbacks trust their caller.
contract DevTrader {
    struct PoolRecord {
        address pool;
        bool concentrated;
        /// V2: basis points. V3: pips.
        uint24 fee;
        int24 spacing;
        address token0;
        address token1;
        /// sqrt(reserve0 * reserve1), or L: the size that mints and burns keep the pool near.
        uint256 base;
    }

    struct Position {
        int24 lower;
        int24 upper;
        uint128 liquidity;
    }

    uint256 private constant SWAP_TOWARD = 1;
    uint256 private constant SWAP = 2;
    uint256 private constant MINT = 3;
    uint256 private constant BURN = 4;
    uint256 private constant SEND = 5;
    uint256 private constant DONATE = 6;
    uint256 private constant PPM = 1_000_000;
    int24 private constant MAX_TICK = 887_272;

    PoolRecord[] private pools;
    mapping(uint256 => Position[]) private positions;

    function listPools() external view returns (PoolRecord[] memory) {
        return pools;
    }

    /// Makes a pair with these reserves and takes it into the list.
    function openV2(address factory, uint24 feeBps, address a, address b, uint256 amountA, uint256 amountB) external {
        V2Pair pair = V2Pair(V2Factory(factory).createPair(a, b));
        Erc20(a).transfer(address(pair), amountA);
        Erc20(b).transfer(address(pair), amountB);
        pair.mint(address(this));
        (uint112 reserve0, uint112 reserve1,) = pair.getReserves();
        (address token0, address token1) = a < b ? (a, b) : (b, a);
        uint256 base = squareRoot(uint256(reserve0) * reserve1);
        pools.push(PoolRecord(address(pair), false, feeBps, 0, token0, token1, base));
    }

    /// Makes a pool at this price with `liquidity` over the whole range and four times that near the price.
    function openV3(address factory, uint24 fee, address a, address b, uint160 sqrtPriceX96, uint128 liquidity) external {
        (address token0, address token1) = a < b ? (a, b) : (b, a);
        V3Pool pool = V3Pool(V3Factory(factory).createPool(a, b, fee));
        pool.initialize(sqrtPriceX96);
        int24 spacing = pool.tickSpacing();
        pools.push(PoolRecord(address(pool), true, fee, spacing, token0, token1, uint256(liquidity) * 5));
        PoolRecord storage record = pools[pools.length - 1];
        int24 end = (MAX_TICK / spacing) * spacing;
        mintRange(record, -end, end, liquidity);
        (, int24 tick,,,,,) = pool.slot0();
        int24 middle = (tick / spacing) * spacing;
        int24 width = (6_000 / spacing) * spacing;
        mintRange(record, middle - width, middle + width, liquidity * 4);
    }

    /// Sends from the inventory.
    function give(address token, address to, uint256 amount) external {
        Erc20(token).transfer(to, amount);
    }

    /// action(8) | pool(16) | size in ppm(24) | flags(8) | unused(40) | target(160); bit 0 of the flags: token0 goes
    /// in (or is sent), bit 1: the proceeds go to the sender, bits 2-7: width of a V3 range.
    function run(uint256[] calldata operations) external {
        for (uint256 i = 0; i < operations.length; i++) {
            uint256 word = operations[i];
            uint256 index = uint16(word >> 232);
            PoolRecord storage record = pools[index];
            uint256 action = word >> 248;
            uint256 size = uint24(word >> 208);
            uint8 flags = uint8(word >> 200);
            uint160 target = uint160(word);
            if (action == SEND) send(flags & 1 == 1 ? record.token0 : record.token1, target, size);
            else if (action == MINT || action == BURN) changeLiquidity(record, index, action == MINT, size, flags, target);
            else if (action == DONATE) donate(record, size);
            else if (record.concentrated) swapV3(record, size, flags, action == SWAP_TOWARD ? target : 0);
            else swapV2(record, size, flags, action == SWAP_TOWARD ? target : 0);
        }
    }

    function swapV2(PoolRecord storage record, uint256 size, uint8 flags, uint160 target) private {
        (uint256 reserve0, uint256 reserve1,) = V2Pair(record.pool).getReserves();
        bool zeroForOne = flags & 1 == 1;
        uint256 amount = type(uint256).max;
        if (target > 0) {
            uint256 price = squareRoot((reserve1 << 128) / reserve0) << 32;
            if (price == 0) return;
            uint256 gap = price > target ? price - target : target - price;
            if (gap * 5_000 > target) {
                zeroForOne = price > target;
                amount = zeroForOne ? (reserve0 * gap) / target : (reserve1 * gap) / price;
            }
        }
        uint256 most = ((zeroForOne ? reserve0 : reserve1) * size) / PPM + 1;
        payV2(record, zeroForOne, amount > most ? most : amount, flags & 2 == 0 ? address(this) : msg.sender);
    }

    function payV2(PoolRecord storage record, bool zeroForOne, uint256 amount, address to) private {
        V2Pair pair = V2Pair(record.pool);
        Erc20 tokenIn = Erc20(zeroForOne ? record.token0 : record.token1);
        (uint256 reserveIn, uint256 reserveOut,) = pair.getReserves();
        if (!zeroForOne) (reserveIn, reserveOut) = (reserveOut, reserveIn);
        if (amount == 0 || proceeds(amount, reserveIn, reserveOut, record.fee) == 0) return;
        if (tokenIn.balanceOf(address(this)) < amount) return;
        tokenIn.transfer(address(pair), amount);
        // A taxed token delivers less than was sent.
        uint256 out = proceeds(tokenIn.balanceOf(address(pair)) - reserveIn, reserveIn, reserveOut, record.fee);
        if (out == 0) pair.sync();
        else pair.swap(zeroForOne ? 0 : out, zeroForOne ? out : 0, to, "");
    }

    function proceeds(uint256 amountIn, uint256 reserveIn, uint256 reserveOut, uint256 feeBps) private pure returns (uint256) {
        uint256 kept = amountIn * (10_000 - feeBps);
        return (kept * reserveOut) / (reserveIn * 10_000 + kept);
    }

    function swapV3(PoolRecord storage record, uint256 size, uint8 flags, uint160 target) private {
        V3Pool pool = V3Pool(record.pool);
        (uint160 price,,,,,,) = pool.slot0();
        uint256 depth = pool.liquidity();
        if (depth == 0) return;
        bool zeroForOne = flags & 1 == 1;
        uint160 limit = 0;
        if (target > 0) {
            uint256 gap = price > target ? price - target : target - price;
            if (gap * 5_000 > target) (zeroForOne, limit) = (price > target, target);
        }
        if (limit == 0) limit = zeroForOne ? 4_295_128_740 : 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341;
        uint256 virtualReserve = zeroForOne ? (depth << 96) / price : (depth * (price >> 32)) >> 64;
        callSwapV3(record, zeroForOne, (virtualReserve * size) / PPM + 1, limit, flags);
    }

    function callSwapV3(PoolRecord storage record, bool zeroForOne, uint256 amount, uint160 limit, uint8 flags) private {
        (address token0, address token1) = (record.token0, record.token1);
        if (Erc20(zeroForOne ? token0 : token1).balanceOf(address(this)) < amount) return;
        address to = flags & 2 == 0 ? address(this) : msg.sender;
        V3Pool(record.pool).swap(to, zeroForOne, int256(amount), limit, abi.encode(token0, token1));
    }

    /// Adds or removes; the other way round when the pool has left the neighbourhood of its base.
    function changeLiquidity(PoolRecord storage record, uint256 index, bool adds, uint256 size, uint8 flags, uint160 pick) private {
        if (record.concentrated) {
            uint256 count = positions[index].length;
            if (count < 12 && (adds || count < 3)) mintV3(record, index, size, flags);
            else burnV3(record, index, uint256(pick) % count);
            return;
        }
        (uint112 reserve0, uint112 reserve1,) = V2Pair(record.pool).getReserves();
        uint256 root = squareRoot(uint256(reserve0) * reserve1);
        if (root * 13 < record.base * 10 || (adds && root * 10 < record.base * 13)) {
            mintV2(record, (reserve0 * size) / PPM, (reserve1 * size) / PPM, flags);
        } else {
            burnV2(record, size, reserve0, reserve1);
        }
    }

    function mintV2(PoolRecord storage record, uint256 amount0, uint256 amount1, uint8 flags) private {
        if (amount0 == 0 || amount1 == 0) return;
        if (Erc20(record.token0).balanceOf(address(this)) < amount0) return;
        if (Erc20(record.token1).balanceOf(address(this)) < amount1) return;
        Erc20(record.token0).transfer(record.pool, amount0);
        Erc20(record.token1).transfer(record.pool, amount1);
        V2Pair(record.pool).mint(flags & 2 == 0 ? address(this) : msg.sender);
    }

    function burnV2(PoolRecord storage record, uint256 size, uint256 reserve0, uint256 reserve1) private {
        V2Pair pair = V2Pair(record.pool);
        uint256 supply = pair.totalSupply();
        uint256 shares = (pair.balanceOf(address(this)) * size) / PPM;
        if ((shares * reserve0) / supply == 0 || (shares * reserve1) / supply == 0) return;
        pair.transfer(address(pair), shares);
        pair.burn(address(this));
    }

    function mintV3(PoolRecord storage record, uint256 index, uint256 size, uint8 flags) private {
        (, int24 tick,,,,,) = V3Pool(record.pool).slot0();
        int24 spacing = record.spacing;
        int24 middle = (tick / spacing) * spacing;
        int24 width = spacing * int24(uint24(1 + (flags >> 2)));
        uint128 liquidity = uint128((record.base * size) / PPM);
        if (liquidity == 0) return;
        mintRange(record, middle - width, middle + width, liquidity);
        positions[index].push(Position(middle - width, middle + width, liquidity));
    }

    function mintRange(PoolRecord storage record, int24 lower, int24 upper, uint128 liquidity) private {
        V3Pool(record.pool).mint(address(this), lower, upper, liquidity, abi.encode(record.token0, record.token1));
    }

    /// Burns the chosen position and collects what it earned; its place is taken by the last.
    function burnV3(PoolRecord storage record, uint256 index, uint256 chosen) private {
        Position[] storage list = positions[index];
        Position memory position = list[chosen];
        list[chosen] = list[list.length - 1];
        list.pop();
        V3Pool pool = V3Pool(record.pool);
        pool.burn(position.lower, position.upper, position.liquidity);
        pool.collect(address(this), position.lower, position.upper, type(uint128).max, type(uint128).max);
    }

    /// Reserves that move without a swap.
    function donate(PoolRecord storage record, uint256 size) private {
        if (record.concentrated) return;
        (uint112 reserve0,,) = V2Pair(record.pool).getReserves();
        uint256 amount = (reserve0 * size) / PPM;
        if (Erc20(record.token0).balanceOf(address(this)) >= amount) Erc20(record.token0).transfer(record.pool, amount);
        V2Pair(record.pool).sync();
    }

    /// A transfer of `size` ppm of the inventory.
    function send(address token, uint160 to, uint256 size) private {
        uint256 amount = (Erc20(token).balanceOf(address(this)) * size) / PPM;
        if (amount > 0) Erc20(token).transfer(address(to), amount);
    }

    function uniswapV3SwapCallback(int256 delta0, int256 delta1, bytes calldata data) external {
        (address token0, address token1) = abi.decode(data, (address, address));
        if (delta0 > 0) Erc20(token0).transfer(msg.sender, uint256(delta0));
        if (delta1 > 0) Erc20(token1).transfer(msg.sender, uint256(delta1));
    }

    function uniswapV3MintCallback(uint256 owed0, uint256 owed1, bytes calldata data) external {
        (address token0, address token1) = abi.decode(data, (address, address));
        if (owed0 > 0) Erc20(token0).transfer(msg.sender, owed0);
        if (owed1 > 0) Erc20(token1).transfer(msg.sender, owed1);
    }

    function squareRoot(uint256 value) private pure returns (uint256 root) {
        if (value == 0) return 0;
        root = 1;
        uint256 rest = value;
        if (rest >> 128 > 0) (rest, root) = (rest >> 128, root << 64);
        if (rest >> 64 > 0) (rest, root) = (rest >> 64, root << 32);
        if (rest >> 32 > 0) (rest, root) = (rest >> 32, root << 16);
        if (rest >> 16 > 0) (rest, root) = (rest >> 16, root << 8);
        if (rest >> 8 > 0) (rest, root) = (rest >> 8, root << 4);
        if (rest >> 4 > 0) (rest, root) = (rest >> 4, root << 2);
        if (rest >> 2 > 0) root <<= 1;
        for (uint256 i = 0; i < 7; i++) root = (root + value / root) >> 1;
        uint256 other = value / root;
        if (other < root) root = other;
    }
}
