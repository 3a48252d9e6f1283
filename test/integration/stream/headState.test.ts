/** Reads the snapshot of the head from the real engine while blocks arrive, fork and are promoted. */
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { insertRows } from '../../../src/clickhouse/rows/inserter';
import { headBlocksTable } from '../../../src/clickhouse/schema/tables';
import {
  findBlockHash,
  followHead,
  readChangeMark,
  readHead,
  readHeadRow,
} from '../../../src/query/head/headState';
import { createReportedHead } from '../../../src/query/head/reportedHead';
import { CHAIN_ID, ChainWriter, swaps } from './chainWriter';
import { openTestStore, type TestStore } from '../../support/engine/testStore';

let store: TestStore;
let chain: ChainWriter;

beforeEach(async () => {
  store = await openTestStore();
  chain = new ChainWriter(store.db);
});

afterEach(() => store.close());

test('a database without a start row has no head, and neither has one with a start row and no blocks', async () => {
  expect(await readHead(store.runner, CHAIN_ID)).toBeNull();
  await chain.start();
  expect(await readHead(store.runner, CHAIN_ID)).toBeNull();
  expect(await readHead(store.runner, 943)).toBeNull();
});

test('the snapshot lists the head blocks above the last final block in order', async () => {
  await chain.start();
  const first = await chain.mine(swaps(1));
  const second = await chain.mine();
  const head = await readHead(store.runner, CHAIN_ID);
  expect(head).toMatchObject({
    startBlock: 100,
    number: 101,
    hash: second.hash,
    timestamp: second.timestamp,
    finalTo: 99,
    finalNumber: 99,
  });
  expect(head?.blocks.map((block) => [block.number, block.hash, block.commit])).toEqual([
    [100, first.hash, first.commit],
    [101, second.hash, second.commit],
  ]);
});

test('the snapshot is complete after a reorg, a return to the first branch and a shorter head', async () => {
  await chain.start();
  await chain.mine();
  const a = [...chain.head, chain.make(), chain.make()].slice(0, 2);
  await chain.flip(a);
  const b = await chain.reorg(100, [[], []]);
  expect((await readHead(store.runner, CHAIN_ID))?.hash).toBe(b[1]?.hash);
  await chain.flip(a);
  const again = await readHead(store.runner, CHAIN_ID);
  expect(again).toMatchObject({ number: 101, hash: a[1]?.hash });
  await chain.flip(a.slice(0, 1));
  expect(await readHead(store.runner, CHAIN_ID)).toMatchObject({ number: 100, hash: a[0]?.hash });
});

test('a promotion moves blocks from head to final in the snapshot without changing the newest block', async () => {
  await chain.start();
  for (let i = 0; i < 4; i += 1) await chain.mine(swaps(2));
  const before = await readHead(store.runner, CHAIN_ID);
  const moved = chain.head.slice(0, 2);
  await chain.copyToFinal(moved);
  const during = await readHead(store.runner, CHAIN_ID);
  expect(during).toEqual(before);
  await chain.moveCursor(moved);
  const after = await readHead(store.runner, CHAIN_ID);
  expect(after).toMatchObject({ number: 103, hash: before?.hash, finalTo: 101, finalNumber: 101 });
  expect(after?.blocks.map((block) => block.number)).toEqual([102, 103]);
  expect(after?.version).not.toBe(before?.version);
  expect(await findBlockHash(store.runner, CHAIN_ID, after!, 100)).toBe(moved[0]?.hash);
  expect(await findBlockHash(store.runner, CHAIN_ID, after!, 103)).toBe(before?.hash);
  expect(await findBlockHash(store.runner, CHAIN_ID, after!, 104)).toBeNull();
});

test('after a promotion of all blocks the newest block is the last final block', async () => {
  await chain.start();
  const block = await chain.mine();
  await chain.promote(100);
  expect(await readHead(store.runner, CHAIN_ID)).toMatchObject({
    number: 100,
    hash: block.hash,
    finalTo: 100,
    timestamp: block.timestamp,
    blocks: [],
  });
});

test('a missing block above the last final block ends the snapshot below the missing block', async () => {
  await chain.start();
  await chain.mine();
  const row = { chain_id: CHAIN_ID, timestamp: 1, commit: 77, version: 9, final_number: 99 };
  const hash = `0x${'ab'.repeat(32)}`;
  await insertRows(store.db, headBlocksTable, [
    { ...row, number: 103, hash, parent_hash: hash, proof: 'full' },
  ]);
  expect(await readHead(store.runner, CHAIN_ID)).toMatchObject({ number: 100 });
});

test('the counts that reveal changes (change mark) differ after a new block, a reorg, a removed block, a promotion and a backfill', async () => {
  const marks = new Set<string>();
  const versions = new Set<string | undefined>();
  const note = async (): Promise<void> => {
    marks.add(await readChangeMark(store.runner));
    versions.add((await readHead(store.runner, CHAIN_ID))?.version);
  };
  await note();
  await chain.start();
  marks.add(await readChangeMark(store.runner));
  await chain.mine();
  await note();
  await chain.reorg(99, [[], []]);
  await note();
  await chain.flip(chain.head.slice(0, 1));
  await note();
  await chain.promote(100);
  await note();
  await chain.backfill([chain.make()]);
  await note();
  expect(marks.size).toBe(7);
  expect(versions.size).toBe(6);
});

test('the head computed from the ingester’s messages equals the stored head', async () => {
  await chain.start();
  await chain.mine(swaps(1));
  let reading = (await readHeadRow(store.runner, CHAIN_ID))!;
  const branches = [chain.head];
  const moves = [
    () => chain.mine(swaps(2)),
    () => chain.reorg(99, [swaps(1), swaps(1), swaps(1)]),
    () => chain.flip(branches[0]!),
    () => chain.reorg(99, [[], []]),
    () => chain.flip(branches[2]!),
    () => chain.mine(),
  ];
  for (const move of moves) {
    await move();
    branches.push(chain.head);
    const followed = followHead(reading, [chain.told!]);
    expect(followed?.snapshot).toEqual(await readHead(store.runner, CHAIN_ID));
    reading = followed!;
  }
  await chain.promote(101);
  reading = (await readHeadRow(store.runner, CHAIN_ID))!;
  await chain.mine(swaps(1));
  expect(followHead(reading, [chain.told!])?.snapshot).toEqual(await readHead(store.runner, CHAIN_ID));
});

test('a repeated message of the ingester changes nothing, and a message that does not connect to the head requires a read', async () => {
  await chain.start();
  await chain.mine();
  const first = (await readHeadRow(store.runner, CHAIN_ID))!;
  await chain.mine();
  const told = chain.told!;
  const second = followHead(first, [told])!;
  expect(followHead(second, [told])?.snapshot).toEqual(second.snapshot);
  expect(followHead(first, [{ ...told, version: told.version + 1 }])).toBeNull();
  const [block] = told.canonical;
  expect(followHead(first, [{ ...told, canonical: [{ ...block!, number: block!.number + 1 }] }])).toBeNull();
  expect(followHead({ ...first, version: 0 }, [told])).toBeNull();
});

test('the background tasks of an ingester follow its changes without a statement, and read the head after a promotion', async () => {
  let reads = 0;
  const runner = createQueryRunner(store.db, { observe: () => (reads += 1) });
  const reported = createReportedHead(CHAIN_ID);
  const compare = async (): Promise<number> => {
    expect(await reported.read(runner)).toEqual(await readHead(store.runner, CHAIN_ID));
    return reads;
  };
  await chain.start();
  await chain.mine(swaps(1));
  expect(await compare()).toBe(1);
  for (const move of [() => chain.mine(), () => chain.mine(swaps(1)), () => chain.reorg(101, [[], []])]) {
    await move();
    reported.report(chain.told);
    expect(await compare()).toBe(1);
  }
  await chain.promote(101);
  reported.report(null);
  expect(await compare()).toBe(2);
  // More changes than are kept.
  for (let i = 0; i < 65; i += 1) reported.report(chain.told);
  expect(await compare()).toBe(3);
});
