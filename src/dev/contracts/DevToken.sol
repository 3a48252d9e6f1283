// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// A plain ERC-20 of any decimals; with `feeBps` it burns a part of each transfer (a taxed token).
contract DevToken {
    string internal text;
    string internal ticker;
    uint256 internal immutable places;
    uint256 internal immutable feeBps;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory name_, string memory symbol_, uint256 decimals_, uint256 supply, address owner, uint256 feeBps_) {
        (text, ticker, places, feeBps, totalSupply) = (name_, symbol_, decimals_, feeBps_, supply);
        balanceOf[owner] = supply;
        emit Transfer(address(0), owner, supply);
    }

    function name() external view virtual returns (string memory) {
        return text;
    }

    function symbol() external view virtual returns (string memory) {
        return ticker;
    }

    function decimals() external view virtual returns (uint256) {
        return places;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        return move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        return move(from, to, value);
    }

    function move(address from, address to, uint256 value) private returns (bool) {
        uint256 fee = (value * feeBps) / 10000;
        balanceOf[from] -= value;
        unchecked {
            balanceOf[to] += value - fee;
        }
        emit Transfer(from, to, value - fee);
        if (fee > 0) {
            totalSupply -= fee;
            emit Transfer(from, address(0), fee);
        }
        return true;
    }
}
