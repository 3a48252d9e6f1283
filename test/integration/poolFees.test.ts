/** The newest fee of a pool comes from its own logs, or from logs of its vault that name the pool. */
import { insertRows } from '../../src/clickhouse/rows/inserter';
import { logsTable, poolsTable, type PoolRow } from '../../src/clickhouse/schema/tables';
import type { Hex } from '../../src/domain/hex';
import { toOrd } from '../../src/domain/ord';
import { listPoolFees, readPoolFees } from '../../src/query/pairs/poolFees';
import { openTestStore, type TestStore } from '../support/engine/testStore';
import { finalHead } from '../support/worlds/finalHead';
import { logRow } from '../support/worlds/logRow';

const V2_FEE: Hex = '0xa9ba3ffe0b6c366b81232caab38605a0699ad5398d6cce76f91ee809e322dafc';
const V3_FEE: Hex = '0x89d41522342fabac1471ca6073a5623e5caf367b03ca6e9a001478d0cf8be4a1';
const addressOf = (digit: string): Hex => `0x${digit.repeat(40)}`;
const [OWN, NAMED, OTHER, VAULT, TOKEN] = ['1', '2', '3', '4', '5'].map(addressOf) as [
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
];
const topicOf = (pool: Hex): Hex => `0x${pool.slice(2).padStart(64, '0')}`;
const HEAD = finalHead(100);

const poolOf = (address: Hex, protocol: string, index: number): PoolRow => ({
  ...{ ord: toOrd(1, index), address, dex: 'dev', protocol, pool_type: 4, factory: VAULT },
  ...{ token0: TOKEN, token1: VAULT, base_is_token0: true, tokens: [TOKEN, VAULT], weights: [], doubts: 0 },
  ...{ fee_pips: 3_000, tick_spacing: 0, scale_decimals: [], pool_id: null, hooks: null, hook_bits: null },
  ...{ created_block: null, created_at: null, created_tx: null },
});
/** A log of a fee in pips. */
const feeLog = (block: number, address: Hex, topics: readonly Hex[], pips: number) =>
  logRow({
    ...{ ord: toOrd(block, 0), address, topics },
    data: `0x${(BigInt(pips) * 10n ** 12n).toString(16).padStart(64, '0')}`,
  });

let store: TestStore;

beforeAll(async () => {
  store = await openTestStore(async ({ db }) => {
    const pools = [
      poolOf(OWN, 'balancer_v2', 0),
      poolOf(NAMED, 'balancer_v3', 1),
      poolOf(OTHER, 'balancer_v3', 2),
    ];
    await insertRows(db, poolsTable, pools);
    await insertRows(db, logsTable, [
      feeLog(10, OWN, [V2_FEE], 500),
      feeLog(11, VAULT, [V3_FEE, topicOf(NAMED)], 700),
      feeLog(12, VAULT, [V3_FEE, topicOf(NAMED)], 900),
      // Other contracts cannot name the pool.
      feeLog(13, OTHER, [V3_FEE, topicOf(NAMED)], 1),
      feeLog(14, TOKEN, [V3_FEE, topicOf(OWN)], 1),
    ]);
  });
});

afterAll(() => store?.close());

test('a fee change of a vault counts for the pool that it names, and no other contract can change the fee', async () => {
  const all = await listPoolFees(store.runner, {
    ...{ final_ord: toOrd(100, 0), chain_id: 369, limit: 10 },
  });
  const expected = [
    [OWN, 500],
    [NAMED, 900],
  ];
  expect([...all].sort()).toEqual(expected);
  const read = (pairs: readonly Hex[]) => readPoolFees(store.runner, 369, HEAD, pairs);
  expect([...(await read([OWN, NAMED, OTHER]))].sort()).toEqual(expected);
  expect([...(await read([NAMED]))]).toEqual([[NAMED, 900]]);
});
