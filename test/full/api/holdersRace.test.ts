/** Checks that balances at one block stay the same at every moment while the block is copied to the final
 * tables. */
import { insertRows } from '../../../src/clickhouse/rows/inserter';
import { transfersTable, type TransferRow } from '../../../src/clickhouse/schema/tables';
import { ZERO_ADDRESS } from '../../../src/domain/hex';
import { toOrd } from '../../../src/domain/ord';
import { listSupplies, readHoldings } from '../../../src/query/holders/balances';
import { createHolderTables } from '../../../src/query/holders/holders';
import { createPairTables } from '../../../src/query/pairs/pairTable';
import { createTokenPrices } from '../../../src/query/prices/tokenPrices';
import { CHAIN } from '../../support/server/apiServer';
import { createRandom } from '../../support/createRandom';
import { plainBalances, wholeSnapshot } from '../../integration/api/portfolio/transferWorld';
import { CHAIN_ID, commitOf, hexOf } from '../../support/worlds/world';
import { makeMarketWorld, storeMarket, WALLETS_PLAN } from '../../support/server/marketServer';
import type { TestStore } from '../../support/engine/testStore';

const SEED = 808;
const BATCHES = 25;
const ROWS = 3_000;
const WALLETS = Array.from({ length: 40 }, (_, index) => hexOf('e1', index, 40));

// The first ten blocks of the world are final. Each batch of transfers is in one of the head blocks after them.
const marketWorld = makeMarketWorld({
  ...WALLETS_PLAN,
  blocks: 10 + BATCHES,
  finalTo: 9,
  storedTo: 9,
  headFrom: 10,
});
const { world, finalTo: TIP } = marketWorld;
const head = wholeSnapshot(world, TIP, marketWorld.tip);
let store: TestStore;
beforeAll(async () => {
  store = await storeMarket(marketWorld);
});

afterAll(() => store?.close());

/** Random transfers of the pools' tokens in one block. Log indexes ascend by one. */
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

test('a balance includes each transfer once at every moment of a promotion, even while parts are half merged', async () => {
  const final = [...makeBatch(TIP - 1, SEED), ...makeBatch(TIP, SEED + 1)];
  await insertRows(store.db, transfersTable, final);
  const batches = Array.from({ length: BATCHES }, (_, batch) =>
    makeBatch(TIP + 1 + batch, SEED + 10 + batch),
  );
  for (const [index, batch] of batches.entries())
    await insertRows(store.db, transfersTable, batch, { commit: commitOf(TIP + 1 + index) });
  const transfers = [...final, ...batches.flat()];
  const plain = plainBalances([{ number: 0, transfers, positions: [] }]);
  const pairs = createPairTables(
    store.runner,
    CHAIN_ID,
    createTokenPrices(store.runner, CHAIN_ID, CHAIN),
    CHAIN.dexes,
  );
  const promote = async (index: number): Promise<void> => {
    await insertRows(store.db, transfersTable, batches[index]!);
    if (index % 5 === 4)
      for (const table of ['token_balances', 'holder_balances'])
        await store.db.command('merge', `OPTIMIZE TABLE ${table} FINAL`);
  };
  const read = async (wallet: string): Promise<void> => {
    const [{ balances }, supplies, holders] = await Promise.all([
      readHoldings(store.runner, head, wallet),
      listSupplies(store.runner, head, [...plain.keys()]),
      createHolderTables(store.runner, pairs).at(head),
    ]);
    for (const [token, of] of plain) {
      expect(balances.get(token) ?? 0n).toBe(of.get(wallet) ?? 0n);
      expect(supplies.get(token) ?? 0n).toBe(-(of.get(ZERO_ADDRESS) ?? 0n));
      const positive = [...of].filter(([who, balance]) => who !== ZERO_ADDRESS && balance > 0n);
      const largest = positive.map(([, balance]) => balance).sort((a, b) => (a > b ? -1 : a < b ? 1 : 0));
      // V3 pools have no LP tokens.
      const holding = holders.holdingOf(token);
      if (holding !== null) expect([holding.holders, holding.largest]).toEqual([positive.length, largest]);
    }
  };
  // Each batch is read at least once while it is copied.
  for (let index = 0; index < BATCHES; index += 1) {
    let copying = true;
    const copied = promote(index).finally(() => (copying = false));
    while (copying) await read(WALLETS[index % WALLETS.length]!);
    await copied;
  }
});
