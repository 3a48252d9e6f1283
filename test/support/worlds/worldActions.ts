/**
 * Builds users' transactions on a test chain: swaps, mints and burns through the real routers and the position
 * manager. anvil.ts mines them. Amounts are raw token units.
 */
import { Interface } from 'ethers';

import { ERC20, POSITION_MANAGER, V2_ROUTER, V3_ROUTER, encodeCall } from '../../../src/dev/abi';
import type { DevTransaction } from '../../../src/dev/node/blockMaker';
import type { World, WorldPool, WorldToken } from '../../../src/dev/world/world';
import type { Hex } from '../../../src/domain/hex';

/** The sender of the transaction; by default the first user. */
interface Sender {
  readonly from?: Hex;
}

interface Receiver extends Sender {
  /** The recipient; by default the sender. */
  readonly to?: Hex;
}

interface V2Amounts extends Receiver {
  readonly amount0: bigint;
  readonly amount1: bigint;
}

interface V3Mint extends V2Amounts {
  readonly tickLower: number;
  readonly tickUpper: number;
}

interface Swap extends Receiver {
  readonly zeroForOne: boolean;
  readonly amountIn: bigint;
}

/** Each function makes one transaction for `mineBlock`. */
export interface WorldActions {
  /** Swaps an exact input through the exchange's router. Works for taxed tokens too. */
  swapV2(pool: WorldPool, swap: Swap): DevTransaction;
  /** Adds liquidity in the pool's ratio, up to these amounts. */
  mintV2(pool: WorldPool, amounts: V2Amounts): DevTransaction;
  /** Removes liquidity for this number of LP units. */
  burnV2(pool: WorldPool, burn: Receiver & { readonly liquidity: bigint }): DevTransaction;
  /** Calls the pair's sync, which adds transferred tokens to the reserves: a Sync without a swap. */
  syncV2(pool: WorldPool, sender?: Sender): DevTransaction;
  /** Swaps an exact input through the V3 router. */
  swapV3(pool: WorldPool, swap: Swap): DevTransaction;
  /** Mints a position of the position manager. `listMintedPositions` returns its id. */
  mintV3(pool: WorldPool, mint: V3Mint): DevTransaction;
  /** Removes liquidity from a position (Burn). The tokens stay owed. */
  burnV3(burn: Sender & { readonly positionId: bigint; readonly liquidity: bigint }): DevTransaction;
  transfer(
    token: WorldToken | WorldPool,
    transfer: Sender & { readonly to: Hex; readonly amount: bigint },
  ): DevTransaction;
}

const DEADLINE = 2n ** 255n;
const GAS = 900_000;

const V2_ROUTER_MORE = new Interface([
  'function swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)',
  'function removeLiquidity(address,address,uint256,uint256,uint256,address,uint256)',
]);
const POSITION_MANAGER_MORE = new Interface([
  'function decreaseLiquidity((uint256 tokenId,uint128 liquidity,uint256 amount0Min,uint256 amount1Min,uint256 deadline))',
]);
const PAIR = new Interface(['function sync()']);

/** The router of a V2 pool's exchange. Throws for a pool of another kind. */
export function routerOf(world: World, pool: WorldPool): Hex {
  const factory = world.chainDescription.dexes.find((dex) => dex.name === pool.dex)?.factory;
  const exchange = world.v2.find((candidate) => candidate.factory === factory);
  if (exchange === undefined) throw new Error(`${pool.dex} is not a V2 exchange of this world`);
  return exchange.router;
}

/** Actions on the pools of a world. */
export function makeWorldActions(world: World, firstUser: Hex): WorldActions {
  const send = (
    sender: Sender,
    to: Hex,
    contract: Interface,
    name: string,
    values: readonly unknown[],
  ): DevTransaction => {
    return { from: sender.from ?? firstUser, to, data: encodeCall(contract, name, values), gas: GAS };
  };
  const receiver = (accounts: Receiver): Hex => accounts.to ?? accounts.from ?? firstUser;
  const manager = world.v3.positionManager;
  return {
    swapV2: (pool, swap) => {
      const pair = [pool.token0.address, pool.token1.address];
      const path = swap.zeroForOne ? pair : pair.reverse();
      const name = 'swapExactTokensForTokensSupportingFeeOnTransferTokens';
      return send(swap, routerOf(world, pool), V2_ROUTER_MORE, name, [
        swap.amountIn,
        0,
        path,
        receiver(swap),
        DEADLINE,
      ]);
    },
    mintV2: (pool, amounts) => {
      const tokens = [pool.token0.address, pool.token1.address, amounts.amount0, amounts.amount1, 0, 0];
      return send(amounts, routerOf(world, pool), V2_ROUTER, 'addLiquidity', [
        ...tokens,
        receiver(amounts),
        DEADLINE,
      ]);
    },
    burnV2: (pool, burn) => {
      const tokens = [pool.token0.address, pool.token1.address, burn.liquidity, 0, 0];
      return send(burn, routerOf(world, pool), V2_ROUTER_MORE, 'removeLiquidity', [
        ...tokens,
        receiver(burn),
        DEADLINE,
      ]);
    },
    syncV2: (pool, sender = {}) => send(sender, pool.address, PAIR, 'sync', []),
    swapV3: (pool, swap) => {
      const pair = [pool.token0.address, pool.token1.address];
      const tokens = swap.zeroForOne ? pair : pair.reverse();
      const fields = [...tokens, pool.feePips, receiver(swap), DEADLINE, swap.amountIn, 0, 0];
      return send(swap, world.v3.router, V3_ROUTER, 'exactInputSingle', [fields]);
    },
    mintV3: (pool, mint) => {
      const range = [pool.token0.address, pool.token1.address, pool.feePips, mint.tickLower, mint.tickUpper];
      const fields = [...range, mint.amount0, mint.amount1, 0, 0, receiver(mint), DEADLINE];
      return send(mint, manager, POSITION_MANAGER, 'mint', [fields]);
    },
    burnV3: (burn) => {
      const fields = [burn.positionId, burn.liquidity, 0, 0, DEADLINE];
      return send(burn, manager, POSITION_MANAGER_MORE, 'decreaseLiquidity', [fields]);
    },
    transfer: (token, { from, to, amount }) => {
      return send(from === undefined ? {} : { from }, token.address, ERC20, 'transfer', [to, amount]);
    },
  };
}
