/** Stores the worlds of the market endpoint tests in a database and starts the API over them. */
import { createHash } from 'node:crypto';

import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';
import { startApi, type ApiOptions, type ApiServer } from './apiServer';
import { openTestStore, shareTestStore, type TestStore } from '../engine/testStore';
import {
  FIRST_BLOCK,
  makeWorld,
  snapshotOf,
  storeWorld,
  type World,
  type WorldOptions,
} from '../worlds/world';

/**
 * Which blocks of a world are stored as final blocks and which as head blocks. Block numbers are relative to the
 * world's first block.
 */
interface MarketPlan extends WorldOptions {
  /** The last final block of the newest snapshot. */
  readonly finalTo: number;
  /** The last block in the final tables. It is above the snapshot's last final block, as during a
   * promotion. */
  readonly storedTo: number;
  /** The first block in the head tables. */
  readonly headFrom: number;
  readonly inserts: number;
}

/**
 * A world of eleven days, longer than the windows of a day and a week. Blocks are far apart with long pauses,
 * so that bars have gaps.
 */
export const MARKET_PLAN: MarketPlan = {
  seed: 31_337,
  blocks: 260,
  pools: 11,
  spacing: 2_600,
  events: 5,
  finalTo: 190,
  storedTo: 210,
  headFrom: 180,
  inserts: 5,
};

/** A smaller world, because tests of wallets sum every transfer of every holder. */
export const WALLETS_PLAN: MarketPlan = {
  seed: 20_260,
  blocks: 160,
  pools: 9,
  spacing: 1_500,
  events: 4,
  finalTo: 100,
  storedTo: 115,
  headFrom: 90,
  inserts: 6,
};

/** A world, and the block numbers that separate its final, stored and head blocks. */
export interface MarketWorld {
  readonly world: World;
  readonly finalTo: number;
  readonly storedTo: number;
  readonly tip: number;
  readonly range: Parameters<typeof storeWorld>[2];
}

export function makeMarketWorld(plan: MarketPlan): MarketWorld {
  const storedTo = FIRST_BLOCK + plan.storedTo;
  return {
    world: makeWorld(plan),
    finalTo: FIRST_BLOCK + plan.finalTo,
    storedTo,
    tip: FIRST_BLOCK + plan.blocks - 1,
    range: { storedTo, headFrom: FIRST_BLOCK + plan.headFrom, inserts: plan.inserts },
  };
}

/**
 * Snapshots of every state of the store: half promoted, no blocks above the last final block, backfilling,
 * all promoted, just started.
 */
export function listSnapshots({ world, finalTo, storedTo, tip }: MarketWorld): HeadSnapshot[] {
  return [
    snapshotOf(world, finalTo, tip),
    snapshotOf(world, finalTo, finalTo),
    snapshotOf(world, finalTo - 100, finalTo - 100),
    snapshotOf(world, storedTo, tip),
    snapshotOf(world, FIRST_BLOCK + 3, FIRST_BLOCK + 3),
  ];
}

export interface MarketServer extends TestStore {
  readonly api: ApiServer;
  /** The snapshot of all answers. A test may set another one. */
  head: HeadSnapshot | null;
}

type Fill = (store: TestStore) => Promise<void>;

/** Opens a store with the world's rows. `fill` stores additional rows. */
export function storeMarket({ world, range }: MarketWorld, fill?: Fill): Promise<TestStore> {
  return openTestStore(async (store) => {
    await storeWorld(store.db, world, range);
    await fill?.(store);
  });
}

/** Opens a store with the world's rows, which all test files share and only read. */
export function shareMarket({ world, range }: MarketWorld): Promise<TestStore> {
  const rows = JSON.stringify([world, range], (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  const name = createHash('sha256').update(rows).digest('hex').slice(0, 12);
  return shareTestStore(name, ({ db }) => storeWorld(db, world, range));
}

/** Starts the API at the newest snapshot of a world, over a store that all test files share and only read. */
export async function startMarket(marketWorld: MarketWorld): Promise<MarketServer> {
  return serveMarket(
    await shareMarket(marketWorld),
    snapshotOf(marketWorld.world, marketWorld.finalTo, marketWorld.tip),
  );
}

/** Starts the API over a store. The returned `close` closes the store too. */
export async function serveMarket(
  store: TestStore,
  head: HeadSnapshot | null,
  options: ApiOptions = {},
): Promise<MarketServer> {
  const api = await startApi(store.runner, () => market.head, options);
  const close = async (): Promise<void> => {
    await api.close();
    await store.close();
  };
  const market: MarketServer = { ...store, api, head, close };
  return market;
}
