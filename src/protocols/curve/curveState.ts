/**
 * How events change a StableSwap pool. The contract takes the owner's part of the fee out of the balances, and no event
 * tells its amount, so each event is computed as the contract does. The result tells whether the computation explains
 * the event; if not, the balances are no longer known.
 */
import { clampAmount, UINT256_MAX } from '../../domain/amounts';
import { exchangeTokens, FEE_UNIT, invariantOf, withdrawOne, type CurvePool } from './curvePool';
import type { CurveEvent } from './curveEvents';
import { withBaseRate } from './metaPool';

interface CurveStep {
  readonly pool: CurvePool;
  /** Whether the state before explains the event to the last unit. */
  readonly isExplained: boolean;
  /** Fee of a swap; null for other events. */
  readonly feePips: number | null;
}

/** The two roundings of the factory of 2021. */
const TWINS = new Map<CurvePool['kind'], CurvePool['kind']>([
  ['pair', 'factory'],
  ['factory', 'pair'],
]);

/**
 * The pool after the event at this time, unix seconds. No function of the factory of 2021 tells which of its two roundings a
 * pool of two coins has, so the event decides. `basePrices` are the possible virtual prices of the base pool, the likeliest
 * first; null without a base pool.
 */
export function explainCurveEvent(
  pool: CurvePool,
  event: CurveEvent,
  timestamp: number,
  basePrices: readonly bigint[] | null,
): CurveStep {
  const rated = basePrices?.map((price) => withBaseRate(pool, price)) ?? [pool];
  const twin = TWINS.get(pool.balances.length === 2 ? pool.kind : 'ng');
  const others = twin === undefined ? [] : rated.map((one) => ({ ...one, kind: twin }));
  for (const candidate of [...rated, ...others]) {
    const step = applyCurveEvent(candidate, event, timestamp);
    if (step.isExplained) return step;
  }
  return { ...applyCurveEvent(rated[0] ?? pool, event, timestamp), isExplained: false };
}

/** The pool after the event. */
function applyCurveEvent(pool: CurvePool, event: CurveEvent, timestamp: number): CurveStep {
  const changed = (changes: Partial<CurvePool>, isExplained = true): CurveStep => ({
    pool: { ...pool, ...changes },
    isExplained,
    feePips: null,
  });
  switch (event.kind) {
    case 'exchange': {
      const { soldId, boughtId, sold, bought } = event;
      const done = exchangeTokens(pool, soldId, boughtId, sold, timestamp);
      const out = bought + (done?.adminFee ?? 0n);
      const moves = pool.balances.map((_each, index) =>
        index === soldId ? sold : index === boughtId ? -out : 0n,
      );
      const step = changed({ balances: movedBy(pool, moves) }, done?.amountOut === bought);
      return { ...step, feePips: done?.feePips ?? null };
    }
    case 'remove_one':
      return changed(...applyWithdrawal(pool, event, timestamp));
    case 'add':
    case 'remove':
    case 'imbalance':
      return changed(...applyLiquidity(pool, event, timestamp));
    case 'ramp': {
      const { fromAmp, toAmp, fromTime, toTime } = event;
      return changed({ ramp: { fromAmp, toAmp, fromTime, toTime } });
    }
    case 'fees': {
      const { fee, adminFee = pool.adminFee, offpeg = pool.offpeg } = event;
      return changed({ fee, adminFee, offpeg });
    }
    case 'kill':
      return changed({ isKilled: event.isKilled });
    case 'donate':
    case 'exchange_underlying':
      // The balances change by amounts that no event tells.
      return changed({}, false);
  }
}

function applyWithdrawal(
  pool: CurvePool,
  { coin, shares, amount }: Extract<CurveEvent, { kind: 'remove_one' }>,
  timestamp: number,
): [changes: Partial<CurvePool>, isExplained: boolean] {
  const done = coin === null ? null : withdrawOne(pool, coin, shares, timestamp);
  const out = amount + (done?.adminFee ?? 0n);
  const moves = pool.balances.map((_each, index) => (index === coin ? -out : 0n));
  const supply = clampAmount(pool.supply - shares, UINT256_MAX);
  return [{ balances: movedBy(pool, moves), supply }, done?.amountOut === amount];
}

type LiquidityEvent = Extract<CurveEvent, { kind: 'add' | 'remove' | 'imbalance' }>;

/** StableSwap-NG names D after all fees, the other contracts D before them. A balanced withdrawal names none. */
function applyLiquidity(
  pool: CurvePool,
  { kind, amounts, fees, invariant, supply }: LiquidityEvent,
  timestamp: number,
): [changes: Partial<CurvePool>, isExplained: boolean] {
  const moves = amounts.map((amount) => (kind === 'add' ? amount : -amount));
  const paid = movedBy(pool, moves);
  const owned = moves.map((move, index) => move - ((fees[index] ?? 0n) * pool.adminFee) / FEE_UNIT);
  const changes = { balances: movedBy(pool, owned), supply };
  if (amounts.length !== pool.balances.length) return [changes, false];
  if (kind === 'remove') {
    const burned = pool.supply - supply;
    // A balanced withdrawal pays the same share of each balance.
    const isShare = pool.balances.every(
      (balance, index) => pool.supply > 0n && (balance * burned) / pool.supply === amounts[index],
    );
    return [changes, isShare];
  }
  const counted = pool.kind === 'ng' ? paid.map((balance, index) => balance - (fees[index] ?? 0n)) : paid;
  return [changes, invariantOf(pool, counted, timestamp) === invariant];
}

/** Balances stay within 0 … 2^256 − 1, so an event that the state does not explain cannot stop the ingester. */
function movedBy({ balances }: CurvePool, moves: readonly bigint[]): bigint[] {
  return balances.map((balance, index) => clampAmount(balance + (moves[index] ?? 0n), UINT256_MAX));
}
