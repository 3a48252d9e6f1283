/** Balances as of one block stay the same while its head is being promoted: at every instant, not only before and after. */
import { openDatabase, type Database } from '../../../src/clickhouse/database';
import { insertRows } from '../../../src/clickhouse/inserter';
import { migrate } from '../../../src/clickhouse/migrate';
import { createQueryRunner, type QueryRunner } from '../../../src/clickhouse/namedQueries';
import { transfersTable, type TransferRow } from '../../../src/clickhouse/tables';
import { ZERO_ADDRESS } from '../../../src/domain/hex';
import { toOrd } from '../../../src/domain/ord';
import { createLog } from '../../../src/log';
import { listSupplies, readHoldings } from '../../../src/query/balances';
import type { HeadSnapshot } from '../../../src/query/headSnapshot';
import { createHolderTables } from '../../../src/query/holders';
import { createPairTables } from '../../../src/query/pairTable';
import { createTokenPrices } from '../../../src/query/tokenPrices';
import { createTestDatabase, type TestDatabase } from '../../support/engine';
import { CHAIN } from '../../support/apiServer';
import { createRandom } from '../../support/createRandom';
import { plainBalances, wholeSnapshot } from './transferWorld';
import {
  CHAIN_ID,
  commitOf,
  FIRST_BLOCK,
  hexOf,
  makeWorld,
  storeWorld,
  type World,
} from '../../support/world';

const SEED = 808;
const TIP = FIRST_BLOCK + 9;
const BATCHES = 25;
const ROWS = 3_000;
const WALLETS = Array.from({ length: 40 }, (_, index) => hexOf('e1', index, 40));

let test_: TestDatabase;
let db: Database;
let reader: Database;
let runner: QueryRunner;
let world: World;
let head: HeadSnapshot;

beforeAll(async () => {
  test_ = await createTestDatabase();
  db = openDatabase({ url: test_.writerUrl });
  await migrate(db, createLog('silent', false));
  world = makeWorld({ seed: SEED, blocks: 10 + BATCHES, pools: 4, spacing: 10, events: 3 });
  await storeWorld(db, world, { storedTo: TIP, headFrom: TIP + 1, inserts: 1 });
  head = wholeSnapshot(world, TIP, TIP + BATCHES);
  reader = openDatabase({ url: test_.readerUrl });
  runner = createQueryRunner(reader);
});

afterAll(async () => {
  await reader?.close();
  await db?.close();
  await test_?.drop();
});

/** Random transfers of the pools' tokens in one block; log indexes count up. */
function makeBatch(number: number, seed: number): TransferRow[] {
  const random = createRandom(seed);
  const tokens = world.blocks.flatMap(({ pools }) =>
    pools.flatMap(({ token0, address }) => [token0, address]),
  );
  return Array.from({ length: ROWS }, (_, index) => ({
    ord: toOrd(number, index),
    timestamp: 1,
    token: random.pick(tokens),
    sender: random() < 0.2 ? ZERO_ADDRESS : random.pick(WALLETS),
    recipient: random() < 0.2 ? ZERO_ADDRESS : random.pick(WALLETS),
    amount: random.big(random.int(90)),
    kind: 'transfer',
    tx_index: 0,
  }));
}

test('a head that is being promoted counts once, also half stored and half merged', async () => {
  const final = [...makeBatch(TIP - 1, SEED), ...makeBatch(TIP, SEED + 1)];
  await insertRows(db, transfersTable, final);
  const batches = Array.from({ length: BATCHES }, (_, batch) =>
    makeBatch(TIP + 1 + batch, SEED + 10 + batch),
  );
  for (const [index, batch] of batches.entries())
    await insertRows(db, transfersTable, batch, { commit: commitOf(TIP + 1 + index) });
  const transfers = [...final, ...batches.flat()];
  const plain = plainBalances([{ number: 0, transfers, positions: [] }]);
  const pairs = createPairTables(runner, CHAIN_ID, createTokenPrices(runner, CHAIN_ID, CHAIN), CHAIN.dexes);
  let storing = true;
  const store = async (): Promise<void> => {
    for (const [index, batch] of batches.entries()) {
      await insertRows(db, transfersTable, batch);
      if (index % 5 === 4)
        for (const table of ['token_balances', 'holder_balances'])
          await db.command('merge', `OPTIMIZE TABLE ${table} FINAL`);
    }
    storing = false;
  };
  let reads = 0;
  const read = async (): Promise<void> => {
    for (; storing; reads += 1) {
      const wallet = WALLETS[reads % WALLETS.length]!;
      const [{ balances }, supplies, holders] = await Promise.all([
        readHoldings(runner, head, wallet),
        listSupplies(runner, head, [...plain.keys()]),
        createHolderTables(runner, pairs).at(head),
      ]);
      for (const [token, of] of plain) {
        expect(balances.get(token) ?? 0n).toBe(of.get(wallet) ?? 0n);
        expect(supplies.get(token) ?? 0n).toBe(-(of.get(ZERO_ADDRESS) ?? 0n));
        const positive = [...of].filter(([who, balance]) => who !== ZERO_ADDRESS && balance > 0n);
        const largest = positive.map(([, balance]) => balance).sort((a, b) => (a > b ? -1 : a < b ? 1 : 0));
        // V3 pools are no tokens.
        const holding = holders.of(token);
        if (holding !== null) expect([holding.holders, holding.largest]).toEqual([positive.length, largest]);
      }
    }
  };
  await Promise.all([store(), read()]);
  expect(reads).toBeGreaterThan(5);
});
