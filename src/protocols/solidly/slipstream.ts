/**
 * Slipstream (aerodrome-finance/slipstream): Uniswap V3 pools that are named by their tick spacing. The fee is the
 * answer of a contract, may change without a log, and is in no event.
 */
import type { ChainLog } from '../../domain/block';
import { callData, readUint } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import type { PoolState } from '../../domain/pool';
import type {
  CollectProtocolEvent,
  PoolCreation,
  PoolEvent,
  PoolTerms,
  Protocol,
  SwapEvent,
} from '../protocol';
import { createV3Protocol } from '../uniswapV3/v3Pool';
import {
  addressAt,
  addressOfTopic,
  int24OfTopic,
  isAddressTopic,
  isInt24Topic,
  isUint128,
  isUint160,
  loadData,
  uintAt,
} from '../words';

/** Topic of PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool). */
const POOL_CREATED: Hex = '0xab0d57f0df537bb25e80245ef7748fa62353808c54d6e528a9dd20887aed9ac2';
/** Topic of CollectFees(address indexed recipient, uint128 amount0, uint128 amount1): the fees of staked positions. */
const COLLECT_FEES: Hex = '0x205860e66845f2bbc0966bfab80db9bf93fca93862ea2b9fcf6945748352b4a3';

const PIPS = 1_000_000n;
/** Largest fee that the factory accepts from the fee contract: 10 %. */
const FEE_PIPS_MAX = 100_000n;

const v3 = createV3Protocol('slipstream');

export const slipstream = {
  ...v3,
  keptTopics: [],
  feeSplit: null,
  creationTopics: new Set([POOL_CREATED]),
  eventTopics: new Set([...v3.eventTopics, COLLECT_FEES]),
  decodeCreation,
  decodeEvent: (log: ChainLog): PoolEvent | null =>
    log.topics[0] === COLLECT_FEES ? decodeCollectFees(log) : v3.decodeEvent(log),
  swapFeePips,
  confirmCalls: (to: Hex, { token0, token1, tickSpacing }: PoolCreation) => [
    { to, data: callData('getPool(address,address,int24)', token0, token1, tickSpacing) },
  ],
  detailCalls: (_factory: Hex, { pool: to }: PoolCreation) => [{ to, data: callData('fee()') }],
  readDetails: (creation: PoolCreation, [answer]: readonly (Hex | null)[]): PoolCreation => {
    const fee = readUint(answer);
    return { ...creation, feePips: fee === null || fee > FEE_PIPS_MAX ? null : Number(fee) };
  },
} satisfies Protocol;

function decodeCreation({ topics, data }: ChainLog): PoolCreation | null {
  const [topic, token0, token1, tickSpacing] = topics;
  if (topic !== POOL_CREATED || topics.length !== 4 || !loadData(data, 1) || !isUint160(0)) return null;
  if (!isAddressTopic(token0) || !isAddressTopic(token1) || !isInt24Topic(tickSpacing)) return null;
  return {
    pool: addressAt(data, 0),
    token0: addressOfTopic(token0),
    token1: addressOfTopic(token1),
    feePips: null,
    tickSpacing: int24OfTopic(tickSpacing),
  };
}

function decodeCollectFees({ topics, data }: ChainLog): CollectProtocolEvent | null {
  const recipient = topics[1];
  if (topics.length !== 2 || !isAddressTopic(recipient) || !loadData(data, 2)) return null;
  if (!isUint128(0) || !isUint128(1)) return null;
  const gauge = addressOfTopic(recipient);
  return { kind: 'collect_protocol', owner: gauge, recipient: gauge, amount0: uintAt(0), amount1: uintAt(1) };
}

/**
 * The liquidity is constant while the price stays between two neighbouring multiples of the tick spacing. Then the price and
 * the liquidity give the amount that moved the price, and the rest of the input is the fee. A swap that leaves this range
 * gets the fee that the pool had when it was first asked.
 */
function swapFeePips(
  { feePips, tickSpacing }: PoolTerms,
  { amount0, amount1, after }: SwapEvent,
  before: PoolState | null,
): number {
  if (before === null || after === null || before.liquidity === 0n || tickSpacing <= 0) return feePips;
  const rangeOf = (tick: number): number => Math.floor(tick / tickSpacing);
  if (rangeOf(before.tick) !== rangeOf(after.tick) || before.liquidity !== after.liquidity) return feePips;
  const [start, end] = [before.sqrtPriceX96, after.sqrtPriceX96];
  const amountIn = amount0 > 0n ? amount0 : amount1;
  if (amountIn <= 0n || start === 0n || start === end || start < end === amount0 > 0n) return feePips;
  const scaled = before.liquidity * (start < end ? end - start : start - end);
  const moved = amount0 > 0n ? divideUp(scaled << 96n, start * end) : divideUp(scaled, 1n << 96n);
  const fee = amountIn - moved;
  if (fee < 0n) return feePips;
  return Number((fee * PIPS + amountIn / 2n) / amountIn);
}

/** As in SqrtPriceMath.sol, which rounds what comes in up. */
function divideUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}
