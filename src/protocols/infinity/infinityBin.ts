/**
 * Bin pools of PancakeSwap Infinity: the manager is the BinPoolManager. The bins have the prices of Liquidity Book. A swap
 * has one event, also if it crosses bins, with the amounts of the trader and the bin that is active after it.
 */
import type { ChainLog } from '../../domain/block';
import { callData, readUint } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import type { PoolState } from '../../domain/pool';
import { UNTOLD_BIN } from '../../domain/pools/binMoves';
import { hookDoubt } from '../hooks';
import { decodeBins } from '../liquidityBook/liquidityBookEvents';
import { liquidityBook } from '../liquidityBook/liquidityBook';
import type {
  FlashEvent,
  InitializeEvent,
  PoolCreation,
  PoolEvent,
  PoolTerms,
  Protocol,
  SwapEvent,
} from '../protocol';
import type { BinQuestions } from '../ticks/binQuestions';
import { packReplay } from '../ticks/replaySwap';
import { decodeManagedSwap, poolOfLog } from '../uniswapV4/v4Pool';
import {
  addressOfTopic,
  int24At,
  intAt,
  isAddressTopic,
  isInt128,
  isUint16,
  isUint24,
  loadData,
  uintAt,
} from '../words';
import { binIdQuestions } from './binIdQuestions';
import { dynamicFee } from './dynamicFee';
import { createKeyQuestions, decodeInfinityCreation } from './infinityCreation';

/** Topic of Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, address hooks, uint24 fee,
 * bytes32 parameters, uint24 activeId). */
const INITIALIZE: Hex = '0xddfde5903015c0eb1671976c6c8f760f1328bec57f15286b6bdab2f955cab9c9';
/** Topic of Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint24 activeId, uint24 fee,
 * uint16 protocolFee). */
const SWAP: Hex = '0x3e8aae37f890eb1f9d63dd4d2062f3f0be757848a0f0760e4f3e53dad556e861';
/** Topic of Mint(bytes32 indexed id, address indexed sender, uint256[] ids, bytes32 salt, bytes32[] amounts,
 * bytes32 compositionFeeAmount, bytes32 feeAmountToProtocol). */
const MINT: Hex = '0x7b6bc49b385af8644341f07a67cd976bf9daf2bdd5d71668e651a3a792e318e1';
/** Topic of Burn(bytes32 indexed id, address indexed sender, uint256[] ids, bytes32 salt, bytes32[] amounts). */
const BURN: Hex = '0x16d40aa4e497175b58e47cbf101544758de8c01d92a760c738943044c758df8a';
/** Topic of Donate(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint24 binId). */
const DONATE: Hex = '0xfc18146d5586318640b3febea90b094b834f09982812258534a1c07bdda12954';

const PIPS = 1_000_000n;
/** LPFeeLibrary.TEN_PERCENT_FEE: largest fee of providers, to which that of the protocol comes. */
const LIMITS = { feeMax: 100_000n, stepMax: 0xffffn };

/** The answer about a bin has its reserves, its liquidity and its shares. */
const binCall: BinQuestions['binCall'] = ({ factory: to, pool_id: id }, bin) => ({
  ...{ to, data: callData('getBin(bytes32,uint24)', id ?? '0x0', bin) },
});
const binQuestions: BinQuestions = {
  ...{ binCall, supplyCall: binCall },
  readSupply: (answer) => readUint(answer, 3),
};

export const infinityBin = {
  ...liquidityBook,
  ...dynamicFee,
  name: 'infinity_bin',
  creationTopics: new Set([INITIALIZE]),
  eventTopics: new Set([SWAP, MINT, BURN, DONATE]),
  poolOf: poolOfLog,
  decodeCreation,
  decodeEvent,
  applyEvent: (state: PoolState, event: PoolEvent): PoolState =>
    event.kind === 'initialize' ? { ...state, tick: event.tick } : liquidityBook.applyEvent(state, event),
  spotPrice: (state: PoolState, pool: PoolTerms): number | null =>
    hookDoubt(pool) === 0 ? liquidityBook.spotPrice(state, pool) : null,
  detailCalls: () => [],
  readDetails: (creation: PoolCreation) => creation,
  binQuestions,
  idQuestions: { ...createKeyQuestions(LIMITS), ...binIdQuestions },
} satisfies Protocol;

function decodeCreation(log: ChainLog): PoolCreation | null {
  const creation = decodeInfinityCreation(log, { topic: INITIALIZE, words: 4, ...LIMITS });
  return creation !== null && isUint24(3) ? creation : null;
}

function decodeEvent(log: ChainLog, state: PoolState): PoolEvent | null {
  if (log.topics[0] === INITIALIZE) return decodeInitialize(log);
  const sender = log.topics[2];
  if (log.topics.length !== 3 || !isAddressTopic(sender)) return null;
  const owner = addressOfTopic(sender);
  switch (log.topics[0]) {
    case SWAP:
      return decodeSwap(log, state);
    case MINT:
      return decodeBins(log.data, 'mint', owner, 3);
    case BURN:
      return decodeBins(log.data, 'burn', owner, 1);
    case DONATE:
      return decodeDonate(log.data, owner);
    default:
      return null;
  }
}

function decodeInitialize(log: ChainLog): InitializeEvent | null {
  if (decodeCreation(log) === null) return null;
  return { kind: 'initialize', sqrtPriceX96: 0n, tick: int24At(3) };
}

/**
 * The event does not tell what each bin got. The ingester replays the swap (replaySwap.ts) with the protocol's part of the fee
 * and the active bin before it, both in one number.
 */
function decodeSwap(log: ChainLog, { tick }: PoolState): SwapEvent | null {
  const swap = decodeManagedSwap(log, 5, 3);
  if (swap === null || !isUint24(2) || !isUint16(4)) return null;
  const [fee, ofProtocol] = [uintAt(3), uintAt(4)];
  const kept = (paid: bigint): bigint => protocolPart(paid, fee, ofProtocol);
  return {
    ...swap,
    after: { sqrtPriceX96: 0n, liquidity: 0n, tick: int24At(2) },
    protocolFees: [kept(swap.amount0), kept(swap.amount1)],
    bins: [{ id: UNTOLD_BIN, amount0: 1n, amount1: packReplay(ofProtocol, tick) }],
  };
}

/**
 * The part of a payment that leaves the bins. The contract rounds it in each bin that the swap crosses, so this may differ by
 * as many units.
 */
function protocolPart(paid: bigint, fee: bigint, ofProtocol: bigint): bigint {
  if (paid <= 0n || fee === 0n) return 0n;
  const charged = (paid * fee + PIPS - 1n) / PIPS;
  return (charged * ofProtocol) / fee;
}

/** A donation goes into the active bin. The amounts are negative, as those of the donor. */
function decodeDonate(data: Hex, owner: Hex): FlashEvent | null {
  if (!loadData(data, 3) || !isInt128(0) || !isInt128(1) || !isUint24(2)) return null;
  const [amount0, amount1] = [-intAt(0), -intAt(1)];
  if (amount0 < 0n || amount1 < 0n) return null;
  const bins = [{ id: int24At(2), amount0, amount1 }];
  return { kind: 'flash', owner, recipient: owner, amount0, amount1, bins };
}
