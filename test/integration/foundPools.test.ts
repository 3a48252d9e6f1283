/** Found pools between the pool search, the database and the session. */
import { insertRows } from '../../src/clickhouse/rows/inserter';
import { foundPoolsTable } from '../../src/clickhouse/schema/olderPoolTables';
import { logsTable } from '../../src/clickhouse/schema/tables';
import type { BlockRef } from '../../src/domain/block';
import { ZERO_HASH, type Hex } from '../../src/domain/hex';
import { toOrd } from '../../src/domain/ord';
import { PoolSearch } from '../../src/ingest/olderPools/poolSearch';
import { ManyTokenDiscovery } from '../../src/ingest/pools/discoverManyTokenPools';
import { toFinding } from '../../src/ingest/pools/finding';
import { FoundPools } from '../../src/ingest/pools/foundPools';
import { emptyRows } from '../../src/ingest/rows/blockRows';
import { newIngestStatus } from '../../src/ingest/session/status';
import { createClickHouseStore } from '../../src/ingest/store/clickhouseStore';
import { HeadBook } from '../../src/ingest/store/headBook';
import { createLog } from '../../src/log';
import { systemClock } from '../../src/node/rpc/clock';
import type { EndpointPool } from '../../src/node/rpc/endpointPool';
import { SWAP_FEE_CHANGED } from '../../src/protocols/balancerV2/decodeBalancerEvent';
import { uniswapV2 } from '../../src/protocols/uniswapV2/uniswapV2';
import { openTestStore, type TestStore } from '../support/engine/testStore';
import { FOUND_VAULT_POOL } from '../support/node/vaultSetup';
import { dataOf as words, digest, topicOf } from '../support/plainLogs';

const CHAIN = 369;
const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;
const chain = {
  blockAt: (number: number) => ({ number, hash: hashOf(number), parentHash: ZERO_HASH, timestamp: number }),
};
const { address, block } = FOUND_VAULT_POOL;
/** The pool as the search offers it, which does not know the block that adds the pool. */
const finding = { ...toFinding(FOUND_VAULT_POOL), fromBlock: 102 };

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
    address,
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
  const offer = found.offer([finding], chain.blockAt(102), new AbortController().signal);
  await found.record(103, 90, chain);
  await offer;
  expect(found.isKnown(address)).toBe(true);
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
  const offer = found.offer([finding], readAt, new AbortController().signal);
  await found.record(103, 90, chain);
  await offer;
  expect(found.isKnown(address)).toBe(false);
  expect(feesAt(await open(90), 103)).toEqual([]);
});

test('the pool search reads a pool again if a reorg removed the block of its state', async () => {
  const chainId = CHAIN + 1;
  const base = { ...chain.blockAt(100), timestamp: 100 };
  await createClickHouseStore(store.db, chainId).writeStart(base);
  const [factory, pair, token0, token1] = ['factory', 'pair', 'token0', 'token1'].map((one) =>
    digest(one, 20),
  );
  const dex = { name: 'v2', displayName: 'V2', protocol: uniswapV2.name, factory: factory!, startBlock: 99 };
  const created = {
    address: factory,
    topics: [...uniswapV2.creationTopics, topicOf(token0!), topicOf(token1!)],
    data: words(pair!, 1n),
    blockNumber: '0x64',
    transactionHash: hashOf(5),
  };
  let reads = 0;
  const rpc: Pick<EndpointPool, 'call' | 'batchOutcomes'> = {
    call: (_method, _params, parse) => Promise.resolve(parse([created])),
    batchOutcomes: (calls, parse) =>
      Promise.resolve(
        calls.map(({ method }, index) => {
          if (method === 'eth_call') reads += 1;
          const answer = method === 'eth_call' ? words(7n, 8n, 9n) : { number: '0x64', timestamp: '0x64' };
          return { value: parse(answer, index) };
        }),
      ),
  };
  const found = await open(90);
  const order = { baseIsToken0: () => true, quoteRank: () => 0, log: createLog('silent', false) };
  const search = new PoolSearch({
    ...{ database: store.db, rpc, chainId, found, status: newIngestStatus(), clock: systemClock(), ...order },
    ...{ dexes: { pairs: [{ dex, protocol: uniswapV2 }], manyTokens: [] }, now: () => 1, watched: [] },
    ...{ manyTokenDiscovery: new ManyTokenDiscovery({ rpc, dexes: [], ...order }), callsPerSecond: 1e6 },
  });
  /** Takes a step of the search. The session that records the pools follows the branch of `blockAt`. */
  const step = async (blockAt: (number: number) => BlockRef): Promise<void> => {
    const done = search.step(new AbortController().signal);
    while (!found.isWaiting(102)) await systemClock().turn();
    await found.record(102, 100, { blockAt });
    await done;
  };
  await step((number) => ({ ...chain.blockAt(number), hash: hashOf(7) }));
  expect([reads, found.isKnown(pair!)]).toEqual([1, false]);
  await step(chain.blockAt);
  expect([reads, found.isKnown(pair!)]).toEqual([2, true]);
  expect(found.addedBy({ number: 102, hash: hashOf(102) })).toMatchObject([
    { address: pair, pool_id: null, reserve0: 7n, reserve1: 8n, moved_at: 9, doubts: 0 },
  ]);
});

test('a row with the hash of a block adds the pool at this block only', async () => {
  await insertRows(store.db, foundPoolsTable, [{ ...FOUND_VAULT_POOL, block_hash: hashOf(block) }]);
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
