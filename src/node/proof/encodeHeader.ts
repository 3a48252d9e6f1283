/** Encodes a block header, as a node sends it, for the hash of the block. The last field is written first (rlpWriter.ts). */
import type { RlpWriter } from './rlpWriter';

type Fields = Readonly<Record<string, unknown>>;
type Field = readonly [name: string, length: number | 'quantity' | 'data'];

const FIELDS: readonly Field[] = [
  ['parentHash', 32],
  ['sha3Uncles', 32],
  ['miner', 20],
  ['stateRoot', 32],
  ['transactionsRoot', 32],
  ['receiptsRoot', 32],
  ['logsBloom', 256],
  ['difficulty', 'quantity'],
  ['number', 'quantity'],
  ['gasLimit', 'quantity'],
  ['gasUsed', 'quantity'],
  ['timestamp', 'quantity'],
  ['extraData', 'data'],
  ['mixHash', 32],
  ['nonce', 8],
  // London
  ['baseFeePerGas', 'quantity'],
  // Shanghai
  ['withdrawalsRoot', 32],
  // Cancun
  ['blobGasUsed', 'quantity'],
  ['excessBlobGas', 'quantity'],
  ['parentBeaconBlockRoot', 32],
  // Prague
  ['requestsHash', 32],
];
/** Fields of a block, as nodes send it, that no hash of a header covers: those of Ethereum and of Arbitrum. */
export const UNHASHED_FIELDS: readonly string[] = [
  ...FIELDS.map(([name]) => name),
  ...['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals'],
  ...['l1BlockNumber', 'sendCount', 'sendRoot'],
];
/** Number of fields of the oldest headers. Forks only add fields at the end. */
const FIELDS_MIN = 15;

/**
 * The possible sets of header fields, longest first. Forks add fields in groups, but the first block of a
 * development chain may have only some fields of a group.
 */
export const FIELD_SETS: readonly (readonly Field[])[] = Array.from(
  { length: FIELDS.length - FIELDS_MIN + 1 },
  (_, index) => FIELDS.slice(0, FIELDS.length - index),
);

/** True if the header has every field of the set. */
export function hasFields(header: Fields, set: readonly Field[]): boolean {
  return set.every(([name]) => typeof header[name] === 'string');
}

/** Writes the header. @throws EncodeError */
export function encodeHeader(header: Fields, set: readonly Field[], into: RlpWriter): void {
  const mark = into.size;
  for (let index = set.length - 1; index >= 0; index -= 1) {
    const field = set[index];
    if (field === undefined) continue;
    const [name, length] = field;
    if (length === 'quantity') into.quantity(header[name], name);
    else if (length === 'data') into.data(header[name], name);
    else into.data(header[name], name, length);
  }
  into.list(mark);
}
