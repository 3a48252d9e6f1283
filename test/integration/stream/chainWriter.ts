/** Writes an invented chain into the head and final tables like the ingester, for tests of the readers. */
import { createHash } from 'node:crypto';

import type { Database } from '../../../src/clickhouse/client/database';
import { insertRows } from '../../../src/clickhouse/rows/inserter';
import {
  blocksTable,
  headBlocksTable,
  eventsTable,
  liquidityEventsTable,
  poolStatesTable,
  swapsTable,
  type BlockRow,
  type LiquidityEventRow,
  type PoolStateRow,
  type SwapRow,
} from '../../../src/clickhouse/schema/tables';
import { ZERO_ADDRESS, ZERO_HASH, type Hex } from '../../../src/domain/hex';
import { toOrd } from '../../../src/domain/ord';
import { toEventRows } from '../../../src/ingest/rows/blockRows';
import type { PublishedFlip } from '../../../src/query/head/headState';

export const CHAIN_ID = 369;

export function addressOf(seed: number): Hex {
  return `0x${seed.toString(16).padStart(40, '0')}`;
}

export interface MadeEvent {
  readonly kind: 'swap' | 'mint' | 'burn' | 'sync';
  readonly logIndex: number;
  /** Pool, tokens and maker of a swap are small numbers: pool p trades tokens 1000 + p and 1. */
  readonly pool: number;
  readonly maker: number;
}

export interface MadeBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly timestamp: number;
  readonly commit: number;
  readonly proof: 'full';
  readonly events: readonly MadeEvent[];
}

export function token0Of(pool: number): Hex {
  return addressOf(1_000 + pool);
}

export const TOKEN1 = addressOf(1);

/** `n` swaps of one pool in one block. */
export function swaps(n: number, pool = 1, maker = 7): MadeEvent[] {
  return Array.from({ length: n }, (_, logIndex) => ({ kind: 'swap', logIndex, pool, maker }));
}

export class ChainWriter {
  /** Canonical head blocks above the last final block, ascending. */
  head: MadeBlock[] = [];
  cursor: { number: number; hash: Hex; timestamp: number };
  /** The last change of the head, as the ingester would announce it. */
  told: PublishedFlip | null = null;
  private commits = 0;
  private version = 0;
  private seq = 0;
  private readonly stored = new Set<number>();

  constructor(
    private readonly database: Database,
    readonly startBlock = 100,
  ) {
    this.cursor = { number: startBlock - 1, hash: hashOf('start'), timestamp: timeOf(startBlock - 1) };
  }

  get tip(): { number: number; hash: Hex; timestamp: number } {
    return this.head.at(-1) ?? this.cursor;
  }

  /** Writes the row that marks the start of the index. */
  async start(): Promise<void> {
    await this.writeDone('start', this.startBlock, this.startBlock - 1);
  }

  /** Makes a block in memory only, by default on the newest block. */
  make(events: readonly MadeEvent[] = [], parent: { number: number; hash: Hex } = this.tip): MadeBlock {
    this.commits += 1;
    return {
      number: parent.number + 1,
      hash: hashOf(`${parent.hash}${this.commits}`),
      parentHash: parent.hash,
      timestamp: timeOf(parent.number + 1),
      commit: this.commits,
      proof: 'full',
      events,
    };
  }

  /** Adds a canonical block on the newest block. */
  async mine(events: readonly MadeEvent[] = []): Promise<MadeBlock> {
    const block = this.make(events);
    await this.flip([...this.head, block]);
    return block;
  }

  /** Makes these the canonical head blocks: stores their rows, then changes all differing heights in one
   * insert. */
  async flip(head: readonly MadeBlock[]): Promise<void> {
    for (const block of head) {
      if (!this.stored.has(block.commit)) await this.store(block);
    }
    this.version += 1;
    const old = new Map(this.head.map((block) => [block.number, block]));
    const common = { chain_id: CHAIN_ID, version: this.version, final_number: this.cursor.number };
    const rows = head
      .filter((block) => old.get(block.number)?.commit !== block.commit)
      .map((block) => ({
        ...common,
        number: block.number,
        hash: block.hash,
        parent_hash: block.parentHash,
        timestamp: block.timestamp,
        commit: block.commit,
        proof: block.proof,
      }));
    const top = head.at(-1)?.number ?? this.cursor.number;
    const voided = this.head
      .filter((block) => block.number > top)
      .map(({ number }) => ({
        ...common,
        number,
        hash: ZERO_HASH,
        parent_hash: ZERO_HASH,
        timestamp: 0,
        commit: 0,
        proof: 'bloom' as const,
      }));
    await insertRows(this.database, headBlocksTable, [...rows, ...voided]);
    const fresh = new Set(rows.map(({ commit }) => commit));
    this.told = {
      version: this.version,
      canonical: head.filter(({ commit }) => fresh.has(commit)).map(({ events: _, ...block }) => block),
      voided: voided.map(({ number }) => number),
      finalNumber: this.cursor.number,
      fresh: head
        .filter(({ commit }) => fresh.has(commit))
        .map((block) => ({ commit: block.commit, rows: rowsOf(block) })),
    };
    this.head = [...head];
  }

  /** Replaces everything above `forkNumber` with new blocks that have these events. */
  async reorg(forkNumber: number, blocks: readonly (readonly MadeEvent[])[]): Promise<MadeBlock[]> {
    const kept = this.head.filter((block) => block.number <= forkNumber);
    const made: MadeBlock[] = [];
    for (const events of blocks) {
      made.push(this.make(events, made.at(-1) ?? kept.at(-1) ?? this.cursor));
    }
    await this.flip([...kept, ...made]);
    return made;
  }

  /** Moves head blocks up to `to` into the final tables. */
  async promote(to: number): Promise<void> {
    const moved = this.head.filter((block) => block.number <= to);
    await this.copyToFinal(moved);
    await this.moveCursor(moved);
  }

  /** The first of two steps of promote(), for tests of the state in between. */
  async copyToFinal(moved: readonly MadeBlock[]): Promise<void> {
    for (const block of moved) await this.insertAll(rowsOf(block));
  }

  async moveCursor(moved: readonly MadeBlock[]): Promise<void> {
    const first = moved[0];
    const last = moved.at(-1);
    if (first === undefined || last === undefined) return;
    this.cursor = last;
    this.head = this.head.filter((block) => block.number > last.number);
    await this.writeDone('promotion', first.number, last.number);
  }

  /** Writes blocks straight into the final tables. */
  async backfill(blocks: readonly MadeBlock[]): Promise<void> {
    const all = blocks.map(rowsOf);
    await this.insertAll({
      blocks: all.flatMap((rows) => rows.blocks),
      swaps: all.flatMap((rows) => rows.swaps),
      liquidity_events: all.flatMap((rows) => rows.liquidity_events),
      pool_states: all.flatMap((rows) => rows.pool_states),
    });
    const last = blocks.at(-1);
    if (last === undefined) return;
    this.cursor = last;
    await this.writeDone('backfill', blocks[0]?.number ?? last.number, last.number);
  }

  private async store(block: MadeBlock): Promise<void> {
    this.stored.add(block.commit);
    await this.insertAll(rowsOf(block), block.commit);
  }

  private async insertAll(rows: BlockTables, commit?: number): Promise<void> {
    const options = commit === undefined ? {} : { commit };
    await Promise.all([
      insertRows(this.database, blocksTable, rows.blocks, options),
      insertRows(this.database, swapsTable, rows.swaps, options),
      insertRows(this.database, liquidityEventsTable, rows.liquidity_events, options),
      insertRows(this.database, poolStatesTable, rows.pool_states, options),
      insertRows(this.database, eventsTable, toEventRows(rows), options),
    ]);
  }

  private async writeDone(kind: string, from: number, to: number): Promise<void> {
    await this.database.command(
      'write done',
      `INSERT INTO promotions (chain_id, seq, status, kind, from_block, to_block, to_hash, to_timestamp)
       SELECT {chain:UInt32}, {seq:UInt64}, 'done', {kind:String}, {from:UInt32}, {to:UInt32}, unhex({hash:String}), {time:UInt32}`,
      {
        chain: CHAIN_ID,
        seq: this.seq,
        kind,
        from,
        to,
        hash: this.cursor.hash.slice(2),
        time: this.cursor.timestamp,
      },
    );
    this.seq += 1;
  }
}

function hashOf(text: string): Hex {
  return `0x${createHash('sha256').update(text).digest('hex')}`;
}

/** Each event has a different transaction on each branch. */
export function transactionOf(block: MadeBlock, event: MadeEvent): Hex {
  return hashOf(`${block.hash}${event.logIndex}`);
}

/** One block each second. */
function timeOf(number: number): number {
  return 1_780_000_000 + number;
}

interface BlockTables {
  readonly blocks: readonly BlockRow[];
  readonly swaps: readonly SwapRow[];
  readonly liquidity_events: readonly LiquidityEventRow[];
  readonly pool_states: readonly PoolStateRow[];
}

function rowsOf(block: MadeBlock): BlockTables {
  const common = (event: MadeEvent) => ({
    ord: toOrd(block.number, event.logIndex),
    timestamp: block.timestamp,
    pair: addressOf(event.pool + 50_000),
    dex: 'pulsex_v2',
    pool_type: 2,
    token0: token0Of(event.pool),
    token1: TOKEN1,
    base_is_token0: true,
    tx_hash: transactionOf(block, event),
    tx_index: 0,
    maker: addressOf(event.maker),
  });
  const state = { sqrt_price_x96: 0n, liquidity: 0n, tick: 0, price: 2 };
  return {
    blocks: [
      {
        chain_id: CHAIN_ID,
        number: block.number,
        hash: block.hash,
        parent_hash: block.parentHash,
        timestamp: block.timestamp,
        base_fee: null,
        transaction_count: 1,
        log_count: block.events.length,
        gas_prices: [],
        gas_used: [],
      },
    ],
    swaps: block.events
      .filter((event) => event.kind === 'swap')
      .map((event) => ({
        ...common(event),
        ...state,
        leg: 1,
        sender: addressOf(9),
        recipient: addressOf(9),
        amount0: 1_000n,
        amount1: -2_000n,
        reserve0: 1_000_000n,
        reserve1: 2_000_000n,
        price_usd: 0,
        quote_price_usd: 0,
        native_usd: 0,
        amount_usd: 0n,
        untracked_usd: 0n,
        tracked: false,
        price_counts: 0,
        fee_pips: 2_900,
      })),
    liquidity_events: block.events
      .filter((event) => event.kind === 'mint' || event.kind === 'burn')
      .map((event) => ({
        ...common(event),
        kind: event.kind === 'mint' ? ('mint' as const) : ('burn' as const),
        owner: addressOf(9),
        recipient: ZERO_ADDRESS,
        amount0: 1n,
        amount1: 2n,
        liquidity: null,
        tick_lower: null,
        tick_upper: null,
        amount0_usd: null,
        amount1_usd: null,
        trust: 0,
        others_usd: null,
      })),
    pool_states: block.events
      .filter((event) => event.kind === 'sync')
      .map((event) => ({
        ...common(event),
        ...state,
        doubts: 0,
        balances: [],
        params: [],
        unswapped: [],
        walked_liquidity: -1,
        near0: 0,
        near1: 0,
        kind: 'sync' as const,
        reserve0: 1n,
        reserve1: 2n,
      })),
  };
}

export function pairOf(pool: number): Hex {
  return addressOf(pool + 50_000);
}
