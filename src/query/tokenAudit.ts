/** How a token's price came about. As long as no prices are computed: the anchors' own, and none for the others. Pure. */
import { createHash } from 'node:crypto';

import type { Audit } from '../wire/tokens';
import {
  ANCHOR_CONFIDENCE,
  priceOfToken,
  warningsOfToken,
  type PriceSources,
  type TokenEntry,
} from './tokenItem';

/** The block that an audit is as of. */
export interface AuditBlock {
  readonly number: number;
  /** Unix seconds, UTC. */
  readonly timestamp: number;
}

export function toAudit(entry: TokenEntry, chainId: number, sources: PriceSources, block: AuditBlock): Audit {
  const { address, symbol, name } = entry.item;
  const price = priceOfToken(address, sources);
  const isAnchor = price.usd !== null;
  return {
    token: { address, symbol, name },
    price_usd: price.usd,
    price_native: price.native,
    derived_at_block: block.number,
    derived_at_timestamp: block.timestamp,
    confidence: price.confidence,
    confidence_score: isAnchor ? ANCHOR_CONFIDENCE : 0,
    method: isAnchor ? 'stable_anchor' : 'none',
    hops: [],
    excluded_pools: [],
    warnings: warningsOfToken(price),
    inputs_hash: hashInputs(address, chainId, sources, block),
  };
}

/** sha256 of what the price was made of, as JSON with its keys in this order. */
function hashInputs(token: string, chainId: number, sources: PriceSources, block: AuditBlock): string {
  const inputs = {
    chain_id: chainId,
    token,
    block_number: block.number,
    anchors: sources.anchors.map(({ address, priceUsd }) => ({ address, price_usd: priceUsd })),
    wrapped_native: sources.wrappedNative,
    pools: [],
  };
  return `0x${createHash('sha256').update(JSON.stringify(inputs)).digest('hex')}`;
}
