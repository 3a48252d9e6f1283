/**
 * Compares the protocol's part of V3 fees with a plain recomputation: by the logs SetFeeProtocol from each log on, by
 * slot0() before, and by the token that each swap pays.
 */
import { AbiCoder } from 'ethers';

import { openDatabase, type Database } from '../../../../src/clickhouse/client/database';
import { createQueryRunner, type QueryRunner } from '../../../../src/clickhouse/client/namedQueries';
import { insertRows } from '../../../../src/clickhouse/rows/inserter';
import { poolFirstSharesTable } from '../../../../src/clickhouse/schema/olderPoolTables';
import { migrate } from '../../../../src/clickhouse/schema/migrate';
import { logsTable, type PoolRow, type SwapRow } from '../../../../src/clickhouse/schema/tables';
import type { Hex } from '../../../../src/domain/hex';
import { toOrd } from '../../../../src/domain/ord';
import { createLog } from '../../../../src/log';
import { FEE_PROTOCOL_TOPICS } from '../../../../src/protocols/uniswapV3/feeProtocol';
import { readDexTable } from '../../../../src/query/dexes/dexTable';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { toPairDetail } from '../../../../src/query/pairs/pairDetail';
import { createPairTables, type PairTable, type PairTables } from '../../../../src/query/pairs/pairTable';
import { readPairWindows } from '../../../../src/query/pairs/pairWindows';
import { readSplitFees } from '../../../../src/query/pairs/protocolFees';
import { createTokenPrices } from '../../../../src/query/prices/tokenPrices';
import { createTestDatabase, type TestDatabase } from '../../../support/engine/engine';
import { CHAIN } from '../../../support/server/apiServer';
import { logRow } from '../../../support/worlds/logRow';
import {
  CHAIN_ID,
  commitOf,
  FIRST_BLOCK,
  insertCommits,
  makeWorld,
  snapshotOf,
  storeWorld,
  type World,
} from '../../../support/worlds/world';
import { expectClose, feeOf, swapsIn } from './plainMarket';

const LAST = FIRST_BLOCK + 399;
const FINAL = FIRST_BLOCK + 350;
const DAY = 86_400;
const WEEK = 604_800;
const SHARE = 0.32;
const dexes = CHAIN.dexes.map((dex) => (dex.name === 'nine_v3' ? { ...dex, protocolFeeShare: SHARE } : dex));

/** The swaps of V3 pools have a value, so that all V3 pools have fees. */
function withValues({ blocks, ...rest }: World): World {
  const valued = blocks.map((block) => ({
    ...block,
    swaps: block.swaps.map((swap) =>
      swap.pool_type === 3
        ? { ...swap, tracked: true, untracked_usd: 0n, amount_usd: BigInt(1 + (swap.ord % 997)) * 10n ** 13n }
        : swap,
    ),
  }));
  return { ...rest, blocks: valued };
}

const world = withValues(makeWorld({ seed: 31, blocks: 400, pools: 18, spacing: 900, events: 14 }));
const v3Pools = world.blocks.flatMap(({ pools }) => pools).filter(({ pool_type }) => pool_type === 3);
const [changing, later, pancake, read, unreadable] = v3Pools;

type Parts = readonly [number, number];
interface Change {
  readonly pool: PoolRow;
  readonly block: number;
  readonly topic: Hex;
  /** Values of the event: before and after, for token0 and token1. */
  readonly raw: readonly [number, number, number, number];
  readonly before: Parts;
  readonly after: Parts;
}

const [UNISWAP, PANCAKE] = FEE_PROTOCOL_TOPICS as readonly [Hex, Hex];
const CHANGES: readonly Change[] = [
  { pool: changing!, block: 290, topic: UNISWAP, raw: [0, 0, 4, 10], before: [0, 0], after: [1 / 4, 1 / 10] },
  {
    pool: changing!,
    block: 340,
    topic: UNISWAP,
    raw: [4, 10, 6, 6],
    before: [1 / 4, 1 / 10],
    after: [1 / 6, 1 / 6],
  },
  {
    pool: changing!,
    block: 370,
    topic: UNISWAP,
    raw: [6, 6, 0, 5],
    before: [1 / 6, 1 / 6],
    after: [0, 1 / 5],
  },
  { pool: later!, block: 380, topic: UNISWAP, raw: [5, 5, 0, 0], before: [1 / 5, 1 / 5], after: [0, 0] },
  {
    pool: pancake!,
    block: 330,
    topic: PANCAKE,
    raw: [3_400, 3_200, 1_000, 4_000],
    before: [0.34, 0.32],
    after: [0.1, 0.4],
  },
];
const toLog = ({ pool, block, topic, raw }: Change) =>
  logRow({
    ord: toOrd(FIRST_BLOCK + block, 3),
    address: pool.address,
    topics: [topic],
    data: AbiCoder.defaultAbiCoder().encode(Array(4).fill('uint32'), raw) as Hex,
  });
const isFinal = ({ block }: Change): boolean => FIRST_BLOCK + block <= FINAL;

let test_: TestDatabase;
let db: Database;
let runner: QueryRunner;

beforeAll(async () => {
  test_ = await createTestDatabase();
  db = openDatabase({ url: test_.writerUrl });
  await migrate(db, createLog('silent', false));
  await storeWorld(db, world, { storedTo: FINAL, headFrom: FINAL + 1, inserts: 3 });
  await insertRows(db, logsTable, CHANGES.filter(isFinal).map(toLog));
  await insertCommits(db, logsTable, [
    ...CHANGES.filter((change) => !isFinal(change)).map((change) => ({
      rows: [toLog(change)],
      commit: commitOf(FIRST_BLOCK + change.block),
    })),
    // A block that a reorg removed. A contract that is no pool emits the event, too.
    { rows: [toLog({ ...CHANGES[0]!, block: 360, raw: [4, 10, 5, 5] })], commit: 90_360 },
    {
      rows: [toLog({ ...CHANGES[0]!, block: 361, pool: { ...changing!, address: `0x${'d'.repeat(40)}` } })],
      commit: commitOf(FIRST_BLOCK + 361),
    },
  ]);
  const first = { read_block: FINAL, version: 1_700_000_000_000 };
  await insertRows(db, poolFirstSharesTable, [
    { ...first, pair: read!.address, share0: 0.33, share1: 0.33 },
    { ...first, pair: unreadable!.address, share0: null, share1: null },
    { ...first, pair: changing!.address, share0: 0, share1: 0 },
  ]);
  runner = createQueryRunner(openDatabase({ url: test_.readerUrl }));
});

afterAll(async () => {
  await db?.close();
  await test_?.drop();
});

/** The parts that apply to a swap: null if the pool says nothing, so that the description's share applies. */
function partsAt(head: HeadSnapshot, { pair, ord }: SwapRow): Parts | null {
  const own = CHANGES.filter(
    ({ pool, block }) => pool.address === pair && FIRST_BLOCK + block <= head.number,
  );
  const last = own.findLast(({ block }) => toOrd(FIRST_BLOCK + block, 3) < ord);
  if (last !== undefined) return last.after;
  return (
    own[0]?.before ?? (pair === read!.address ? [0.33, 0.33] : pair === changing!.address ? [0, 0] : null)
  );
}

function plainPart(head: HeadSnapshot, swaps: readonly SwapRow[]): number {
  return swaps
    .filter(({ tracked }) => tracked)
    .reduce((sum, swap) => {
      const parts = partsAt(head, swap) ?? [SHARE, SHARE];
      return sum + (Number(feeOf(swap)) / 1e12) * parts[swap.amount0 > 0n ? 0 : 1];
    }, 0);
}

const memory = { tables: null as PairTables | null };
function readTable(head: HeadSnapshot): Promise<PairTable> {
  memory.tables ??= createPairTables(runner, CHAIN_ID, createTokenPrices(runner, CHAIN_ID, CHAIN), dexes);
  return memory.tables.at(head);
}

const heads = [
  snapshotOf(world, FIRST_BLOCK + 300, FIRST_BLOCK + 300),
  snapshotOf(world, FINAL, FIRST_BLOCK + 365),
  snapshotOf(world, FINAL, LAST),
  // After a reorg, the last change is gone.
  snapshotOf(world, FINAL, FIRST_BLOCK + 375),
];

test('the protocol fees of pairs and DEXes follow each change from its log on, per token that a swap pays, and through reorgs', async () => {
  let [fees, constant] = [0, 0];
  for (const head of heads) {
    const table = await readTable(head);
    let ofDex = 0;
    for (const { address } of v3Pools) {
      const entry = table.byAddress.get(address);
      if (entry === undefined) continue;
      const own = (seconds: number): SwapRow[] =>
        swapsIn(world, head, head.timestamp - seconds).filter(({ pair }) => pair === address);
      const windows = await readPairWindows(runner, CHAIN_ID, head, entry.pool);
      const splitFeesWeek = await readSplitFees(runner, CHAIN_ID, head, entry, windows.feesWeek);
      const detail = toPairDetail(entry, { ...windows, splitFeesWeek }, { holding: null, partial: true });
      const part = plainPart(head, own(DAY));
      expectClose(detail.protocol_fees_24h_usd, part);
      expectClose(detail.lp_fees_24h_usd, detail.fees.h24 - part);
      const weekPart = plainPart(head, own(WEEK));
      expectClose(splitFeesWeek ?? windows.feesWeek * SHARE, weekPart);
      if (detail.apr_7d !== null && windows.feesWeek > 0) {
        const bare = toPairDetail(entry, { ...windows, splitFeesWeek: 0 }, { holding: null, partial: true });
        expectClose(detail.apr_7d / bare.apr_7d!, 1 - weekPart / windows.feesWeek);
      }
      ofDex += part;
      if (part > 0) fees += 1;
      if (part > 0 && Math.abs(part - detail.fees.h24 * SHARE) < 1e-9 * part) constant += 1;
    }
    const { items } = await readDexTable(runner, CHAIN_ID, head, dexes, table);
    expectClose(items.find(({ dex_name }) => dex_name === 'nine_v3')!.protocol_fees_24h_usd, ofDex);
  }
  // Some pools have parts of their own, and some have only the share of the chain description.
  expect(fees - constant).toBeGreaterThan(6);
  expect(constant).toBeGreaterThan(1);
});
