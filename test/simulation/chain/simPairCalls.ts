/** Answers contract calls to pairs, factories and tokens of the simulated chain. */
import type { Hex } from '../../../src/domain/hex';
import { dataOf as words } from '../../support/plainLogs';
import { SIM_SYMBOL, simDecimals } from './simTokens';
import {
  SIM_V3_FEE_PIPS,
  SIM_V3_TICK_SPACING,
  simToken,
  V2_FACTORY,
  V3_FACTORY,
  type SimPair,
} from './simChain';

const SELECTORS = {
  token0: '0x0dfe1681',
  token1: '0xd21220a7',
  fee: '0xddca3f43',
  tickSpacing: '0xd0c93a7c',
  getPair: '0xe6a43905',
  getPool: '0x1698ee82',
  decimals: '0x313ce567',
  name: '0x06fdde03',
  symbol: '0x95d89b41',
  balanceOf: '0x70a08231',
  slot0: '0x3850c7bd',
  liquidity: '0x1a686502',
} as const;

/** The tokens that exist from the first block on. Others appear with their pair. */
const FIRST_TOKENS = new Set(Array.from({ length: 12 }, (_, index) => simToken(index)));
/** Every node answers name() of every third token with something that is no hex data. */
const MALFORMED: Hex = '0x123';
const MALFORMED_EVERY = 3;

/** `pairs` are the pairs at the requested block. An address without code returns empty data. */
export function answerPairCall(pairs: readonly SimPair[], to: Hex, data: Hex): Hex | 'revert' {
  const selector = data.slice(0, 10);
  if (to === V2_FACTORY || to === V3_FACTORY) return answerFactory(pairs, to, data);
  // The state of a V3 pool is never told.
  if (selector === SELECTORS.balanceOf || selector === SELECTORS.slot0 || selector === SELECTORS.liquidity)
    return 'revert';
  const pair = pairs.find(({ address }) => address === to);
  if (pair === undefined) {
    const exists = FIRST_TOKENS.has(to) || pairs.some(({ token0, token1 }) => token0 === to || token1 === to);
    if (!exists) return '0x';
    if (selector === SELECTORS.decimals) return words(BigInt(simDecimals(to)));
    if (selector === SELECTORS.symbol) return SIM_SYMBOL;
    const isMalformed = Number.parseInt(to.slice(-2), 16) % MALFORMED_EVERY === 0;
    return selector === SELECTORS.name && isMalformed ? MALFORMED : 'revert';
  }
  if (selector === SELECTORS.token0) return words(pair.token0);
  if (selector === SELECTORS.token1) return words(pair.token1);
  if (pair.kind === 'v3' && selector === SELECTORS.fee) return words(SIM_V3_FEE_PIPS);
  if (pair.kind === 'v3' && selector === SELECTORS.tickSpacing) return words(SIM_V3_TICK_SPACING);
  return 'revert';
}

function answerFactory(pairs: readonly SimPair[], to: Hex, data: Hex): Hex | 'revert' {
  const kind = to === V2_FACTORY ? 'v2' : 'v3';
  const selector = data.slice(0, 10);
  if (selector !== (kind === 'v2' ? SELECTORS.getPair : SELECTORS.getPool)) return 'revert';
  // Behind `0x` and 8 digits of the selector, each argument has 64 digits; an address is the last 40 of them.
  const [token0, token1] = [34, 98].map((offset) => `0x${data.slice(offset, offset + 40)}`);
  if (kind === 'v3' && BigInt(`0x${data.slice(138, 202)}`) !== SIM_V3_FEE_PIPS) return words(0n);
  const pair = pairs.find(
    (candidate) => candidate.kind === kind && candidate.token0 === token0 && candidate.token1 === token1,
  );
  return words(pair?.address ?? 0n);
}
