/** Encodes a receipt, as a node sends it, for the receipts root. */
import { isRecord } from '../rpc/rpcTransport';
import { EncodeError, type RlpWriter } from './rlpWriter';
import { readType } from './encodeTransaction';

type Fields = Readonly<Record<string, unknown>>;

/** Writes the receipt; returns nothing. @throws EncodeError */
export function encodeReceipt(receipt: Fields, into: RlpWriter): void {
  const mark = into.size;
  const logs = receipt['logs'];
  if (!Array.isArray(logs)) throw new EncodeError('logs is not a list');
  for (let index = logs.length - 1; index >= 0; index -= 1) encodeLog(logs[index], into);
  into.list(mark);
  into.data(receipt['logsBloom'], 'logsBloom', 256);
  into.quantity(receipt['cumulativeGasUsed'], 'cumulativeGasUsed');
  // Before Byzantium, receipts have the state root instead of a status.
  if (typeof receipt['status'] === 'string') into.quantity(receipt['status'], 'status');
  else into.data(receipt['root'], 'root', 32);
  into.list(mark);
  const type = readType(receipt);
  if (type > 0) into.byte(type);
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
