/**
 * Decodes the events of Algebra pools: V1, V1.9 and Integral 1.0 to 1.2 (cryptoalgebra/Algebra, IAlgebraPoolEvents.sol of
 * the branches, and the package @cryptoalgebra/integral-core). Most events are those of Uniswap V3. The topic tells the
 * version of a log, so a pool needs no version.
 */
import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import type { FeeEvent, PoolCreation, PoolEvent, SwapEvent, SwapFeeEvent } from '../protocol';
import { createV3Protocol } from '../uniswapV3/v3Pool';
import { addressAt, addressOfTopic, int24At, isAddressTopic, isInt24, isUint160, loadData } from '../words';

/** Topic of Pool(address indexed token0, address indexed token1, address pool). */
const POOL: Hex = '0x91ccaa7a278130b65168c3a0c8d3bcae84cf5e43704342bd3ec0b59e59c036db';
/** Topic of CustomPool(address indexed deployer, address indexed token0, address indexed token1, address pool). */
const CUSTOM_POOL: Hex = '0x8a5f030f5fc13b04a1e4ef7c47177e3d76b0e80e1d9be9843db37caa5b7b9b8f';
/** Topics of Initialize, Swap, Mint, Burn, Collect and Flash, as in Uniswap V3. */
const INITIALIZE: Hex = '0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95';
const SWAP: Hex = '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67';
const MINT: Hex = '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde';
const BURN: Hex = '0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c';
const COLLECT: Hex = '0x70935338e69775456a85ddef226c395fb668b63fa0115f5f20610b388e6ca9c0';
const FLASH: Hex = '0xbdbdb71d7860376ba52b25a5028beea23581364a40522f6bcfb86bb1f2dca633';
/** Topic of Swap in Integral 1.2.0 and 1.2.1, with two more words: uint24 overrideFee, uint24 pluginFee. */
const SWAP_WITH_FEES: Hex = '0x121cb44ee54098b1a04743c487e7460d8dd429b27f88b1f4d4767396e1a59f79';
/** Topic of Burn in Integral 1.2.0 and 1.2.1, with one more word: uint24 pluginFee. The amounts are without that fee. */
const BURN_WITH_FEE: Hex = '0x932214d4a69c27c086643126ed97c32681da179064c678836c173f99bd13ca01';
/** Topic of SwapFee(address indexed sender, uint24 overrideFee, uint24 pluginFee), before a Swap of Integral 1.2.2. */
const SWAP_FEE: Hex = '0x9443903d84c9719611bd4bba871daaf18a3950d00d5d78b1a2fa701f76df54ff';
/** Topic of Fee(uint16 fee). */
const FEE: Hex = '0x598b9f043c813aa6be3426ca60d1c65d17256312890be5118dab55b0775ebe2a';
/** Topic of Fee(uint16 feeZto, uint16 feeOtz), where the fee depends on the direction. */
const TWO_FEES: Hex = '0x8a89de70856bccec096661388f305b9a75f5f65cb0d8a0e1e803c39dabedb57f';

export const ALGEBRA_CREATIONS: ReadonlySet<Hex> = new Set([POOL, CUSTOM_POOL]);
/** topic0 of the events that change the fee of a pool. */
export const ALGEBRA_FEES: readonly Hex[] = [FEE, TWO_FEES];
export const ALGEBRA_EVENTS: ReadonlySet<Hex> = new Set([
  ...[INITIALIZE, SWAP, MINT, BURN, COLLECT, FLASH, SWAP_WITH_FEES, BURN_WITH_FEE, SWAP_FEE],
  ...ALGEBRA_FEES,
]);

/** BASE_FEE and INIT_DEFAULT_FEE: the fee of a pool before its first Fee event. */
const FIRST_FEE_PIPS = 100;
/** The constant of V1, and the default of Integral. */
export const USUAL_TICK_SPACING = 60;
const UINT16_MAX = 0xffff;

const v3 = createV3Protocol('algebra');

export function decodeAlgebraCreation({ topics, data }: ChainLog): PoolCreation | null {
  const isCustom = topics[0] === CUSTOM_POOL;
  if (!isCustom && topics[0] !== POOL) return null;
  if (topics.length !== (isCustom ? 4 : 3) || !loadData(data, 1) || !isUint160(0)) return null;
  const [token0, token1] = topics.slice(-2);
  if (!isAddressTopic(token0) || !isAddressTopic(token1) || !topics.slice(1).every(isAddressTopic))
    return null;
  return {
    pool: addressAt(data, 0),
    token0: addressOfTopic(token0),
    token1: addressOfTopic(token1),
    feePips: FIRST_FEE_PIPS,
    tickSpacing: USUAL_TICK_SPACING,
  };
}

export function decodeAlgebraEvent(log: ChainLog): PoolEvent | null {
  const { topics } = log;
  const [topic] = topics;
  switch (topic) {
    case SWAP_WITH_FEES:
      return decodeSwapWithFees(log);
    case BURN_WITH_FEE:
      return loadData(log.data, 4) && isFee(3) ? decodeAsV3(log, BURN, 3) : null;
    case SWAP_FEE:
      return decodeSwapFee(log);
    case FEE:
    case TWO_FEES:
      return decodeAlgebraFee(log);
    default:
      return topic !== undefined && ALGEBRA_EVENTS.has(topic) ? v3.decodeEvent(log) : null;
  }
}

function decodeSwapWithFees(log: ChainLog): SwapEvent | null {
  if (!loadData(log.data, 7) || !isFee(5) || !isFee(6)) return null;
  const ownFees = { overridePips: int24At(5), pluginPips: int24At(6) };
  const swap = decodeAsV3(log, SWAP, 5);
  return swap?.kind === 'swap' ? { ...swap, ownFees } : null;
}

function decodeSwapFee({ topics, data }: ChainLog): SwapFeeEvent | null {
  if (topics.length !== 2 || !isAddressTopic(topics[1]) || !loadData(data, 2)) return null;
  if (!isFee(0) || !isFee(1)) return null;
  return { kind: 'swap_fee', overridePips: int24At(0), pluginPips: int24At(1) };
}

/** The fee of swaps that pay in token0, and of swaps that pay in token1. */
export function decodeAlgebraFee({ topics, data }: Pick<ChainLog, 'topics' | 'data'>): FeeEvent | null {
  const last = topics[0] === TWO_FEES ? 1 : 0;
  if (topics.length !== 1 || !loadData(data, last + 1) || !isUint16(0) || !isUint16(last)) return null;
  return { kind: 'fee', fee0Pips: int24At(0), fee1Pips: int24At(last) };
}

/** Reads the log as the V3 event with the first `words` words of data. */
function decodeAsV3(log: ChainLog, topic: Hex, words: number): PoolEvent | null {
  const data: Hex = `0x${log.data.slice(2, 2 + 64 * words)}`;
  return v3.decodeEvent({ ...log, topics: [topic, ...log.topics.slice(1)], data });
}

/** Whether the loaded word is a fee below 100 %, as the contracts require. */
function isFee(word: number): boolean {
  return isInt24(word) && int24At(word) >= 0 && int24At(word) < 1_000_000;
}

function isUint16(word: number): boolean {
  return isInt24(word) && int24At(word) >= 0 && int24At(word) <= UINT16_MAX;
}
