/** A row of the table `logs` from the fields that a test needs. Chain 369. */
import type { LogRow } from '../../../src/clickhouse/schema/tables';
import type { Hex } from '../../../src/domain/hex';
import { blockOfOrd } from '../../../src/domain/ord';
import { hexOf } from './worldEvents';

type LogFields = Pick<LogRow, 'ord' | 'address'> &
  Partial<Pick<LogRow, 'timestamp' | 'data' | 'tx_hash' | 'tx_index'>> & {
    readonly topics?: readonly Hex[];
  };

export function logRow({ topics = [], ...fields }: LogFields): LogRow {
  const [topic0, topic1, topic2, topic3] = topics;
  const block = blockOfOrd(fields.ord);
  return {
    chain_id: 369,
    timestamp: 1_700_000_000 + block,
    topic_count: topics.length,
    topic0,
    topic1,
    topic2,
    topic3,
    data: '0x',
    tx_hash: hexOf('7c', block, 64),
    tx_index: 0,
    ...fields,
  };
}
