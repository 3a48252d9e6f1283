/**
 * Random token prices of the test world, as rows of hops, and the expected results. Covers chains of up to four hops,
 * tokens without a price, lost prices, low confidence, and changes in any block.
 */
import type { TokenPriceRow } from '../../../src/clickhouse/schema/tables';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { lastOrdOfBlock } from '../../../src/domain/ord';
import type { Random } from '../createRandom';
import { hexOf, type WorldBlock } from './worldEvents';

const tokenAt = (index: number): Hex => hexOf('aa', index, 40);
const ANCHOR_USD = 1.0025;
const ANCHOR = tokenAt(1);
/** Each token is priced in an earlier token, with up to four hops. The world's last token has no price. */
const ORDER = [ANCHOR, tokenAt(0), tokenAt(2), tokenAt(3), tokenAt(4)];

interface Hop {
  readonly next: Hex;
  readonly price: number;
  readonly confidence: number;
}

/** Adds rows for the tokens whose hop changed in a block. Call it for the blocks of one chain in order. */
export function createPriceMaker(random: Random): (block: WorldBlock) => void {
  const hopByToken = new Map<Hex, Hop>();
  return (block) => {
    ORDER.forEach((token, rank) => {
      const previousHop = hopByToken.get(token) ?? { next: ZERO_ADDRESS, price: 0, confidence: 0 };
      const isKnown = hopByToken.has(token);
      if (random() < (isKnown ? 0.6 : 0.85)) return;
      const isAnchor = token === ANCHOR;
      if (isAnchor && isKnown) return;
      const isLost = !isAnchor && random() < 0.08;
      const price = isAnchor ? ANCHOR_USD : isLost ? 0 : 10 ** (random() * 6 - 3);
      const isNextInOrder = random() < 0.7;
      const next = isAnchor || isLost ? ZERO_ADDRESS : ORDER[isNextInOrder ? rank - 1 : random.int(rank)]!;
      const confidence = isAnchor ? 0.99 : isLost ? 0 : random() < 0.55 ? 0.9 + random() / 10 : random();
      block.prices.push({
        ord: lastOrdOfBlock(block.number),
        timestamp: block.timestamp,
        token,
        next_token: next,
        hop_price: price,
        hop_confidence: confidence,
        hop_cap: 0,
        price_usd: 0,
        confidence: 0,
        previous_next_token: previousHop.next,
        previous_hop_price: previousHop.price,
        previous_hop_confidence: previousHop.confidence,
      });
      hopByToken.set(token, { next, price, confidence });
    });
  };
}

export interface PlainPrice {
  readonly usd: number | null;
  readonly confidence: number;
}

/**
 * The price of a token from the newest rows up to block `number` and up to `time`, found by a linear scan. An anchor
 * without a row has its configured price.
 */
export function plainPrice(
  blocks: readonly WorldBlock[],
  number: number,
  token: string,
  time = Infinity,
): PlainPrice {
  const rows = blocks.filter((block) => block.number <= number).flatMap((block) => block.prices);
  const newest = (pricedToken: string): TokenPriceRow | undefined =>
    rows.filter((row) => row.token === pricedToken && row.timestamp <= time).at(-1);
  const noPrice = { usd: null, confidence: 0 };
  const factors: number[] = [];
  let confidence = 1;
  for (let currentToken: string = token; ;) {
    const row = newest(currentToken);
    const isUnstoredAnchor = currentToken === ANCHOR && !rows.some((priceRow) => priceRow.token === ANCHOR);
    if (isUnstoredAnchor || (row !== undefined && row.next_token === ZERO_ADDRESS && row.hop_price > 0)) {
      const anchorUsd = isUnstoredAnchor ? ANCHOR_USD : row!.hop_price;
      const usd = [anchorUsd, ...factors.reverse()].reduce((product, factor) => product * factor);
      return { usd, confidence: factors.length === 0 ? 0.99 : Math.min(confidence, 0.989) };
    }
    if (row === undefined || row.hop_price === 0) return noPrice;
    factors.push(row.hop_price);
    confidence *= row.hop_confidence;
    currentToken = row.next_token;
  }
}
