/** Builds the detail of one pair from its list entry. Pure. */
import { formatUnits } from '../../domain/amounts';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { shapeOf } from '../../domain/pools/poolShape';
import { weightedLiquidity } from '../../domain/pools/weightedLiquidity';
import type { DoubtCode } from '../../domain/pools/doubts';
import { WEEK_SECONDS, type PairDetail } from '../../wire/pairs';
import { permissionsOf } from '../../protocols/hooks';
import type { Warning } from '../../wire/risks';
import { meanTvl, priceOf, type PairEntry } from './pairItem';
import type { PairWindows } from './pairWindows';
import { countsByWindow, volumeByWindow } from './windowTrades';
import type { StateRow } from './pairRows';
import { hasEnded, weightsOfPool, type StoredPool } from './pools';
import { pairDoubts } from './priceReasons';
import { aprPercent, depthOf, valueOf, wholeUnits } from './poolValue';
import { flaggedPair, type RiskTable } from '../risks/riskTable';
import { lpSupplyOf, type LpFacts } from '../tokens/tokenSupply';

/** Decimals of LP tokens, as in UniswapV2ERC20.sol and BalancerPoolToken.sol. */
const LP_DECIMALS = 18;

/**
 * The state of a pool that has not changed since its creation, if the creation is indexed. Zero is a known value
 * here.
 */
const EMPTY_STATE: StateRow = {
  pair: ZERO_ADDRESS,
  ord: 0,
  timestamp: 0,
  reserve0: 0n,
  reserve1: 0n,
  sqrt_price_x96: 0n,
  liquidity: 0n,
  tick: 0,
  price: 0,
  unswapped: [],
  walked_liquidity: 0,
  near0: 0,
  near1: 0,
};

function stateOf({ facts, pool }: PairEntry): StateRow | null {
  return facts.state ?? (pool.created_block === null ? null : EMPTY_STATE);
}

/** `lp`: the holders of the pool's own token. `ended`: see `readCurveEnd`. */
export function toPairDetail(
  entry: PairEntry,
  windows: PairWindows,
  lp: LpFacts,
  risks: RiskTable | null = null,
  ended?: PairDetail['ended'],
): PairDetail {
  const { pool, facts, token0, token1 } = entry;
  const item = risks === null ? entry.item : flaggedPair(entry, risks);
  const { trades } = facts;
  const state = stateOf(entry);
  const feesUsd = trades?.fees ?? 0;
  return {
    ...item,
    token0: pool.token0,
    token1: pool.token1,
    ...reserveFields(entry, state),
    token0_price: priceOf(pool, state, token0, token1, true),
    token1_price: priceOf(pool, state, token0, token1, false),
    volume: {
      ...volumeByWindow(windows.trades, trades),
      d7: windows.volumeWeek,
      d30: windows.volumeMonth,
    },
    untracked_volume_24h_usd: trades?.untracked ?? 0,
    fees: { h24: feesUsd, d7: windows.feesWeek },
    lp_fees_24h_usd: feesUsd - entry.protocolFees24hUsd,
    protocol_fees_24h_usd: entry.protocolFees24hUsd,
    apr_7d: aprPercent(
      windows.feesWeek - (windows.splitFeesWeek ?? windows.feesWeek * facts.protocolShare),
      WEEK_SECONDS,
      meanTvl(entry, windows.meanReservesWeek, windows.meanBalancesWeek),
      facts.feePips,
    ),
    transactions: countsByWindow(windows.trades, trades),
    ...lpFields(entry, lp),
    depth_2pct_usd: depthUsd(entry),
    ...riskFields(entry, risks),
    factory: pool.factory,
    created_tx: entry.creation.created_tx,
    ...(shapeOf(pool.pool_type).hasTicks ? concentratedFields(pool, state) : {}),
    ...(ended === undefined ? {} : { ended }),
    ...(pool.pool_id === null ? {} : { hooks: hooksOf(pool) }),
    ...(pool.all_weights.length > 0
      ? { weights: pool.all_weights.map((weight) => formatUnits(weight, 18)) }
      : {}),
    ...(pool.all_tokens.length > 0 ? { balances: balancesOf(entry) } : {}),
  };
}

type ReserveFields = Pick<
  PairDetail,
  'reserve0' | 'reserve1' | 'reserve0_raw' | 'reserve1_raw' | 'reserve0_usd' | 'reserve1_usd'
>;

const NO_RESERVES: ReserveFields = {
  reserve0: null,
  reserve1: null,
  reserve0_raw: null,
  reserve1_raw: null,
  reserve0_usd: null,
  reserve1_usd: null,
};

function reserveFields({ token0, token1, sides }: PairEntry, state: StateRow | null): ReserveFields {
  if (state === null) return NO_RESERVES;
  return {
    reserve0: formatUnits(state.reserve0, token0.decimals ?? 0),
    reserve1: formatUnits(state.reserve1, token1.decimals ?? 0),
    reserve0_raw: String(state.reserve0),
    reserve1_raw: String(state.reserve1),
    reserve0_usd: valueOf(sides[0]),
    reserve1_usd: valueOf(sides[1]),
  };
}

function balancesOf({ tokens, facts, holdings }: PairEntry): PairDetail['balances'] {
  return tokens.all.map(({ address, decimals }, index) => {
    const rawBalance = facts.balances?.[index];
    const holding = holdings[index];
    return {
      address,
      balance: rawBalance === undefined ? null : formatUnits(rawBalance, decimals ?? 0),
      balance_raw: rawBalance === undefined ? null : String(rawBalance),
      value_usd: rawBalance === undefined || holding === undefined ? null : valueOf(holding),
    };
  });
}

function depthUsd({ pool, facts, sides, token0, token1 }: PairEntry): PairDetail['depth_2pct_usd'] {
  const noDepth = { up: null, down: null };
  const { state } = facts;
  const [quoteToken, quoteUsd] = pool.base_is_token0
    ? [token1, sides[1].price.usd]
    : [token0, sides[0].price.usd];
  if (state === null || state.price === 0 || quoteUsd === null) return noDepth;
  if (token0.decimals === null || token1.decimals === null) return noDepth;
  const reserves = [Number(state.reserve0), Number(state.reserve1)] as const;
  const depth = depthOf({
    poolType: pool.pool_type,
    baseReserve: pool.base_is_token0 ? reserves[0] : reserves[1],
    quoteReserve: pool.base_is_token0 ? reserves[1] : reserves[0],
    liquidity: liquidityOf(pool, state, reserves),
    price: pool.base_is_token0 ? state.price : 1 / state.price,
  });
  if (depth === null) return noDepth;
  const toUsd = (raw: number): number => wholeUnits(raw, quoteToken.decimals ?? 0) * quoteUsd;
  return { up: toUsd(depth.upQuote), down: toUsd(depth.downQuote) };
}

/** As in DepthState. A pool that was not walked has none. */
function liquidityOf(pool: StoredPool, state: StateRow, reserves: readonly [number, number]): number {
  if (pool.all_tokens.length > 0) return weightedLiquidityOf(pool, reserves);
  const { liquidity } = shapeOf(pool.pool_type);
  return liquidity === 'walked' ? Math.max(0, state.walked_liquidity) : Number(state.liquidity);
}

/** Liquidity of the leg of token0 and token1, in raw units. */
function weightedLiquidityOf(pool: StoredPool, reserves: readonly [number, number]): number {
  const weights = weightsOfPool(pool);
  const weightOf = (token: Hex): number => weights[pool.all_tokens.indexOf(token)] ?? 0;
  return weightedLiquidity(reserves[0], reserves[1], weightOf(pool.token0), weightOf(pool.token1));
}

/**
 * Positions between ticks are NFTs, so there is no LP token. A pool with balances that never moved a token of its own has
 * LP tokens of another contract, as StableSwap pools of Pancake's port.
 */
function lpFields(
  { pool, ownShares, facts }: PairEntry,
  lp: LpFacts,
): Pick<PairDetail, 'total_supply' | 'lp_holders'> {
  const isOther = lp.holding === null && (facts.balances ?? []).some((balance) => balance > 0n);
  const lpSupply = shapeOf(pool.pool_type).hasLpToken && !isOther ? lpSupplyOf(pool, lp) : null;
  if (lpSupply === null) return { total_supply: null, lp_holders: null };
  const providerSupply =
    lpSupply.supply === null ? null : formatUnits(lpSupply.supply - ownShares, LP_DECIMALS);
  return { total_supply: providerSupply, lp_holders: lpSupply.holders };
}

const DOUBT_WARNINGS: Readonly<Record<DoubtCode, string>> = {
  managed_balance: 'An asset manager may report any balance of this pool',
  weights_in_doubt: 'A swap of this pool did not fit its weights',
  extreme_terms: 'A weight of this pool is below 1 %, or its fee was above 10 %',
  price_not_followed: 'The price of this pool depends on something that its events do not tell',
};

const ENDED: Warning = {
  code: 'ended',
  message: 'This bonding curve has ended: it holds no tokens, so nobody can trade in it',
  severity: 'warning',
};

type RiskFields = Pick<
  PairDetail,
  'transfer_tax_pct' | 'lp_locked_pct' | 'lp_held_by_creator_pct' | 'warnings'
>;

function riskFields(entry: PairEntry, risks: RiskTable | null): RiskFields {
  const lpShares = risks?.sharesOf(entry) ?? null;
  const doubtWarnings = pairDoubts(entry).map((code): Warning => {
    return { code, message: DOUBT_WARNINGS[code], severity: 'warning' };
  });
  return {
    transfer_tax_pct: risks?.taxOf(entry.tokens.base.address) ?? null,
    lp_locked_pct: lpShares?.lockedPercent ?? null,
    lp_held_by_creator_pct: lpShares?.creatorPercent ?? null,
    warnings: [
      ...doubtWarnings,
      ...(hasEnded(entry) ? [ENDED] : []),
      ...(risks?.pairWarningsOf(entry) ?? []),
    ],
  };
}

function hooksOf({ hooks, hook_bits: hookBits }: StoredPool): PairDetail['hooks'] {
  return hooks === null ? null : { address: hooks, permissions: [...permissionsOf({ hooks, hookBits })] };
}

type ConcentratedFields = Pick<PairDetail, 'sqrt_price_x96' | 'tick' | 'liquidity_raw' | 'tick_spacing'>;

function concentratedFields(pool: StoredPool, state: StateRow | null): ConcentratedFields {
  const isInitialised = state !== null && state.sqrt_price_x96 !== 0n;
  return {
    sqrt_price_x96: isInitialised ? String(state.sqrt_price_x96) : null,
    tick: isInitialised ? state.tick : null,
    liquidity_raw: state === null ? null : String(state.liquidity),
    tick_spacing: pool.tick_spacing,
  };
}
