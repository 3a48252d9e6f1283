/**
 * Prices other tokens at a block: from the prices of the head if the audit is about the head block, else hop by hop
 * from the store.
 */
import type { Anchor } from '../../domain/chainDescription';
import { isAddress, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { ANCHOR_CONFIDENCE } from '../../pricing/confidence';
import { HOPS_MAX } from '../../pricing/priceRoute';
import type { AuditReader } from './auditRows';
import { priceByHops, type Hop, type TokenPrice } from '../prices/priceByHops';
import { toHop } from '../prices/tokenPrices';

export class HopReader {
  private readonly hops = new Map<string, Hop>();
  private readonly loadedTokens = new Set<Hex>();
  private readonly readTokens = new Set<Hex>();

  /**
   * `priceNow` gives the prices at the head, and is used only if the audited block is the head. An anchor without a stored
   * price has its configured price.
   */
  constructor(
    private readonly reader: Pick<AuditReader, 'listHops'>,
    anchors: readonly Anchor[],
    private readonly priceNow: ((token: string) => TokenPrice) | null,
  ) {
    for (const { address, priceUsd } of anchors)
      this.hops.set(address, {
        nextToken: ZERO_ADDRESS,
        price: priceUsd,
        confidence: ANCHOR_CONFIDENCE,
        cap: Infinity,
      });
  }

  /** Loads the hops of these tokens, before their prices are read. */
  async load(tokens: readonly Hex[]): Promise<void> {
    for (const token of tokens) this.loadedTokens.add(token);
    if (this.priceNow === null) await this.loadHops(tokens);
  }

  /** Reads the hops of tokens and of all next tokens on their paths. */
  async loadHops(tokens: readonly Hex[]): Promise<void> {
    let toLoad = tokens;
    for (let step = 0; step <= HOPS_MAX; step += 1) {
      const newTokens = toLoad.filter((token) => token !== ZERO_ADDRESS && !this.readTokens.has(token));
      if (newTokens.length === 0) return;
      for (const token of newTokens) this.readTokens.add(token);
      const rows = await this.reader.listHops(newTokens);
      for (const row of rows) this.hops.set(row.token, toHop(row));
      toLoad = rows.map(({ next_token }) => next_token);
    }
  }

  /** A loaded hop, or the configured price of an anchor. */
  hopOf(token: string): Hop | undefined {
    return this.hops.get(token);
  }

  /** The given tokens and all next tokens on their paths. Only valid after `loadHops`. */
  tokensOnPaths(tokens: readonly Hex[]): ReadonlySet<Hex> {
    const onPaths = new Set(tokens);
    for (const token of onPaths) {
      const nextToken = this.hops.get(token)?.nextToken;
      if (nextToken !== undefined && nextToken !== ZERO_ADDRESS && isAddress(nextToken))
        onPaths.add(nextToken);
    }
    return onPaths;
  }

  /** USD per whole token; null if the token has no price. */
  usdOf(token: Hex): number | null {
    return this.priceOf(token).usd;
  }

  /** Anchors among the loaded tokens, with USD per whole token. */
  anchors(): ReadonlyMap<Hex, number> {
    const anchors = new Map<Hex, number>();
    for (const token of this.loadedTokens) {
      const { usd, isAnchor } = this.priceOf(token);
      if (usd !== null && isAnchor) anchors.set(token, usd);
    }
    return anchors;
  }

  /** The price of a loaded token. */
  priceOf(token: Hex): TokenPrice {
    return this.priceNow === null ? priceByHops(this.hops, token) : this.priceNow(token);
  }
}
