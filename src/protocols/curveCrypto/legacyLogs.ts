/**
 * Reads the events of CryptoSwap contracts from before NG. No event tells when the price scale moves, so the node is asked for
 * it at the end of each block with an event of the pool. Between two events of a block, the scale is the one from which the
 * next event follows. If none does, the pool has no scale, and no price, until the last event of the block.
 */
import type { ChainLog } from '../../domain/block';
import { CRYPTO_TOPICS, decodeCryptoEvent, type CryptoEvent } from './cryptoEvents';
import { cryptoCurveAt, type CryptoPool, type LegacyPart } from './cryptoPool';
import { lacksPriceScale, withoutPriceScale } from './cryptoParams';
import { applyCryptoEvent, fitsCurve, isWithinRounding, packPrices, type CryptoStep } from './cryptoState';

/** Events after which the contract may move its price scale. */
const MOVES: ReadonlySet<string> = new Set<CryptoEvent['kind']>(['exchange', 'add', 'remove_one']);

/** The step of a log of the pool. Null if it is a part of the step of the pool's next log. */
export function readLegacyLog(
  pool: CryptoPool,
  { end }: LegacyPart,
  log: ChainLog,
  logs: readonly ChainLog[],
  timestamp: number,
): CryptoStep | null {
  const own = logs.filter(
    ({ address, topics: [topic = '0x'] }) => address === log.address && CRYPTO_TOPICS.has(topic),
  );
  const at = own.findIndex(({ logIndex }) => logIndex === log.logIndex);
  if (isCaused(own, at)) return null;
  const unmoved = stepOf(pool, own, at, pool.priceScale, timestamp);
  const moved = stepOf(pool, own, at, end.priceScale, timestamp);
  if (at === own.length - 1) {
    // The event of the first deposit names no LP tokens.
    const supply = pool.supply === 0n ? end.supply : moved.pool.supply;
    const last = { ...moved.pool, supply };
    const isAt = lacksPriceScale(pool)
      ? isOnCurve(last, end, timestamp)
      : moved.isExplained && isAtEnd(last, end);
    return { ...moved, pool: { ...last, d: end.d, priceScale: end.priceScale }, isExplained: isAt };
  }
  if (lacksPriceScale(pool)) return { ...unmoved, isExplained: true };
  const isSame = packPrices(unmoved.pool.priceScale) === packPrices(moved.pool.priceScale);
  const [only, other] = (isSame ? [unmoved] : [unmoved, moved]).filter(
    ({ pool: after, isExplained }) =>
      isExplained && (isSame || leadsOn(after, own.slice(at + 1), end, timestamp)),
  );
  if (only !== undefined && other === undefined) return only;
  // The amounts follow, but not the scale after them: the contract moves it again before the block ends.
  const isExplained = unmoved.isExplained || moved.isExplained;
  return { ...unmoved, pool: withoutPriceScale(unmoved.pool), isExplained };
}

/** Whether the next event that depends on the price scale follows from this pool. Without one, the block ends at this scale. */
function leadsOn(
  pool: CryptoPool,
  later: readonly ChainLog[],
  end: LegacyPart['end'],
  timestamp: number,
): boolean {
  let after = pool;
  for (const index of later.keys()) {
    if (isCaused(later, index)) continue;
    const step = stepOf(after, later, index, after.priceScale, timestamp);
    if (!step.isExplained || step.isMove) return step.isExplained;
    after = step.pool;
  }
  return isAtEnd(after, end);
}

/** Whether the event is a claim of the owner's fees that the pool's next event caused. The claim is logged first. */
function isCaused(own: readonly ChainLog[], at: number): boolean {
  const [claim, cause] = [own[at], own[at + 1]];
  return (
    claim !== undefined &&
    cause?.transactionHash === claim.transactionHash &&
    decodeCryptoEvent(claim)?.kind === 'claim' &&
    MOVES.has(decodeCryptoEvent(cause)?.kind ?? '')
  );
}

/** The pool after the event, with this price scale if the contract may have moved it. */
function stepOf(
  pool: CryptoPool,
  own: readonly ChainLog[],
  at: number,
  priceScale: readonly bigint[],
  timestamp: number,
): CryptoStep & { readonly isMove: boolean } {
  const [claim, event] = [at - 1, at].map((index) => {
    const log = own[index];
    return log === undefined ? null : decodeCryptoEvent(log);
  });
  const failed = { pool, isExplained: false, feePips: null, isMove: false };
  if (event == null) return failed;
  const isMove = MOVES.has(event.kind);
  const move = isMove && 'priceScale' in event ? { ...event, priceScale: packPrices(priceScale) } : event;
  // A claim in the same transaction may also be a call of its own, before the event.
  const orders =
    claim == null || !isCaused(own, at - 1)
      ? [[move]]
      : [
          [move, claim],
          [claim, move],
        ];
  const steps = orders.map((events) =>
    events.reduce<CryptoStep>(
      (step, each) => {
        const next = applyCryptoEvent(step.pool, each, timestamp);
        const isExplained = step.isExplained && next.isExplained;
        return { pool: next.pool, isExplained, feePips: next.feePips ?? step.feePips };
      },
      { pool, isExplained: true, feePips: null },
    ),
  );
  const step = steps.find(({ isExplained }) => isExplained) ?? steps[0] ?? failed;
  return { ...step, isMove, pool: isMove ? withoutPastRamp(step.pool, timestamp) : step.pool };
}

/**
 * Whether the node tells the balances and LP tokens to which the events lead, and a D that fits them at its price scale. No
 * event between shows where the scale moved.
 */
function isOnCurve(pool: CryptoPool, end: LegacyPart['end'], timestamp: number): boolean {
  const last = { ...pool, d: end.d, priceScale: end.priceScale };
  return isAtEnd(last, end) && fitsCurve(last, cryptoCurveAt(last, timestamp)) === true;
}

/** The contract forgets a ramp at its first use after it. */
function withoutPastRamp(pool: CryptoPool, timestamp: number): CryptoPool {
  return BigInt(timestamp) < pool.ramp.toTime ? pool : { ...pool, ramp: { ...pool.ramp, toTime: 0n } };
}

/** Whether the computed pool is the one that the node tells, except for the rounding of D. */
function isAtEnd({ supply, balances, priceScale, d }: CryptoPool, end: LegacyPart['end']): boolean {
  const isSame =
    [supply, ...balances, ...priceScale].join() === [end.supply, ...end.balances, ...end.priceScale].join();
  return end.d > 0n && isSame && isWithinRounding(d, end.d, end.d);
}
