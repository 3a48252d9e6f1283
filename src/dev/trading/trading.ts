/**
 * Plans the trades of a block: senders, pools, sizes and directions. The trades are random numbers from a
 * seed, around the prices of the price walk.
 */
import type { Hex } from '../../domain/hex';
import { toAddress, TRADER, encodeCall } from '../abi';
import type { DevTransaction } from '../node/blockMaker';
import { BURN_ADDRESSES } from '../world/describeChain';
import { walletAction, walletTransactions } from '../world/giveHoldings';
import type { PriceWalk } from './priceWalk';
import { createPicker, type Random } from './random';
import type { World, WorldPool } from '../world/world';

export interface Trading {
  /** The transactions of the next block, `seconds` after the previous block, with about `trades` swaps. */
  planBlock(trades: number, seconds: number): BlockPlan;
  /** Continues with a world that has more pools. */
  setWorld(world: World): void;
}

export interface BlockPlan {
  readonly transactions: DevTransaction[];
  readonly swaps: number;
}

/** Chance of each other operation in a block, per swap of the block. */
const RATE_PER_SWAP = { mint: 0.05, burn: 0.04, send: 0.02, donate: 0.004 } as const;
const WALLET_ACTION_CHANCE = 0.05;
const PUSH_CHANCE = 0.6;
const PAYS_SENDER_CHANCE = 0.04;
const MINT_PAYS_SENDER_CHANCE = 0.2;
/** Typical size of a trade in USD, and the spread of its logarithm. */
const TRADE_USD = 250;
const TRADE_SPREAD = 1.2;
const SWAP_PPM_MAX = 20_000;
/** Largest move of a pool by one push. It is larger after a long time between blocks, when fair prices have
 * moved more. */
const PUSH_PPM_MAX = { dense: 1_500, sparse: 9_000, sparseSeconds: 90 } as const;
const SEND_PPM_MAX = 3;
const BURN_TOKEN_SENDS = 0.4;
/** Largest number of operations per block. Their gas is half of a block's gas. */
const OPERATIONS_PER_BLOCK_MAX = 120;
const HOT_POOLS = 3;

/** Creates trading around the prices of the walk. */
export function createTrading(firstWorld: World, walk: PriceWalk, random: Random): Trading {
  let world = firstWorld;
  const senders = world.accounts.slice(1);
  const pickSender = createPicker(senders.map((_, index) => 1 / (index + 1) ** 0.7));
  let pickPool = createPicker(world.pools.map(({ popularity }) => popularity));
  const drawPool = (): WorldPool | undefined => world.pools[pickPool(random)];
  const drawSender = (): Hex => senders[pickSender(random)] ?? senders[0] ?? world.trader;
  return {
    setWorld: (newWorld) => {
      world = newWorld;
      pickPool = createPicker(world.pools.map(({ popularity }) => popularity));
    },
    planBlock: (trades, seconds) => {
      walk.advance(seconds);
      const swapCount = Math.min(OPERATIONS_PER_BLOCK_MAX, trades);
      const pushPpm = seconds >= PUSH_PPM_MAX.sparseSeconds ? PUSH_PPM_MAX.sparse : PUSH_PPM_MAX.dense;
      const operations: Operation[] = [];
      for (let swapIndex = 0; swapIndex < swapCount; swapIndex += 1) {
        // The first trade of each block is in one of the most active pools, so these pools have trades in
        // every minute.
        const pool =
          swapIndex === 0 ? world.pools[random.below(Math.min(HOT_POOLS, world.pools.length))] : drawPool();
        if (pool !== undefined) operations.push(swapOperation(pool, walk, random, pushPpm));
      }
      for (const kind of ['mint', 'burn', 'send', 'donate'] as const) {
        const pool = random.chance(RATE_PER_SWAP[kind] * swapCount) ? drawPool() : undefined;
        if (pool !== undefined) operations.push(otherOperation(kind, pool, world, random));
      }
      const transactions = groupOperations(operations, world.trader, drawSender, random);
      if (random.chance(WALLET_ACTION_CHANCE)) transactions.push(...walletVisit(world, random));
      return { transactions, swaps: swapCount };
    },
  };
}

function swapOperation(pool: WorldPool, walk: PriceWalk, random: Random, pushPpm: number): Operation {
  const zeroForOne = random.chance(0.5);
  const paysSender = random.chance(PAYS_SENDER_CHANCE);
  if (random.chance(PUSH_CHANCE)) {
    const sizePpm = Math.ceil(pushPpm * (0.1 + 0.9 * random.next()));
    return {
      kind: 'push',
      pool: pool.index,
      sizePpm,
      zeroForOne,
      paysSender,
      target: walk.sqrtPriceX96(pool),
    };
  }
  const usd = TRADE_USD * Math.exp(TRADE_SPREAD * random.normal());
  const sizePpm = Math.max(1, Math.min(SWAP_PPM_MAX, Math.round((usd / pool.sideUsd) * 1e6)));
  return { kind: 'swap', pool: pool.index, sizePpm, zeroForOne, paysSender };
}

function otherOperation(
  kind: 'mint' | 'burn' | 'send' | 'donate',
  pool: WorldPool,
  world: World,
  random: Random,
): Operation {
  switch (kind) {
    case 'mint': {
      const paysSender = random.chance(MINT_PAYS_SENDER_CHANCE);
      return {
        kind,
        pool: pool.index,
        sizePpm: 500 + random.below(8_000),
        paysSender,
        width: 1 + random.below(63),
      };
    }
    case 'burn':
      return {
        kind,
        pool: pool.index,
        sizePpm: 500 + random.below(8_000),
        target: BigInt(random.below(2 ** 32)),
      };
    case 'send':
      return sendOperation(pool, world, random);
    case 'donate':
      return { kind, pool: pool.index, sizePpm: 1 + random.below(20) };
  }
}

/** A transfer to a random wallet, or of the burn token to a burn address. */
function sendOperation(pool: WorldPool, world: World, random: Random): Operation {
  const { token, addresses } = world.chainDescription.burn;
  const burnPool = world.pools.find(
    ({ token0, token1 }) => token0.address === token || token1.address === token,
  );
  const sizePpm = 1 + random.below(SEND_PPM_MAX);
  if (burnPool !== undefined && random.chance(BURN_TOKEN_SENDS)) {
    const target = BigInt(addresses[random.below(addresses.length)] ?? BURN_ADDRESSES[0] ?? '0x0');
    return {
      kind: 'send',
      pool: burnPool.index,
      sizePpm,
      zeroForOne: burnPool.token0.address === token,
      target,
    };
  }
  const randomRecipient = (0x5eedn << 64n) | BigInt(random.below(2_000));
  return { kind: 'send', pool: pool.index, sizePpm, zeroForOne: random.chance(0.5), target: randomRecipient };
}

/** Groups operations into transactions: many with one operation, some with up to six. */
function groupOperations(
  operations: readonly Operation[],
  trader: Hex,
  drawSender: () => Hex,
  random: Random,
): DevTransaction[] {
  const transactions: DevTransaction[] = [];
  for (let start = 0; start < operations.length;) {
    const groupSize = random.chance(0.4) ? 1 : random.chance(0.5) ? 2 : 3 + random.below(4);
    transactions.push(runTransaction(drawSender(), trader, operations.slice(start, start + groupSize)));
    start += groupSize;
  }
  return transactions;
}

/** An action of a wallet with holdings. Account 0 is the deployer, so the wallets begin at account 1. */
function walletVisit(world: World, random: Random): DevTransaction[] {
  const wallet = world.accounts[1 + random.below(Math.max(1, world.holders))];
  if (wallet === undefined || world.holders === 0) return [];
  return walletTransactions(world, toAddress(wallet), walletAction(random.below(4)), random.below(1_000));
}

/**
 * Packed operations of DevTrader.sol: one word for each operation. They are encoded by hand for speed, because a history
 * has tens of thousands. `push` trades towards a price, `swap` in a given direction.
 */
const ACTIONS = { push: 1, swap: 2, mint: 3, burn: 4, send: 5, donate: 6 } as const;
type OperationKind = keyof typeof ACTIONS;

interface Operation {
  readonly kind: OperationKind;
  /** Index of the pool in the trader's list. */
  readonly pool: number;
  /** Size of the operation in millionths: of the reserve, of the base liquidity, or (send) of the stock of
   * tokens; up to 2^24 − 1. */
  readonly sizePpm: number;
  /** Push and swap: whether token0 goes into the pool. Send: whether token0 is sent. Default false. */
  readonly zeroForOne?: boolean;
  /**
   * Push, swap and mint: whether the proceeds go to the transaction's sender. By default they stay with the trader
   * contract.
   */
  readonly paysSender?: boolean;
  /** V3 mint: half the width of the range, in tick spacings, 1–64. Default 1. */
  readonly width?: number;
  /** For push: sqrtPriceX96 to trade towards. For send: the recipient. For burn: a number that selects the
   * position. */
  readonly target?: bigint;
}

const GAS_BASE = 150_000;
const GAS_PER_OPERATION = 550_000;
/** The calldata begins with `0x` and the function selector of four bytes. */
const SELECTOR_CHARACTERS = 10;

/** One transaction that runs these operations in order. */
function runTransaction(from: Hex, trader: Hex, operations: readonly Operation[]): DevTransaction {
  const words = operations.map((operation) => packOperation(operation).toString(16).padStart(64, '0'));
  const length = words.length.toString(16).padStart(64, '0');
  const selector = encodeCall(TRADER, 'run', [[]]).slice(2, SELECTOR_CHARACTERS);
  // The ABI of one dynamic array: the offset of the array (0x20 bytes), its length, its words.
  const data: Hex = `0x${selector}${'20'.padStart(64, '0')}${length}${words.join('')}`;
  return { from, to: trader, data, gas: GAS_BASE + GAS_PER_OPERATION * operations.length };
}

function packOperation(operation: Operation): bigint {
  const { kind, pool, sizePpm, zeroForOne = false, paysSender = false, width = 1, target = 0n } = operation;
  const flags = (zeroForOne ? 1 : 0) | (paysSender ? 2 : 0) | ((width - 1) << 2);
  const actionAndPool = (BigInt(ACTIONS[kind]) << 16n) | BigInt(pool);
  return (((actionAndPool << 24n) | BigInt(sizePpm)) << 208n) | (BigInt(flags) << 200n) | target;
}
