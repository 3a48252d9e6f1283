/** The pairs of each token of a table, grouped on first use, and why tokens have no price. */
import type { PriceReason } from '../../wire/priceReason';
import type { Token } from '../../wire/primitives';
import type { TokenPrices } from '../prices/priceByHops';
import type { PairEntry } from './pairItem';
import { tokenPriceReason } from './priceReasons';

export class TokenPairs {
  /** All pairs of the table. Set once, before the first use. */
  entries: readonly PairEntry[] = [];
  private pairsByToken: ReadonlyMap<string, readonly PairEntry[]> | null = null;
  private readonly reasonByToken = new Map<string, PriceReason>();

  /** `headTime`: time of the head, unix seconds. */
  constructor(
    private readonly prices: TokenPrices,
    private readonly headTime: number,
  ) {}

  get byToken(): ReadonlyMap<string, readonly PairEntry[]> {
    this.pairsByToken ??= groupByToken(this.entries);
    return this.pairsByToken;
  }

  /** The reason why a token has no price; null if it has one. */
  readonly reasonOf = (token: Token): PriceReason | null => {
    const { address } = token;
    if (this.prices.now(address).usd !== null) return null;
    const cachedReason = this.reasonByToken.get(address);
    if (cachedReason !== undefined) return cachedReason;
    const reason = tokenPriceReason(token, this.byToken.get(address) ?? [], this.headTime);
    this.reasonByToken.set(address, reason);
    return reason;
  };
}

function groupByToken(entries: readonly PairEntry[]): ReadonlyMap<string, readonly PairEntry[]> {
  const pairsByToken = new Map<string, PairEntry[]>();
  for (const entry of entries) {
    for (const { address } of entry.tokens.all) {
      const tokenPairs = pairsByToken.get(address);
      if (tokenPairs === undefined) pairsByToken.set(address, [entry]);
      else tokenPairs.push(entry);
    }
  }
  return pairsByToken;
}
