// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface Token {
    function transfer(address to, uint256 value) external returns (bool);
}

interface Pool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function mint(address leftovers, address owner, int24 lower, int24 upper, uint128 liquidity, bytes calldata data) external;
    function burn(int24 lower, int24 upper, uint128 liquidity) external;
    function burn(int24 lower, int24 upper, uint128 liquidity, bytes calldata data) external;
    function collect(address to, int24 lower, int24 upper, uint128 amount0, uint128 amount1) external;
    function swap(address to, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data) external;
    function swapWithPaymentInAdvance(address leftovers, address to, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data) external;
    function swapSupportingFeeOnInputTokens(address leftovers, address to, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data) external;
    function flash(address to, uint256 amount0, uint256 amount1, bytes calldata data) external;
    function setFee(uint16 fee) external;
}

/// Trades in Algebra pools of every version with the tokens that it holds.
contract Trader {
    function mint(Pool pool, int24 lower, int24 upper, uint128 liquidity) external {
        pool.mint(address(this), address(this), lower, upper, liquidity, "");
    }

    /// Burns, and takes out what the burn released, and fees.
    function burn(Pool pool, bool isFirst, int24 lower, int24 upper, uint128 liquidity) external {
        if (isFirst) pool.burn(lower, upper, liquidity);
        else pool.burn(lower, upper, liquidity, "");
        pool.collect(address(this), lower, upper, type(uint128).max, type(uint128).max);
    }

    function swap(Pool pool, bool zeroForOne, int256 amount, uint160 limit) external {
        pool.swap(address(this), zeroForOne, amount, limit, "");
    }

    /// Pays first. The pool sends back what it does not need.
    function swapPaid(Pool pool, bool isFirst, bool zeroForOne, int256 amount, uint160 limit) external {
        if (isFirst) pool.swapSupportingFeeOnInputTokens(address(this), address(this), zeroForOne, amount, limit, "");
        else pool.swapWithPaymentInAdvance(address(this), address(this), zeroForOne, amount, limit, "");
    }

    function flash(Pool pool, uint256 amount0, uint256 amount1) external {
        pool.flash(address(this), amount0, amount1, abi.encode(amount0, amount1));
    }

    /// Calls another contract, such as a position manager.
    function call(address to, bytes calldata data) external {
        (bool isDone,) = to.call(data);
        require(isDone);
    }

    function algebraMintCallback(uint256 amount0, uint256 amount1, bytes calldata) external {
        pay(int256(amount0), int256(amount1));
    }

    function algebraSwapCallback(int256 amount0, int256 amount1, bytes calldata) external {
        pay(amount0, amount1);
    }

    function algebraFlashCallback(uint256 fee0, uint256 fee1, bytes calldata data) external {
        (uint256 amount0, uint256 amount1) = abi.decode(data, (uint256, uint256));
        pay(int256(amount0 + fee0), int256(amount1 + fee1));
    }

    function pay(int256 amount0, int256 amount1) private {
        if (amount0 > 0) Token(Pool(msg.sender).token0()).transfer(msg.sender, uint256(amount0));
        if (amount1 > 0) Token(Pool(msg.sender).token1()).transfer(msg.sender, uint256(amount1));
    }
}

/// A plugin whose fees the test sets: for each pool, a new fee that it sets in the next swap, and fees of single swaps.
contract Plugin {
    struct Fees {
        uint16 next;
        uint24 overriding;
        uint24 own;
    }

    mapping(address => Fees) public feesOf;

    function setFees(address pool, uint16 next, uint24 overriding, uint24 own) external {
        feesOf[pool] = Fees(next, overriding, own);
    }

    function beforeSwap(address, address, bool, int256, uint160, bool, bytes calldata)
        external
        returns (bytes4, uint24, uint24)
    {
        Fees storage fees = feesOf[msg.sender];
        if (fees.next != 0) {
            Pool(msg.sender).setFee(fees.next);
            fees.next = 0;
        }
        return (Plugin.beforeSwap.selector, fees.overriding, fees.own);
    }

    function beforeModifyPosition(address, address, int24, int24, int128, bytes calldata)
        external
        view
        returns (bytes4, uint24)
    {
        return (Plugin.beforeModifyPosition.selector, feesOf[msg.sender].own);
    }

    function handlePluginFee(uint256, uint256) external pure returns (bytes4) {
        return Plugin.handlePluginFee.selector;
    }
}
