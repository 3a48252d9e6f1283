/** Weighted and stable pools as pairs: all their tokens, the spot price by balances and weights, value by trusted tokens. */
import { openDatabase, type Database } from '../../../src/clickhouse/database';
import { migrate } from '../../../src/clickhouse/migrate';
import { createQueryRunner } from '../../../src/clickhouse/namedQueries';
import { createLog } from '../../../src/log';
import { readHead } from '../../../src/query/headState';
import type { PairEntry } from '../../../src/query/pairItem';
import { createPairTables } from '../../../src/query/pairTable';
import { createTokenPrices } from '../../../src/query/tokenPrices';
import { openSession, SIM_PRICES } from '../../simulation/harness';
import { SIM_CHAIN_ID, SimChain } from '../../simulation/simChain';
import type { SimVaultPool } from '../../simulation/simVault';
import { createTestDatabase, type TestDatabase } from '../../support/engine';

const SEED = 11;
const BLOCKS = 300;

let test_: TestDatabase;
let database: Database;
let entries: ReadonlyMap<string, PairEntry>;
let pools: readonly SimVaultPool[];

beforeAll(async () => {
  test_ = await createTestDatabase();
  database = openDatabase({ url: test_.writerUrl });
  await migrate(database, createLog('silent', false));
  const chain = new SimChain(SEED);
  chain.mine(BLOCKS);
  const calm = { failure: 0, between: () => undefined };
  const session = await openSession(chain, database, calm, { depth: 20, commitSeed: 1 });
  const { number, hash, parentHash, timestamp, baseFeePerGas, transactionCount } = chain.head;
  const header = { number, hash, parentHash, timestamp, baseFeePerGas, transactionCount, logsBloom: null };
  await session.advanceTo(header);
  const runner = createQueryRunner(database, { checkRows: true });
  const head = await readHead(runner, SIM_CHAIN_ID);
  const prices = createTokenPrices(runner, SIM_CHAIN_ID, {
    anchors: SIM_PRICES.anchors.map((anchor) => ({ ...anchor, symbol: 'USD' })),
    wrappedNative: SIM_PRICES.wrappedNative,
  });
  entries = (await createPairTables(runner, SIM_CHAIN_ID, prices, []).at(head!)).byAddress;
  pools = chain.vaultPoolsAt(chain.head.hash)!;
});

afterAll(async () => {
  await database.close();
  await test_.drop();
});

const close = (a: number, b: number): boolean =>
  Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));

test('each shows all its tokens in chain order, and those that are neither kind are not listed', () => {
  expect(pools.length).toBeGreaterThan(5);
  for (const pool of pools) {
    const item = entries.get(pool.address)?.item;
    if (pool.nature === 'other') expect(item).toBeUndefined();
    else expect(item?.tokens.map(({ address }) => address)).toEqual(pool.tokens);
  }
});

test('the price is the ratio of balances over weights, and there is none without fixed weights', () => {
  let priced = 0;
  for (const pool of pools.filter(({ nature }) => nature !== 'other')) {
    const { item } = entries.get(pool.address)!;
    const [base, quote] = [item.base_token, item.quote_token].map(({ address }) =>
      (pool.tokens as string[]).indexOf(address),
    );
    const part = (i: number): number => Number(pool.balances[i]) / Number(pool.weights[i]);
    const expected = part(quote!) / part(base!);
    if (pool.nature !== 'plain' || !(expected > 0) || !Number.isFinite(expected)) {
      expect(item.price).toBeNull();
      continue;
    }
    expect({ address: pool.address, same: close(Number(item.price), expected) }).toEqual({
      address: pool.address,
      same: true,
    });
    priced += 1;
  }
  expect(priced).toBeGreaterThan(0);
});

test('the value is that of the trusted tokens over the part of the weights they stand for', () => {
  for (const pool of pools.filter(({ nature }) => nature === 'plain')) {
    const { item, holdings } = entries.get(pool.address)!;
    let value = 0;
    let weight = 0;
    const all = pool.weights.reduce((sum, each) => sum + each, 0n);
    holdings.forEach(({ price }, i) => {
      if (price.usd === null || price.confidence < 0.5) return;
      value += Number(pool.balances[i]) * price.usd;
      weight += Number(pool.weights[i]) / Number(all);
    });
    expect(close(item.liquidity_usd, weight > 0 ? value / weight : 0)).toBe(true);
  }
});
