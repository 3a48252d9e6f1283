import fc from 'fast-check';

import type { BarPart } from '../../../../src/query/bars/barParts';
import { toSeries } from '../../../../src/query/bars/chartSeries';
import type { Bar } from '../../../../src/wire/ticks';

const SECONDS = 60;

const priceArbitrary = fc.double({ min: 1e-12, max: 1e12, noNaN: true });

/** A bar of three swaps, and the number of empty bars before it. */
const barArbitrary = fc.record({
  gap: fc.nat(3),
  prices: fc.tuple(priceArbitrary, priceArbitrary, priceArbitrary),
  buys: fc.nat(3),
});

const barsArbitrary = fc.array(barArbitrary, { maxLength: 12 }).map((list) => {
  let bucket = 1_700_000_040;
  return list.map(({ gap, prices, buys }): BarPart => {
    bucket += SECONDS * (1 + gap);
    return {
      bucket,
      openOrd: bucket,
      open: prices[0],
      closeOrd: bucket + 2,
      close: prices[2],
      high: Math.max(...prices),
      low: Math.min(...prices),
      volume0: 5n,
      volume1: 7n,
      volumeUsd: 11n,
      trades: 3,
      untracked: 0,
      buys,
      lastOrd: bucket + 2,
    };
  });
});

interface Choice {
  readonly fill: boolean;
  readonly invert: boolean;
  readonly limit: number;
}

const choiceArbitrary = fc.record({
  fill: fc.boolean(),
  invert: fc.boolean(),
  limit: fc.integer({ min: 1, max: 9 }),
});

const optionsOf = (
  { fill, invert, limit }: Choice,
  bars: readonly BarPart[],
): Parameters<typeof toSeries>[1] => ({
  barSeconds: SECONDS,
  limit,
  to: 4_294_967_295,
  fill,
  invert,
  currency: 'quote',
  headTimestamp: (bars.at(-1)?.bucket ?? 0) + 200,
  baseIsToken0: true,
  decimals0: 0,
  decimals1: 0,
});

/** Opens each bar at the close before it, by hand. */
function connectPlainly(bars: readonly Bar[]): Bar[] {
  return bars.map((bar, index) => {
    const before = bars[index - 1];
    if (before === undefined) return bar;
    const prices = [before.close, bar.high, bar.low];
    return { ...bar, open: before.close, high: Math.max(...prices), low: Math.min(...prices) };
  });
}

test('a continuous series is the plain series with each bar opened at the close before it, on every page', () => {
  fc.assert(
    fc.property(barsArbitrary, choiceArbitrary, (bars, choice) => {
      const whole = toSeries(bars, optionsOf({ ...choice, limit: 1_000 }, bars)).data;
      const page = toSeries(bars, { ...optionsOf(choice, bars), continuous: true });
      expect(page.data).toEqual(connectPlainly(whole).slice(-choice.limit));
      expect(page.nextTo).toBe(whole.length > page.data.length ? page.data[0]!.time : null);
    }),
  );
});

test('an incomplete oldest bar is not shown, and gives only its close and the sign that older bars exist', () => {
  fc.assert(
    fc.property(barsArbitrary, choiceArbitrary, (bars, choice) => {
      fc.pre(bars.length > 1);
      const options = { ...optionsOf(choice, bars), continuous: true };
      const whole = toSeries(bars, { ...options, limit: 1_000 }).data.filter(
        ({ time }) => time >= bars[1]!.bucket,
      );
      const cut = bars.map((bar, index) => (index === 0 ? { ...bar, open: 3, high: 9e12, low: 1e-13 } : bar));
      const page = toSeries(cut, { ...options, partial: true });
      expect(page.data).toEqual(whole.slice(-choice.limit));
      expect(page.nextTo).toBe(page.data[0]!.time);
    }),
  );
});

test('a bar without trades has a volume of zero, not an unknown volume', () => {
  const [bar] = fc.sample(
    barsArbitrary.filter(({ length }) => length > 0),
    { numRuns: 1, seed: 1 },
  )[0]!;
  const quiet = { ...bar!, trades: 0, buys: 0, volumeUsd: 0n, volume0: 0n };
  const { data } = toSeries([quiet], optionsOf({ fill: false, invert: false, limit: 5 }, [quiet]));
  expect(data[0]).toMatchObject({ trades: 0, volume: 0, volume_usd: 0 });
});
