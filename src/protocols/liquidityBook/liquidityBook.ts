/**
 * Liquidity Book 2.1 and 2.2 (traderjoe-xyz/joe-v2): the liquidity lies in bins, each with a fixed price. A swap that
 * crosses bins has one Swap log for each. The id of the active bin, in the column `tick`, gives the price together with
 * the bin step in basis points, which is the `tickSpacing` of the pool.
 */
import { callData, readAddress, readNumber, readUint } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import { EMPTY_STATE, moveBalances, type PoolState } from '../../domain/pool';
import { POOL_BINS } from '../../domain/pools/poolShape';
import type { PoolCreation, PoolEvent, PoolTerms, Protocol } from '../protocol';
import type { BinQuestions } from '../ticks/binQuestions';
import { binPrice } from './binPrice';
import {
  ID_END,
  BOOK_CREATIONS,
  BOOK_EVENTS,
  decodeBookCreation,
  decodeBookEvent,
} from './liquidityBookEvents';

/** The base fee of a pool is baseFactor · binStep in units of 1e-8. A pip is 1e-6. */
const FEE_UNITS_PER_PIP = 100;
/** Largest fee that a pool accepts: 10 %. */
const FEE_PIPS_MAX = 100_000;
const BIN_STEP_MAX = 0xffffn;
/** Index of timeOfLastUpdate, which each swap sets, among the words of getVariableFeeParameters(). */
const TIME_OF_LAST_UPDATE = 3;

/** The pool has the shares of its bins (LBToken.sol). */
const binQuestions: BinQuestions = {
  binCall: ({ address: to }, bin) => ({ to, data: callData('getBin(uint24)', bin) }),
  supplyCall: ({ address: to }, bin) => ({ to, data: callData('totalSupply(uint256)', bin) }),
  readSupply: readNumber,
};

export const liquidityBook = {
  name: 'liquidity_book',
  hasManyTokens: false,
  poolTypes: [POOL_BINS],
  keptTopics: [],
  locksSharesAtZero: false,
  mintsProtocolShares: false,
  feeSplit: null,
  feeChange: null,
  creationTopics: BOOK_CREATIONS,
  eventTopics: BOOK_EVENTS,
  hasSync: false,
  hasShareTransfers: false,
  hasTokenTransfers: false,
  decodeCreation: decodeBookCreation,
  decodeEvent: decodeBookEvent,
  applyEvent,
  spotPrice,
  swapFeePips: ({ feePips }, { ownFees }) => ownFees?.overridePips ?? feePips,
  // A state does not hold the reserves of the bins.
  quote: () => null,
  factCalls: ['getTokenX()', 'getTokenY()', 'getBinStep()'],
  readFacts,
  confirmCalls: (to, { token0, token1, tickSpacing }) => [
    { to, data: callData('getLBPairInformation(address,address,uint256)', token0, token1, tickSpacing) },
  ],
  detailCalls: (_factory, { pool: to }) => [{ to, data: callData('getStaticFeeParameters()') }],
  readDetails,
  stateCalls: ({ pool: to }) =>
    ['getReserves()', 'getActiveId()', 'getVariableFeeParameters()'].map((name) => ({
      to,
      data: callData(name),
    })),
  readState,
  lastMoveCalls: () => [],
  // The third answer to stateCalls has the time of the last swap.
  readLastMove: ([, , parameters]) => readUint(parameters, TIME_OF_LAST_UPDATE),
  listsPools: false,
  binQuestions,
} satisfies Protocol;

function applyEvent(state: PoolState, event: PoolEvent): PoolState {
  switch (event.kind) {
    case 'swap': {
      const [kept0, kept1] = event.protocolFees ?? [0n, 0n];
      const moved = moveBalances(state, event.amount0 - kept0, event.amount1 - kept1);
      return { ...moved, tick: event.after?.tick ?? state.tick };
    }
    case 'mint':
    case 'flash':
      return moveBalances(state, event.amount0, event.amount1);
    case 'burn':
      return moveBalances(state, -event.amount0, -event.amount1);
    default:
      return state;
  }
}

/** A creation event does not name the active bin, so a pool has no price before its first swap. */
function spotPrice({ tick }: PoolState, { tickSpacing }: PoolTerms): number | null {
  // A new state has the tick 0, which is no id of a bin with a price.
  return tick === 0 ? null : binPrice(tick, tickSpacing);
}

function readFacts(pool: Hex, answers: ReadonlyMap<string, Hex | null>): PoolCreation | null {
  const [token0, token1] = [readAddress(answers.get('getTokenX()')), readAddress(answers.get('getTokenY()'))];
  const binStep = readUint(answers.get('getBinStep()'));
  if (token0 === null || token1 === null || binStep === null || binStep > BIN_STEP_MAX) return null;
  return { pool, token0, token1, feePips: null, tickSpacing: Number(binStep) };
}

/** The base fee of now. The part of the fee that follows the volatility is only in the fees of swaps. */
function readDetails(creation: PoolCreation, [parameters]: readonly (Hex | null)[]): PoolCreation {
  const baseFactor = readUint(parameters);
  const feePips =
    baseFactor === null ? null : Math.round((Number(baseFactor) * creation.tickSpacing) / FEE_UNITS_PER_PIP);
  return { ...creation, feePips: feePips === null || feePips > FEE_PIPS_MAX ? null : feePips };
}

function readState([reserves, activeId]: readonly (Hex | null)[]): PoolState | null {
  const [reserve0, reserve1, id] = [readUint(reserves), readUint(reserves, 1), readUint(activeId)];
  if (reserve0 === null || reserve1 === null || id === null || id >= ID_END) return null;
  return { ...EMPTY_STATE, reserve0, reserve1, tick: Number(id) };
}
