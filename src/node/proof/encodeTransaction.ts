/**
 * Encodes a signed transaction, as a node sends it, for its hash and for the transactions root. The last field is written
 * first (rlpWriter.ts).
 */
import { isRecord } from '../rpc/rpcTransport';
import { EncodeError, UnknownFormat, type RlpWriter } from './rlpWriter';

type Fields = Readonly<Record<string, unknown>>;

/** Types of transactions (EIP-2718). Those up to SET_CODE are known here. */
const ACCESS_LIST = 1;
const DYNAMIC_FEE = 2;
const BLOB = 3;
const SET_CODE = 4;
const TYPE_MAX = 0x7f;

/** The number of the type of a transaction or receipt (EIP-2718). @throws EncodeError */
export function readType(fields: Fields): number {
  const type = fields['type'];
  if (type === undefined || type === null) return 0;
  const number = typeof type === 'string' && /^0x[0-9a-fA-F]{1,2}$/.test(type) ? Number(type) : NaN;
  if (number >= 0 && number <= TYPE_MAX) return number;
  throw new EncodeError(`${String(type).slice(0, 10)} is not a type of transactions`);
}

/** @throws EncodeError. @throws UnknownFormat for a type whose encoding is unknown */
export function encodeTransaction(transaction: Fields, into: RlpWriter): void {
  const type = readType(transaction);
  if (type > SET_CODE) throw new UnknownFormat(`the transaction type 0x${type.toString(16)} is unknown`);
  const mark = into.size;
  into.quantity(transaction['s'], 's');
  into.quantity(transaction['r'], 'r');
  into.quantity(type > 0 ? (transaction['yParity'] ?? transaction['v']) : transaction['v'], 'v');
  if (type === SET_CODE)
    encodeList(transaction['authorizationList'], 'authorizationList', encodeAuthorization, into);
  if (type === BLOB) {
    encodeList(transaction['blobVersionedHashes'], 'blobVersionedHashes', encodeWord, into);
    into.quantity(transaction['maxFeePerBlobGas'], 'maxFeePerBlobGas');
  }
  if (type >= ACCESS_LIST) encodeList(transaction['accessList'] ?? [], 'accessList', encodeAccess, into);
  into.data(transaction['input'], 'input');
  into.quantity(transaction['value'], 'value');
  const to = transaction['to'];
  // A creation has an empty recipient.
  if (to === null || to === undefined) into.byte(0x80);
  else into.data(to, 'to', 20);
  into.quantity(transaction['gas'], 'gas');
  if (type >= DYNAMIC_FEE) {
    into.quantity(transaction['maxFeePerGas'], 'maxFeePerGas');
    into.quantity(transaction['maxPriorityFeePerGas'], 'maxPriorityFeePerGas');
  } else into.quantity(transaction['gasPrice'], 'gasPrice');
  into.quantity(transaction['nonce'], 'nonce');
  if (type >= ACCESS_LIST) into.quantity(transaction['chainId'], 'chainId');
  into.list(mark);
  if (type > 0) into.byte(type);
}

function encodeList(
  items: unknown,
  name: string,
  encode: (item: unknown, into: RlpWriter) => void,
  into: RlpWriter,
): void {
  if (!Array.isArray(items)) throw new EncodeError(`${name} is not a list`);
  const mark = into.size;
  for (let index = items.length - 1; index >= 0; index -= 1) encode(items[index], into);
  into.list(mark);
}

function encodeWord(item: unknown, into: RlpWriter): void {
  into.data(item, 'a word', 32);
}

function encodeAccess(item: unknown, into: RlpWriter): void {
  if (!isRecord(item)) throw new EncodeError('an item of accessList is not an object');
  const mark = into.size;
  encodeList(item['storageKeys'], 'storageKeys', encodeWord, into);
  into.data(item['address'], 'address', 20);
  into.list(mark);
}

function encodeAuthorization(item: unknown, into: RlpWriter): void {
  if (!isRecord(item)) throw new EncodeError('an item of authorizationList is not an object');
  const mark = into.size;
  into.quantity(item['s'], 's');
  into.quantity(item['r'], 'r');
  into.quantity(item['yParity'] ?? item['v'], 'yParity');
  into.quantity(item['nonce'], 'nonce');
  into.data(item['address'], 'address', 20);
  into.quantity(item['chainId'], 'chainId');
  into.list(mark);
}
