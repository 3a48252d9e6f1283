/**
 * Algebra: pools with concentrated liquidity as Uniswap V3, whose fee changes by an event. In some versions a plugin of
 * the pool gives single swaps their own fees. The pool pays fees to the community and to the plugin without an event, so
 * the balances follow the Transfers of the tokens.
 */
import type { ChainLog } from '../../domain/block';
import type { PoolState } from '../../domain/pool';
import type { PoolEvent, PoolTerms, Protocol, SwapEvent, SwapFees } from '../protocol';
import { quoteInRange } from '../uniswapV3/quoteInRange';
import { createV3Protocol } from '../uniswapV3/v3Pool';
import {
  ALGEBRA_CREATIONS,
  ALGEBRA_EVENTS,
  ALGEBRA_FEES,
  decodeAlgebraCreation,
  decodeAlgebraEvent,
  decodeAlgebraFee,
} from './algebraEvents';
import { algebraQuestions } from './algebraQuestions';

const v3 = createV3Protocol('algebra');

export const algebra = {
  ...v3,
  keptTopics: ALGEBRA_FEES,
  feeSplit: null,
  feeChange: { topics: ALGEBRA_FEES, decodeFees },
  hasTokenTransfers: true,
  creationTopics: ALGEBRA_CREATIONS,
  eventTopics: ALGEBRA_EVENTS,
  decodeCreation: decodeAlgebraCreation,
  decodeEvent: decodeAlgebraEvent,
  applyEvent,
  swapFeePips,
  quote,
  ...algebraQuestions,
} satisfies Protocol;

function decodeFees(log: Pick<ChainLog, 'topics' | 'data'>): SwapFees | null {
  const event = decodeAlgebraFee(log);
  return event === null ? null : [event.fee0Pips, event.fee1Pips];
}

function applyEvent(state: PoolState, event: PoolEvent): PoolState {
  const { reserve0, reserve1, fees } = state;
  switch (event.kind) {
    case 'fee':
      return { ...state, fees: [event.fee0Pips, event.fee1Pips] };
    case 'swap_fee':
      return { ...state, nextFees: { overridePips: event.overridePips, pluginPips: event.pluginPips } };
    case 'collect':
    case 'flash':
      return state;
    default:
      return { ...v3.applyEvent(state, event), reserve0, reserve1, ...(fees === undefined ? {} : { fees }) };
  }
}

/** The fee of the last Fee event, or the fee that a plugin chose for this swap, and the fee of the plugin. */
function swapFeePips(pool: PoolTerms, { amount0, ownFees }: SwapEvent, before: PoolState | null): number {
  const { overridePips, pluginPips } = ownFees ?? before?.nextFees ?? { overridePips: 0, pluginPips: 0 };
  const poolPips = feeOf(pool, before, amount0 > 0n);
  return (overridePips === 0 ? poolPips : overridePips) + pluginPips;
}

function feeOf({ feePips }: PoolTerms, state: PoolState | null, isToken0In: boolean): number {
  const [fee0, fee1] = state?.fees ?? [feePips, feePips];
  return isToken0In ? fee0 : fee1;
}

/** Without the fees of a plugin. Ticks need not be multiples of the spacing, which may have been smaller once. */
function quote(pool: PoolTerms, state: PoolState, amountIn: bigint, isToken0In: boolean): bigint | null {
  const feePips = feeOf(pool, state, isToken0In);
  return quoteInRange({ feePips, tickSpacing: 1 }, state, amountIn, isToken0In);
}
