/**
 * Limits the USD volume of Balancer vault swaps. A vault transfers only the net amounts of a transaction, so
 * swaps back and forth would create volume without moving tokens. All swaps of one transaction in one pool
 * together count up to a limit. The limit is the value of the pool's tokens in the vault (cash) before the
 * transaction, plus the value of the same tokens that the transaction brought into the vault. The pool's own share
 * does not count, because the pool mints it to itself.
 */
import { wholeTokens } from '../../domain/amounts';
import type { Hex } from '../../domain/hex';
import { isTrusted, type UsdPrice } from '../../pricing/confidence';
import type { DecimalsOf } from '../../pricing/legState';
import type { TradeValue } from '../../pricing/tradeValue';
import { heldKey, type BlockFacts, type HeldCash } from '../rows/blockRows';

interface CappedSwap {
  readonly pair: Hex;
  readonly tx_index: number;
}

/** A limit of USD values. */
interface Caps {
  /** Limit in USD by trusted prices, for tracked swaps. */
  tracked: number;
  /** Limit in USD by all prices, for untracked swaps. */
  untracked: number;
}

export class VaultCaps {
  /** USD value that later swaps of a transaction in a pool may still have, by pool and transaction. */
  private readonly remainingCaps = new Map<string, Caps>();
  /** Net amount of tokens (raw) that each transaction brought into a vault, by transaction, vault and token. */
  private broughtIn: ReadonlyMap<string, bigint> | null = null;

  constructor(
    private readonly facts: Pick<BlockFacts, 'held' | 'transfers'>,
    private readonly priceOf: (token: Hex) => UsdPrice | null,
    private readonly decimalsOf: DecimalsOf,
  ) {}

  /**
   * Reduces the value of a swap to what is left of the transaction's limit. Must be called in log order. A swap of a
   * pool outside vaults keeps its value.
   */
  limit(swap: CappedSwap, value: TradeValue): TradeValue {
    const { held } = this.facts;
    if (held.size === 0) return value;
    const key = heldKey(swap);
    const cash = held.get(key);
    if (cash === undefined) return value;
    const remaining = this.remainingCaps.get(key) ?? this.capsOf(cash, swap);
    this.remainingCaps.set(key, remaining);
    const amountUsd = Math.min(value.amountUsd, remaining.tracked);
    const untrackedUsd = Math.min(value.untrackedUsd, remaining.untracked);
    remaining.tracked -= amountUsd;
    remaining.untracked -= untrackedUsd;
    return { ...value, amountUsd, untrackedUsd };
  }

  private capsOf({ vault, tokens, cash }: HeldCash, { pair, tx_index: txIndex }: CappedSwap): Caps {
    this.broughtIn ??= sumBroughtIn(this.facts);
    const caps = { tracked: 0, untracked: 0 };
    for (const [index, token] of tokens.entries()) {
      const price = this.priceOf(token);
      const decimals = this.decimalsOf(token);
      if (token === pair || price === null || decimals === null) continue;
      const net = this.broughtIn.get(netKey(txIndex, vault, token)) ?? 0n;
      const usd = wholeTokens((cash[index] ?? 0n) + (net > 0n ? net : 0n), decimals) * price.usd;
      caps.untracked += usd;
      if (isTrusted(price)) caps.tracked += usd;
    }
    return caps;
  }
}

function netKey(txIndex: number, vault: Hex, token: Hex): string {
  return `${txIndex}/${vault}/${token}`;
}

/**
 * Sums the tokens that each transaction brought into a vault and left in it. Tokens of a flash loan that leave in the
 * same transaction add nothing.
 */
function sumBroughtIn({
  held,
  transfers,
}: Pick<BlockFacts, 'held' | 'transfers'>): ReadonlyMap<string, bigint> {
  const vaults = new Set([...held.values()].map(({ vault }) => vault));
  const sums = new Map<string, bigint>();
  for (const { tx_index, token, sender, recipient, amount } of transfers) {
    for (const [vault, delta] of [
      [recipient, amount],
      [sender, -amount],
    ] as const) {
      if (!vaults.has(vault)) continue;
      const key = netKey(tx_index, vault, token);
      sums.set(key, (sums.get(key) ?? 0n) + delta);
    }
  }
  return sums;
}
