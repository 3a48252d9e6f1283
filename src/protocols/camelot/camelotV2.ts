/**
 * Camelot V2 (CamelotLabs/core, CamelotPair.sol): pools of two tokens with the events of Uniswap V2, and a fee for each
 * direction. The owner can switch a pool between the curves x·y = k and x³y + y³x = k. The fee stays in the reserves,
 * except for the parts that a stable pool or a referrer's swap pays out.
 */
import type { ChainLog } from '../../domain/block';
import type { PoolState } from '../../domain/pool';
import { POOL_STABLE, POOL_V2 } from '../../domain/pools/poolShape';
import type { PoolEvent, PoolTerms, Protocol, SwapEvent, SwapFees } from '../protocol';
import { quoteStable, slope, stablePrice, STEPS_MAX, type SolveY } from '../solidly/stableCurve';
import { uniswapV2 } from '../uniswapV2/uniswapV2';
import { CAMELOT_CHANGES, decodeCamelotChange, FEE_PERCENT_UPDATED } from './camelotEvents';
import { camelotQuestions } from './camelotQuestions';
import { curveOf, feesOfTick, withCurve } from './camelotTick';

const PIPS = 1_000_000n;
const UNIT = 10n ** 18n;

export const camelotV2 = {
  ...uniswapV2,
  name: 'camelot_v2',
  poolTypes: [POOL_V2, POOL_STABLE],
  keptTopics: [FEE_PERCENT_UPDATED],
  feeChange: { topics: [FEE_PERCENT_UPDATED], decodeFees },
  eventTopics: new Set([...uniswapV2.eventTopics, ...CAMELOT_CHANGES]),
  decodeEvent: (log: ChainLog): PoolEvent | null => decodeCamelotChange(log) ?? uniswapV2.decodeEvent(log),
  applyEvent,
  spotPrice,
  swapFeePips,
  quote,
  ...camelotQuestions,
} satisfies Protocol;

function decodeFees(log: Pick<ChainLog, 'topics' | 'data'>): SwapFees | null {
  const event = decodeCamelotChange(log);
  return event?.kind === 'fee' ? [event.fee0Pips, event.fee1Pips] : null;
}

function applyEvent(state: PoolState, event: PoolEvent): PoolState {
  switch (event.kind) {
    case 'fee':
      return { ...state, fees: [event.fee0Pips, event.fee1Pips] };
    case 'curve':
      return { ...state, tick: withCurve(state.tick, event.isStable) };
    case 'sync': {
      const { reserve0, reserve1 } = event;
      const isSame = reserve0 === state.reserve0 && reserve1 === state.reserve1;
      return isSame ? state : { ...state, reserve0, reserve1 };
    }
    default:
      return state;
  }
}

/** Null if the curve is unknown, and for a stable pool whose units are unknown. */
function spotPrice(state: PoolState, { scaleDecimals }: PoolTerms): number | null {
  const curve = curveOf(state.tick);
  if (curve === 'volatile') return uniswapV2.spotPrice(state);
  return curve === 'unknown' || scaleDecimals == null
    ? null
    : stablePrice(state.reserve0, state.reserve1, scaleDecimals);
}

function swapFeePips(
  pool: PoolTerms,
  { amount0 }: SwapEvent,
  before: PoolState | null,
  after: PoolState,
): number {
  return feeOf(pool, before ?? after, amount0 > 0n);
}

/** The fee of the last event; before the first one, the fee that the node told, or that of every new pool. */
function feeOf({ feePips }: PoolTerms, { fees, tick }: PoolState, isToken0In: boolean): number {
  const [fee0, fee1] = fees ?? feesOfTick(tick) ?? [feePips, feePips];
  return isToken0In ? fee0 : fee1;
}

function quote(pool: PoolTerms, state: PoolState, amountIn: bigint, isToken0In: boolean): bigint | null {
  const feePips = feeOf(pool, state, isToken0In);
  const { reserve0, reserve1, tick } = state;
  const curve = curveOf(tick);
  if (curve === 'volatile') return uniswapV2.quote({ feePips }, state, amountIn, isToken0In);
  if (curve === 'unknown' || pool.scaleDecimals == null) return null;
  if (amountIn <= 0n || reserve0 === 0n || reserve1 === 0n) return null;
  const paid = amountIn - (amountIn * BigInt(feePips)) / PIPS;
  return quoteStable(paid, isToken0In, [reserve0, reserve1], pool.scaleDecimals, solveY);
}

/** Newton's method as in _get_y: ends when y moves by at most one unit, or after the last step. */
const solveY: SolveY = (x, k, start) => {
  let y = start;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const steepness = slope(x, y);
    // The contract reverts when it divides by 0, and when y falls below 0.
    if (steepness === 0n) return null;
    const reached = reachedBy(x, y);
    const move = ((reached < k ? k - reached : reached - k) * UNIT) / steepness;
    y = reached < k ? y + move : y - move;
    if (y < 0n) return null;
    if (move <= 1n) return y;
  }
  return y;
};

/** _f: x·y³ + x³·y, rounded as the contract rounds. */
function reachedBy(x: bigint, y: bigint): bigint {
  const cube = (value: bigint): bigint => (((value * value) / UNIT) * value) / UNIT;
  return (x * cube(y)) / UNIT + (cube(x) * y) / UNIT;
}
