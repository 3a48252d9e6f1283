import type { Hex } from '../../../src/domain/hex';
import type { LegRecord } from '../../../src/pricing/epoch';
import { makeLeg, NO_STATE } from '../../../src/pricing/leg';
import { DORMANT_SECONDS, LiveLegs } from '../../../src/pricing/liveLegs';
import { Random } from '../../simulation/random';
import { poolAddress, token } from './pools';

const TOKENS = 12;
const LEGS = 60;

const tokens = Array.from({ length: TOKENS }, (_, n) => token(n));

function recordOf(n: number, movedAt: number, epoch: number): LegRecord {
  const leg = makeLeg(poolAddress(n), 1, tokens[n % TOKENS]!, tokens[(n * 5 + 1) % TOKENS]!);
  return { leg, state: NO_STATE, depthLiquidity: 0, meanLog: 0, traded: 0, at: movedAt, movedAt, epoch };
}

/** What the index stands for. */
function plainly(records: ReadonlyMap<string, LegRecord>, of: Hex, time: number): LegRecord[] {
  return [...records.values()].filter(
    ({ leg, movedAt }) => (leg.token0 === of || leg.token1 === of) && time - movedAt <= DORMANT_SECONDS,
  );
}

const byKey = (all: readonly LegRecord[]): LegRecord[] =>
  [...all].sort((a, b) => (a.leg.key < b.leg.key ? -1 : 1));

test.each([1, 2, 3])(
  'seed %d: legs that moved within 30 days, as often as they sleep and move again',
  (seed) => {
    const random = new Random(seed);
    const records = new Map<string, LegRecord>();
    let live = new LiveLegs();
    let time = 1_700_000_000;
    let slept = 0;
    for (let epoch = 1; epoch <= 200; epoch += 1) {
      time += Math.floor(random.next() * DORMANT_SECONDS * 0.2);
      for (let moved = 0; moved < 3; moved += 1) {
        const record = recordOf(Math.floor(random.next() ** 2 * LEGS), time, epoch);
        records.set(record.leg.key, record);
        live.note(record);
      }
      // As after blocks were taken back.
      if (epoch % 50 === 0) live = new LiveLegs(records.values());
      live.dropDormant(time);
      for (const of of tokens) {
        const found = live.of(of).map(({ record }) => record);
        expect(byKey(found)).toEqual(byKey(plainly(records, of, time)));
        if (found.length === 0) slept += 1;
      }
    }
    expect(slept).toBeGreaterThan(0);
  },
);
