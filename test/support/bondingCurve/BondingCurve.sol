// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface Token {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
}

interface Dex {
    function createPair(address a, address b) external returns (DexPair);
}

interface DexPair {
    function mint(address to) external returns (uint256);
}

/// Contracts for tests: they emit the events of Virtuals' bonding curves in the published order and follow the published
/// formulas (contracts/launchpadv2). The trader is launch site, router and user in one.
contract Factory {
    uint256 public buyTax = 1;
    uint256 public sellTax = 1;
    address public taxVault = address(0xFA);
    mapping(address => mapping(address => address)) public getPair;
    address[] public pairs;

    event PairCreated(address indexed tokenA, address indexed tokenB, address pair, uint256 count);

    function createPair(Token a, Token b) external returns (Pair pair) {
        pair = new Pair(a, b);
        getPair[address(a)][address(b)] = address(pair);
        getPair[address(b)][address(a)] = address(pair);
        pairs.push(address(pair));
        emit PairCreated(address(a), address(b), address(pair), pairs.length);
    }

    function setTaxParams(uint256 buyTax_, uint256 sellTax_) external {
        (buyTax, sellTax) = (buyTax_, sellTax_);
    }
}

contract Pair {
    Token public immutable tokenA;
    Token public immutable tokenB;
    uint256 public reserve0;
    uint256 public reserve1;
    uint256 public kLast;

    event Mint(uint256 reserve0, uint256 reserve1);
    event Swap(uint256 amount0In, uint256 amount0Out, uint256 amount1In, uint256 amount1Out);

    constructor(Token a, Token b) {
        (tokenA, tokenB) = (a, b);
    }

    function getReserves() external view returns (uint256, uint256) {
        return (reserve0, reserve1);
    }

    function mint(uint256 virtual0, uint256 virtual1) external {
        require(kLast == 0);
        (reserve0, reserve1, kLast) = (virtual0, virtual1, virtual0 * virtual1);
        emit Mint(virtual0, virtual1);
    }

    function swap(uint256 in0, uint256 out0, uint256 in1, uint256 out1) external {
        (reserve0, reserve1) = (reserve0 + in0 - out0, reserve1 + in1 - out1);
        emit Swap(in0, out0, in1, out1);
    }

    function send(Token token, address to, uint256 amount) external {
        token.transfer(to, amount);
    }

    /// getAmountsOut of the router.
    function amountOut(bool isToken0In, uint256 amountIn) public view returns (uint256) {
        return isToken0In ? reserve1 - kLast / (reserve0 + amountIn) : reserve0 - kLast / (reserve1 + amountIn);
    }

    /// The curve alone, without the rounding to the decimals of a token.
    function scaledOut(uint256 amountIn, uint256 x, uint256 y) external pure returns (uint256) {
        return (amountIn * y) / (x + amountIn);
    }
}

contract Trader {
    function launch(Factory factory, Token token, Token asset, uint256 virtual0, uint256 virtual1, uint256 kept, uint256 firstBuy) external {
        Pair pair = factory.createPair(token, asset);
        token.transfer(address(pair), virtual0);
        pair.mint(virtual0, virtual1);
        token.transfer(address(pair), kept);
        buy(factory, pair, firstBuy);
    }

    function buy(Factory factory, Pair pair, uint256 amountIn) public {
        uint256 tax = (factory.buyTax() * amountIn) / 100;
        uint256 amount = amountIn - tax;
        pair.tokenB().transfer(address(pair), amount);
        pair.tokenB().transfer(factory.taxVault(), tax);
        uint256 out = pair.amountOut(false, amount);
        pair.send(pair.tokenA(), address(this), out);
        pair.swap(0, out, amount, 0);
    }

    function sell(Factory factory, Pair pair, uint256 amountIn) external {
        uint256 out = pair.amountOut(true, amountIn);
        pair.tokenA().transfer(address(pair), amountIn);
        uint256 tax = (factory.sellTax() * out) / 100;
        pair.send(pair.tokenB(), address(this), out - tax);
        pair.send(pair.tokenB(), factory.taxVault(), tax);
        pair.swap(amountIn, 0, 0, out);
    }

    /// A purchase that reaches the threshold: all tokens of the curve move to a new pool of a DEX.
    function buyLast(Factory factory, Pair pair, uint256 amountIn, Dex dex) external {
        buy(factory, pair, amountIn);
        (Token token, Token asset) = (pair.tokenA(), pair.tokenB());
        (uint256 tokens, uint256 assets) = (token.balanceOf(address(pair)), asset.balanceOf(address(pair)));
        pair.send(asset, address(this), assets);
        pair.send(token, address(this), tokens);
        DexPair opened = dex.createPair(address(token), address(asset));
        token.transfer(address(opened), tokens);
        asset.transfer(address(opened), assets);
        opened.mint(address(this));
    }

    /// Gives tokens to the pair, which no event of the pair tells.
    function give(Token token, address to, uint256 amount) external {
        token.transfer(to, amount);
    }
}
