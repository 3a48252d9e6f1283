/**
 * Encodes a receipt, as a node sends it, for the receipts root. Receipts of every type have the same four fields
 * (EIP-2718), except for two types of other chains that add fields. Sources:
 * - Arbitrum, types 0x64 to 0x6a and 0x78: https://github.com/OffchainLabs/go-ethereum/blob/master/core/types/receipt.go
 * - Celo, types 0x7b (adds the base fee since the chain is a layer 2) and 0x7c:
 *   https://github.com/celo-org/op-geth/blob/celo/core/types/celo_receipt.go; nodes send the field since
 *   https://github.com/celo-org/op-geth/pull/347
 * - OP Stack, deposits of type 0x7e (add nonce and version since the Canyon fork; the root of blocks between the Regolith
 *   and the Canyon fork lacks the nonce): `EncodeIndex` in
 *   https://github.com/ethereum-optimism/op-geth/blob/optimism/core/types/receipt.go
 * - Scroll, messages from layer 1 of type 0x7e: https://github.com/scroll-tech/go-ethereum/blob/develop/core/types/receipt.go
 * - Polygon, state sync of type 0x7f since the Madhugiri fork:
 *   https://github.com/0xPolygon/bor/blob/master/consensus/bor/bor.go
 */
import { isRecord } from '../rpc/rpcTransport';
import { readType } from './encodeTransaction';
import { EncodeError, UnknownFormat, type RlpWriter } from './rlpWriter';

type Fields = Readonly<Record<string, unknown>>;

const CELO_FEE_CURRENCY = 0x7b;
const DEPOSIT = 0x7e;
const KNOWN_TYPES: ReadonlySet<number> = new Set([
  ...[0, 1, 2, 3, 4],
  ...[0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x78],
  ...[0x7c, DEPOSIT, 0x7f],
]);

/**
 * Writes the receipt, the last field first (rlpWriter.ts). @throws EncodeError @throws UnknownFormat for a receipt
 * without a bloom, as some nodes send it
 */
export function encodeReceipt(receipt: Fields, into: RlpWriter): void {
  const mark = into.size;
  const type = readType(receipt);
  if (type === DEPOSIT && hasField(receipt, 'depositReceiptVersion')) {
    into.quantity(receipt['depositReceiptVersion'], 'depositReceiptVersion');
    into.quantity(receipt['depositNonce'], 'depositNonce');
  }
  if (type === CELO_FEE_CURRENCY && hasField(receipt, 'baseFee'))
    into.quantity(receipt['baseFee'], 'baseFee');
  const logs = receipt['logs'];
  if (!Array.isArray(logs)) throw new EncodeError('logs is not a list');
  const logsMark = into.size;
  for (let index = logs.length - 1; index >= 0; index -= 1) encodeLog(logs[index], into);
  into.list(logsMark);
  if (!hasField(receipt, 'logsBloom'))
    throw new UnknownFormat('the endpoint gives a receipt without its bloom');
  into.data(receipt['logsBloom'], 'logsBloom', 256);
  into.quantity(receipt['cumulativeGasUsed'], 'cumulativeGasUsed');
  // Before Byzantium, receipts have the state root instead of a status.
  if (typeof receipt['status'] === 'string') into.quantity(receipt['status'], 'status');
  else into.data(receipt['root'], 'root', 32);
  into.list(mark);
  if (type > 0) into.byte(type);
}

/**
 * Whether it is known how receipts like this one are encoded, so that another root means a wrong receipt. Nodes of Celo
 * may leave out the base fee, which is part of the encoding.
 */
export function isKnownReceipt(receipt: Fields): boolean {
  const type = readType(receipt);
  return KNOWN_TYPES.has(type) || (type === CELO_FEE_CURRENCY && hasField(receipt, 'baseFee'));
}

function hasField(receipt: Fields, name: string): boolean {
  return receipt[name] !== undefined && receipt[name] !== null;
}

function encodeLog(log: unknown, into: RlpWriter): void {
  if (!isRecord(log)) throw new EncodeError('a log is not an object');
  const mark = into.size;
  into.data(log['data'], 'data');
  const topics = log['topics'];
  if (!Array.isArray(topics)) throw new EncodeError('topics is not a list');
  const topicsMark = into.size;
  for (let index = topics.length - 1; index >= 0; index -= 1) into.data(topics[index], 'topics', 32);
  into.list(topicsMark);
  into.data(log['address'], 'address', 20);
  into.list(mark);
}
