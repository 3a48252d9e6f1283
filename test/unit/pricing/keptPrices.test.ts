/**
 * The pricer keeps prices of groups, depths and hops that no block changed. Compares it with pricers that start at each
 * epoch with the stored rows, so that they compute everything again.
 */
import { isDeepStrictEqual } from 'node:util';

import type { Hex } from '../../../src/domain/hex';
import { epochOf, type LegRecord } from '../../../src/pricing/epoch';
import type { Leg } from '../../../src/pricing/leg';
import type { PriceChanges } from '../../../src/pricing/priceBlock';
import { Pricer } from '../../../src/pricing/pricer';
import type { PriceRoute, TokenHop } from '../../../src/pricing/priceRoute';
import { Random } from '../../support/random';
import { SEED } from '../../support/run/seed';
import { calmed, makeMarketWorld } from '../../support/worlds/marketWorld';

/**
 * In the first market a reorg must clear what later epochs computed. In the second one a price that depends on a mean
 * must not be kept. The seed of the run gives the other markets.
 */
const SEEDS = [5_014, 5_080, ...Array.from({ length: 25 }, (_, i) => SEED + i)];
const BLOCKS = 170;

/** The changes of a block without the objects of the pricer's index, in a fixed order. */
const plain = ({ records, routes, hops, holds }: PriceChanges) => ({
  records: records
    .map(({ leg, ...record }) => ({ ...record, key: leg.key }))
    .sort((a, b) => (a.key < b.key ? -1 : 1)),
  routes: routes
    .map(({ pools, ...route }) => ({ ...route, pools: pools.map(({ leg, weight }) => [leg.key, weight]) }))
    .sort((a, b) => (a.token < b.token ? -1 : 1)),
  hops,
  holds,
});

test('prices and routes that are kept between blocks equal those that are computed again, also after a reorg', () => {
  let rows = 0;
  for (const seed of SEEDS) {
    const { config, tokens, blocks: busyBlocks } = makeMarketWorld(seed, BLOCKS);
    const random = new Random(seed);
    const blocks = random.chance(0.2) ? busyBlocks : calmed(busyBlocks, random);
    const branch = makeMarketWorld(seed + 1, BLOCKS).blocks;
    const kept = new Pricer(config);
    let again: Pricer | null = null;
    const legs: { leg: Leg; older: boolean }[] = [];
    const records = new Map<string, LegRecord>();
    const routes = new Map<Hex, PriceRoute>();
    const hops = new Map<Hex, TokenHop>();
    blocks.forEach((block, i) => {
      const before = blocks[i - 1];
      const opens = before !== undefined && epochOf(block.number) !== epochOf(before.number);
      const changes = kept.apply(block, true);
      for (const record of changes.records) records.set(record.leg.key, record);
      if (opens) {
        again = new Pricer(config);
        again.load(before, legs, [...records.values()]);
        again.loadHops([...routes.values()], [...hops]);
      }
      legs.push(...block.legs);
      for (const route of changes.routes) routes.set(route.token, route);
      for (const { token, after } of changes.hops) hops.set(token, after);
      if (again !== null) {
        const expected = plain(again.apply(block, false));
        // The loaded records are those of the epoch that ended before this block.
        const got = { ...plain(changes), records: opens ? [] : plain(changes).records };
        if (!isDeepStrictEqual(got, expected)) expect({ seed, got }).toEqual({ seed, got: expected });
        for (const token of tokens)
          if (!isDeepStrictEqual(kept.priceOf(token), again.priceOf(token)))
            expect({ seed, token, price: kept.priceOf(token) }).toEqual({
              seed,
              price: again.priceOf(token),
            });
        rows += got.routes.length + got.hops.length;
      }
      if (!random.chance(0.02)) return;
      // Another branch of up to two epochs, which a reorg removes.
      branch.slice(0, random.int(1, 60)).forEach((there, n) => {
        kept.apply({ ...there, number: block.number + 1 + n, timestamp: block.timestamp + 2_000 * n }, true);
      });
      kept.rewindTo(block.number);
    });
  }
  expect(rows).toBeGreaterThan(SEEDS.length * 50);
});
