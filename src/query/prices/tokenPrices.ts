/** Reads the prices of all tokens once per head version: at its block, and at the starts of the four windows. */
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { Anchor } from '../../domain/chainDescription';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { storedCap } from '../../pricing/cap';
import { ANCHOR_CONFIDENCE } from '../../pricing/confidence';
import type { Window } from '../../wire/pairs';
import { findOrdAt } from '../head/blockTimes';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { perVersion, type PerVersion } from '../head/perVersion';
import { makeTokenPrices, type Hop, type Hops, type TokenPrices } from './priceByHops';

const DAY_SECONDS = 86_400;
/** Limit for safety: more tokens than any chain has. */
const TOKENS_MAX = 2_000_000;

/** The anchors and the wrapped native token of the chain description. */
export interface PriceSources {
  readonly anchors: readonly Anchor[];
  readonly wrappedNative: Hex | null;
}

export const hopRowShape = z.object({
  token: z.string(),
  next_token: z.string(),
  hop_price: z.number(),
  hop_confidence: z.number(),
  hop_cap: z.number(),
});
export type HopRow = z.infer<typeof hopRowShape>;

const pastHopRowShape = z.object({
  token: z.string(),
  next_m5: z.string().nullable(),
  next_h1: z.string().nullable(),
  next_h6: z.string().nullable(),
  next_h24: z.string().nullable(),
  price_m5: z.number(),
  price_h1: z.number(),
  price_h6: z.number(),
  price_h24: z.number(),
  confidence_m5: z.number(),
  confidence_h1: z.number(),
  confidence_h6: z.number(),
  confidence_h24: z.number(),
});
export type PastHopRow = z.infer<typeof pastHopRowShape>;

export type TokenPriceTables = PerVersion<TokenPrices>;

export function createTokenPrices(
  runner: QueryRunner,
  chainId: number,
  sources: PriceSources,
): TokenPriceTables {
  return perVersion((head) => readTokenPrices(runner, chainId, head, sources));
}

async function readTokenPrices(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  sources: PriceSources,
): Promise<TokenPrices> {
  const snapshot = { ...snapshotParams(head), limit: TOKENS_MAX };
  const afterOrd = await findOrdAt(runner, chainId, head, head.timestamp - DAY_SECONDS);
  const [rows, pastRows] = await Promise.all([
    runner.run('prices/list_hops', { ...snapshot, tip_ord: lastOrdOfBlock(head.number) }, hopRowShape),
    runner.run(
      'prices/list_past_hops',
      { ...snapshot, after_ord: afterOrd, now: head.timestamp },
      pastHopRowShape,
    ),
  ]);
  return toTokenPrices(rows, pastRows, sources);
}

/** Pure. */
export function toHop({ next_token, hop_price, hop_confidence, hop_cap }: Omit<HopRow, 'token'>): Hop {
  return {
    nextToken: next_token,
    price: hop_price,
    confidence: hop_confidence,
    cap: storedCap(hop_price, hop_cap),
  };
}

/** Computes the prices; an anchor without a stored price has its configured price. Pure. */
export function toTokenPrices(
  rows: readonly HopRow[],
  pastRows: readonly PastHopRow[],
  { anchors, wrappedNative }: PriceSources,
): TokenPrices {
  const hops = new Map<string, Hop>(
    anchors.map(({ address, priceUsd }) => [
      address,
      { nextToken: ZERO_ADDRESS, price: priceUsd, confidence: ANCHOR_CONFIDENCE, cap: Infinity },
    ]),
  );
  for (const row of rows) hops.set(row.token, toHop(row));
  const past = (window: Window): Hops => {
    const then = new Map(hops);
    for (const row of pastRows) {
      const nextToken = row[`next_${window}`];
      if (nextToken === null) continue;
      const confidence = row[`confidence_${window}`];
      then.set(row.token, { nextToken, price: row[`price_${window}`], confidence, cap: 0 });
    }
    return then;
  };
  const starts = { m5: past('m5'), h1: past('h1'), h6: past('h6'), h24: past('h24') };
  return makeTokenPrices(hops, starts, wrappedNative);
}
