/** Tests which V3 pools the worker asks for the protocol's part of their fees, and what it stores. */
import { AbiCoder } from 'ethers';

import { systemClock } from '../../src/node/rpc/clock';
import { RpcError } from '../../src/node/rpc/rpcError';
import { insertRows } from '../../src/clickhouse/rows/inserter';
import { poolFirstSharesTable } from '../../src/clickhouse/schema/olderPoolTables';
import { logsTable } from '../../src/clickhouse/schema/tables';
import type { Hex } from '../../src/domain/hex';
import { readHead } from '../../src/query/head/headState';
import { createLog } from '../../src/log';
import type { EthCalls } from '../../src/node/calls/askContracts';
import { ProtocolFeeWorker } from '../../src/workers/protocolFeeWorker';
import { FEE_PROTOCOL_TOPICS } from '../../src/protocols/uniswapV3/feeProtocol';
import { SIM_CHAIN_ID, SimChain } from '../simulation/chain/simChain';
import { storeChain } from '../simulation/harness';
import { askRows } from '../support/engine/askRows';
import { openTestStore, type TestStore } from '../support/engine/testStore';
import { logRow } from '../support/worlds/logRow';

const { signal } = new AbortController();
const coder = AbiCoder.defaultAbiCoder();

/** An answer of slot0() with the given protocol fee. */
const slot0 = (packed: number, price = 1n << 96n): Hex =>
  coder.encode(
    ['uint160', 'int24', 'uint16', 'uint16', 'uint16', 'uint32', 'bool'],
    [price, 0, 0, 1, 1, packed, true],
  ) as Hex;

let store: TestStore;
let traded: Hex[];

beforeAll(async () => {
  const chain = new SimChain(5);
  chain.mine(200);
  store = await openTestStore(async ({ db }) => void (await storeChain(chain, db)));
  const rows = await askRows<{ pair: Hex }>(
    store.db,
    `SELECT DISTINCT concat('0x', lower(hex(pair))) AS pair FROM
     (SELECT pair, pool_type FROM swaps UNION ALL SELECT pair, pool_type FROM swaps_head)
     WHERE pool_type = 3 ORDER BY pair`,
  );
  traded = rows.map(({ pair }) => pair);
});

afterAll(() => store?.close());

test('each V3 pool with a swap is asked once; a pool with a stored change keeps what it was before, and an answer that is missing is asked again', async () => {
  const [changed, reverting, silent, young, ...others] = traded;
  expect(others.length).toBeGreaterThan(1);
  // The first change of this pool is stored already, so slot0() shows the parts after it.
  const data = coder.encode(Array(4).fill('uint8'), [5, 6, 4, 4]) as Hex;
  const change = logRow({ ord: 2 ** 20, address: changed!, topics: [FEE_PROTOCOL_TOPICS[0]!], data });
  await insertRows(store.db, logsTable, [{ ...change, chain_id: SIM_CHAIN_ID }]);
  const asked: string[][] = [];
  let isAway = true;
  const rpc: EthCalls = {
    async batchOutcomes(calls, parse) {
      asked.push(calls.map(({ params }) => (params as [{ to: string }])[0].to));
      return calls.map(({ params }, index) => {
        const { to } = (params as [{ to: string }])[0];
        if (to === reverting) return { error: new RpcError('revert', 'reverted') };
        if (to === silent && isAway) return { error: new RpcError('other', 'no answer') };
        return { value: parse(to === young && isAway ? slot0(0, 0n) : slot0(4 + (4 << 4)), index) };
      });
    },
  };
  let changes = 0;
  const worker = new ProtocolFeeWorker({
    database: store.db,
    rpc,
    chainId: SIM_CHAIN_ID,
    status: { phase: 'follow', blocks: 0 },
    readHead: () => readHead(store.runner, SIM_CHAIN_ID),
    log: createLog('silent', false),
    clock: { ...systemClock(), now: () => 1_700_000_000_000 },
    onChange: () => void (changes += 1),
  });
  const stored = async (): Promise<Record<string, readonly (number | null)[]>> => {
    const rows = await askRows<{ pair: string; share0: number | null; share1: number | null }>(
      store.db,
      `SELECT concat('0x', lower(hex(pair))) AS pair, share0, share1 FROM ${poolFirstSharesTable.name} FINAL`,
    );
    return Object.fromEntries(rows.map(({ pair, share0, share1 }) => [pair, [share0, share1]]));
  };
  const quarter = Object.fromEntries(others.map((pair) => [pair, [1 / 4, 1 / 4]]));
  const first = { ...quarter, [changed!]: [1 / 5, 1 / 6], [reverting!]: [null, null] };
  expect(await worker.readRound(signal)).toBe(traded.length - 2);
  expect(await stored()).toEqual(first);
  isAway = false;
  expect(await worker.readRound(signal)).toBe(2);
  expect(await stored()).toEqual({ ...first, [silent!]: [1 / 4, 1 / 4], [young!]: [1 / 4, 1 / 4] });
  expect(await worker.readRound(signal)).toBe(0);
  expect(asked.map((one) => [...one].sort())).toEqual([traded, [silent, young]]);
  expect(changes).toBe(2);
});
