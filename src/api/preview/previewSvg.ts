/** Draws the picture of a shared link as SVG: name, price and candles. Pure. */
import { normaliseText } from '../../domain/address';
import type { Bar } from '../../wire/ticks';
import { changeFigure, priceFigure } from '../web/figures';
import { escapeText, PICTURE_HEIGHT, PICTURE_WIDTH } from '../web/pageTags';

export interface Preview {
  /** Symbols come from the chain. */
  readonly name: string;
  /** Sign before a price; empty for prices in another token. */
  readonly sign: string;
  /** Unit after a price; empty for USD. */
  readonly unit: string;
  /** Ascending bars of equal length. At most BARS_MAX are drawn. */
  readonly bars: readonly Pick<Bar, 'time' | 'open' | 'high' | 'low' | 'close'>[];
  /** Length of a bar in seconds. */
  readonly seconds: number;
}

export const BARS_MAX = 48;

const NAME_LENGTH_MAX = 44;
/** Space in pixels on the left and right of all texts. */
const MARGIN = 60;
/** Largest height of the name's characters, and largest width of the name, in pixels. */
const NAME_SIZE = 60;
const NAME_WIDTH = PICTURE_WIDTH - 2 * MARGIN;
/** Widths of characters as parts of their height: of ASCII, and of all others, among which are Chinese ones. */
const NARROW_WIDTH = 0.62;
const WIDE_WIDTH = 1;
const FONT = 'Questrial';
/** The dark theme of the page. */
const COLOURS = {
  ground: '#0f1114',
  grid: '#262b32',
  text: '#e6e8eb',
  muted: '#8b939e',
  up: '#2fbf8f',
  down: '#ef6a6a',
};
/** Edges of the chart in pixels. */
const CHART = { left: MARGIN, right: 1010, top: 215, bottom: 545 };
const GRID_LINES = 4;

export function previewSvg(preview: Preview): string {
  const bars = preview.bars
    .slice(-BARS_MAX)
    .filter(({ open, high, low, close }) => [open, high, low, close].every(Number.isFinite));
  const svgParts = [
    `<rect width="${PICTURE_WIDTH}" height="${PICTURE_HEIGHT}" fill="${COLOURS.ground}"/>`,
    ...headingParts(preview, bars),
    ...(bars.length === 0
      ? [textElement(MARGIN, 380, 40, COLOURS.muted, 'No trades yet')]
      : chartParts(preview, bars)),
    textElement(MARGIN, 600, 28, COLOURS.muted, footerText(preview, bars)),
    `<text x="${PICTURE_WIDTH - MARGIN}" y="600" font-size="28" text-anchor="end" fill="${COLOURS.text}">Candlehouse</text>`,
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${PICTURE_WIDTH}" height="${PICTURE_HEIGHT}" font-family="${FONT}">${svgParts.join('')}</svg>`;
}

type Bars = Preview['bars'];

function headingParts({ name, sign, unit }: Preview, bars: Bars): string[] {
  const [firstBar, lastBar] = [bars[0], bars.at(-1)];
  const safeName = safeText(name, NAME_LENGTH_MAX);
  const title = textElement(MARGIN, 100, fontSizeOf(safeName), COLOURS.text, safeName);
  if (firstBar === undefined || lastBar === undefined) return [title];
  const changePercent = firstBar.open > 0 ? (lastBar.close / firstBar.open - 1) * 100 : null;
  const colour = (changePercent ?? 0) < 0 ? COLOURS.down : COLOURS.up;
  const price = `${sign}${priceFigure(lastBar.close) ?? ''} ${safeText(unit, NAME_LENGTH_MAX / 2)}`.trim();
  return [
    title,
    `<text x="${MARGIN}" y="170" font-size="46" fill="${COLOURS.text}">${escapeText(price)}` +
      `<tspan dx="28" fill="${colour}">${escapeText(changeFigure(changePercent) ?? '')}</tspan></text>`,
  ];
}

function footerText({ seconds }: Preview, bars: Bars): string {
  const lastBar = bars.at(-1);
  if (lastBar === undefined) return 'DEX analytics';
  const endTime = new Date((lastBar.time + seconds) * 1_000).toISOString();
  return `${bars.length} bars of ${seconds / 60} minutes, to ${endTime.slice(0, 10)} ${endTime.slice(11, 16)} UTC`;
}

function chartParts({ seconds }: Preview, bars: Bars): string[] {
  const lowest = Math.min(...bars.map(({ low }) => low));
  const highest = Math.max(...bars.map(({ high }) => high));
  // A flat series is drawn in the middle.
  const margin =
    highest > lowest ? (highest - lowest) * 0.05 : Math.max(Math.abs(highest) * 0.01, Number.MIN_VALUE);
  const [lowestShown, highestShown] = [lowest - margin, highest + margin];
  const yOf = (price: number): number =>
    CHART.bottom - ((price - lowestShown) / (highestShown - lowestShown)) * (CHART.bottom - CHART.top);
  const barWidth = (CHART.right - CHART.left) / BARS_MAX;
  const lastTime = bars.at(-1)?.time ?? 0;
  const grid = Array.from({ length: GRID_LINES }, (_, index) => {
    const price = lowest + ((highest - lowest) * index) / (GRID_LINES - 1);
    const y = round(yOf(price));
    return (
      `<line x1="${CHART.left}" x2="${CHART.right}" y1="${y}" y2="${y}" stroke="${COLOURS.grid}"/>` +
      textElement(CHART.right + 14, y + 8, 22, COLOURS.muted, priceFigure(price) ?? '')
    );
  });
  const candles = bars.flatMap(({ time, open, high, low, close }) => {
    const x = CHART.right - ((lastTime - time) / seconds + 0.5) * barWidth;
    if (x < CHART.left) return [];
    const colour = close < open ? COLOURS.down : COLOURS.up;
    const top = yOf(Math.max(open, close));
    const height = Math.max(2, yOf(Math.min(open, close)) - top);
    const [middleX, width] = [round(x), round(barWidth * 0.7)];
    return [
      `<line x1="${middleX}" x2="${middleX}" y1="${round(yOf(high))}" y2="${round(yOf(low))}" stroke="${colour}" stroke-width="2"/>`,
      `<rect x="${round(x - width / 2)}" y="${round(top)}" width="${width}" height="${round(height)}" fill="${colour}"/>`,
    ];
  });
  return [...grid, ...candles];
}

const round = (value: number): number => Math.round(value * 100) / 100;

function textElement(x: number, y: number, size: number, colour: string, text: string): string {
  return `<text x="${x}" y="${y}" font-size="${size}" fill="${colour}">${escapeText(text)}</text>`;
}

/** Removes characters that XML forbids or that nobody sees. */
const safeText = (text: string, lengthMax: number): string => normaliseText(text, lengthMax) ?? '';

/** The largest size up to NAME_SIZE at which the name fits into the picture. */
function fontSizeOf(name: string): number {
  const width = [...name].reduce((sum, character) => sum + (character <= '~' ? NARROW_WIDTH : WIDE_WIDTH), 0);
  return Math.floor(Math.min(NAME_SIZE, NAME_WIDTH / Math.max(1, width)));
}
