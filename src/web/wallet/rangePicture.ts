/** The price range of a liquidity position as a picture: where it earns fees, and where the price is now. */
import type { PairDetail } from '../../wire/pairs';
import type { PortfolioPosition } from '../../wire/portfolio';
import { h, s } from '../core/dom.ts';
import { formatChange, formatPrice, symbolOf } from '../core/format.ts';

/** Ratio of two prices that are one tick apart, as in TickMath.sol of Uniswap V3. */
const TICK_RATIO = 1.0001;
/** The bin with the price 1. The ids of bins with a price are above all ticks. */
const MIDDLE_BIN = 2 ** 23;
/** Ticks within one spacing of these bounds are the whole range: MIN_TICK and MAX_TICK of TickMath.sol. */
const TICK_END = 887_272;

/** Prices of the base token in quote tokens. A range over all prices goes from 0 to Infinity. */
interface PriceRange {
  readonly lower: number;
  readonly upper: number;
  readonly currentPrice: number | null;
}

/** The range of a position; a V2 or vault position has the whole range. Null if decimals are unknown. */
function rangeOf(position: PortfolioPosition, pair: PairDetail): PriceRange | null {
  const currentPrice = pair.price === null ? null : Number(pair.price);
  const { tick_lower: lowerTick, tick_upper: upperTick } = position;
  if (lowerTick === undefined || upperTick === undefined) return { lower: 0, upper: Infinity, currentPrice };
  const [decimals0, decimals1] = [pair.token0, pair.token1].map(
    (address) => pair.tokens.find((token) => token.address === address)?.decimals ?? null,
  );
  if (typeof decimals0 !== 'number' || typeof decimals1 !== 'number') return null;
  const spacing = pair.tick_spacing ?? 1;
  const priceAt = (tick: number): number => {
    if (tick > TICK_END) return (1 + spacing / 10_000) ** (tick - MIDDLE_BIN) * 10 ** (decimals0 - decimals1);
    if (tick <= -TICK_END + spacing) return 0;
    if (tick >= TICK_END - spacing) return Infinity;
    return TICK_RATIO ** tick * 10 ** (decimals0 - decimals1);
  };
  const [lower, upper] = [priceAt(lowerTick), priceAt(upperTick)];
  // A tick is a price of token0. The page shows prices of the base token.
  return pair.base_token.address === pair.token0
    ? { lower, upper, currentPrice }
    : { lower: 1 / upper, upper: 1 / lower, currentPrice };
}

// Sizes in units of the picture's viewBox, which is scaled to the page.
const WIDTH = 640;
const HEIGHT = 84;
const EDGE_MARGIN = 24;
const BAR_TOP = 30;
const BAR_HEIGHT = 18;
/** A text nearer to an edge is not centred, so that it stays inside the picture. */
const TEXT_MARGIN = 90;

export function rangePicture(position: PortfolioPosition, pair: PairDetail): HTMLElement {
  const range = rangeOf(position, pair);
  if (range === null)
    return h('p', { class: 'muted' }, 'The decimals of a token are unknown, so its prices are too.');
  return h('div', { class: 'range' }, h('p', {}, sentenceOf(range, pair)), drawRange(range, pair));
}

function sentenceOf({ lower, upper, currentPrice }: PriceRange, pair: PairDetail): string {
  const unit = `${symbolOf(pair.quote_token)} per ${symbolOf(pair.base_token)}`;
  if (lower === 0 && upper === Infinity)
    return `This position earns fees at every price. Now: ${formatPrice(currentPrice)} ${unit}.`;
  const boundsText =
    lower === 0
      ? `below ${formatPrice(upper)}`
      : upper === Infinity
        ? `above ${formatPrice(lower)}`
        : `between ${formatPrice(lower)} and ${formatPrice(upper)}`;
  return `This position earns fees while the price is ${boundsText} ${unit}. ${stateOf({ lower, upper, currentPrice })}`;
}

function stateOf({ lower, upper, currentPrice }: PriceRange): string {
  if (currentPrice === null) return 'The price now is unknown.';
  const distanceTo = (bound: number): string => formatChange((bound / currentPrice - 1) * 100);
  if (currentPrice < lower)
    return `Now: ${formatPrice(currentPrice)}, below the range. It is in range again at ${distanceTo(lower)}.`;
  if (currentPrice >= upper)
    return `Now: ${formatPrice(currentPrice)}, above the range. It is in range again at ${distanceTo(upper)}.`;
  const distances = [lower > 0 ? distanceTo(lower) : null, upper < Infinity ? distanceTo(upper) : null];
  return `Now: ${formatPrice(currentPrice)}, in range. The range ends at ${distances.filter((bound) => bound !== null).join(' and ')}.`;
}

/** Draws prices on a logarithmic axis that shows both bounds and the price now. */
function drawRange({ lower, upper, currentPrice }: PriceRange, pair: PairDetail): SVGElement {
  const logPrices = [lower, upper, currentPrice ?? 0]
    .filter((price) => price > 0 && price < Infinity)
    .map(Math.log);
  const [lowest, highest] = [Math.min(...logPrices), Math.max(...logPrices)];
  const padding = Math.max((highest - lowest) * 0.25, 0.05);
  const [axisStart, axisEnd] = [lowest - padding, highest + padding];
  const xOf = (price: number): number => {
    if (price <= 0) return EDGE_MARGIN;
    if (price === Infinity) return WIDTH - EDGE_MARGIN;
    return EDGE_MARGIN + ((Math.log(price) - axisStart) / (axisEnd - axisStart)) * (WIDTH - 2 * EDGE_MARGIN);
  };
  const [lowerX, upperX] = [xOf(lower), xOf(upper)];
  const isInRange = currentPrice !== null && currentPrice >= lower && currentPrice < upper;
  const barProps = { y: BAR_TOP, height: BAR_HEIGHT, rx: 3 };
  const drawText = (x: number, y: number, text: string, name: string): SVGElement =>
    s(
      'text',
      {
        x,
        y,
        class: name,
        'text-anchor': x < TEXT_MARGIN ? 'start' : x > WIDTH - TEXT_MARGIN ? 'end' : 'middle',
      },
      text,
    );
  const boundText = (price: number): string =>
    price === 0 ? '0' : price === Infinity ? '∞' : formatPrice(price);
  return s(
    'svg',
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      class: 'range-svg',
      role: 'img',
      'aria-label': `Range of prices, ${boundText(lower)} to ${boundText(upper)} ${symbolOf(pair.quote_token)}`,
    },
    s('rect', { ...barProps, x: EDGE_MARGIN, width: WIDTH - 2 * EDGE_MARGIN, class: 'range-axis' }),
    s('rect', {
      ...barProps,
      x: lowerX,
      width: Math.max(2, upperX - lowerX),
      class: isInRange ? 'range-bar in' : 'range-bar out',
      'data-lower': String(lower),
      'data-upper': String(upper),
    }),
    drawText(lowerX, BAR_TOP + BAR_HEIGHT + 18, boundText(lower), 'range-bound'),
    drawText(upperX, BAR_TOP + BAR_HEIGHT + 18, boundText(upper), 'range-bound'),
    ...(currentPrice === null || currentPrice <= 0
      ? []
      : [
          s('line', {
            x1: xOf(currentPrice),
            x2: xOf(currentPrice),
            y1: BAR_TOP - 8,
            y2: BAR_TOP + BAR_HEIGHT + 4,
            class: 'range-now',
          }),
          drawText(xOf(currentPrice), BAR_TOP - 13, `now ${formatPrice(currentPrice)}`, 'range-now-text'),
        ]),
  );
}
