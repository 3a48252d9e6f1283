/** Found pools between the pool search, the database and the session. */
import { insertRows } from '../../src/clickhouse/rows/inserter';
import { foundPoolsTable } from '../../src/clickhouse/schema/olderPoolTables';
import { logsTable } from '../../src/clickhouse/schema/tables';
import type { BlockRef } from '../../src/domain/block';
import { ZERO_HASH, type Hex } from '../../src/domain/hex';
import { toOrd } from '../../src/domain/ord';
import { FoundPools } from '../../src/ingest/pools/foundPools';
import { emptyRows } from '../../src/ingest/rows/blockRows';
import { createClickHouseStore } from '../../src/ingest/store/clickhouseStore';
import { HeadBook } from '../../src/ingest/store/headBook';
import { SWAP_FEE_CHANGED } from '../../src/protocols/balancerV2/decodeBalancerEvent';
import { openTestStore, type TestStore } from '../support/engine/testStore';
import { FOUND_VAULT_POOL } from '../support/node/vaultSetup';
import { data as words } from '../simulation/chain/simLogs';

const CHAIN = 369;
const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;
const chain = {
  blockAt: (number: number) => ({ number, hash: hashOf(number), parentHash: ZERO_HASH, timestamp: number }),
};
const { block, block_hash, ...row } = FOUND_VAULT_POOL;

let store: TestStore;

beforeAll(async () => {
  store = await openTestStore();
  const changes = [
    [80, 2_000n],
    [95, 3_000n],
  ] as const;
  const logs = changes.map(([number, pips]) => ({
    chain_id: CHAIN,
    ord: toOrd(number, 0),
    timestamp: number,
    address: row.address,
    topic_count: 1,
    topic0: SWAP_FEE_CHANGED,
    topic1: undefined,
    topic2: undefined,
    topic3: undefined,
    data: words(pips * 10n ** 12n),
    tx_hash: ZERO_HASH,
    tx_index: 0,
  }));
  await insertRows(store.db, logsTable, logs);
});

beforeEach(() => store.db.command('empty', `TRUNCATE TABLE ${foundPoolsTable.name}`));

afterAll(() => store?.close());

const open = async (above: number): Promise<FoundPools> => {
  const found = new FoundPools(store.db, CHAIN);
  await found.load(above, () => false);
  return found;
};
const feesAt = (found: FoundPools, number: number): number[] =>
  found.addedBy({ number, hash: hashOf(number) }).map(({ fee_pips: fee }) => fee);

test('every block with the recorded number adds the pool, with the fee of the newest final fee event', async () => {
  const found = await open(90);
  const offer = found.offer([{ row, readAt: chain.blockAt(102) }], new AbortController().signal);
  await found.record(103, 90, chain);
  await offer;
  expect(found.isKnown(row.address)).toBe(true);
  expect(feesAt(found, 102)).toEqual([]);
  expect(feesAt(found, 103)).toEqual([2_000]);
  found.noteStored(102);
  expect(found.isAhead).toBe(true);
  found.noteStored(103);
  expect(found.isAhead).toBe(false);
  // After a restart, the session does not decode the final blocks with later fee events again.
  expect(feesAt(await open(96), 103)).toEqual([3_000]);
  expect(feesAt(await open(103), 103)).toEqual([]);
});

test('a pool whose state is from a block of another branch is dropped', async () => {
  const found = await open(90);
  const readAt = { number: 102, hash: hashOf(7) };
  const offer = found.offer([{ row, readAt }], new AbortController().signal);
  await found.record(103, 90, chain);
  await offer;
  expect(found.isKnown(row.address)).toBe(false);
  expect(feesAt(await open(90), 103)).toEqual([]);
});

test('a row with the hash of a block adds the pool at this block only', async () => {
  await insertRows(store.db, foundPoolsTable, [{ ...row, block, block_hash: hashOf(block) }]);
  const found = await open(96);
  expect(feesAt(found, block)).toEqual([3_000]);
  expect(found.addedBy({ number: block, hash: hashOf(7) })).toEqual([]);
});

test('a block that was stored and then removed keeps its number taken, also after a restart', async () => {
  const writer = createClickHouseStore(store.db, CHAIN);
  const refOf = (number: number, branch = 0): BlockRef => ({
    number,
    hash: hashOf(number + 1_000 * branch),
    parentHash: hashOf(number - 1),
    timestamp: number,
  });
  await writer.writeStart(refOf(0));
  const book = new HeadBook((await writer.loadState())!);
  expect(book.firstUnstored).toBe(1);
  const change = async (refs: readonly BlockRef[], version: number): Promise<void> => {
    const flip = book.changeTo(
      refs.map((ref) => emptyRows(ref)),
      refs.at(-1)!.number,
      true,
      () => version,
    )!;
    await writer.writeHead({ ...flip, version, finalNumber: 0 });
    book.note(flip);
  };
  await change([refOf(1), refOf(2), refOf(3)], 1);
  expect(book.firstUnstored).toBe(4);
  // The other branch is shorter. If the first branch comes back, its block 3 has the rows that are stored now.
  await change([refOf(2, 1)], 2);
  expect(book.firstUnstored).toBe(4);
  expect(new HeadBook((await writer.loadState())!).firstUnstored).toBe(4);
});
