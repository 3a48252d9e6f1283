/**
 * Keeps the swaps of canonical head blocks in memory, by leg. The rows of a commit never change, so each block is
 * read once for all requests. If the head has too many swaps, they are read pair by pair.
 */
import type { HeadBlock } from '../../domain/head/foldHead';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { RowReader } from '../../clickhouse/rows/rowReader';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { AppError } from '../../errors';
import type { HeadSwap } from './barParts';
import type { HeadSnapshot } from '../head/headSnapshot';

/** Largest number of swaps in memory over all pairs, about 500 bytes each. */
const KEPT_MAX = 60_000;
/**
 * Largest number of swaps of one pair in head blocks. With more swaps the answer would be incomplete, so the request
 * fails.
 */
const PAIR_SWAPS_MAX = 500_000;
/** Largest number of blocks in memory that only older snapshots use. */
const OLD_COMMITS_MAX = 256;

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
  of(head: HeadSnapshot, key: LegRef, usd: boolean): Promise<HeadSwap[]>;
}

/** A swap with its USD price and its raw price. */
interface StoredSwap extends Omit<HeadSwap, 'price'> {
  readonly commit: number;
  readonly key: string;
  readonly price: number;
  readonly priceUsd: number;
}

/** `keptMax`: the maximum number of swaps in memory. */
export function createHeadSwaps(runner: QueryRunner, keptMax = KEPT_MAX): HeadSwaps {
  return new KeptHeadSwaps(runner, keptMax);
}

class KeptHeadSwaps implements HeadSwaps {
  /** Swaps by commit of the block, then by leg. */
  private readonly blocks = new Map<number, Map<string, StoredSwap[]>>();
  private swaps = 0;
  private loading: { readonly version: string; readonly done: Promise<boolean> } | null = null;
  /** Version of the last head that had too many swaps for memory. It prevents a new attempt for every pair. */
  private tooLarge: string | null = null;

  constructor(
    private readonly runner: QueryRunner,
    private readonly keptMax: number,
  ) {}

  async of(head: HeadSnapshot, key: LegRef, usd: boolean): Promise<HeadSwap[]> {
    if (head.blocks.length === 0) return [];
    const name = keyOf(key.pair.slice(2), key.leg);
    const rows = (await this.isKept(head))
      ? head.blocks.flatMap((block) => this.blocks.get(block.commit)?.get(name) ?? [])
      : (await this.read(head.blocks, key.pair.slice(2), PAIR_SWAPS_MAX)).filter((swap) => swap.key === name);
    return rows.map((swap) => (usd ? { ...swap, price: swap.priceUsd } : swap));
  }

  /** Loads the snapshot's missing blocks. Returns false if they have too many swaps. */
  private async isKept(head: HeadSnapshot): Promise<boolean> {
    while (head.blocks.some((block) => !this.blocks.has(block.commit))) {
      if (this.tooLarge === head.version) return false;
      this.loading ??= {
        version: head.version,
        done: this.load(head).finally(() => (this.loading = null)),
      };
      const { version, done } = this.loading;
      const loaded = await done;
      if (version === head.version) return loaded;
    }
    return true;
  }

  private async load(head: HeadSnapshot): Promise<boolean> {
    const missing = head.blocks.filter((block) => !this.blocks.has(block.commit));
    const rows = await this.read(missing, '', this.keptMax + 1);
    this.forget(head);
    if (this.swaps + rows.length > this.keptMax) {
      this.tooLarge = head.version;
      return false;
    }
    for (const block of missing) this.blocks.set(block.commit, new Map());
    for (const row of rows) {
      const legs = this.blocks.get(row.commit);
      const known = legs?.get(row.key);
      if (known === undefined) legs?.set(row.key, [row]);
      else known.push(row);
    }
    this.swaps += rows.length;
    return true;
  }

  /** Removes the oldest blocks that are not in the snapshot. */
  private forget(head: HeadSnapshot): void {
    const canonical = new Set(head.blocks.map((block) => block.commit));
    const old = [...this.blocks.keys()].filter((commit) => !canonical.has(commit));
    for (const commit of old.slice(0, Math.max(0, old.length - OLD_COMMITS_MAX))) {
      for (const rows of this.blocks.get(commit)?.values() ?? []) this.swaps -= rows.length;
      this.blocks.delete(commit);
    }
  }

  private async read(blocks: readonly HeadBlock[], pair: string, limit: number): Promise<StoredSwap[]> {
    const params = {
      commits: blocks.map((block) => block.commit),
      after_ord: lastOrdOfBlock(Math.min(...blocks.map((block) => block.number)) - 1),
      pair,
      limit,
    };
    const rows = await this.runner.read('bars/list_head_swaps', params, readSwap);
    if (pair !== '' && rows.length === limit)
      throw new AppError('unavailable', 'too many swaps of the pair are not final yet; try again later');
    return rows;
  }
}

function keyOf(pair: string, leg: number): string {
  return `${pair}.${leg}`;
}

function readSwap(row: RowReader): StoredSwap {
  return {
    commit: row.u64(),
    ord: row.u64(),
    timestamp: row.u32(),
    key: keyOf(row.hex(20), row.u16()),
    volume0: row.u256(),
    volume1: row.u256(),
    price: row.f64(),
    priceUsd: row.f64(),
    volumeUsd: row.decimal128(),
    tracked: row.bool(),
    buy: row.bool(),
  };
}
