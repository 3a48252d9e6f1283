/** The indicators of the page's chart, computed in the plainest way for comparison. */
type Values = (number | null)[];

export interface HandBar {
  readonly time: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

export function maByHand(closes: readonly number[], length: number): Values {
  const values: Values = [];
  for (let end = 1; end <= closes.length; end += 1)
    values.push(end < length ? null : sum(closes.slice(end - length, end)) / length);
  return values;
}

/** The EMA by its recursion, from the mean of the first closes on. */
export function emaByHand(closes: readonly number[], length: number): Values {
  const values: Values = [];
  let lastValue = 0;
  closes.forEach((close, index) => {
    if (index < length - 1) return void values.push(null);
    lastValue =
      index === length - 1
        ? sum(closes.slice(0, length)) / length
        : (2 * close + (length - 1) * lastValue) / (length + 1);
    values.push(lastValue);
  });
  return values;
}

export function bollingerByHand(
  closes: readonly number[],
  length: number,
  width: number,
): ({ upper: number; lower: number } | null)[] {
  return maByHand(closes, length).map((mean, index) => {
    if (mean === null) return null;
    let squares = 0;
    for (let barsBack = 0; barsBack < length; barsBack += 1)
      squares += ((closes[index - barsBack] ?? 0) - mean) ** 2;
    const deviation = (squares / length) ** 0.5;
    return { upper: mean + width * deviation, lower: mean - width * deviation };
  });
}

/** The RSI by the ratio of Wilder's averages. */
export function rsiByHand(closes: readonly number[], length: number): Values {
  const values: Values = closes.map(() => null);
  let [gain, loss] = [0, 0];
  for (let index = 1; index < closes.length; index += 1) {
    const change = (closes[index] ?? 0) - (closes[index - 1] ?? 0);
    const [up, down] = [change > 0 ? change : 0, change < 0 ? -change : 0];
    if (index <= length) {
      gain += up / length;
      loss += down / length;
    } else {
      gain = (gain * (length - 1) + up) / length;
      loss = (loss * (length - 1) + down) / length;
    }
    if (index >= length)
      values[index] = gain + loss === 0 ? 50 : loss === 0 ? 100 : 100 - 100 / (1 + gain / loss);
  }
  return values;
}

/** The VWAP since 00:00 UTC. The first day counts only if it is whole. */
export function vwapByHand(bars: readonly HandBar[], barSeconds: number, isFirstDayWhole: boolean): Values {
  if (barSeconds >= 86_400) throw new Error('only for bars within a day');
  const dayOf = (time: number): number => Math.floor(time / 86_400);
  const firstDay = dayOf(bars[0]?.time ?? 0);
  return bars.map((bar, index) => {
    const day = dayOf(bar.time);
    if (!isFirstDayWhole && day === firstDay) return null;
    const barsOfDay = bars.slice(0, index + 1).filter(({ time }) => dayOf(time) === day);
    const volume = sum(barsOfDay.map((bar) => bar.volume));
    const value = sum(barsOfDay.map((bar) => (bar.volume * (bar.high + bar.low + bar.close)) / 3));
    return volume === 0 ? null : value / volume;
  });
}
