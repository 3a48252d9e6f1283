import { DORMANT_SECONDS, type LegMoves, type LegRecord } from '../../../src/pricing/epoch';
import { makeLeg, NO_STATE, type Leg } from '../../../src/pricing/leg';
import { PoolIndex } from '../../../src/pricing/poolIndex';
import { noRoute } from '../../../src/pricing/priceRoute';
import { Random } from '../../support/random';
import { poolAddress, token } from '../../support/worlds/pools';

const TOKENS = 12;
const LEGS = 60;
const MADE = 40;

const tokens = Array.from({ length: TOKENS }, (_, n) => token(n));

const legs = Array.from({ length: LEGS }, (_, n) =>
  makeLeg(poolAddress(n), 1, tokens[n % TOKENS]!, tokens[(n * 5 + 1) % TOKENS]!),
);

const recordOf = (leg: Leg, movedAt: number, { makers, bornBlock }: LegMoves): LegRecord => ({
  leg,
  state: NO_STATE,
  depthLiquidity: 0,
  meanLog: 0,
  traded: 0,
  at: movedAt,
  movedAt,
  depthWeight: 1,
  unswapped: 0,
  makers,
  bornBlock,
});

/**
 * Runs one epoch of the pool index: adds legs, moves some, closes the records, and drops dormant legs
 * (without a move for 30 days).
 */
function runEpoch(index: PoolIndex, random: Random, epoch: number, time: number): void {
  for (let made = 0; made < 2; made += 1)
    index.addLeg(legs[Math.floor(random.next() * LEGS)]!, random.chance(0.5));
  for (let moved = 0; moved < 3; moved += 1) {
    const leg = index.findLeg(legs[Math.floor(random.next() ** 2 * LEGS)]!.key);
    if (leg === undefined) continue;
    const state = { ...NO_STATE, price: random.next() };
    index.move(leg, { block: epoch * 32, time, state }, random.next(), epoch);
    if (random.chance(0.5)) index.trade(leg, random.next(), [random.pick(tokens)]);
  }
  if (random.chance(0.8)) index.closeEpoch((_, moves) => recordOf(moves.leg, time, moves));
  if (random.chance(0.7)) index.dropDormant(time);
  const of = index.tokenOf(random.pick(tokens));
  index.setRoute(of, random.chance(0.5) ? noRoute(of.address) : { ...noRoute(of.address), hops: 1 });
  index.setHop(of, { next: of.address, price: random.next(), confidence: 1, cap: 1 });
  index.setWatched(index.tokenOf(random.pick(tokens)), random.chance(0.5));
  index.setProgress({ ...index.progress, block: epoch * 32, epoch });
}

/** The observable state of the index, sorted for comparison. The live legs omit legs that are dormant at
 * `time`. */
function plain(index: PoolIndex, time: number) {
  const names = (of: Iterable<{ readonly address: string }>): string[] =>
    [...of].map(({ address }) => address).sort();
  return {
    progress: index.progress,
    routed: names(index.routed),
    watched: names(index.watched),
    legs: legs.map(({ key }) => {
      const leg = index.findLeg(key);
      if (leg === undefined) return null;
      const { blocks = [], traded = 0 } = leg.moves ?? {};
      const { older, state, makers, bornBlock } = leg;
      const unswapped = index.unswappedOf(leg);
      return { older, state, at: leg.record?.at, blocks: [...blocks], traded, unswapped, makers, bornBlock };
    }),
    tokens: tokens.map((of) => {
      const { legs: all, live, route, hop } = index.tokenOf(of);
      const awake = live.filter(({ record }) => record && time - record.movedAt <= DORMANT_SECONDS);
      return { legs: all.map(({ key }) => key), live: awake.map(({ key }) => key).sort(), route, hop };
    }),
  };
}

test.each([1, 2, 3])('the live legs of a token are the legs that moved within 30 days (seed %d)', (seed) => {
  const random = new Random(seed);
  const index = new PoolIndex();
  for (const leg of legs.slice(0, MADE)) index.addLeg(leg, false);
  let time = 1_700_000_000;
  let slept = 0;
  for (let epoch = 1; epoch <= 200; epoch += 1) {
    time += Math.floor(random.next() * DORMANT_SECONDS * 0.2);
    runEpoch(index, random, epoch, time);
    index.dropDormant(time);
    for (const of of tokens) {
      const { live, legs: all } = index.tokenOf(of);
      const awake = all.filter(({ record }) => record && time - record.movedAt <= DORMANT_SECONDS);
      expect(new Set(live)).toEqual(new Set(awake));
      expect(live).toHaveLength(awake.length);
      slept += all.length - awake.length;
    }
  }
  expect(slept).toBeGreaterThan(0);
});

test.each([4, 5, 6, 7, 8])(
  'a rewind of the pool index restores the earlier state exactly (seed %d)',
  (seed) => {
    const random = new Random(seed);
    const index = new PoolIndex();
    for (const leg of legs.slice(0, MADE)) index.addLeg(leg, false);
    const seen = [{ time: 1_700_000_000, plain: plain(index, 1_700_000_000) }];
    for (let epoch = 1; epoch <= 300; epoch += 1) {
      const time = seen[epoch - 1]!.time + Math.floor(random.next() * DORMANT_SECONDS * 0.2);
      index.journal.open(epoch);
      runEpoch(index, random, epoch, time);
      seen[epoch] = { time, plain: plain(index, time) };
      if (random.chance(0.1)) index.journal.finalise(epoch - 10);
      if (!random.chance(0.1)) continue;
      epoch -= random.int(0, Math.min(6, epoch));
      index.journal.rewindTo(epoch);
      expect(plain(index, seen[epoch]!.time)).toEqual(seen[epoch]!.plain);
    }
  },
);

test('a rewind of the pool index never goes back beyond the last final block', () => {
  const index = new PoolIndex();
  for (let number = 1; number <= 5; number += 1) {
    index.journal.open(number);
    index.setProgress({ ...index.progress, block: number });
  }
  index.journal.finalise(3);
  index.journal.rewindTo(1);
  expect(index.progress.block).toBe(3);
});
