/**
 * Packed operations of DevTrader.sol: one word for each operation. They are encoded by hand for speed,
 * because a history has tens of thousands.
 */
import type { Hex } from '../../domain/hex';
import { TRADER, encodeCall } from '../abi';
import type { DevTransaction } from '../node/blockMaker';

/** Action numbers of DevTrader.sol. `push` trades towards a price, `swap` in a given direction. */
const ACTIONS = { push: 1, swap: 2, mint: 3, burn: 4, send: 5, donate: 6 } as const;
type OperationKind = keyof typeof ACTIONS;

export interface Operation {
  readonly kind: OperationKind;
  /** Index of the pool in the trader's list. */
  readonly pool: number;
  /** Size of the operation in millionths: of the reserve, of the base liquidity, or (send) of the stock of
   * tokens; up to 2^24 − 1, because the operation packs it into 24 bits. */
  readonly sizePpm: number;
  /** Whether token0 goes into the pool (swap) or is sent. Default false. */
  readonly zeroForOne?: boolean;
  /** Whether the proceeds go to the transaction's sender. By default they stay with the trader contract. */
  readonly toSender?: boolean;
  /** V3 mint: half the width of the range, in tick spacings, 1–64. Default 1. */
  readonly width?: number;
  /** For push: sqrtPriceX96 to trade towards. For send: the recipient. For burn: a number that selects the
   * position. */
  readonly target?: bigint;
}

const GAS_BASE = 150_000;
const GAS_PER_OPERATION = 550_000;
/** The calldata begins with `0x` and the function selector of four bytes. */
const SELECTOR_CHARACTERS = 10;

/** One transaction that runs these operations in order. */
export function runTransaction(from: Hex, trader: Hex, operations: readonly Operation[]): DevTransaction {
  const words = operations.map((operation) => packOperation(operation).toString(16).padStart(64, '0'));
  const length = words.length.toString(16).padStart(64, '0');
  const selector = encodeCall(TRADER, 'run', [[]]).slice(2, SELECTOR_CHARACTERS);
  const data: Hex = `0x${selector}${'20'.padStart(64, '0')}${length}${words.join('')}`;
  return { from, to: trader, data, gas: GAS_BASE + GAS_PER_OPERATION * operations.length };
}

function packOperation(operation: Operation): bigint {
  const { kind, pool, sizePpm, zeroForOne = false, toSender = false, width = 1, target = 0n } = operation;
  const flags = (zeroForOne ? 1 : 0) | (toSender ? 2 : 0) | ((width - 1) << 2);
  const head = (BigInt(ACTIONS[kind]) << 16n) | BigInt(pool);
  return (((head << 24n) | BigInt(sizePpm)) << 208n) | (BigInt(flags) << 200n) | target;
}
