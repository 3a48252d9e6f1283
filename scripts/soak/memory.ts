/** Judges the memory of a run over time: after a warm-up it must not grow. */

export interface MemorySample {
  /** Time of the sample in seconds since the start. */
  readonly seconds: number;
  readonly bytes: number;
}

export interface MemoryReport {
  /** Slope of a line through the samples after the warm-up, in bytes per minute. */
  readonly slope: number;
  /** Median bytes of the middle and of the last third of the run. */
  readonly median: { readonly middle: number; readonly last: number };
  readonly max: number;
  /** Whether the memory has not grown. */
  readonly flat: boolean;
}

/**
 * Share and bytes by which the last third may exceed the middle third together. They are above 0 because garbage
 * collection is irregular.
 */
const GROWTH_SHARE_MAX = 0.1;
const GROWTH_BYTES_MAX = 32 * 2 ** 20;

/** Judges the samples. The first third of the run is the warm-up. Throws if there are too few samples. */
export function judgeMemory(samples: readonly MemorySample[]): MemoryReport {
  const endSeconds = samples.at(-1)?.seconds ?? 0;
  const samplesBetween = (fromShare: number, toShare: number): MemorySample[] =>
    samples.filter(({ seconds }) => seconds >= endSeconds * fromShare && seconds <= endSeconds * toShare);
  const middle = medianOf(samplesBetween(1 / 3, 2 / 3));
  const last = medianOf(samplesBetween(2 / 3, 1));
  return {
    slope: slopeOf(samplesBetween(1 / 3, 1)) * 60,
    median: { middle, last },
    max: Math.max(...samples.map(({ bytes }) => bytes)),
    flat: last <= middle * (1 + GROWTH_SHARE_MAX) + GROWTH_BYTES_MAX,
  };
}

function medianOf(samples: readonly MemorySample[]): number {
  const sorted = samples.map(({ bytes }) => bytes).sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  if (median === undefined) throw new Error('no memory sample in a third of the run: use a longer run');
  return median;
}

/** Slope by least squares, in bytes per second. */
function slopeOf(samples: readonly MemorySample[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanSeconds, meanBytes] = [
    mean(samples.map(({ seconds }) => seconds)),
    mean(samples.map(({ bytes }) => bytes)),
  ];
  let covariance = 0;
  let variance = 0;
  for (const { seconds, bytes } of samples) {
    covariance += (seconds - meanSeconds) * (bytes - meanBytes);
    variance += (seconds - meanSeconds) ** 2;
  }
  return variance === 0 ? 0 : covariance / variance;
}
