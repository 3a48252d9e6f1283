// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// A token with the powers that buyers should know of: its creator can mint, pause transfers, and close a pool, so that
/// nobody else can sell into it.
contract TrickToken {
    string public constant name = "Claim your reward at trick.example.com";
    string public constant symbol = "TRICK";
    uint8 public constant decimals = 18;
    address public immutable creator;
    uint256 public totalSupply;
    bool public paused;
    address public closedPool;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    modifier onlyCreator() {
        require(msg.sender == creator, "only the creator");
        _;
    }

    constructor(uint256 supply) {
        creator = msg.sender;
        mint(msg.sender, supply);
    }

    function mint(address to, uint256 value) public onlyCreator {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function pause() external onlyCreator {
        paused = !paused;
    }

    function closePool(address pool) external onlyCreator {
        closedPool = pool;
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
        allowance[from][msg.sender] -= value;
        return move(from, to, value);
    }

    function move(address from, address to, uint256 value) private returns (bool) {
        require(!paused, "paused");
        require(to != closedPool || from == creator, "the pool is closed");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
        return true;
    }
}
