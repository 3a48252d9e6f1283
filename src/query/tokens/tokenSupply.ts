/** Computes supply, market value and distribution of a token from its holders, and the related warnings. Pure. */
import { unitsToNumber } from '../../domain/amounts';
import type { TokenDetail, Warning } from '../../wire/tokens';
import type { TokenHolding } from '../holders/holderCounts';
import type { StoredPool } from '../pairs/pools';
import type { TokenPrice } from '../prices/priceByHops';

const TOP = [10, 20, 40] as const;

export interface HoldingFacts {
  /** Null: no stored transfer, or no count. */
  readonly holding: TokenHolding | null;
  /** Whether transfers from before the first ingested block are missing. */
  readonly partial: boolean;
  /** Whether checks against the node found balances that do not follow from the logs. */
  readonly rebasing?: boolean;
}

/** Raw units. */
interface Supply {
  /** Minted and not sent to the zero address. */
  readonly total: bigint;
  /** The part of the supply at 0x…dEaD. */
  readonly dead: bigint;
}

/** The supply by the logs; null for a late history, for logs that do not add up, or without logs. */
export function supplyOf({ holding, partial, rebasing }: HoldingFacts): Supply | null {
  if (partial || rebasing === true || holding === null || holding.supply === null) return null;
  return { total: holding.supply, dead: holding.dead };
}

/** The supply of an LP token. Complete if the pool's creation is indexed. */
export function lpSupplyOf(
  pool: Pick<StoredPool, 'created_block'>,
  { holding, partial }: HoldingFacts,
): { readonly supply: bigint | null; readonly holders: number } | null {
  if (partial && pool.created_block === null) return null;
  return holding ?? { supply: 0n, holders: 0 };
}

/** USD value of a raw amount; null without a price. */
export function worthOf(raw: bigint, decimals: number, { usd }: TokenPrice): number | null {
  if (usd === null) return null;
  const worth = unitsToNumber(raw, decimals) * usd;
  return Number.isFinite(worth) ? worth : null;
}

/** Percent of the supply at the largest holders. */
export function distributionOf(facts: HoldingFacts): TokenDetail['holder_distribution'] {
  const supply = supplyOf(facts);
  if (supply === null || supply.total === 0n) return null;
  const largest = facts.holding?.largest ?? [];
  const total = Number(supply.total);
  const [top10, top20, top40] = TOP.map((count) =>
    largest.slice(0, count).reduce((sum, one) => sum + one, 0n),
  );
  const percent = (raw: bigint): number => (Number(raw) / total) * 100;
  const [first, second, third] = [top10 ?? 0n, top20 ?? 0n, top40 ?? 0n];
  return {
    top_10: percent(first),
    top_11_20: percent(second - first),
    top_21_40: percent(third - second),
    rest: percent(supply.total - third),
  };
}

export const PARTIAL_HISTORY: Warning = {
  code: 'partial_history',
  message:
    'Transfers from before the first indexed block are missing, so balances count later transfers only',
  severity: 'info',
};

export const UNBALANCED_TRANSFERS: Warning = {
  code: 'unbalanced_transfers',
  message: 'The transfer logs do not add up: an address sent more than it received',
  severity: 'warning',
};

const REBASING: Warning = {
  code: 'rebasing',
  message:
    'Balances of this token do not follow its transfer logs, so its supply and distribution are unknown. ' +
    'The holders are the addresses in the logs',
  severity: 'warning',
};

/** Warnings about a token's holders and supply. The codes are also flags of the token. */
export function warningsOfTransfers({ holding, partial, rebasing }: HoldingFacts): Warning[] {
  const warnings: Warning[] = [];
  if (rebasing === true) warnings.push(REBASING);
  if (partial) warnings.push(PARTIAL_HISTORY);
  else if (holding !== null && holding.supply === null) warnings.push(UNBALANCED_TRANSFERS);
  return warnings;
}
