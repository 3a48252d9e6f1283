/** Reads the prices of all tokens once per head version: at its block, and at the starts of the four windows. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, f64, nullable } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
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

/** The newest hop of a token. */
export const hopRow = rowType({
  token: address,
  next_token: address,
  hop_price: f64,
  hop_confidence: f64,
  hop_cap: f64,
});
export type HopRow = RowOf<typeof hopRow>;

/** The hops of a token at the starts of the windows. `next_` is null if the hop has not changed since. */
const pastHopRow = rowType({
  token: address,
  next_m5: nullable(address),
  next_h1: nullable(address),
  next_h6: nullable(address),
  next_h24: address,
  price_m5: f64,
  price_h1: f64,
  price_h6: f64,
  price_h24: f64,
  confidence_m5: f64,
  confidence_h1: f64,
  confidence_h6: f64,
  confidence_h24: f64,
});
export type PastHopRow = RowOf<typeof pastHopRow>;

export type TokenPriceTables = PerVersion<TokenPrices>;

export function createTokenPrices(
  runner: QueryRunner,
  chainId: number,
  sources: PriceSources,
): TokenPriceTables {
  return perVersion({ read: (head) => readTokenPrices(runner, chainId, head, sources) });
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
    runner.run('prices/list_hops', { ...snapshot, tip_ord: lastOrdOfBlock(head.number) }, hopRow),
    runner.run(
      'prices/list_past_hops',
      { ...snapshot, after_ord: afterOrd, now: head.timestamp },
      pastHopRow,
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
  const hopsAtStart = (window: Window): Hops => {
    const startHops = new Map(hops);
    for (const row of pastRows) {
      const nextToken = row[`next_${window}`];
      if (nextToken === null) continue;
      const confidence = row[`confidence_${window}`];
      startHops.set(row.token, { nextToken, price: row[`price_${window}`], confidence, cap: 0 });
    }
    return startHops;
  };
  const hopsByWindow = {
    m5: hopsAtStart('m5'),
    h1: hopsAtStart('h1'),
    h6: hopsAtStart('h6'),
    h24: hopsAtStart('h24'),
  };
  return makeTokenPrices(hops, hopsByWindow, wrappedNative);
}
