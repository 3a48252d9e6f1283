/**
 * Keeps the swaps of canonical head blocks in memory, by leg. The rows of a commit never change, so each block is
 * read once for all requests. If the head has too many swaps, they are read pair by pair.
 */
import type { HeadBlock } from '../../domain/head/foldHead';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, bool, f64, u16, u256, u32, u64, u8, usd } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { AppError } from '../../errors';
import type { HeadSwap } from './barParts';
import type { HeadSnapshot } from '../head/headSnapshot';
import { perVersion } from '../head/perVersion';

/** Largest number of swaps in memory over all pairs, about 500 bytes each. */
const SWAPS_KEPT_MAX = 60_000;
/**
 * Largest number of swaps of one pair in head blocks. With more swaps the answer would be incomplete, so the request
 * fails.
 */
const PAIR_SWAPS_MAX = 500_000;

/** A row of list_head_swaps.sql. Volumes are in raw units, `price` is raw token1 per raw token0. */
const swapRow = rowType({
  commit: u64,
  ord: u64,
  timestamp: u32,
  pair: address,
  leg: u16,
  volume0: u256,
  volume1: u256,
  price: f64,
  price_usd: f64,
  amount_usd: usd,
  tracked: bool,
  buy: u8,
});

/** A leg of a pool (swaps.leg). */
export interface LegRef {
  readonly pair: Hex;
  readonly leg: number;
}

export interface HeadSwaps {
  /**
   * Swaps of a leg in the snapshot's head blocks, by position (`ord`). Prices are in USD or raw. Throws unavailable
   * if there are too many swaps.
   */
  listSwaps(head: HeadSnapshot, key: LegRef, inUsd: boolean): Promise<HeadSwap[]>;
}

/** A swap with its USD price and its raw price. */
interface StoredSwap extends Omit<HeadSwap, 'price'> {
  readonly commit: number;
  readonly legKey: string;
  readonly price: number;
  readonly priceUsd: number;
}

/** Swaps by the commit of their block, then by leg. */
type SwapsByBlock = ReadonlyMap<number, Map<string, StoredSwap[]>>;

/** `blocks` is null if the head has too many swaps for memory. */
interface KeptSwaps {
  readonly blocks: SwapsByBlock | null;
}

/** `swapsMax`: the maximum number of swaps in memory. */
export function createHeadSwaps(runner: QueryRunner, swapsMax = SWAPS_KEPT_MAX): HeadSwaps {
  const keptSwaps = perVersion<KeptSwaps>({
    read: (head) => loadSwaps(runner, head, new Map(), swapsMax),
    update: async ({ blocks }, { to }) => (blocks === null ? null : loadSwaps(runner, to, blocks, swapsMax)),
  });
  return {
    async listSwaps(head, { pair, leg }, inUsd) {
      if (head.blocks.length === 0) return [];
      const key = legKeyOf(pair, leg);
      const { blocks } = await keptSwaps.at(head);
      const legSwaps =
        blocks === null
          ? (await readPairSwaps(runner, head, pair.slice(2))).filter((swap) => swap.legKey === key)
          : head.blocks.flatMap(({ commit }) => blocks.get(commit)?.get(key) ?? []);
      return legSwaps.map((swap) => (inUsd ? { ...swap, price: swap.priceUsd } : swap));
    },
  };
}

/** Reads the blocks that are not known. */
async function loadSwaps(
  runner: QueryRunner,
  head: HeadSnapshot,
  swapsByCommit: SwapsByBlock,
  swapsMax: number,
): Promise<KeptSwaps> {
  const unreadBlocks = head.blocks.filter(({ commit }) => !swapsByCommit.has(commit));
  const newSwaps = unreadBlocks.length === 0 ? [] : await readSwaps(runner, unreadBlocks, '', swapsMax + 1);
  const blocks = new Map(
    head.blocks.map(({ commit }) => [commit, swapsByCommit.get(commit) ?? new Map<string, StoredSwap[]>()]),
  );
  for (const newSwap of newSwaps) {
    const swapsByLeg = blocks.get(newSwap.commit);
    const swaps = swapsByLeg?.get(newSwap.legKey);
    if (swaps === undefined) swapsByLeg?.set(newSwap.legKey, [newSwap]);
    else swaps.push(newSwap);
  }
  let swapCount = 0;
  for (const swapsByLeg of blocks.values())
    for (const swaps of swapsByLeg.values()) swapCount += swaps.length;
  return { blocks: swapCount > swapsMax ? null : blocks };
}

async function readPairSwaps(runner: QueryRunner, { blocks }: HeadSnapshot, pair: string) {
  const rows = await readSwaps(runner, blocks, pair, PAIR_SWAPS_MAX);
  if (rows.length === PAIR_SWAPS_MAX)
    throw new AppError('unavailable', 'too many swaps of the pair are not final yet; try again later');
  return rows;
}

/** Swaps of these blocks in one pair, or in all pairs if `pair` is empty. */
async function readSwaps(
  runner: QueryRunner,
  blocks: readonly HeadBlock[],
  pair: string,
  limit: number,
): Promise<StoredSwap[]> {
  const params = {
    commits: blocks.map((block) => block.commit),
    after_ord: lastOrdOfBlock(Math.min(...blocks.map((block) => block.number)) - 1),
    pair,
    limit,
  };
  return (await runner.run('bars/list_head_swaps', params, swapRow)).map(toSwap);
}

function legKeyOf(pair: Hex, leg: number): string {
  return `${pair}.${leg}`;
}

function toSwap(row: RowOf<typeof swapRow>): StoredSwap {
  return {
    commit: row.commit,
    ord: row.ord,
    timestamp: row.timestamp,
    legKey: legKeyOf(row.pair, row.leg),
    volume0: row.volume0,
    volume1: row.volume1,
    price: row.price,
    priceUsd: row.price_usd,
    volumeUsd: row.amount_usd,
    tracked: row.tracked,
    isBuy: row.buy === 1,
  };
}
