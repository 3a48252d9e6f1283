/**
 * The indicators of the chart as pure functions of prices. Each result has one value per bar, and null where the
 * indicator has no value yet.
 */
export type Values = readonly (number | null)[];

/** The mean of the last `length` prices. */
export function simpleAverage(prices: readonly number[], length: number): Values {
  return prices.map((_, index) => (index + 1 < length ? null : meanUpTo(prices, index, length)));
}

/** The average that gives the newest price the weight 2 / (length + 1). It begins with a simple average. */
export function exponentialAverage(prices: readonly number[], length: number): Values {
  return smooth(prices, length, 2 / (length + 1));
}

interface Bands {
  readonly upper: Values;
  readonly middle: Values;
  readonly lower: Values;
}

/** Bollinger bands: the simple average, and `width` standard deviations (of the population) above and below it. */
export function bollingerBands(prices: readonly number[], length: number, width: number): Bands {
  const middle = simpleAverage(prices, length);
  const deviations = middle.map((mean, index) => {
    if (mean === null) return null;
    const squares = prices.slice(index + 1 - length, index + 1).map((price) => (price - mean) ** 2);
    return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / length);
  });
  const bandAt = (sign: number): Values =>
    middle.map((mean, index) => (mean === null ? null : mean + sign * width * (deviations[index] ?? 0)));
  return { upper: bandAt(1), middle, lower: bandAt(-1) };
}

/** The RSI of J. Welles Wilder, 0 to 100. It is 50 while the price does not move. */
export function relativeStrength(prices: readonly number[], length: number): Values {
  const moves = prices.slice(1).map((price, index) => price - (prices[index] ?? price));
  const gains = smooth(
    moves.map((move) => Math.max(0, move)),
    length,
    1 / length,
  );
  const losses = smooth(
    moves.map((move) => Math.max(0, -move)),
    length,
    1 / length,
  );
  const values = gains.map((gain, index) => {
    const loss = losses[index] ?? null;
    if (gain === null || loss === null) return null;
    return gain + loss === 0 ? 50 : (100 * gain) / (gain + loss);
  });
  return prices.length === 0 ? [] : [null, ...values];
}

interface TradedBar {
  readonly time: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

const DAY_S = 86_400;

/** The name of the period over which the VWAP of a bar adds up: the day or, for bars of a day, the month, in UTC. */
function periodOf(time: number, barSeconds: number): string {
  return new Date(time * 1000).toISOString().slice(0, barSeconds < DAY_S ? 10 : 7);
}

/**
 * The VWAP: the mean of (high + low + close) / 3 since the start of the period, weighted by the volume of the bars. The
 * first period has no value if older bars may belong to it.
 */
export function volumeAverage(bars: readonly TradedBar[], barSeconds: number, isWhole: boolean): Values {
  const [firstBar] = bars;
  if (firstBar === undefined) return [];
  const cutPeriod = isWhole ? null : periodOf(firstBar.time, barSeconds);
  let period = '';
  let [priceVolume, volume] = [0, 0];
  return bars.map((bar) => {
    const barPeriod = periodOf(bar.time, barSeconds);
    if (barPeriod !== period) [priceVolume, volume] = [0, 0];
    period = barPeriod;
    priceVolume += ((bar.high + bar.low + bar.close) / 3) * bar.volume;
    volume += bar.volume;
    return barPeriod === cutPeriod || volume === 0 ? null : priceVolume / volume;
  });
}

/** Whether the period of the newest bar may have begun before the first bar. */
export function isPeriodCut(bars: readonly { readonly time: number }[], barSeconds: number): boolean {
  const [firstBar, lastBar] = [bars[0], bars.at(-1)];
  if (firstBar === undefined || lastBar === undefined) return false;
  return periodOf(firstBar.time, barSeconds) === periodOf(lastBar.time, barSeconds);
}

/** Begins with the mean of the first `length` values. Then each value counts with this weight. */
function smooth(values: readonly number[], length: number, weight: number): Values {
  let average: number | null = null;
  return values.map((value, index) => {
    if (index + 1 < length) return null;
    average = average === null ? meanUpTo(values, index, length) : average + weight * (value - average);
    return average;
  });
}

/** The mean of the `length` values up to this index. */
function meanUpTo(values: readonly number[], index: number, length: number): number {
  return values.slice(index + 1 - length, index + 1).reduce((sum, value) => sum + value, 0) / length;
}
