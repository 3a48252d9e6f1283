// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import { ERC20, IERC20 } from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import { IERC4626 } from "@openzeppelin/contracts/interfaces/IERC4626.sol";
import { ERC4626 } from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import { IVault } from "@balancer-labs/v3-interfaces/contracts/vault/IVault.sol";
import "@balancer-labs/v3-interfaces/contracts/vault/VaultTypes.sol";
import { Vault } from "@balancer-labs/v3-vault/contracts/Vault.sol";
import { VaultAdmin } from "@balancer-labs/v3-vault/contracts/VaultAdmin.sol";
import { VaultExtension } from "@balancer-labs/v3-vault/contracts/VaultExtension.sol";
import { ProtocolFeeController } from "@balancer-labs/v3-vault/contracts/ProtocolFeeController.sol";
import { WeightedPool } from "@balancer-labs/v3-pool-weighted/contracts/WeightedPool.sol";
import { StablePool } from "@balancer-labs/v3-pool-stable/contracts/StablePool.sol";

/// The published contracts are compiled through these imports. The contracts below are for tests only.

/// Everybody may do everything.
contract Authorizer {
    function canPerform(bytes32, address, address) external pure returns (bool) {
        return true;
    }
}

/// A rate provider whose rate anyone sets.
contract Rate {
    uint256 public getRate = 1e18;

    function setRate(uint256 rate) external {
        getRate = rate;
    }
}

/// A wrapper of another token, and its own rate provider. Whoever sends it assets raises the rate.
contract Wrapper is ERC4626 {
    constructor(IERC20 asset, address owner, uint256 supply) ERC20("Wrapper", "W") ERC4626(asset) {
        _mint(owner, supply);
    }

    function getRate() external view returns (uint256) {
        return convertToAssets(1e18);
    }
}

/// A hook that sets the fee of each swap, or takes part in the amounts.
contract Hook {
    bool private immutable adjusts;
    uint256 private fee;

    constructor(bool adjusts_) {
        adjusts = adjusts_;
    }

    function setFee(uint256 fee_) external {
        fee = fee_;
    }

    function onRegister(address, address, TokenConfig[] memory, LiquidityManagement calldata) external pure returns (bool) {
        return true;
    }

    function getHookFlags() external view returns (HookFlags memory flags) {
        flags.enableHookAdjustedAmounts = adjusts;
        flags.shouldCallComputeDynamicSwapFee = !adjusts;
    }

    function onComputeDynamicSwapFeePercentage(PoolSwapParams calldata, address, uint256 own) external view returns (bool, uint256) {
        return (true, fee == 0 ? own : fee);
    }
}

/// Owns all tokens, registers pools and trades, as a router of the vault does.
contract Trader {
    IVault private immutable vault;

    constructor(IVault vault_) {
        vault = vault_;
    }

    function register(address pool, TokenConfig[] memory tokens, uint256 fee, address hook) external {
        PoolRoleAccounts memory nobody;
        LiquidityManagement memory liquidity;
        liquidity.enableDonation = true;
        liquidity.disableUnbalancedLiquidity = hook != address(0);
        vault.registerPool(pool, tokens, fee, uint32(block.timestamp), false, nobody, hook, liquidity);
    }

    function send(IERC20 token, address to, uint256 amount) external {
        token.transfer(to, amount);
    }

    /// Lets the vault call a function below.
    function run(bytes calldata data) external {
        vault.unlock(data);
    }

    /// What a swap would pay out. For calls from the zero address.
    function quote(VaultSwapParams memory params) external returns (uint256 amountOut) {
        return abi.decode(vault.quote(abi.encodeCall(this.tryOut, (params))), (uint256));
    }

    function tryOut(VaultSwapParams memory params) external returns (uint256 amountOut) {
        (, , amountOut) = vault.swap(params);
    }

    function initialize(address pool, IERC20[] memory tokens, uint256[] memory amounts) external {
        vault.initialize(pool, address(this), tokens, amounts, 0, "");
        pay(tokens, amounts);
    }

    function swap(VaultSwapParams memory params) external {
        (, uint256 amountIn, uint256 amountOut) = vault.swap(params);
        payOne(params.tokenIn, amountIn);
        vault.sendTo(params.tokenOut, address(this), amountOut);
    }

    function initializeBuffer(IERC4626 wrapper, uint256 underlying, uint256 wrapped) external {
        vault.initializeBuffer(wrapper, underlying, wrapped, 0, address(this));
        payBuffer(wrapper, underlying, wrapped);
    }

    function addToBuffer(IERC4626 wrapper, uint256 shares) external {
        (uint256 underlying, uint256 wrapped) = vault.addLiquidityToBuffer(wrapper, type(uint128).max, type(uint128).max, shares, address(this));
        payBuffer(wrapper, underlying, wrapped);
    }

    /// The vault unlocks itself for this.
    function removeFromBuffer(IERC4626 wrapper, uint256 shares) external {
        vault.removeLiquidityFromBuffer(wrapper, shares, 0, 0);
    }

    function exchange(BufferWrapOrUnwrapParams memory params) external {
        (, uint256 amountIn, uint256 amountOut) = vault.erc4626BufferWrapOrUnwrap(params);
        (IERC20 asset, IERC20 wrapper) = (IERC20(params.wrappedToken.asset()), params.wrappedToken);
        bool isWrap = params.direction == WrappingDirection.WRAP;
        payOne(isWrap ? asset : wrapper, amountIn);
        vault.sendTo(isWrap ? wrapper : asset, address(this), amountOut);
    }

    /// What an exchange would pay out. For calls from the zero address.
    function quoteExchange(BufferWrapOrUnwrapParams memory params) external returns (uint256 amountOut) {
        return abi.decode(vault.quote(abi.encodeCall(this.tryExchange, (params))), (uint256));
    }

    function tryExchange(BufferWrapOrUnwrapParams memory params) external returns (uint256 amountOut) {
        (, , amountOut) = vault.erc4626BufferWrapOrUnwrap(params);
    }

    function payBuffer(IERC4626 wrapper, uint256 underlying, uint256 wrapped) private {
        payOne(IERC20(wrapper.asset()), underlying);
        payOne(wrapper, wrapped);
    }

    function add(IERC20[] memory tokens, AddLiquidityParams memory params) external {
        (uint256[] memory amounts, , ) = vault.addLiquidity(params);
        pay(tokens, amounts);
    }

    function remove(IERC20[] memory tokens, RemoveLiquidityParams memory params) external {
        (, uint256[] memory amounts, ) = vault.removeLiquidity(params);
        take(tokens, amounts);
    }

    function removeInRecovery(address pool, IERC20[] memory tokens, uint256 shares) external {
        take(tokens, vault.removeLiquidityRecovery(pool, address(this), shares, new uint256[](tokens.length)));
    }

    function pay(IERC20[] memory tokens, uint256[] memory amounts) private {
        for (uint256 i; i < tokens.length; i++) payOne(tokens[i], amounts[i]);
    }

    function payOne(IERC20 token, uint256 amount) private {
        token.transfer(address(vault), amount);
        vault.settle(token, amount);
    }

    function take(IERC20[] memory tokens, uint256[] memory amounts) private {
        for (uint256 i; i < tokens.length; i++) vault.sendTo(tokens[i], address(this), amounts[i]);
    }
}
