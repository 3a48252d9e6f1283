/** Explains why a token's price leaves out some of its pools. Pure. */
import { plainNumber } from '../../domain/amounts';
import type { Hex } from '../../domain/hex';
import { shapeOf } from '../../domain/pools/poolShape';
import { NO_STATE } from '../../pricing/leg';
import { DORMANT_SECONDS } from '../../pricing/epoch';
import { BACKING_MIN_USD } from '../../pricing/routes/legDepths';
import type { HopPrice } from '../../pricing/hop';
import type { ExcludedPool } from '../../wire/audit';
import { isFollowed } from '../pairs/priceReasons';
import { backingOf, isAtLimit, type ReasonLeg } from '../prices/priceReason';
import type { AuditInputs, AuditLeg, AuditRoute } from './auditInputs';

/** Largest number of pools outside the route that the audit lists. */
const OTHERS_MAX = 20;
/** A pool is one-sided if one of its tokens pays out less than this part of the other one's value. */
const ONE_SIDED_PART = 0.1;

/** Lists the pools that a hop's price leaves out, each with its reason. */
export function droppedPools(
  { next }: AuditRoute,
  { excluded }: HopPrice,
  step: number,
  { legs, doubts }: AuditInputs,
): ExcludedPool[] {
  return excluded.map(({ key, reason, price }) => ({
    address: legs.get(key)?.pool.address ?? next,
    reason: doubts.has(legs.get(key)?.pool.address ?? next) ? 'no_price' : reason,
    implied_price: price > 0 ? plainNumber(price) : null,
    step,
    to_token: next,
  }));
}

interface OtherPool {
  readonly entry: ExcludedPool;
  readonly backingUsd: number;
  /** Whether the pool's other token already has the maximum number of hops. */
  readonly atLimit: boolean;
  readonly oneSided: boolean;
}

/** Whether a pool with ticks or bins pays out next to nothing on one side, compared with the other side at the pool's price. */
export function isOneSided({ leg, pool }: AuditLeg, { market }: Pick<AuditInputs, 'market'>): boolean {
  if (!shapeOf(pool.pool_type).isWalked) return false;
  const { price, reserve0, reserve1 } = market.stateOf(leg);
  const side0 = reserve0 * price;
  return Math.min(side0, reserve1) < ONE_SIDED_PART * Math.max(side0, reserve1);
}

/** The token's pools outside its route, deepest first. `routeLegKeys` lists the legs of the route. */
export function otherPools(token: Hex, routeLegKeys: ReadonlySet<string>, inputs: AuditInputs): OtherPool[] {
  return legsOfToken(token, inputs)
    .filter(({ leg }) => !routeLegKeys.has(leg.key))
    .map((auditLeg) => toOther(token, auditLeg, inputs))
    .sort(
      (a, b) =>
        b.backingUsd - a.backingUsd ||
        (a.entry.address < b.entry.address ? -1 : a.entry.address > b.entry.address ? 1 : 0),
    )
    .slice(0, OTHERS_MAX);
}

/** All legs of the token, for the reason of a missing price. */
export function reasonLegs(token: Hex, inputs: AuditInputs): readonly ReasonLeg[] {
  return legsOfToken(token, inputs).map((auditLeg) => toReasonLeg(token, auditLeg, inputs));
}

function legsOfToken(token: Hex, { legs }: AuditInputs): readonly AuditLeg[] {
  return [...legs.values()].filter(({ leg }) => leg.token0 === token || leg.token1 === token);
}

function toReasonLeg(token: Hex, auditLeg: AuditLeg, inputs: AuditInputs): ReasonLeg {
  const { leg, pool } = auditLeg;
  const { market, hops, doubts } = inputs;
  const isToken0 = leg.token0 === token;
  return {
    state: market.stateOf(leg),
    isToken0,
    otherPrice: hops.priceOf(isToken0 ? leg.token1 : leg.token0),
    isFollowed: isFollowed(pool, {
      doubts: doubts.get(pool.address) ?? 0,
      params: inputs.rawStates.get(pool.address)?.params ?? [],
    }),
    isQuiet: isQuiet(auditLeg, inputs),
  };
}

/** Pools without a change since `afterOrd` have no rows in the inputs, so they are quiet too. */
function isQuiet({ leg }: AuditLeg, { market, block }: AuditInputs): boolean {
  const [state, record] = [market.stateOf(leg), market.recordOf(leg)];
  if (state !== NO_STATE && state !== record?.state) return false;
  return record === undefined || block.timestamp - record.movedAt > DORMANT_SECONDS;
}

function toOther(token: Hex, auditLeg: AuditLeg, inputs: AuditInputs): OtherPool {
  const { leg, pool } = auditLeg;
  const reasonLeg = toReasonLeg(token, auditLeg, inputs);
  const { isToken0, state } = reasonLeg;
  const backingUsd = backingOf(reasonLeg);
  const impliedPrice = state.price > 0 ? (isToken0 ? state.price : 1 / state.price) : 0;
  const entry: ExcludedPool = {
    address: pool.address,
    reason: reasonOf(inputs, auditLeg, reasonLeg, backingUsd),
    implied_price: impliedPrice > 0 && Number.isFinite(impliedPrice) ? plainNumber(impliedPrice) : null,
    step: null,
    to_token: isToken0 ? leg.token1 : leg.token0,
  };
  return { entry, backingUsd, atLimit: isAtLimit(reasonLeg), oneSided: isOneSided(auditLeg, inputs) };
}

function reasonOf(
  { market, block }: AuditInputs,
  { leg }: AuditLeg,
  { isFollowed: hasPrice, isQuiet: isDormant, state, otherPrice }: ReasonLeg,
  backingUsd: number,
): ExcludedPool['reason'] {
  if (!hasPrice) return 'no_price';
  // A young chain has no dormant pools. There, a pool without a row never had a state.
  if (isDormant && (block.afterOrd > 0 || market.recordOf(leg) !== undefined)) return 'dormant';
  if (!(state.price > 0) || otherPrice.usd === null) return 'no_price';
  return backingUsd >= BACKING_MIN_USD ? 'not_on_route' : 'low_liquidity';
}
