/** The audit's warning about V3 pools that pay out much less of one token than of the other near their price. */
import type { AuditInputs, AuditLeg } from '../../../../src/query/audit/auditInputs';
import { toAudit } from '../../../../src/query/audit/tokenAudit';
import { NO_STATE, type LegState } from '../../../../src/pricing/leg';
import { anchorPrices } from '../../../../src/pricing/market';
import { ANCHORS, DAI, NATIVE, token, v2, v3, type TestPool } from '../../../support/worlds/pools';

const T = token(50);

interface Listed {
  readonly pool: TestPool;
  readonly type: 2 | 3;
}

function auditLegOf({ pool: { leg }, type }: Listed): AuditLeg {
  const pool = {
    address: leg.pair,
    dex: 'test',
    protocol: 'uniswap_v2',
    pool_type: type,
    token0: leg.token0,
    token1: leg.token1,
    tokens: [],
    weights: [],
    fee_pips: 3_000,
  };
  return { leg, pool, pricing: null, index0: 0, index1: 1 };
}

/**
 * Codes and severities of the warnings about token T. The pools in `route` set its price, and the price leaves out
 * the pools in `others`.
 */
function warningsOf(route: readonly Listed[], others: readonly Listed[]): [code: string, severity: string][] {
  const listed = [...route, ...others];
  const states = new Map<string, LegState>(listed.map(({ pool }) => [pool.leg.key, pool.state]));
  const row = {
    ord: 1,
    timestamp: 2_000,
    token: T,
    next_token: DAI,
    hops: 1,
    hop_confidence: 0.9,
    depth_usd: 0,
    other_depth_usd: 0,
    recent: false,
    stale: false,
    pairs: route.map(({ pool }) => pool.leg.pair),
    legs: route.map(() => 1),
    weights: route.map(() => 100),
    warnings: [],
  };
  const pools = route.map(({ pool: { leg } }) => ({ leg, weight: 100 }));
  const inputs: AuditInputs = {
    block: { number: 3_200, timestamp: 2_000, isFinal: true, epochTime: 2_000, afterOrd: 0 },
    path: route.length === 0 ? [] : [{ token: T, next: DAI, row, pools, otherDepthUsd: 0 }],
    anchor: route.length === 0 ? null : DAI,
    anchors: anchorPrices(ANCHORS),
    anchorWarnings: [],
    market: {
      stateOf: ({ key }) => states.get(key) ?? NO_STATE,
      recordOf: () => undefined,
      tradedIn: () => 0,
      unswappedIn: () => 0,
      ceilingOf: () => Infinity,
      epochTime: 2_000,
    },
    legs: new Map(listed.map((entry) => [entry.pool.leg.key, auditLegOf(entry)])),
    rawStates: new Map(),
    doubts: new Map(),
    fees: new Map(),
    hops: {
      usdOf: (of) => (of === DAI ? 1 : null),
      priceOf: () => ({ usd: 1, confidence: 0.99, isAnchor: true, hops: 0, capUsd: Infinity }),
    },
    tokens: { findToken: () => undefined, listFees: () => [] },
  };
  return toAudit(T, 369, NATIVE, inputs).warnings.map(({ code, severity }) => [code, severity]);
}

const HONEST: Listed = { pool: v2(1, T, 350_000, DAI, 350_000), type: 2 };
const sided = (balanceA: number, balanceB: number): Listed => ({
  pool: v3(2, T, DAI, { price: 1, liquidity: 1_000_000, balanceA, balanceB }),
  type: 3,
});
const ONE_SIDED = 'one_sided_depth';

test('a hop with a V3 pool that pays out on one side less than a tenth of the other has a warning', () => {
  expect(warningsOf([HONEST, sided(900, 10_000)], [])).toContainEqual([ONE_SIDED, 'warning']);
  expect(warningsOf([HONEST, sided(10_000, 900)], [])).toContainEqual([ONE_SIDED, 'warning']);
  expect(warningsOf([HONEST, sided(1_100, 10_000)], []).map(([code]) => code)).not.toContain(ONE_SIDED);
});

test('a one-sided pool that the price leaves out is named for information only', () => {
  expect(warningsOf([HONEST], [sided(0, 14_000)])).toContainEqual([ONE_SIDED, 'info']);
  expect(warningsOf([HONEST], [sided(14_000, 14_000)]).map(([code]) => code)).not.toContain(ONE_SIDED);
});

test('a token whose only pool is one-sided has no price and the warning', () => {
  const warnings = warningsOf([], [sided(0, 14_000)]);
  expect(warnings.map(([code]) => code)).toEqual(['no_route', ONE_SIDED]);
});
