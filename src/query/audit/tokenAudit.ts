/**
 * Explains a token's price: its path to an anchor, priced again by the pure price function. Readers can repeat every
 * sum from the printed figures. Pure; auditInputs.ts reads the inputs.
 */
import { createHash } from 'node:crypto';

import { plainNumber } from '../../domain/amounts';
import type { Hex } from '../../domain/hex';
import { shapeOf } from '../../domain/pools/poolShape';
import { capAlong } from '../../pricing/cap';
import { ANCHOR_CONFIDENCE, levelOf, pathConfidence, TRUSTED_MIN } from '../../pricing/confidence';
import { knownSide } from '../../pricing/depth';
import { DEPTH_PART } from '../../pricing/leg';
import type { HopPool } from '../../pricing/hop';
import { priceRouteHop, type RouteHop } from '../../pricing/market';
import type { Audit, AuditHop } from '../../wire/audit';
import { poolTypeShape } from '../../wire/primitives';
import type { Warning } from '../../wire/risks';
import { priceReason } from '../prices/priceReason';
import { isValueCapped } from './auditCap';
import { ageOfPrice, costOfPrice } from './auditCost';
import { printWeights, productOf, quotientOf, sumOfProducts } from './auditDecimal';
import { droppedPools, isOneSided, otherPools, reasonLegs } from './auditExclusions';
import type { AuditInputs, AuditLeg, AuditRoute } from './auditInputs';
import {
  ANCHOR_ABOVE_PEG,
  hopWarnings,
  poolWarnings,
  LOW_LIQUIDITY,
  MAX_HOPS_REACHED,
  noRouteWarning,
  NOT_FINALIZED,
  ONE_SIDED_POOL,
  UNKNOWN_DECIMALS,
  VALUE_CAPPED,
} from './auditWarnings';

const PIPS_PER_BPS = 100;

interface AuditedHop {
  readonly route: AuditRoute;
  readonly hop: RouteHop;
}

/** The price, with the same bits as the price that the ingester stores. */
interface DerivedPrice {
  /** USD per whole token; null if there is no price. */
  readonly usd: number | null;
  /** Confidence of the price, 0 to 1. */
  readonly confidence: number;
  /** The most USD that the hop with the least depth can pay out; Infinity for an anchor, 0 without a price. */
  readonly depthUsd: number;
  /** The most USD that the narrowest hop can pay out; Infinity for an anchor, 0 without a price. */
  readonly capUsd: number;
  readonly hops: readonly AuditedHop[];
}

export function derivePrice({ path, anchor, anchors, market }: AuditInputs): DerivedPrice {
  const hops = path.map((route) => ({ route, hop: priceRouteHop(route, market, anchors) }));
  const anchorUsd = anchor === null ? 0 : (anchors.get(anchor) ?? 0);
  const usd = hops.reduceRight((price, { hop }) => hop.price * price, anchorUsd);
  if (!(usd > 0) || !Number.isFinite(usd)) return { usd: null, confidence: 0, depthUsd: 0, capUsd: 0, hops };
  const confidence =
    path.length === 0
      ? ANCHOR_CONFIDENCE
      : pathConfidence(hops.map(({ route, hop }) => hop.confidenceFrom(route.row.hop_confidence)));
  const leastUsd = (capOf: (hop: RouteHop) => number): number =>
    capAlong(
      hops.map(({ hop }) => ({ price: hop.price, cap: capOf(hop) })),
      anchorUsd,
    );
  return {
    usd,
    confidence,
    depthUsd: leastUsd((hop) => hop.depth()),
    capUsd: leastUsd((hop) => hop.cap()),
    hops,
  };
}

export function toAudit(token: Hex, chainId: number, wrappedNative: Hex | null, inputs: AuditInputs): Audit {
  const derived = derivePrice(inputs);
  const { block, anchor, anchors, tokens } = inputs;
  const hasPrice = derived.usd !== null && anchor !== null;
  const hops = hasPrice ? derived.hops.map((hop, i) => toHop(hop, i + 1, inputs)) : [];
  const anchorUsd = hasPrice ? plainNumber(anchors.get(anchor) ?? 0) : null;
  const priceUsd =
    anchorUsd === null ? null : productOf([...hops.map(({ hop_price }) => hop_price), anchorUsd]);
  const routeLegKeys = new Set(
    derived.hops.slice(0, 1).flatMap(({ route }) => route.pools.map(({ leg }) => leg.key)),
  );
  const poolsOffRoute = otherPools(token, routeLegKeys, inputs);
  const { symbol, name, decimals } = tokens.findToken(token) ?? { symbol: null, name: null, decimals: null };
  const audit: Omit<Audit, 'inputs_hash'> = {
    token: { address: token, symbol, name },
    price_usd: priceUsd,
    price_reason:
      priceUsd === null ? priceReason({ address: token, symbol, decimals }, reasonLegs(token, inputs)) : null,
    price_native: priceNative(token, wrappedNative, priceUsd, inputs),
    derived_at_block: block.number,
    derived_at_timestamp: block.timestamp,
    confidence: levelOf(derived.confidence),
    confidence_score: derived.confidence,
    depth_usd: hasPrice && Number.isFinite(derived.depthUsd) ? derived.depthUsd : null,
    manipulation_cost_usd: hasPrice ? costOfPrice(derived, inputs) : null,
    price_age_blocks: hasPrice ? ageOfPrice(derived, inputs) : null,
    method: methodOf(derived, hasPrice),
    anchor: hasPrice && anchorUsd !== null ? { address: anchor, price_usd: anchorUsd } : null,
    hops,
    excluded_pools: [
      ...derived.hops.flatMap(({ route, hop }, i) => droppedPools(route, hop, i + 1, inputs)),
      ...poolsOffRoute.map(({ entry }) => entry),
    ],
    warnings: warningsOf(token, derived, hasPrice, poolsOffRoute, inputs),
  };
  return { ...audit, inputs_hash: hashInputs(chainId, audit) };
}

function methodOf({ hops }: DerivedPrice, hasPrice: boolean): Audit['method'] {
  if (!hasPrice) return 'none';
  if (hops.length === 0) return 'stable_anchor';
  return hops.some(({ route }) => route.row.stale) ? 'last_known' : 'lp_weighted_multi_hop';
}

/** The wrapped native token is always worth 1 native coin, even if it has no USD price. */
function priceNative(
  token: Hex,
  wrappedNative: Hex | null,
  priceUsd: string | null,
  { hops }: AuditInputs,
): string | null {
  if (token === wrappedNative) return '1';
  const nativeUsd = wrappedNative === null ? null : hops.usdOf(wrappedNative);
  return nativeUsd === null || priceUsd === null ? null : quotientOf(priceUsd, plainNumber(nativeUsd));
}

/** Makes a hop of the answer. Its pools are sorted by descending weight. */
function toHop({ route, hop }: AuditedHop, step: number, inputs: AuditInputs): AuditHop {
  const pools = [...hop.pools].sort((a, b) => b.weight - a.weight || (a.key < b.key ? -1 : 1));
  const weights = printWeights(pools.map(({ weight }) => weight));
  const printedPools = pools.map((pool, i) => toPool(pool, weights[i] ?? '0', inputs));
  return {
    step,
    from_token: route.token,
    to_token: route.next,
    hop_price: sumOfProducts(printedPools.map(({ weight, implied_price }) => [weight, implied_price])),
    confidence: hop.confidenceFrom(route.row.hop_confidence),
    pools: printedPools,
  };
}

function toPool({ key, price }: HopPool, weight: string, inputs: AuditInputs): AuditHop['pools'][number] {
  const auditLeg = inputs.legs.get(key);
  if (auditLeg === undefined) throw new RangeError(`the audit inputs have no leg ${key}`);
  const { leg, pool } = auditLeg;
  const [reserve0, reserve1] = reservesOf(auditLeg, inputs);
  return {
    address: pool.address,
    dex_name: pool.dex,
    pool_type: poolTypeShape.parse(inputs.rawStates.get(pool.address)?.pool_type ?? pool.pool_type),
    fee_bps: Math.round((inputs.fees.get(pool.address) ?? pool.fee_pips) / PIPS_PER_BPS),
    ...(pool.tokens.length === 0
      ? { token0: pool.token0, token1: pool.token1 }
      : { token0: leg.token0, token1: leg.token1 }),
    reserve0,
    reserve1,
    weight,
    implied_price: plainNumber(price),
  };
}

/** Raw balances of the leg's two tokens. */
function reservesOf({ pool, index0, index1 }: AuditLeg, { rawStates }: AuditInputs): [string, string] {
  const state = rawStates.get(pool.address);
  if (state === undefined) return ['0', '0'];
  if (pool.tokens.length === 0) return [String(state.reserve0), String(state.reserve1)];
  return [String(state.balances[index0] ?? 0), String(state.balances[index1] ?? 0)];
}

function warningsOf(
  token: Hex,
  derived: DerivedPrice,
  hasPrice: boolean,
  poolsOffRoute: ReturnType<typeof otherPools>,
  inputs: AuditInputs,
): Warning[] {
  const { isFinal } = inputs.block;
  const lastWarnings = [
    ...(poolsOffRoute.some((pool) => pool.oneSided) ? [ONE_SIDED_POOL] : []),
    ...doubtWarnings(derived, poolsOffRoute, inputs),
    ...(isFinal ? [] : [NOT_FINALIZED]),
  ];
  if (!hasPrice) {
    const hopReasons = derived.hops
      .slice(0, 1)
      .flatMap(({ hop }) => hop.excluded.map(({ reason }) => reason));
    const reasons = [...hopReasons, ...poolsOffRoute.map(({ entry }) => entry.reason)];
    const isHopLimitReached = poolsOffRoute.some(
      ({ atLimit, entry }) => atLimit && entry.reason === 'not_on_route',
    );
    const decimalsWarnings = inputs.tokens.findToken(token)?.decimals === null ? [UNKNOWN_DECIMALS] : [];
    return [
      noRouteWarning(reasons),
      ...decimalsWarnings,
      ...(isHopLimitReached ? [MAX_HOPS_REACHED] : []),
      ...lastWarnings,
    ];
  }
  const hopWarningList = derived.hops.flatMap(({ route, hop }, i) => {
    const hasNarrowRange = hop.pools.some(({ key }) => isNarrow(key, route.token, inputs));
    const isSided = route.pools.some(({ leg }) => {
      const auditLeg = inputs.legs.get(leg.key);
      return auditLeg !== undefined && isOneSided(auditLeg, inputs);
    });
    const codes = [
      ...route.row.warnings,
      ...hop.warnings,
      ...(hasNarrowRange ? ['v3_narrow_range'] : []),
      ...(isSided ? ['one_sided_depth'] : []),
    ];
    return hopWarnings(codes, i + 1, labelOf(route.token, inputs), labelOf(route.next, inputs));
  });
  const priceWarnings = [
    ...(derived.confidence < TRUSTED_MIN ? [LOW_LIQUIDITY] : []),
    ...(isValueCapped(token, derived, inputs) ? [VALUE_CAPPED] : []),
  ];
  const anchorWarningList = inputs.anchorWarnings.includes('anchor_above_peg') ? [ANCHOR_ABOVE_PEG] : [];
  return [...priceWarnings, ...hopWarningList, ...anchorWarningList, ...lastWarnings];
}

/** Makes the warnings about excluded pools that back no price. */
function doubtWarnings(
  { hops }: DerivedPrice,
  poolsOffRoute: ReturnType<typeof otherPools>,
  { legs, doubts }: AuditInputs,
): Warning[] {
  const excludedPools = hops.flatMap(({ hop }) =>
    hop.excluded.flatMap(({ key }) => legs.get(key)?.pool.address ?? []),
  );
  const excludedAddresses = new Set([...excludedPools, ...poolsOffRoute.map(({ entry }) => entry.address)]);
  return poolWarnings(new Map([...doubts].filter(([address]) => excludedAddresses.has(address))));
}

/**
 * Whether a pool with ticks or bins holds too little of the hop's next token: less than its liquidity would pay for a price move of 2
 * %.
 */
function isNarrow(key: string, token: Hex, { legs, market }: AuditInputs): boolean {
  const auditLeg = legs.get(key);
  if (auditLeg === undefined || !shapeOf(auditLeg.pool.pool_type).isWalked) return false;
  const state = market.stateOf(auditLeg.leg);
  const knownIsToken0 = auditLeg.leg.token0 !== token;
  const realReserve = knownIsToken0 ? state.reserve0 : state.reserve1;
  const unbounded = { ...state, reserve0: Infinity, reserve1: Infinity };
  const virtualReserve = knownSide(
    { state: unbounded, liquidity: state.liquidity },
    knownIsToken0,
    1,
  ).backingUsd;
  return virtualReserve * DEPTH_PART > realReserve;
}

function labelOf(token: Hex, { tokens }: AuditInputs): string {
  return tokens.findToken(token)?.symbol ?? token;
}

/**
 * sha256 of these lines, each ended by a line feed. One space separates fields; null is `-`.
 *
 *     candlehouse-audit 1
 *     chain <chain id>
 *     block <derived_at_block>
 *     token <token.address>
 *     anchor <anchor.address> <anchor.price_usd>
 *     hop <step> <from_token> <to_token>                                 of each hop, followed by
 *
 *     pool <address> <reserve0> <reserve1> <weight> <implied_price>      each of its pools
 *     excluded <address> <reason> <implied_price>                        of each excluded pool
 */
function hashInputs(chainId: number, audit: Omit<Audit, 'inputs_hash'>): `0x${string}` {
  const lines = [
    ['candlehouse-audit', 1],
    ['chain', chainId],
    ['block', audit.derived_at_block],
    ['token', audit.token.address],
    ['anchor', audit.anchor?.address ?? null, audit.anchor?.price_usd ?? null],
    ...audit.hops.flatMap(({ step, from_token, to_token, pools }) => [
      ['hop', step, from_token, to_token],
      ...pools.map((pool) => [
        'pool',
        pool.address,
        pool.reserve0,
        pool.reserve1,
        pool.weight,
        pool.implied_price,
      ]),
    ]),
    ...audit.excluded_pools.map(({ address, reason, implied_price }) => [
      'excluded',
      address,
      reason,
      implied_price,
    ]),
  ];
  const text = lines.map((fields) => `${fields.map((field) => field ?? '-').join(' ')}\n`).join('');
  return `0x${createHash('sha256').update(text).digest('hex')}`;
}
