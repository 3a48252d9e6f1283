// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {Pool} from "@uniswap/v4-core/src/libraries/Pool.sol";
import {BalanceDelta} from "@uniswap/v4-core/src/types/BalanceDelta.sol";

import {Erc20, Manager, PoolKey, Vault} from "./Infinity.sol";

/// Emits the events of PancakeSwap Infinity's CLPoolManager. The mathematics is the library of Uniswap V4, from which that of
/// Infinity derives.
contract CLPoolManager is Manager {
    using Pool for Pool.State;

    mapping(bytes32 => Pool.State) private pools;
    mapping(bytes32 => PoolKey) public poolIdToPoolKey;

    event Initialize(
        bytes32 indexed id,
        address indexed currency0,
        address indexed currency1,
        address hooks,
        uint24 fee,
        bytes32 parameters,
        uint160 sqrtPriceX96,
        int24 tick
    );
    event ModifyLiquidity(
        bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt
    );
    event Swap(
        bytes32 indexed id,
        address indexed sender,
        int128 amount0,
        int128 amount1,
        uint160 sqrtPriceX96,
        uint128 liquidity,
        int24 tick,
        uint24 fee,
        uint16 protocolFee
    );
    event Donate(bytes32 indexed id, address indexed sender, uint256 amount0, uint256 amount1, int24 tick);

    constructor(Vault vault_) Manager(vault_) {}

    function setLpFee(bytes32 id, uint24 fee) internal override {
        pools[id].setLPFee(fee);
    }

    function setFeeOfProtocol(bytes32 id, uint24 fee) internal override {
        pools[id].setProtocolFee(fee);
    }

    function initialize(PoolKey memory key, uint160 price) external {
        int24 tick = pools[idOf(key)].initialize(price, firstFee(key));
        poolIdToPoolKey[idOf(key)] = key;
        emit Initialize(
            idOf(key), key.currency0, key.currency1, key.hooks, key.fee, key.parameters, price, tick
        );
    }

    function getState(bytes32 id) external view returns (uint160 sqrtPriceX96, int24 tick, uint128 liquidity) {
        Pool.State storage pool = pools[id];
        return (pool.slot0.sqrtPriceX96(), pool.slot0.tick(), pool.liquidity);
    }

    function modifyLiquidity(PoolKey memory key, int24 lower, int24 upper, int128 change, bytes32 salt)
        external
        payable
        returns (int256, int256)
    {
        (BalanceDelta principal, BalanceDelta fees) = pools[idOf(key)].modifyLiquidity(
            Pool.ModifyLiquidityParams(msg.sender, lower, upper, change, int24(stepOf(key)), salt)
        );
        emit ModifyLiquidity(idOf(key), msg.sender, lower, upper, change, salt);
        return settleDelta(key, principal + fees);
    }

    function swap(PoolKey memory key, bool zeroForOne, int256 amount, uint160 limit)
        external
        payable
        returns (int256, int256)
    {
        (int256 rest, uint24 chosen) = askHook(key, zeroForOne, amount);
        BalanceDelta delta = swapIn(key, Pool.SwapParams(rest, int24(stepOf(key)), zeroForOne, limit, chosen));
        return settleDelta(key, delta);
    }

    function swapIn(PoolKey memory key, Pool.SwapParams memory params) private returns (BalanceDelta) {
        bytes32 id = idOf(key);
        (BalanceDelta delta, uint256 kept, uint24 fee, Pool.SwapResult memory result) = pools[id].swap(params);
        protocolFeesAccrued[params.zeroForOne ? key.currency0 : key.currency1] += kept;
        emitSwap(id, delta, result, fee, protocolFeeOf(pools[id].slot0.protocolFee(), params.zeroForOne));
        return delta;
    }

    function emitSwap(bytes32 id, BalanceDelta delta, Pool.SwapResult memory result, uint24 fee, uint16 ofProtocol)
        private
    {
        (uint160 price, uint128 liquidity, int24 tick) = (result.sqrtPriceX96, result.liquidity, result.tick);
        emit Swap(id, msg.sender, delta.amount0(), delta.amount1(), price, liquidity, tick, fee, ofProtocol);
    }

    function donate(PoolKey memory key, uint256 amount0, uint256 amount1) external payable {
        BalanceDelta delta = pools[idOf(key)].donate(amount0, amount1);
        settleDelta(key, delta);
        emit Donate(idOf(key), msg.sender, amount0, amount1, pools[idOf(key)].slot0.tick());
    }

    function settleDelta(PoolKey memory key, BalanceDelta delta) private returns (int256, int256) {
        settleBoth(key, delta.amount0(), delta.amount1());
        return (delta.amount0(), delta.amount1());
    }
}

/// The NFTs of positions, whose numbers are the salts of the positions. It pays with its own tokens.
contract CLPositionManager {
    struct Position {
        PoolKey key;
        int24 lower;
        int24 upper;
    }

    CLPoolManager public immutable manager;
    uint256 public nextTokenId = 1;
    mapping(uint256 => Position) private positions;

    event Transfer(address indexed from, address indexed to, uint256 indexed id);

    constructor(CLPoolManager manager_) {
        manager = manager_;
    }

    receive() external payable {}

    function approve(Erc20 token) external {
        token.approve(address(manager.vault()), type(uint256).max);
    }

    function mint(PoolKey memory key, int24 lower, int24 upper, int128 liquidity, address owner) external payable {
        uint256 id = nextTokenId++;
        positions[id] = Position(key, lower, upper);
        emit Transfer(address(0), owner, id);
        manager.modifyLiquidity{value: msg.value}(key, lower, upper, liquidity, bytes32(id));
    }

    /// Takes liquidity out of a position, and pays it with all fees of the position.
    function take(uint256 id, int128 liquidity, address to) external {
        Position memory position = positions[id];
        PoolKey memory key = position.key;
        (int256 amount0, int256 amount1) =
            manager.modifyLiquidity(key, position.lower, position.upper, -liquidity, bytes32(id));
        pay(key.currency0, to, uint256(amount0));
        pay(key.currency1, to, uint256(amount1));
    }

    function pay(address currency, address to, uint256 amount) private {
        if (currency != address(0)) {
            Erc20(currency).transfer(to, amount);
        } else {
            (bool paid,) = to.call{value: amount}("");
            require(paid, "native");
        }
    }
}
