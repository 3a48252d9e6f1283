/**
 * Decodes the events of Liquidity Book 2.1 and 2.2 (traderjoe-xyz/joe-v2, ILBPair.sol and ILBFactory.sol). A bytes32 holds
 * two amounts: tokenX in the lower 128 bits, tokenY in the upper ones. token0 is tokenX, whatever its address.
 */
import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import type { BinMove } from '../../domain/pools/binMoves';
import { readArrays } from '../abiArrays';
import type { BurnEvent, FlashEvent, MintEvent, PoolCreation, PoolEvent, SwapEvent } from '../protocol';
import {
  addressAt,
  addressOfTopic,
  int24At,
  isAddressTopic,
  isUint160,
  isUint24,
  isUint24Topic,
  loadData,
  uint24OfTopic,
  uintAt,
} from '../words';

/** Topic of LBPairCreated(address indexed tokenX, address indexed tokenY, uint256 indexed binStep, address pair, uint256). */
const PAIR_CREATED: Hex = '0x2c8d104b27c6b7f4492017a6f5cf3803043688934ebcaa6a03540beeaf976aff';
/** Topic of Swap(address indexed sender, address indexed to, uint24 id, bytes32 amountsIn, bytes32 amountsOut,
 * uint24 volatilityAccumulator, bytes32 totalFees, bytes32 protocolFees). */
const SWAP: Hex = '0xad7d6f97abf51ce18e17a38f4d70e975be9c0708474987bb3e26ad21bd93ca70';
/** Topics of DepositedToBins and WithdrawnFromBins(address indexed sender, address indexed to, uint256[] ids,
 * bytes32[] amounts). */
const DEPOSITED: Hex = '0x87f1f9dcf5e8089a3e00811b6a008d8f30293a3da878cb1fe8c90ca376402f8a';
const WITHDRAWN: Hex = '0xa32e146844d6144a22e94c586715a1317d58a8aa3581ec33d040113ddcb24350';
/** Topic of FlashLoan(address indexed sender, address indexed receiver, uint24 activeId, bytes32 amounts,
 * bytes32 totalFees, bytes32 protocolFees). */
const FLASH_LOAN: Hex = '0xd126bd9d94daca8e55ffd8283fac05394aec8326c6b1639e1e8a445fbe8bbc7d';

export const BOOK_CREATIONS: ReadonlySet<Hex> = new Set([PAIR_CREATED]);
export const BOOK_EVENTS: ReadonlySet<Hex> = new Set([SWAP, DEPOSITED, WITHDRAWN, FLASH_LOAN]);

/** Ids of bins are below this number. */
export const ID_END = 1n << 24n;

const HALF_BITS = 128n;
const HALF_MASK = (1n << HALF_BITS) - 1n;
const PIPS = 1_000_000n;
/** More bins than the gas of a block allows to change. */
const BINS_MAX = 4_096;

type Amounts = readonly [x: bigint, y: bigint];

export function decodeBookCreation({ topics, data }: ChainLog): PoolCreation | null {
  const [topic, tokenX, tokenY, binStep] = topics;
  if (topic !== PAIR_CREATED || topics.length !== 4 || !loadData(data, 2) || !isUint160(0)) return null;
  if (!isAddressTopic(tokenX) || !isAddressTopic(tokenY) || !isUint24Topic(binStep)) return null;
  return {
    pool: addressAt(data, 0),
    token0: addressOfTopic(tokenX),
    token1: addressOfTopic(tokenY),
    feePips: null,
    tickSpacing: uint24OfTopic(binStep),
  };
}

export function decodeBookEvent(log: ChainLog): PoolEvent | null {
  const [topic, sender, to] = log.topics;
  if (log.topics.length !== 3 || !isAddressTopic(sender) || !isAddressTopic(to)) return null;
  const parties = { sender: addressOfTopic(sender), recipient: addressOfTopic(to) };
  switch (topic) {
    case SWAP:
      return decodeSwap(log.data, parties);
    case DEPOSITED:
      return decodeBins(log.data, 'mint', parties.recipient);
    case WITHDRAWN:
      return decodeBins(log.data, 'burn', parties.recipient);
    case FLASH_LOAN:
      return decodeFlashLoan(log.data, parties);
    default:
      return null;
  }
}

/** `amountsIn` of the event is what stays in the bin. The trader paid the protocol's part of the fee too. */
function decodeSwap(data: Hex, parties: Pick<SwapEvent, 'sender' | 'recipient'>): SwapEvent | null {
  if (!loadData(data, 6) || !isUint24(0) || !isUint24(3)) return null;
  const [stayed, out, fees, protocolFees] = [amountsAt(1), amountsAt(2), amountsAt(4), amountsAt(5)];
  const paid = plus(stayed, protocolFees);
  const [amount0, amount1] = minus(paid, out);
  const [amountIn, fee] = [paid[0] + paid[1], fees[0] + fees[1]];
  if (amountIn === 0n || fee > amountIn) return null;
  return {
    kind: 'swap',
    ...parties,
    amount0,
    amount1,
    after: { sqrtPriceX96: 0n, liquidity: 0n, tick: int24At(0) },
    ownFees: { overridePips: Number((fee * PIPS + amountIn / 2n) / amountIn), pluginPips: 0 },
    protocolFees,
    bins: [toMove(int24At(0), minus(stayed, out))],
  };
}

/**
 * Deposits and withdrawals name the amount of each bin, without the protocol's part of a fee for composition. `scalars` is
 * the number of further words, the first of them between the two arrays.
 */
export function decodeBins(
  data: Hex,
  kind: 'mint' | 'burn',
  owner: Hex,
  scalars = 0,
): MintEvent | BurnEvent | null {
  const [ids, amounts] = readArrays(data, 2, scalars, BINS_MAX, { headStep: scalars === 0 ? 1 : 2 }) ?? [];
  if (ids === undefined || amounts?.length !== ids.length || !ids.every((id) => id < ID_END)) return null;
  const each = amounts.map(toAmounts);
  const [amount0, amount1] = each.reduce(plus, [0n, 0n]);
  const bins = each.map((moved, i) =>
    toMove(Number(ids[i] ?? 0n), kind === 'mint' ? moved : minus([0n, 0n], moved)),
  );
  return { kind, owner, amount0, amount1, liquidity: null, tickLower: null, tickUpper: null, bins };
}

/** The protocol's part of the fee does not reach the bins. */
function decodeFlashLoan(
  data: Hex,
  { sender, recipient }: Pick<SwapEvent, 'sender' | 'recipient'>,
): FlashEvent | null {
  if (!loadData(data, 4) || !isUint24(0)) return null;
  const [amount0, amount1] = minus(amountsAt(2), amountsAt(3));
  if (amount0 < 0n || amount1 < 0n) return null;
  const bins = [toMove(int24At(0), [amount0, amount1])];
  return { kind: 'flash', owner: sender, recipient, amount0, amount1, bins };
}

function toMove(id: number, [amount0, amount1]: Amounts): BinMove {
  return { id, amount0, amount1 };
}

function amountsAt(word: number): Amounts {
  return toAmounts(uintAt(word));
}

function toAmounts(packed: bigint): Amounts {
  return [packed & HALF_MASK, packed >> HALF_BITS];
}

function plus([x, y]: Amounts, [otherX, otherY]: Amounts): Amounts {
  return [x + otherX, y + otherY];
}

function minus([x, y]: Amounts, [otherX, otherY]: Amounts): Amounts {
  return [x - otherX, y - otherY];
}
