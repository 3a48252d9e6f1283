/**
 * The oracle: recomputes swaps and bars from raw logs with bigint fractions. Shares no code with the product's decoders
 * or SQL.
 */
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import type { FamilyOracle } from './oracleFamilies';
import type { LegSwap, VaultOracle } from './oracleVault';
import { parsePlain, type PlainEvent } from './plainEvents';

/** `npm run fuzz` makes the oracle count impossible swaps, and must find a seed with such a swap. */
const IS_CANARY = process.env['FUZZ_CANARY'] === '1';

const TIMEFRAMES = [60, 300, 900, 3600, 14_400, 86_400];

export interface OracleSwap {
  readonly block: number;
  readonly logIndex: number;
  readonly timestamp: number;
  readonly pair: string;
  /** Number of the leg: 256 · index of token0 + index of token1; 1 in pools of two tokens. */
  readonly leg: number;
  readonly token0: string;
  readonly token1: string;
  readonly maker: string | null;
  readonly amount0: bigint;
  readonly amount1: bigint;
  /** Price in raw token1 per raw token0; null if the swap has no price. */
  readonly price: number | null;
  readonly feePips: number;
  /** Balances of the leg's tokens in the vault after the swap; null for other pools. */
  readonly reserves: readonly [bigint, bigint] | null;
}

interface OraclePool {
  readonly isV3: boolean;
  readonly token0: string;
  readonly token1: string;
  readonly feePips: number;
}

/** An oracle of some protocols. */
interface LogReader {
  /** Applies the log. Returns the swap if the log is a swap of a listed pool. */
  read(block: ChainBlock, log: ChainLog): LegSwap | null;
}

interface OracleOptions {
  /** Reads the logs of a vault. Without this option, the vault's logs are ignored. */
  readonly vault?: VaultOracle;
  /** Reads the logs of the pools of Solidly, Slipstream and Algebra. Without this option, they are ignored. */
  readonly families?: FamilyOracle;
  /** Read the logs of pools of further protocols. */
  readonly others?: readonly LogReader[];
  /** Swaps before this block are left out of the result. */
  readonly firstBlock?: number;
  /** Whether the oracle includes pairs created before the first block, as if a factory had confirmed them. */
  readonly hasOlderPools?: boolean;
}

export interface OracleBar {
  open: number;
  high: number;
  low: number;
  close: number;
  volume0: bigint;
  volume1: bigint;
  trades: number;
  /** Number of swaps in which the pool's balance of token0 (or token1) fell. */
  outs0: number;
  outs1: number;
}

/** numerator / denominator, computed with about 40 digits before the rounding to a float. */
function quotient(numerator: bigint, denominator: bigint): number {
  const shiftDigits = 40 - (numerator.toString().length - denominator.toString().length);
  const scaled =
    shiftDigits >= 0
      ? (numerator * 10n ** BigInt(shiftDigits)) / denominator
      : numerator / (denominator * 10n ** BigInt(-shiftDigits));
  return Number(`${scaled}e${-shiftDigits}`);
}

/** Every swap of the factories' pools in these blocks, in order. The blocks must start with the chain's first
 * block. */
export function oracleSwaps(
  blocks: readonly ChainBlock[],
  factories: ReadonlySet<string>,
  { vault, families, others = [], firstBlock = 0, hasOlderPools = false }: OracleOptions = {},
): OracleSwap[] {
  const pools = new Map<string, OraclePool>();
  const swaps: OracleSwap[] = [];
  const readers: readonly LogReader[] = [vault, families, ...others].filter((reader) => reader !== undefined);
  for (const block of blocks) {
    // Reserves of the last Sync, by transaction and pair.
    const syncs = new Map<string, [bigint, bigint]>();
    for (const log of block.logs) {
      for (const reader of readers) {
        const leg = reader.read(block, log);
        if (leg !== null) swaps.push(toSwap(block, log, leg));
      }
      if (block.number < firstBlock && !hasOlderPools) continue;
      const swap = readPairLog(block, log, factories, pools, syncs);
      if (swap !== null && block.number >= firstBlock) swaps.push(swap);
    }
  }
  return swaps;
}

function positionOf(block: ChainBlock, log: ChainLog) {
  const maker = block.transactions[log.transactionIndex]?.from ?? null;
  return { block: block.number, logIndex: log.logIndex, timestamp: block.timestamp, maker };
}

function toSwap(
  block: ChainBlock,
  log: ChainLog,
  { reserve0, reserve1, price, ...leg }: LegSwap,
): OracleSwap {
  return {
    ...positionOf(block, log),
    ...leg,
    price: price === null ? null : quotient(...price),
    reserves: [reserve0, reserve1],
  };
}

function notePool({ name, args }: PlainEvent, pools: Map<string, OraclePool>): void {
  const isV2 = name === 'PairCreated';
  const [token0 = '', token1 = ''] = [0, 1].map((argumentIndex) => String(args[argumentIndex]));
  // PairCreated names no fee. simDescription.ts sets 30 basis points for the V2 factory.
  const feePips = isV2 ? 3000 : Number(args[2]);
  pools.set(String(args[isV2 ? 2 : 4]), { isV3: !isV2, token0, token1, feePips });
}

function readPairLog(
  block: ChainBlock,
  log: ChainLog,
  factories: ReadonlySet<string>,
  pools: Map<string, OraclePool>,
  syncs: Map<string, [bigint, bigint]>,
): OracleSwap | null {
  const parsed = parsePlain(log);
  if (parsed === null) return null;
  const key = `${log.transactionHash} ${log.address}`;
  if (factories.has(log.address) && parsed.name.endsWith('Created')) notePool(parsed, pools);
  const pool = pools.get(log.address);
  if (pool === undefined) return null;
  if (parsed.name === 'Sync') syncs.set(key, [parsed.args[0] as bigint, parsed.args[1] as bigint]);
  const isV3 = parsed.args.length > 6;
  // Ignores other Swap events: a V2 pair may emit an event like V3's and the reverse. The Swap of a vault has only five
  // words.
  if (parsed.name !== 'Swap' || parsed.args.length < 6 || isV3 !== pool.isV3) return null;
  const args = parsed.args as readonly bigint[];
  // V2: sender, amount0In, amount1In, amount0Out, amount1Out, to. V3: sender, recipient, amount0, amount1, sqrtPriceX96 …
  const amount0 = isV3 ? args[2]! : args[1]! - args[3]!;
  const amount1 = isV3 ? args[3]! : args[2]! - args[4]!;
  // A pair holds less than 2^112, so an amount that overflows int256 cannot be real and is ignored.
  if (!IS_CANARY && (BigInt.asIntN(256, amount0) !== amount0 || BigInt.asIntN(256, amount1) !== amount1))
    return null;
  const sync = syncs.get(key);
  const sqrtPrice = isV3 ? args[4]! : 0n;
  const [numerator, denominator] = isV3
    ? [sqrtPrice * sqrtPrice, 1n << 192n]
    : sync === undefined
      ? [0n, 0n]
      : [sync[1], sync[0]];
  const { token0, token1, feePips } = pool;
  return {
    ...positionOf(block, log),
    token0,
    token1,
    feePips,
    pair: log.address,
    leg: 1,
    amount0,
    amount1,
    price: numerator! > 0n && denominator! > 0n ? quotient(numerator!, denominator!) : null,
    reserves: null,
  };
}

/** Bars of all timeframes, keyed by `timeframe pair bucket leg`. Prices are NaN in a bar without a priced swap. */
export function oracleBars(swaps: readonly OracleSwap[]): Map<string, OracleBar> {
  const bars = new Map<string, OracleBar>();
  for (const swap of swaps) {
    for (const timeframe of TIMEFRAMES) {
      const bucket = swap.timestamp - (swap.timestamp % timeframe);
      const key = `${timeframe} ${swap.pair} ${bucket} ${swap.leg}`;
      let bar = bars.get(key);
      if (bar === undefined) {
        bar = {
          open: NaN,
          high: NaN,
          low: NaN,
          close: NaN,
          volume0: 0n,
          volume1: 0n,
          trades: 0,
          outs0: 0,
          outs1: 0,
        };
        bars.set(key, bar);
      }
      bar.trades += 1;
      bar.volume0 += swap.amount0 < 0n ? -swap.amount0 : swap.amount0;
      bar.volume1 += swap.amount1 < 0n ? -swap.amount1 : swap.amount1;
      if (swap.amount0 < 0n) bar.outs0 += 1;
      if (swap.amount1 < 0n) bar.outs1 += 1;
      if (swap.price === null) continue;
      if (Number.isNaN(bar.open)) Object.assign(bar, { open: swap.price, high: swap.price, low: swap.price });
      bar.high = Math.max(bar.high, swap.price);
      bar.low = Math.min(bar.low, swap.price);
      bar.close = swap.price;
    }
  }
  return bars;
}
