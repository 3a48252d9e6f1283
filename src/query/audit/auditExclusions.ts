/** Explains why a token's price leaves out some of its pools. Pure. */
import { plainNumber } from '../../domain/amounts';
import type { Hex } from '../../domain/hex';
import { NO_STATE, type Leg } from '../../pricing/leg';
import { DORMANT_SECONDS } from '../../pricing/epoch';
import { knownSide } from '../../pricing/depth';
import { BACKING_MIN_USD } from '../../pricing/searchRoutes';
import type { HopPrice } from '../../pricing/hop';
import { HOPS_MAX } from '../../pricing/priceRoute';
import type { ExcludedPool } from '../../wire/audit';
import type { AuditInputs, AuditLeg, AuditRoute } from './auditInputs';

/** Largest number of pools outside the route that the audit lists. */
const OTHERS_MAX = 20;
const V3 = 3;
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

/** Whether a V3 pool pays out next to nothing on one side, compared with the other side at the pool's price. */
export function isOneSided({ leg, pool }: AuditLeg, { market }: Pick<AuditInputs, 'market'>): boolean {
  if (pool.pool_type !== V3) return false;
  const { price, reserve0, reserve1 } = market.stateOf(leg);
  const side0 = reserve0 * price;
  return Math.min(side0, reserve1) < ONE_SIDED_PART * Math.max(side0, reserve1);
}

/** The token's pools outside its route, deepest first. `skip` lists the legs of the route. */
export function otherPools(token: Hex, skip: ReadonlySet<string>, inputs: AuditInputs): OtherPool[] {
  return [...inputs.legs.values()]
    .filter(({ leg }) => (leg.token0 === token || leg.token1 === token) && !skip.has(leg.key))
    .map((leg) => toOther(token, leg, inputs))
    .sort(
      (a, b) =>
        b.backingUsd - a.backingUsd ||
        (a.entry.address < b.entry.address ? -1 : a.entry.address > b.entry.address ? 1 : 0),
    )
    .slice(0, OTHERS_MAX);
}

function toOther(token: Hex, found: AuditLeg, inputs: AuditInputs): OtherPool {
  const { leg, pool } = found;
  const { market, hops } = inputs;
  const isToken0 = leg.token0 === token;
  const other = isToken0 ? leg.token1 : leg.token0;
  const state = market.stateOf(leg);
  const usd = hops.usdOf(other);
  const backingUsd =
    usd === null ? 0 : knownSide({ state, liquidity: state.liquidity }, !isToken0, usd).backingUsd;
  const implied = state.price > 0 ? (isToken0 ? state.price : 1 / state.price) : 0;
  const entry: ExcludedPool = {
    address: pool.address,
    reason: reasonOf(inputs, leg, usd, backingUsd),
    implied_price: implied > 0 && Number.isFinite(implied) ? plainNumber(implied) : null,
    step: null,
    to_token: other,
  };
  const atLimit = usd !== null && hops.countHops(other) >= HOPS_MAX;
  return { entry, backingUsd, atLimit, oneSided: isOneSided(found, inputs) };
}

function reasonOf(
  { market, block, rawStates, legs, doubts }: AuditInputs,
  leg: Leg,
  usd: number | null,
  backingUsd: number,
): ExcludedPool['reason'] {
  const record = market.recordOf(leg);
  const moved = market.stateOf(leg) !== NO_STATE && market.stateOf(leg) !== record?.state;
  const address = legs.get(leg.key)?.pool.address;
  if (address !== undefined && doubts.has(address)) return 'no_price';
  const seen = record !== undefined || (address !== undefined && rawStates.has(address));
  if (!moved && record !== undefined && block.epochTime - record.movedAt > DORMANT_SECONDS) return 'dormant';
  // Pools without a change since `afterOrd` have no rows here. A pool without a row is therefore dormant.
  if (!moved && !seen && block.afterOrd > 0) return 'dormant';
  if (!(market.stateOf(leg).price > 0) || usd === null) return 'no_price';
  return backingUsd >= BACKING_MIN_USD ? 'not_on_route' : 'low_liquidity';
}
