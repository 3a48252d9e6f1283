/** The price range of a liquidity position as a picture: where it earns fees, and where the price is now. */
import type { PairDetail } from '../../wire/pairs';
import type { PortfolioPosition } from '../../wire/portfolio';
import { h, s } from '../core/dom.ts';
import { formatChange, formatPrice, symbolOf } from '../core/format.ts';

/** Ratio of two prices that are one tick apart, as in TickMath.sol of Uniswap V3. */
const TICK = 1.0001;
/** Ticks within one spacing of these bounds are the whole range: MIN_TICK and MAX_TICK of TickMath.sol. */
const TICK_END = 887_272;

/** Prices of the base token in quote tokens. 0 and Infinity are the ends of a whole range. */
interface PriceRange {
  readonly lower: number;
  readonly upper: number;
  readonly now: number | null;
}

/** The range of a position; a V2 or vault position has the whole range. Null if decimals are unknown. */
function rangeOf(position: PortfolioPosition, pair: PairDetail): PriceRange | null {
  const now = pair.price === null ? null : Number(pair.price);
  const { tick_lower: low, tick_upper: high } = position;
  if (low === undefined || high === undefined) return { lower: 0, upper: Infinity, now };
  const [first, second] = [pair.token0, pair.token1].map(
    (address) => pair.tokens.find((token) => token.address === address)?.decimals ?? null,
  );
  if (typeof first !== 'number' || typeof second !== 'number') return null;
  const spacing = pair.tick_spacing ?? 1;
  const priceAt = (tick: number): number => {
    if (tick <= -TICK_END + spacing) return 0;
    if (tick >= TICK_END - spacing) return Infinity;
    return TICK ** tick * 10 ** (first - second);
  };
  const [lower, upper] = [priceAt(low), priceAt(high)];
  // A tick is a price of token0. The page shows prices of the base token.
  return pair.base_token.address === pair.token0
    ? { lower, upper, now }
    : { lower: 1 / upper, upper: 1 / lower, now };
}

const WIDTH = 640;
const HEIGHT = 84;
const EDGE_MARGIN = 24;
const BAR_TOP = 30;
const BAR_HEIGHT = 18;

export function rangePicture(position: PortfolioPosition, pair: PairDetail): HTMLElement {
  const range = rangeOf(position, pair);
  if (range === null)
    return h('p', { class: 'muted' }, 'The decimals of a token are unknown, so its prices are too.');
  return h('div', { class: 'range' }, h('p', {}, sentenceOf(range, pair)), drawRange(range, pair));
}

function sentenceOf({ lower, upper, now }: PriceRange, pair: PairDetail): string {
  const unit = `${symbolOf(pair.quote_token)} per ${symbolOf(pair.base_token)}`;
  if (lower === 0 && upper === Infinity)
    return `This position earns fees at every price. Now: ${formatPrice(now)} ${unit}.`;
  const between =
    lower === 0
      ? `below ${formatPrice(upper)}`
      : upper === Infinity
        ? `above ${formatPrice(lower)}`
        : `between ${formatPrice(lower)} and ${formatPrice(upper)}`;
  return `This position earns fees while the price is ${between} ${unit}. ${stateOf({ lower, upper, now })}`;
}

function stateOf({ lower, upper, now }: PriceRange): string {
  if (now === null) return 'The price now is unknown.';
  const distanceTo = (bound: number): string => formatChange((bound / now - 1) * 100);
  if (now < lower)
    return `Now: ${formatPrice(now)}, below the range. It is in range again at ${distanceTo(lower)}.`;
  if (now >= upper)
    return `Now: ${formatPrice(now)}, above the range. It is in range again at ${distanceTo(upper)}.`;
  const bounds = [lower > 0 ? distanceTo(lower) : null, upper < Infinity ? distanceTo(upper) : null];
  return `Now: ${formatPrice(now)}, in range. The range ends at ${bounds.filter((bound) => bound !== null).join(' and ')}.`;
}

/** Draws prices on a logarithmic axis that shows both bounds and the price now. */
function drawRange({ lower, upper, now }: PriceRange, pair: PairDetail): SVGElement {
  const logPrices = [lower, upper, now ?? 0].filter((price) => price > 0 && price < Infinity).map(Math.log);
  const [lowest, highest] = [Math.min(...logPrices), Math.max(...logPrices)];
  const pad = Math.max((highest - lowest) * 0.25, 0.05);
  const [axisFrom, axisTo] = [lowest - pad, highest + pad];
  const xOf = (price: number): number => {
    if (price <= 0) return EDGE_MARGIN;
    if (price === Infinity) return WIDTH - EDGE_MARGIN;
    return EDGE_MARGIN + ((Math.log(price) - axisFrom) / (axisTo - axisFrom)) * (WIDTH - 2 * EDGE_MARGIN);
  };
  const [lowerX, upperX] = [xOf(lower), xOf(upper)];
  const isIn = now !== null && now >= lower && now < upper;
  const bar = { y: BAR_TOP, height: BAR_HEIGHT, rx: 3 };
  const label = (x: number, y: number, text: string, name: string): SVGElement =>
    s(
      'text',
      { x, y, class: name, 'text-anchor': x < 90 ? 'start' : x > WIDTH - 90 ? 'end' : 'middle' },
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
    s('rect', { ...bar, x: EDGE_MARGIN, width: WIDTH - 2 * EDGE_MARGIN, class: 'range-axis' }),
    s('rect', {
      ...bar,
      x: lowerX,
      width: Math.max(2, upperX - lowerX),
      class: isIn ? 'range-bar in' : 'range-bar out',
      'data-lower': String(lower),
      'data-upper': String(upper),
    }),
    label(lowerX, BAR_TOP + BAR_HEIGHT + 18, boundText(lower), 'range-bound'),
    label(upperX, BAR_TOP + BAR_HEIGHT + 18, boundText(upper), 'range-bound'),
    ...(now === null || now <= 0
      ? []
      : [
          s('line', {
            x1: xOf(now),
            x2: xOf(now),
            y1: BAR_TOP - 8,
            y2: BAR_TOP + BAR_HEIGHT + 4,
            class: 'range-now',
          }),
          label(xOf(now), BAR_TOP - 13, `now ${formatPrice(now)}`, 'range-now-text'),
        ]),
  );
}
