/**
 * The choices of a user that stay in the browser: look of all charts, and horizontal lines per chart. Stored values that
 * this version does not understand are ignored. Pure.
 */
export const STUDY_NAMES = ['volume', 'ma', 'ema', 'vwap', 'bollinger', 'rsi'] as const;
export type StudyName = (typeof STUDY_NAMES)[number];

const SCALES = ['linear', 'log', 'percent'] as const;
export type Scale = (typeof SCALES)[number];
const ZONES = ['utc', 'local'] as const;

export interface ChartSettings {
  readonly scale: Scale;
  readonly upsideDown: boolean;
  readonly studies: readonly StudyName[];
  readonly zone: (typeof ZONES)[number];
  /** Whether each bar opens at the close of the bar before it. */
  readonly continuous: boolean;
}

const DEFAULTS: ChartSettings = {
  scale: 'linear',
  upsideDown: false,
  studies: ['volume'],
  zone: 'utc',
  continuous: true,
};
/** Most lines of a chart in one currency. */
export const LINES_MAX = 20;

/** Horizontal lines: prices by currency. */
export type ChartLines = Readonly<Record<string, readonly number[]>>;

export function parseSettings(text: string | null): ChartSettings {
  const stored = parseObject(text);
  return {
    scale: SCALES.find((scale) => scale === stored['scale']) ?? DEFAULTS.scale,
    upsideDown: stored['upsideDown'] === true,
    studies: Array.isArray(stored['studies'])
      ? STUDY_NAMES.filter((name) => listOf(stored['studies']).includes(name))
      : DEFAULTS.studies,
    zone: ZONES.find((zone) => zone === stored['zone']) ?? DEFAULTS.zone,
    continuous: stored['continuous'] !== false,
  };
}

export function parseLines(text: string | null): ChartLines {
  const entries = Object.entries(parseObject(text)).map(([currency, prices]): [string, readonly number[]] => [
    currency,
    listOf(prices).filter(isPrice).slice(0, LINES_MAX),
  ]);
  return Object.fromEntries(entries.filter(([, prices]) => prices.length > 0));
}

export function isPrice(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function parseObject(text: string | null): Readonly<Record<string, unknown>> {
  if (text === null) return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
  } catch {
    return {};
  }
}
