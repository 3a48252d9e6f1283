/**
 * How events change a StableSwap pool. The contract takes the owner's part of the fee out of the balances, and no event
 * tells its amount, so each event is computed as the contract does. The result tells whether the computation explains
 * the event; if not, the balances are no longer known.
 */
import { clampAmount, UINT256_MAX } from '../../domain/amounts';
import {
  exchangeTokens,
  FEE_UNIT,
  invariantOf,
  RATE_UNIT,
  toXp,
  withdrawOne,
  type CurvePool,
} from './curvePool';
import type { CurveEvent } from './curveEvents';
import { withBaseRate, type CurveExchange } from './metaPool';

interface CurveStep {
  readonly pool: CurvePool;
  /** Whether the state before explains the event to the last unit. */
  readonly isExplained: boolean;
  /** Fee of a swap; null for other events. */
  readonly feePips: number | null;
}

/** Kinds of contracts with the same functions, which round D otherwise. */
const TWINS: readonly CurvePool['kind'][] = ['factory', 'pair', 'held'];
/** Raw units by which tokens that count shares round the balances of a pool in each transfer. */
const HELD_ROUNDING = 4n;
/** A cToken rounds its rate by a smaller part at each mint: 2^-50. */
const RATE_ROUNDING_BITS = 50n;
/** Each round reduces the error of the balances before an event by the size of its fee, below 1e-2. */
const REWIND_ROUNDS = 12;

/**
 * The pool after the event at this time, unix seconds. No function tells how a contract before StableSwap-NG rounds, so the
 * event decides. `basePrices` are the possible virtual prices of the base pool, the likeliest
 * first; null without a base pool.
 */
export function explainCurveEvent(
  pool: CurvePool,
  event: CurveEvent,
  timestamp: number,
  basePrices: readonly bigint[] | null,
): CurveStep {
  const rated = basePrices?.map((price) => withBaseRate(pool, price)) ?? [pool];
  const kinds = TWINS.filter((kind) => kind !== pool.kind && (kind !== 'pair' || pool.balances.length === 2));
  const twins = TWINS.includes(pool.kind) ? kinds : [];
  const others = twins.flatMap((kind) => rated.map((one) => ({ ...one, kind })));
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
      const { soldId, boughtId, bought } = event;
      const sold = soldOf(pool, event);
      const done = exchangeTokens(pool, soldId, boughtId, sold, timestamp);
      const out = bought + (done?.adminFee ?? 0n);
      const moves = pool.balances.map((_each, index) =>
        index === soldId ? (done?.counted ?? sold) : index === boughtId ? -out : 0n,
      );
      const isFair = done !== null && isNear(pool, done.amountOut, bought);
      const step = changed({ balances: movedBy(pool, moves) }, isFair);
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
      const { fee, adminFee = pool.adminFee, offpeg = pool.offpeg, amp } = event;
      const ramp = amp === undefined ? pool.ramp : { fromAmp: amp, toAmp: amp, fromTime: 0n, toTime: 0n };
      return changed({ fee, adminFee, offpeg, ramp });
    }
    case 'kill':
      return changed({ isKilled: event.isKilled });
    case 'donate':
    case 'exchange_underlying':
      // The balances change by amounts that no event tells.
      return changed({}, false);
  }
}

/** The amount that the contract counts as sold: lent tokens by the rate, because yTokens mint slightly fewer. */
function soldOf({ rates, lentUnits }: CurvePool, event: CurveExchange): bigint {
  const { soldId, sold, lent } = event;
  const rate = (rates[soldId] ?? 0n) / (lentUnits[soldId] || 1n);
  return lent === undefined || rate === 0n ? sold : (lent * RATE_UNIT) / rate;
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
  return [{ balances: movedBy(pool, moves), supply }, done !== null && isNear(pool, done.amountOut, amount)];
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
      (balance, index) =>
        pool.supply > 0n && isNear(pool, (balance * burned) / pool.supply, amounts[index] ?? 0n),
    );
    return [changes, isShare];
  }
  const counted = pool.kind === 'ng' ? paid.map((balance, index) => balance - (fees[index] ?? 0n)) : paid;
  const d = invariantOf(pool, counted, timestamp);
  const unit = toXp(
    pool,
    pool.balances.map(() => 1n),
  ).reduce((total, one) => total + one, 1n);
  // A mint later in the block rounds the rates that the node told. The balances do not depend on them.
  const slack = pool.lentUnits.length > 0 ? invariant >> RATE_ROUNDING_BITS : 0n;
  return [changes, d !== null && isNear(pool, d, invariant, unit, slack)];
}

/**
 * Whether two numbers differ by at most `slack`. If the tokens of the pool round its balances, the numbers may differ by
 * HELD_ROUNDING times `unit`.
 */
function isNear({ asksBalances }: CurvePool, a: bigint, b: bigint, unit = 1n, slack = 0n): boolean {
  const distance = a > b ? a - b : b - a;
  return distance <= (asksBalances ? HELD_ROUNDING * unit : slack);
}

/**
 * The pool before these events. `pool` has its settings, and the balances after the events. The owner's part of a fee, which
 * no event tells, follows from the balances before, so both are found together.
 */
export function rewindEvents(pool: CurvePool, events: readonly CurveEvent[], timestamp: number): CurvePool {
  // The settings and LP tokens before each event. Balances only follow from the end.
  const settings = [pool];
  for (const event of events)
    settings.push({
      ...applyCurveEvent(settings.at(-1) ?? pool, event, timestamp).pool,
      balances: pool.balances,
    });
  let { balances: after } = pool;
  for (const [index, event] of [...events.entries()].reverse()) {
    let before = { ...(settings[index] ?? pool), balances: after };
    for (let round = 0; round < REWIND_ROUNDS; round += 1) {
      const { balances } = applyCurveEvent(before, event, timestamp).pool;
      const misses = balances.map((balance, place) => (after[place] ?? 0n) - balance);
      before = { ...before, balances: movedBy(before, misses) };
    }
    after = before.balances;
  }
  return { ...pool, balances: after };
}

/** Balances stay within 0 … 2^256 − 1, so an event that the state does not explain cannot stop the ingester. */
function movedBy({ balances }: CurvePool, moves: readonly bigint[]): bigint[] {
  return balances.map((balance, index) => clampAmount(balance + (moves[index] ?? 0n), UINT256_MAX));
}
