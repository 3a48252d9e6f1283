/** Tests that `verify` accepts intact rows, and finds each kind of damage and nothing else. */
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { verifyAggregates } from '../../../src/query/verify/verifyAggregates';
import { storeChain } from '../../simulation/harness';
import { SIM_CHAIN_ID, SimChain, simToken } from '../../simulation/chain/simChain';
import { openTestStore, type TestStore } from '../../support/engine/testStore';

let store: TestStore;
let finalTo: number;

beforeAll(async () => {
  store = await openTestStore();
  const chain = new SimChain(3);
  chain.mine(200);
  const session = await storeChain(chain, store.db);
  finalTo = session.finalTo;
});

afterAll(() => store?.close());

async function listDifferences(): Promise<string[]> {
  const runner = createQueryRunner(store.db);
  const range = { chainId: SIM_CHAIN_ID, from: 1, to: finalTo, finalTo, wrappedNative: simToken(8) };
  const found = await verifyAggregates(runner, range, () => undefined);
  return found.map(({ item }) => item);
}

test('verify reports no difference in ingested data', async () => {
  expect(await listDifferences()).toEqual([]);
});

const DAMAGES: readonly (readonly [string, string, RegExp])[] = [
  [
    'a bar counted twice',
    `INSERT INTO bars SELECT * FROM bars WHERE timeframe = 3600 LIMIT 1`,
    /^bars timeframe=3600 pair=0x[0-9a-f]{40} time=\d+$/,
  ],
  [
    'a bar that opens before its first swap',
    `INSERT INTO bars (* EXCEPT (volume0, volume1, volume_usd, fee_usd, trades, untracked, buys))
     SELECT * EXCEPT (volume0, volume1, volume_usd, fee_usd, trades, untracked, buys)
       REPLACE ((first.1 - 1, first.2, first.3) AS first) FROM bars WHERE first.2 > 0 LIMIT 1`,
    /^bars timeframe=\d+ pair=0x[0-9a-f]{40} time=\d+$/,
  ],
  [
    'a bar with a close that no swap had',
    `INSERT INTO bars (* EXCEPT (volume0, volume1, volume_usd, fee_usd, trades, untracked, buys))
     SELECT * EXCEPT (volume0, volume1, volume_usd, fee_usd, trades, untracked, buys)
       REPLACE ((greatest(last.1, last_quote.1) + 1, 1e-9) AS last_quote) FROM bars LIMIT 1`,
    /^bars timeframe=\d+ pair=0x[0-9a-f]{40} time=\d+$/,
  ],
  ['an hour of a DEX too much', `INSERT INTO dex_hours SELECT * FROM dex_hours LIMIT 1`, /^dex_hours dex=/],
  ['a total too large', `INSERT INTO pair_totals SELECT * FROM pair_totals LIMIT 1`, /^pair_totals pair=/],
  [
    'a token bar counted twice',
    `INSERT INTO token_bars SELECT * FROM token_bars WHERE timeframe = 3600 LIMIT 1`,
    /^token_bars timeframe=3600 token=0x[0-9a-f]{40} time=\d+$/,
  ],
  [
    'a newest price that was never stored',
    `INSERT INTO token_price_latest SELECT token, tuple(price.1 + 1, price.2, price.3, price.4, price.5) FROM token_price_latest LIMIT 1`,
    /^token_price_latest token=0x[0-9a-f]{40}$/,
  ],
  [
    'a balance that is too large',
    `INSERT INTO token_balances SELECT token, holder, toInt256(1), 1, last_ord FROM token_balances LIMIT 1`,
    /^token_balances token=0x[0-9a-f]{40} holder=0x[0-9a-f]{40}$/,
  ],
  [
    'a transfer counted twice',
    `INSERT INTO token_balances SELECT token, holder, toInt256(0), 1, last_ord FROM token_balances
     ORDER BY token DESC, holder DESC LIMIT 1`,
    /^token_balances token=0x[0-9a-f]{40} holder=0x[0-9a-f]{40}$/,
  ],
  [
    'a transfer without a log',
    `INSERT INTO transfers SELECT ord, timestamp, token, recipient, sender, amount, kind, tx_index
     FROM transfers WHERE sender != recipient LIMIT 1`,
    /^transfers block \d+$/,
  ],
  [
    'a position that was never transferred',
    `INSERT INTO owner_positions SELECT unhex(repeat('ab', 20)), unhex(repeat('cd', 20)), 7, 1`,
    /^owner_positions owner=0x(ab){20} manager=0x(cd){20} position=7$/,
  ],
  ['an event listed twice', `INSERT INTO events SELECT * FROM events LIMIT 1`, /^events block \d+$/],
  [
    'an event listed under the wrong token',
    `INSERT INTO events SELECT * REPLACE (pair AS token0) FROM events WHERE kind = 'swap' ORDER BY ord DESC LIMIT 1`,
    /^events block \d+$/,
  ],
  ['a log stored twice', `INSERT INTO logs SELECT * FROM logs LIMIT 1`, /^block \d+$/],
];

test.each(DAMAGES)('verify reports %s', async (_name, statement, pattern) => {
  const before = new Set(await listDifferences());
  await store.db.command('damage', statement);
  const fresh = (await listDifferences()).filter((item) => !before.has(item));
  expect(fresh.length).toBeGreaterThan(0);
  for (const item of fresh) expect(item).toMatch(pattern);
});
