/**
 * Draws the price audit as a picture: from the token on the left to the anchor at the end, hop by hop. Each
 * hop shows its pools between two tokens, on ribbons whose thickness is the pool's weight. Dashed pools were
 * excluded, and their reason is shown.
 */
import type { Audit, AuditHop, ExcludedPool } from '../../wire/audit';
import type { AuditNames } from '../audit/auditNames.ts';
import { pairPath, tokenPath } from '../core/app.ts';
import { s } from '../core/dom.ts';
import { formatFee, formatPrice, formatShare, formatUsdPrice, shortHex } from '../core/format.ts';
import { POOL_TYPES } from '../core/pieces.ts';

export const REASONS: Readonly<Record<ExcludedPool['reason'], string>> = {
  outlier: 'price far from the others',
  disagrees: 'price unlike the larger pool',
  no_price: 'has no price in USD',
  low_liquidity: 'holds less than $50',
  dormant: 'unchanged for 30 days',
  not_on_route: 'other pools hold more',
};

/** Sizes of the picture in pixels. */
const CARD_HEIGHT = 50;
const CARD_GAP = 8;
const CARD_WIDTH_MAX = 250;
const HOP_WIDTH_MIN = 330;
const ROW_GAP = 22;
const RIBBON_THICKEST = 22;
const NODE_HEIGHT = 96;
/** Mean widths of a letter in the names and in the kinds of pools. */
const NAME_LETTER_PX = 7.2;
const KIND_LETTER_PX = 5.6;
/** Most pools drawn per hop; the others become one line of text. */
const POOLS_MAX = 10;

/** Widths in pixels of a token and of the ribbons on either side of the pools. */
interface PathSizes {
  readonly nodeWidth: number;
  readonly nodeRadius: number;
  readonly ribbonWidth: number;
}

const WIDE_SIZES: PathSizes = { nodeWidth: 60, nodeRadius: 27, ribbonWidth: 44 };
/** On a phone the pools need more of the width. */
const NARROW_SIZES: PathSizes = { nodeWidth: 46, nodeRadius: 21, ribbonWidth: 18 };
/** Below this width in pixels, the narrow sizes are used. */
const NARROW_WIDTH = 480;
/** Smallest height of a hop, and height of its title and of the space around its pools, in pixels. */
const HOP_HEIGHT_MIN = 120;
const HOP_FRAME_HEIGHT = 36;

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Draws the path for a width. Hops that do not fit side by side wrap to the next row. */
export function auditPath(audit: Audit, names: AuditNames, width: number): SVGElement {
  const sizes = width < NARROW_WIDTH ? NARROW_SIZES : WIDE_SIZES;
  const hopsPerRow = Math.max(1, Math.min(audit.hops.length, Math.floor(width / HOP_WIDTH_MIN)));
  const hopWidth = Math.min(
    (width - sizes.nodeWidth) / hopsPerRow,
    sizes.nodeWidth + 2 * sizes.ribbonWidth + CARD_WIDTH_MAX,
  );
  const parts: SVGElement[] = [];
  let top = 0;
  for (let firstHop = 0; firstHop < audit.hops.length; firstHop += hopsPerRow) {
    const row = audit.hops.slice(firstHop, firstHop + hopsPerRow);
    const height = Math.max(...row.map((hop) => heightOf(audit, hop)));
    row.forEach((hop, index) => {
      const box = { x: index * hopWidth, y: top, width: hopWidth, height };
      const isLast = firstHop + index === audit.hops.length - 1;
      parts.push(
        ...drawHop(audit, hop, names, { box, sizes, endsRow: isLast || index === row.length - 1, isLast }),
      );
    });
    top += height + ROW_GAP;
  }
  if (audit.hops.length === 0) {
    parts.push(
      drawNode(
        names,
        audit.token.address,
        { x: 0, y: 0, width: sizes.nodeWidth, height: NODE_HEIGHT },
        anchorText(audit),
      ),
    );
    top = NODE_HEIGHT + ROW_GAP;
  }
  const height = top - ROW_GAP;
  const label = `Path of the price: ${[audit.token.address, ...audit.hops.map(({ to_token }) => to_token)].map((token) => names.symbolOf(token)).join(' to ')}`;
  return s(
    'svg',
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      class: 'audit-svg',
      role: 'group',
      'aria-label': label,
    },
    ...parts,
  );
}

function excludedPoolsOf(audit: Audit, hop: AuditHop): ExcludedPool[] {
  return audit.excluded_pools.filter(({ step }) => step === hop.step);
}

function countLines(audit: Audit, hop: AuditHop): number {
  const usedCount = Math.min(POOLS_MAX, hop.pools.length);
  return (
    usedCount +
    Math.min(POOLS_MAX, excludedPoolsOf(audit, hop).length) +
    (hop.pools.length > POOLS_MAX ? 1 : 0)
  );
}

function heightOf(audit: Audit, hop: AuditHop): number {
  return Math.max(HOP_HEIGHT_MIN, countLines(audit, hop) * (CARD_HEIGHT + CARD_GAP) + HOP_FRAME_HEIGHT);
}

function anchorText(audit: Audit): string {
  if (audit.anchor === null) return '';
  return `anchor ${formatUsdPrice(audit.anchor.price_usd).replace(/\.0+$/, '')}`;
}

interface HopPlace {
  readonly box: Box;
  readonly sizes: PathSizes;
  /** Whether this hop draws the token at its end. Otherwise the next hop draws the token. */
  readonly endsRow: boolean;
  readonly isLast: boolean;
}

function drawHop(audit: Audit, hop: AuditHop, names: AuditNames, place: HopPlace): SVGElement[] {
  const { box, sizes, endsRow, isLast } = place;
  const excludedPools = excludedPoolsOf(audit, hop).slice(0, POOLS_MAX);
  const usedPools = [...hop.pools].sort((a, b) => Number(b.weight) - Number(a.weight));
  const shownPools = usedPools.slice(0, POOLS_MAX);
  const lines = countLines(audit, hop);
  const stackHeight = lines * (CARD_HEIGHT + CARD_GAP) - CARD_GAP;
  const middle = box.y + box.height / 2 + 7;
  const cardX = box.x + sizes.nodeWidth + sizes.ribbonWidth;
  const cardWidth = box.width - sizes.nodeWidth - 2 * sizes.ribbonWidth;
  const boxOfLine = (line: number): Box => ({
    x: cardX,
    y: middle - stackHeight / 2 + line * (CARD_HEIGHT + CARD_GAP),
    width: cardWidth,
    height: CARD_HEIGHT,
  });
  const parts: SVGElement[] = [];
  const leftX = box.x + sizes.nodeWidth;
  const rightX = box.x + box.width;
  let ribbonOffset = -RIBBON_THICKEST / 2;
  shownPools.forEach((pool, line) => {
    const thickness = Math.max(1, Number(pool.weight) * RIBBON_THICKEST);
    const ribbonY = middle + ribbonOffset + thickness / 2;
    ribbonOffset += thickness;
    parts.push(...ribbons(leftX, rightX, ribbonY, boxOfLine(line), thickness, 'ribbon'));
  });
  excludedPools.forEach((_, index) =>
    parts.push(...ribbons(leftX, rightX, middle, boxOfLine(shownPools.length + index), 1, 'ribbon dropped')),
  );
  parts.push(hopTitle(hop, names, boxOfLine(0)));
  const units = { from: names.symbolOf(hop.from_token), to: names.symbolOf(hop.to_token) };
  shownPools.forEach((pool, line) => parts.push(poolCard(pool, names, units.to, boxOfLine(line))));
  excludedPools.forEach((pool, index) =>
    parts.push(excludedCard(pool, names, boxOfLine(shownPools.length + index))),
  );
  if (usedPools.length > POOLS_MAX) parts.push(moreText(usedPools.slice(POOLS_MAX), boxOfLine(lines - 1)));
  parts.push(
    drawNode(
      names,
      hop.from_token,
      { x: box.x, y: middle - NODE_HEIGHT / 2, width: sizes.nodeWidth, height: NODE_HEIGHT },
      '',
    ),
  );
  if (endsRow)
    parts.push(
      drawNode(
        names,
        hop.to_token,
        { x: rightX, y: middle - NODE_HEIGHT / 2, width: sizes.nodeWidth, height: NODE_HEIGHT },
        isLast ? anchorText(audit) : '',
      ),
    );
  return parts;
}

function ribbons(
  left: number,
  right: number,
  tokenY: number,
  card: Box,
  thickness: number,
  className: string,
): SVGElement[] {
  const cardY = card.y + card.height / 2;
  const curve = (x0: number, y0: number, x1: number, y1: number): string => {
    const bend = (x0 + x1) / 2;
    return `M${x0},${y0}C${bend},${y0} ${bend},${y1} ${x1},${y1}`;
  };
  const draw = (d: string): SVGElement => s('path', { d, class: className, 'stroke-width': thickness });
  return [
    draw(curve(left - 14, tokenY, card.x, cardY)),
    draw(curve(card.x + card.width, cardY, right + 14, tokenY)),
  ];
}

function hopTitle(hop: AuditHop, names: AuditNames, box: Box): SVGElement {
  const text = `1 ${shorten(names.symbolOf(hop.from_token), 10)} = ${formatPrice(hop.hop_price)} ${shorten(names.symbolOf(hop.to_token), 10)}`;
  return s(
    'text',
    { x: box.x + box.width / 2, y: box.y - 7, class: 'hop-price', 'text-anchor': 'middle' },
    text,
  );
}

/** The name of a pool, or else the short address. */
function nameOf(address: string, names: AuditNames): string {
  return names.poolOf(address)?.name ?? shortHex(address);
}

function poolCard(pool: AuditHop['pools'][number], names: AuditNames, unit: string, box: Box): SVGElement {
  const kind = `${POOL_TYPES[pool.pool_type] ?? ''} ${formatFee(pool.fee_bps)}`;
  const title = `${nameOf(pool.address, names)} on ${pool.dex_name}, ${pool.address}\nweight ${pool.weight}\nprice of this pool ${pool.implied_price} ${unit}\nbalances ${pool.reserve0}, ${pool.reserve1}`;
  return s(
    'a',
    { href: pairPath(pool.address), class: 'pool' },
    s('title', {}, title),
    s('rect', { x: box.x, y: box.y, width: box.width, height: box.height, rx: 6 }),
    s('rect', {
      x: box.x,
      y: box.y + box.height - 3,
      width: Math.max(2, Number(pool.weight) * box.width),
      height: 3,
      rx: 1.5,
      class: 'weight',
    }),
    s(
      'text',
      { x: box.x + 10, y: box.y + 19, class: 'pool-name' },
      shorten(nameOf(pool.address, names), Math.floor((box.width - 76) / NAME_LETTER_PX)),
    ),
    s(
      'text',
      { x: box.x + box.width - 10, y: box.y + 19, class: 'pool-weight', 'text-anchor': 'end' },
      formatShare(Number(pool.weight) * 100),
    ),
    s(
      'text',
      { x: box.x + 10, y: box.y + 37, class: 'pool-price' },
      `${formatPrice(pool.implied_price)} ${shorten(unit, 8)}`,
    ),
    s(
      'text',
      { x: box.x + box.width - 10, y: box.y + 37, class: 'pool-kind', 'text-anchor': 'end' },
      shorten(`${pool.dex_name} ${kind}`, Math.floor((box.width - 110) / KIND_LETTER_PX)),
    ),
  );
}

function excludedCard(pool: ExcludedPool, names: AuditNames, box: Box): SVGElement {
  const unit = box.width < CARD_WIDTH_MAX - 20 ? '' : ` ${shorten(names.symbolOf(pool.to_token), 8)}`;
  const price = pool.implied_price === null ? 'no price' : `${formatPrice(pool.implied_price)}${unit}`;
  return s(
    'a',
    { href: pairPath(pool.address), class: 'pool dropped' },
    s(
      'title',
      {},
      `${pool.address}\nleft out: ${REASONS[pool.reason]}\nprice of this pool ${pool.implied_price ?? 'unknown'}`,
    ),
    s('rect', { x: box.x, y: box.y, width: box.width, height: box.height, rx: 6 }),
    s(
      'text',
      { x: box.x + 10, y: box.y + 19, class: 'pool-name' },
      shorten(nameOf(pool.address, names), Math.floor((box.width - 86) / NAME_LETTER_PX)),
    ),
    s(
      'text',
      { x: box.x + box.width - 10, y: box.y + 19, class: 'pool-out', 'text-anchor': 'end' },
      'left out',
    ),
    s('text', { x: box.x + 10, y: box.y + 37, class: 'pool-price' }, price),
    s(
      'text',
      { x: box.x + box.width - 10, y: box.y + 37, class: 'pool-kind', 'text-anchor': 'end' },
      REASONS[pool.reason],
    ),
  );
}

function moreText(morePools: AuditHop['pools'], box: Box): SVGElement {
  const weight = morePools.reduce((sum, pool) => sum + Number(pool.weight), 0);
  const text = `${morePools.length} more pools with a weight of ${formatShare(weight * 100)}`;
  return s('text', { x: box.x + 10, y: box.y + 22, class: 'pool-kind' }, text);
}

function drawNode(names: AuditNames, address: string, box: Box, note: string): SVGElement {
  const centreX = box.x + box.width / 2;
  const centreY = box.y + box.height / 2;
  const symbol = names.symbolOf(address);
  const radius = box.width < WIDE_SIZES.nodeWidth ? NARROW_SIZES.nodeRadius : WIDE_SIZES.nodeRadius;
  const lettersMax = box.width < WIDE_SIZES.nodeWidth ? 5 : 6;
  return s(
    'a',
    { href: tokenPath(address), class: note === '' ? 'node' : 'node anchor' },
    s('title', {}, `${symbol} ${address}`),
    s('circle', { cx: centreX, cy: centreY, r: radius }),
    s(
      'text',
      { x: centreX, y: centreY + 4, 'text-anchor': 'middle', class: 'node-name' },
      shorten(symbol, lettersMax),
    ),
    ...(note === ''
      ? []
      : [
          s(
            'text',
            { x: centreX + radius + 2, y: centreY + 44, 'text-anchor': 'end', class: 'node-note' },
            note,
          ),
        ]),
  );
}

function shorten(text: string, lengthMax: number): string {
  const letters = [...text];
  return letters.length <= lengthMax ? text : `${letters.slice(0, Math.max(1, lengthMax - 1)).join('')}…`;
}
