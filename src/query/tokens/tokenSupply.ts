/** Computes supply, market value and distribution of a token from its holders, and the related warnings. Pure. */
import { unitsToNumber } from '../../domain/amounts';
import { ZERO_ADDRESS } from '../../domain/hex';
import type { Warning } from '../../wire/risks';
import type { TokenDetail } from '../../wire/tokens';
import {
  confirmsHolders,
  inventsTransfers,
  isSampled,
  tellsBalances,
  type BalanceChecks,
} from '../holders/balanceChecks';
import type { ToldSupply } from '../olderPools/olderPools';
import type { TokenHolding } from '../holders/holderCounts';
import type { WatchedHolder } from '../../domain/chainDescription';
import type { StoredPool } from '../pairs/pools';
import type { TokenPrice } from '../prices/priceByHops';

const LARGEST_COUNTS = [10, 20, 40] as const;

export interface HoldingFacts {
  /** Holders of the token. Null if no transfer of it is stored, or if its holders are not counted. */
  readonly holding: TokenHolding | null;
  /** Whether transfers from before the first ingested block are missing. */
  readonly partial: boolean;
  /** If transfers are missing: the supply by the contract, as of the head. Absent or null if it is unknown. */
  readonly told?: ToldSupply | null;
  /** Results of the ingester's checks against the node. Null if the checks found nothing. */
  readonly checks: BalanceChecks | null;
  /** Holders whose balances are not in circulation; absent means none. */
  readonly watched?: readonly WatchedHolder[];
  /** Amount at the zero address that the contract still counts in its supply; absent means 0. */
  readonly keptAtZero?: bigint;
}

/**
 * Facts about the holders of an LP token. LP tokens are not checked with balanceOf, because a known factory
 * created their contracts.
 */
export type LpFacts = Pick<HoldingFacts, 'holding' | 'partial' | 'told'>;

/** The supply of a token, in raw units. */
interface Supply {
  /** Minted tokens without those sent to the zero address, except what the contract still counts there. */
  readonly total: bigint;
  /** The part of the total supply that is at burn addresses. */
  readonly burned: bigint;
}

/**
 * The supply by the logs. If the history begins late, the supply by the contract. Null if neither is known, or if the
 * logs do not add up.
 */
export function supplyOf(facts: HoldingFacts): Supply | null {
  const { watched = [], keptAtZero = 0n } = facts;
  const balancesOfToken = findBalances(facts);
  if (balancesOfToken === null) return null;
  let burned = keptAtZero;
  for (const { address, kind } of watched)
    if (kind === 'burn') burned += balancesOfToken.watched.get(address) ?? 0n;
  return { total: balancesOfToken.total + keptAtZero, burned };
}

/**
 * The supply of a token, without tokens that the contract keeps at the zero address, and the balances of the watched
 * holders. Null if they are unknown.
 */
function findBalances({ holding, partial, told, checks }: HoldingFacts): ToldSupply | null {
  if (checks?.rebasing === true || inventsTransfers(checks)) return null;
  if (!tellsBalances(checks, holding?.holders ?? 0)) return null;
  if (partial) return told ?? null;
  if (holding === null || holding.supply === null) return null;
  return { total: holding.supply, watched: holding.watched };
}

/** Balances that are not in circulation, and the rest of the supply, in raw units. */
interface Circulation {
  readonly circulating: bigint;
  readonly excludes: readonly (Pick<WatchedHolder, 'address' | 'label'> & { readonly amount: bigint })[];
}

/**
 * The circulating supply: the total supply without burn addresses, treasuries and lockers. Null without a supply, and
 * if no treasury and no locker is configured for the token.
 */
export function circulationOf(facts: HoldingFacts, token: string): Circulation | null {
  const [supply, balancesOfToken] = [supplyOf(facts), findBalances(facts)];
  const { partial, watched = [], keptAtZero = 0n } = facts;
  const watchedOfToken = watched.filter(
    ({ tokens }) => tokens === null || tokens.some((watchedToken) => watchedToken === token),
  );
  if (supply === null || balancesOfToken === null || watchedOfToken.every(({ kind }) => kind === 'burn'))
    return null;
  // If the history begins late, the balance of a watched holder is unknown until the contract was asked for it.
  if (partial && watchedOfToken.some(({ address }) => !balancesOfToken.watched.has(address))) return null;
  const excludes = watchedOfToken.map(({ address, label }) => ({
    address,
    label,
    amount: balancesOfToken.watched.get(address) ?? 0n,
  }));
  if (keptAtZero > 0n) excludes.unshift({ address: ZERO_ADDRESS, label: 'Burn address', amount: keptAtZero });
  const excludedAmount = excludes.reduce((sum, { amount }) => sum + amount, 0n);
  return { circulating: excludedAmount > supply.total ? 0n : supply.total - excludedAmount, excludes };
}

/** The number of holders. Null until a sample of the holders was compared with balanceOf, and if `loggedHoldersOf` is null. */
export function holdersOf(facts: HoldingFacts): number | null {
  const holders = loggedHoldersOf(facts);
  return holders !== null && isSampled(facts.checks, holders) ? holders : null;
}

/**
 * The number of holders by the logs. Null if the history begins late, if no transfer of the token is stored, if
 * the form of its logs leaves its balances open, if the token invents transfers, or if the logs do
 * not add up. A rebasing token still has a number if the contract confirms its holders.
 */
export function loggedHoldersOf({ holding, partial, checks }: HoldingFacts): number | null {
  if (partial || holding === null || inventsTransfers(checks)) return null;
  if (!tellsBalances(checks, holding.holders)) return null;
  return holding.supply === null && !confirmsHolders(checks) ? null : holding.holders;
}

/** The supply of an LP token: by the logs if the pool's creation is indexed, otherwise by the contract. */
export function lpSupplyOf(
  pool: Pick<StoredPool, 'created_block'>,
  { holding, partial, told = null }: LpFacts,
): { readonly supply: bigint | null; readonly holders: number | null } | null {
  if (partial && pool.created_block === null)
    return told === null ? null : { supply: told.total, holders: null };
  if (holding === null) return { supply: 0n, holders: 0 };
  const { supply, holders } = holding;
  return { supply, holders: supply === null ? null : holders };
}

/** USD value of a raw amount; null without a price. */
export function worthOf(rawAmount: bigint, decimals: number, { usd }: TokenPrice): number | null {
  if (usd === null) return null;
  const valueUsd = unitsToNumber(rawAmount, decimals) * usd;
  return Number.isFinite(valueUsd) ? valueUsd : null;
}

/** Percent of the supply that the largest holders have. */
export function distributionOf(facts: HoldingFacts): TokenDetail['holder_distribution'] {
  const supply = supplyOf(facts);
  if (holdersOf(facts) === null || supply === null || supply.total === 0n) return null;
  const largestBalances = facts.holding?.largest ?? [];
  const total = Number(supply.total);
  const [top10, top20, top40] = LARGEST_COUNTS.map((count) =>
    largestBalances.slice(0, count).reduce((sum, balance) => sum + balance, 0n),
  );
  const percentOfSupply = (raw: bigint): number => (Number(raw) / total) * 100;
  const [sumOf10, sumOf20, sumOf40] = [top10 ?? 0n, top20 ?? 0n, top40 ?? 0n];
  return {
    top_10: percentOfSupply(sumOf10),
    top_11_20: percentOfSupply(sumOf20 - sumOf10),
    top_21_40: percentOfSupply(sumOf40 - sumOf20),
    rest: percentOfSupply(supply.total - sumOf40),
  };
}

export const PARTIAL_HISTORY: Warning = {
  code: 'partial_history',
  message:
    'Transfers from before the first indexed block are missing, so balances count later transfers only',
  severity: 'info',
};

/** Only with a late start, where the supply comes from the contract. */
const SUPPLY_UNKNOWN: Warning = {
  code: 'supply_unknown',
  message:
    'The total supply is unknown: the contract was not asked for it yet, or gives no number that fits its transfers',
  severity: 'info',
};

export const UNBALANCED_TRANSFERS: Warning = {
  code: 'unbalanced_transfers',
  message: 'The transfer logs do not add up: an address sent more than it received',
  severity: 'warning',
};

/**
 * Shares the code `unbalanced_transfers` with another warning, because in both cases transfer logs claim
 * tokens that were never minted.
 */
const INVENTED_TRANSFERS: Warning = {
  code: 'unbalanced_transfers',
  message: 'The contract does not confirm balances that its transfer logs claim, so its holders are unknown',
  severity: 'warning',
};

const UNREAD_TRANSFERS: Warning = {
  code: 'unbalanced_transfers',
  message:
    'Some Transfer logs of this token have a form that cannot be read, so its holders and its supply are unknown',
  severity: 'warning',
};

export const REBASING: Warning = {
  code: 'rebasing',
  message:
    'Balances of this token do not follow its transfer logs, so its supply and distribution are unknown. ' +
    'The holders are the addresses in the logs',
  severity: 'warning',
};

/** Warnings about a token's holders and supply. The codes are also flags of the token. */
export function warningsOfTransfers(facts: HoldingFacts): Warning[] {
  const { holding, partial, checks } = facts;
  const warnings: Warning[] = [];
  if (checks?.rebasing === true) warnings.push(REBASING);
  if (partial) warnings.push(PARTIAL_HISTORY);
  if (!partial && checks?.odd === 'unread_transfer') warnings.push(UNREAD_TRANSFERS);
  else if (inventsTransfers(checks)) warnings.push(INVENTED_TRANSFERS);
  else if (!partial && holding !== null && holding.supply === null) warnings.push(UNBALANCED_TRANSFERS);
  else if (partial && checks?.rebasing !== true && supplyOf(facts) === null) warnings.push(SUPPLY_UNKNOWN);
  return warnings;
}
