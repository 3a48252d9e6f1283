/** Stored logs as answers show them: with the hash of their block and what they say. */
import { blockOfOrd, eventId, logIndexOfOrd } from '../domain/ord';
import type { LogEntry } from '../wire/explorer';
import type { BlockHashes } from './blockHashes';
import type { DecodedLog } from './decodeEvent';
import type { HeadSnapshot } from './headSnapshot';
import type { LogDecoder } from './logDecoder';
import type { LogSource } from './logFilter';
import type { StoredLog } from './logs';

export interface EntryMakers {
  readonly hashes: BlockHashes;
  readonly decoder: LogDecoder;
}

/** The entries of logs, in their order. At most 1,000. */
export async function toLogEntries(
  source: LogSource,
  head: HeadSnapshot,
  logs: readonly StoredLog[],
  { hashes, decoder }: EntryMakers,
): Promise<LogEntry[]> {
  const numbers = logs.map(({ ord }) => blockOfOrd(ord));
  const [known, decoded] = await Promise.all([
    hashes.list(head, numbers),
    decoder.decode(source, head, logs),
  ]);
  return logs.map((log, index): LogEntry => {
    const number = blockOfOrd(log.ord);
    return {
      id: eventId(log.ord),
      chain_id: source.chainId,
      address: log.address,
      block_number: number,
      block_hash: known.get(number) ?? null,
      timestamp: log.timestamp,
      tx_hash: log.txHash,
      tx_index: log.txIndex,
      log_index: logIndexOfOrd(log.ord),
      topics: [...log.topics],
      data: log.data,
      decoded: copyOf(decoded[index] ?? null),
      finalized: number <= head.finalNumber,
    };
  });
}

function copyOf(decoded: DecodedLog | null): LogEntry['decoded'] {
  return decoded === null ? null : { ...decoded, args: [...decoded.args] };
}
