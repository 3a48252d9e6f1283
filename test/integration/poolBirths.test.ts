/** Tests that a pool has no creation time until the node has returned the block of its creation. */
import { poolBirthsTable } from '../../src/clickhouse/schema/olderPoolTables';
import { RpcError } from '../../src/node/rpc/rpcError';
import type { Hex } from '../../src/domain/hex';
import type { OlderPool } from '../../src/ingest/olderPools/factoryLogs';
import { storeBirths } from '../../src/ingest/olderPools/readBirths';
import type { EthCalls } from '../../src/node/calls/askContracts';
import { askRows } from '../support/engine/askRows';
import { openTestStore, type TestStore } from '../support/engine/testStore';

const DEX = { name: 'dex', protocol: 'uniswap_v2', factory: `0x${'f'.repeat(40)}`, feeBps: 30 } as const;
const POOL: OlderPool = {
  address: `0x${'a'.repeat(40)}`,
  dex: DEX as OlderPool['dex'],
  protocol: null,
  creation: null,
  poolId: null,
  block: 7,
  tx: `0x${'b'.repeat(64)}` as Hex,
};

let store: TestStore;

beforeAll(async () => {
  store = await openTestStore();
});

afterAll(() => store?.close());

/** A node that gives this answer to each request for a block. */
function nodeWith(answer: unknown): EthCalls {
  return {
    batchOutcomes: async (calls, parse) =>
      calls.map((_, index) => {
        if (answer instanceof RpcError) return { error: answer };
        return { value: parse(answer, index) };
      }),
  };
}

const stored = (): Promise<unknown[]> =>
  askRows(store.db, `SELECT created_block, created_at FROM ${poolBirthsTable.name} FINAL`);

test.each([
  ['no answer', new RpcError('timeout', 'no answer within 4000 ms')],
  ['an unknown block', null],
  ['a block without a time', { number: '0x7' }],
  ['a time beyond 32 bits', { number: '0x7', timestamp: '0x1ffffffff' }],
  ['another block', { number: '0x8', timestamp: '0x65000000' }],
])('after %s nothing is stored, and a later answer is stored', async (_, answer) => {
  const { signal } = new AbortController();
  const read = (given: unknown, version: number): Promise<void> =>
    storeBirths({ database: store.db, rpc: nodeWith(given), version }, [POOL], signal);
  await store.db.command('empty', `TRUNCATE TABLE ${poolBirthsTable.name}`);
  await expect(read(answer, 1)).rejects.toMatchObject({ code: 'node_failed' });
  expect(await stored()).toEqual([]);
  await read({ number: '0x7', timestamp: '0x65000000' }, 2);
  expect(await stored()).toEqual([{ created_block: 7, created_at: 0x65000000 }]);
});
