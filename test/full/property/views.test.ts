/**
 * Views of a head are the same when they are made from the view of another head as when they are read, over random
 * blocks, reorgs and promotions.
 */
import type { QueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { insertRows } from '../../../src/clickhouse/rows/inserter';
import { ZERO_HASH, type Hex } from '../../../src/domain/hex';
import type { IngestSession } from '../../../src/ingest/session/session';
import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';
import { readHead } from '../../../src/query/head/headState';
import { perVersion } from '../../../src/query/head/perVersion';
import { createHolderTables, type HolderTables } from '../../../src/query/holders/holders';
import { createMarketTables, type MarketTables } from '../../../src/query/marketTables';
import { tokensOfPool } from '../../../src/query/pairs/pools';
import { contractCreationsTable } from '../../../src/contracts/findCreators';
import { SIM_CHAIN_ID, SimChain, simToken } from '../../simulation/chain/simChain';
import { SIM_DESCRIPTION } from '../../simulation/chain/simDescription';
import { headerOf } from '../../simulation/chain/simNode';
import { storeChain } from '../../simulation/harness';
import { openTestStore, type TestStore } from '../../support/engine/testStore';
import { Random } from '../../support/random';
import { SEED } from '../../support/run/seed';

const BLOCKS = 60;
const ROUNDS = 20;
const WATCHED = simToken(3);

interface Views extends Pick<MarketTables, 'pairs' | 'risks' | 'audits' | 'headSwaps'> {
  readonly holders: HolderTables;
}

let store: TestStore;
let chain: SimChain;
let session: IngestSession;

beforeAll(async () => {
  store = await openTestStore();
  chain = new SimChain(SEED);
  chain.mine(BLOCKS);
  session = await storeChain(chain, store.db);
});

afterAll(async () => {
  await session?.close();
  await store?.close();
});

async function catchUp(): Promise<HeadSnapshot> {
  await session.advanceTo(headerOf(chain.head));
  await session.promoted();
  return (await readHead(store.runner, SIM_CHAIN_ID))!;
}

function makeViews(runner: QueryRunner): Views {
  const market = createMarketTables(runner, SIM_DESCRIPTION);
  const watch = perVersion({
    read: async (head) => {
      const { creatorOf } = await market.risks.at(head);
      return {
        holders: [WATCHED],
        creatorOf: ({ token0 }: { readonly token0: string }) => creatorOf(token0),
      };
    },
  });
  return { ...market, holders: createHolderTables(runner, market.pairs, { followedAddressesMin: 3, watch }) };
}

/** The creator of a token never changes. */
function storeCreation(token: Hex): Promise<void> {
  const [factory, tx_hash] = [null, ZERO_HASH];
  const row = { address: token, creator: WATCHED, factory, tx_hash, block: 1, timestamp: 1, version: 1 };
  return insertRows(store.db, contractCreationsTable, [row]);
}

/** Everything that answers take from the views. */
async function shown(views: Views, head: HeadSnapshot) {
  const [pairs, holders, risks, { block, reader }] = await Promise.all([
    views.pairs.at(head),
    views.holders.at(head),
    views.risks.at(head),
    views.audits.at(head),
  ]);
  const addresses = pairs.pools.map(({ address }) => address as Hex);
  const tokens = [...new Set([...addresses, ...pairs.pools.flatMap((pool) => tokensOfPool(pool))])] as Hex[];
  const epochs = await reader.listEpochs(addresses, 0);
  return {
    block,
    pairs: pairs.entries.map(({ item, facts, pool, sides, holdings }) => ({
      ...{ item, facts, pool, sides, holdings },
    })),
    holders: tokens.map((token) => holdingOf(holders.holdingOf(token))),
    creators: tokens.map((token) => risks.creatorOf(token)),
    routes: await reader.listRoutes(tokens),
    epochs: epochs.toSorted((a, b) => (a.pair < b.pair || (a.pair === b.pair && a.leg < b.leg) ? -1 : 1)),
    states: await reader.listStates(addresses, []),
    swaps: await Promise.all(
      addresses.map((pair) => views.headSwaps.listSwaps(head, { pair, leg: 1 }, true)),
    ),
  };
}

/** A holder that never had the token may be missing in `watched`. */
function holdingOf(holding: ReturnType<Awaited<ReturnType<HolderTables['at']>>['holdingOf']>) {
  if (holding === null) return null;
  const { holders, supply, watched, largest, atZero } = holding;
  return {
    holders,
    supply,
    largest,
    atZero,
    watched: [...watched].filter(([, amount]) => amount !== 0n).sort(),
  };
}

test('views made from the views of another head equal views that are read, over reorgs and promotions', async () => {
  let reads = 0;
  const counting: QueryRunner = {
    ...store.runner,
    run: (name, params, shape) => {
      const isBase = name === 'pairs/list_pools' && params['since_ord'] === undefined;
      if (isBase || (name === 'prices/list_routes' && params['from_ord'] === 0)) reads += 1;
      return store.runner.run(name, params, shape);
    },
  };
  const random = new Random(SEED);
  const views = makeViews(counting);
  const heads = [await catchUp()];
  const uncreated = Array.from({ length: 12 }, (_, index) => simToken(index));
  const met = { swaps: 0, holders: 0, creators: 0, epochs: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    if (random.chance(0.4)) chain.reorg(random.int(1, 6), random.int(1, 8));
    else chain.mine(random.chance(0.2) ? 40 : random.int(1, 4));
    if (random.chance(0.5) && uncreated.length > 0) await storeCreation(uncreated.pop()!);
    heads.push(await catchUp());
    const newest = heads.at(-1)!;
    // Balances of a head below the last final block may include later transfers.
    const older = heads.slice(-4).filter(({ number }) => number >= newest.finalTo);
    // An older head gets another version, because creations may have been stored since it was read.
    const again = { ...random.pick(older), version: `again ${round}` };
    const head = random.chance(0.2) ? again : newest;
    const read = await shown(makeViews(store.runner), head);
    expect([round, await shown(views, head)]).toEqual([round, read]);
    met.swaps += read.swaps.flat().length;
    met.holders += read.holders.filter((one) => one !== null).length;
    met.creators += read.creators.filter((one) => one !== null).length;
    met.epochs += read.epochs.length;
  }
  for (const count of Object.values(met)) expect(count).toBeGreaterThan(ROUNDS);
  // Only the first head, and heads below the last final block of the head before, are read.
  expect(reads).toBeLessThan(ROUNDS / 2);
});
