/** Reads fields of encoded headers and transactions. Their hashes prove them, so nothing is checked here but the form. */
import type { Hex } from '../../domain/hex';
import type { Keccak } from './keccak';
import { integerOf, readItems, toHex, type RlpItem } from './rlpReader';
import { UnknownFormat } from './rlpWriter';

/** Fields of an encoded header. */
export interface HeaderFields {
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly transactionsRoot: Hex;
  readonly receiptsRoot: Hex;
  readonly logsBloom: Hex;
  readonly number: number;
  readonly gasUsed: number;
  /** Unix seconds, UTC. */
  readonly timestamp: number;
  /** Base fee in wei; null before EIP-1559. */
  readonly baseFeePerGas: bigint | null;
}

/** Fields of an encoded transaction. */
interface TransactionFields {
  readonly type: number;
  readonly nonce: bigint;
  /** Null if the transaction creates a contract. */
  readonly to: Hex | null;
  /** Price per gas in wei, for transactions before EIP-1559; otherwise the highest price and tip. */
  readonly gasPrice: bigint;
  readonly maxTip: bigint;
}

/** @throws RangeError if the bytes are not a header */
export function readHeader(encoded: Uint8Array, keccak: Keccak): HeaderFields {
  const items = readItems(encoded).map(({ content }) => content);
  const fieldAt = (index: number): Uint8Array => {
    const item = items[index];
    if (item === undefined) throw new RangeError(`the header has only ${items.length} fields`);
    return item;
  };
  // The indexes are those of FIELDS in encodeHeader.ts.
  const [baseFee] = items.slice(15);
  return {
    hash: toHex(keccak(encoded)),
    parentHash: toHex(fieldAt(0)),
    transactionsRoot: toHex(fieldAt(4)),
    receiptsRoot: toHex(fieldAt(5)),
    logsBloom: toHex(fieldAt(6)),
    number: Number(integerOf(fieldAt(8))),
    gasUsed: Number(integerOf(fieldAt(10))),
    timestamp: Number(integerOf(fieldAt(11))),
    baseFeePerGas: baseFee === undefined ? null : integerOf(baseFee),
  };
}

const DYNAMIC_FEE = 2;
const SET_CODE = 4;
/** First byte of an encoded list. Smaller first bytes are types (EIP-2718). */
const LIST = 0xc0;

/** @throws RangeError if the bytes are not a transaction. @throws UnknownFormat for a type whose encoding is unknown */
export function readTransaction(encoded: Uint8Array): TransactionFields {
  const { type, fields } = splitTransaction(encoded);
  const items = fields.map(({ content }) => content);
  // The fields are: chain id (not for type 0), nonce, gas price (or tip and highest price), gas limit, recipient.
  const gasPriceIndex = type === 0 ? 1 : 2;
  const hasTip = type >= DYNAMIC_FEE;
  const [nonce, to] = [items[gasPriceIndex - 1], items[gasPriceIndex + (hasTip ? 3 : 2)]];
  const [gasField, nextField] = [items[gasPriceIndex], items[gasPriceIndex + 1]];
  if (nonce === undefined || to === undefined || gasField === undefined || nextField === undefined)
    throw new RangeError(`the transaction has only ${items.length} fields`);
  return {
    type,
    nonce: integerOf(nonce),
    to: to.length === 0 ? null : toHex(to),
    gasPrice: integerOf(hasTip ? nextField : gasField),
    maxTip: hasTip ? integerOf(gasField) : 0n,
  };
}

/** The price per gas that the transaction pays in a block with this base fee, in wei. */
export function gasPriceIn({ type, gasPrice, maxTip }: TransactionFields, baseFee: bigint | null): bigint {
  if (type < DYNAMIC_FEE) return gasPrice;
  const uncappedPrice = (baseFee ?? 0n) + maxTip;
  return uncappedPrice < gasPrice ? uncappedPrice : gasPrice;
}

/**
 * The type of a transaction and its fields. @throws RangeError if the bytes are not a transaction. @throws UnknownFormat
 * for a type whose encoding is unknown
 */
export function splitTransaction(encoded: Uint8Array): {
  readonly type: number;
  readonly fields: readonly RlpItem[];
} {
  const firstByte = encoded[0] ?? 0;
  if (firstByte >= LIST) return { type: 0, fields: readItems(encoded) };
  if (firstByte === 0 || firstByte > SET_CODE)
    throw new UnknownFormat(`the transaction type 0x${firstByte.toString(16)} is unknown`);
  return { type: firstByte, fields: readItems(encoded.subarray(1)) };
}
