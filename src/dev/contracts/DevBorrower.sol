// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface BorrowedToken {
    function transfer(address to, uint256 value) external returns (bool);
}

interface LendingPair {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external;
}

interface LendingPool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function flash(address to, uint256 amount0, uint256 amount1, bytes calldata data) external;
}

/// Borrows and pays back within one transaction: flash swaps of V2 pairs (in and out of the same token) and flash loans
/// of V3 pools. It needs some of the tokens for the fees. Development only: its callbacks trust their caller.
contract DevBorrower {
    function borrowV2(address pair, uint256 amount0, uint256 amount1) external {
        LendingPair(pair).swap(amount0, amount1, address(this), "borrow");
    }

    function borrowV3(address pool, uint256 amount0, uint256 amount1) external {
        LendingPool(pool).flash(address(this), amount0, amount1, abi.encode(amount0, amount1));
    }

    /// Pays one part in 300 on top, more than any V2 pair asks.
    function uniswapV2Call(address, uint256 amount0, uint256 amount1, bytes calldata) external {
        pay(LendingPair(msg.sender).token0(), amount0, amount0 / 300 + 1);
        pay(LendingPair(msg.sender).token1(), amount1, amount1 / 300 + 1);
    }

    function uniswapV3FlashCallback(uint256 fee0, uint256 fee1, bytes calldata data) external {
        (uint256 amount0, uint256 amount1) = abi.decode(data, (uint256, uint256));
        pay(LendingPool(msg.sender).token0(), amount0, fee0);
        pay(LendingPool(msg.sender).token1(), amount1, fee1);
    }

    function pay(address token, uint256 amount, uint256 fee) private {
        if (amount > 0) BorrowedToken(token).transfer(msg.sender, amount + fee);
    }
}
