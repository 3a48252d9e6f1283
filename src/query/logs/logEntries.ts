/** Builds log entries of answers: adds block hashes and decoded events to stored logs. */
import { ZERO_HASH } from '../../domain/hex';
import { blockOfOrd, eventId, logIndexOfOrd } from '../../domain/ord';
import type { LogEntry } from '../../wire/explorer';
import type { BlockHashes } from '../head/blockHashes';
import type { DecodedField, RawText } from './abiValues';
import type { DecodedLog } from './decodeEvent';
import type { HeadSnapshot } from '../head/headSnapshot';
import { ENTRY_BYTES } from './logBytes';
import type { LogDecoder } from './logDecoder';
import type { LogSource } from './logFilter';
import type { StoredLog } from './logs';

/** Number of characters for keys, quotes and commas of an argument or a tuple component in JSON. */
const FIELD_CHARS = 80;

interface EntryMakers {
  readonly hashes: BlockHashes;
  readonly decoder: LogDecoder;
}

/**
 * The answer's entries for logs, in the order of the logs. Ends at `pageMax` bytes, but after at least one entry. At
 * most 1,000 logs.
 */
export async function toLogEntries(
  source: LogSource,
  head: HeadSnapshot,
  logs: readonly StoredLog[],
  pageMax: number,
  { hashes, decoder }: EntryMakers,
): Promise<LogEntry[]> {
  const numbers = logs.map(({ ord }) => blockOfOrd(ord));
  const [hashByNumber, decoded] = await Promise.all([
    hashes.list(head, numbers),
    decoder.decode(source, head, logs),
  ]);
  let pageBytes = 0;
  const firstTooMany = logs.findIndex(({ data }, index) => {
    pageBytes += ENTRY_BYTES + data.length + jsonCharsOf(decoded[index] ?? null);
    return pageBytes > pageMax && index > 0;
  });
  return logs.slice(0, firstTooMany === -1 ? logs.length : firstTooMany).map((log, index): LogEntry => {
    const number = blockOfOrd(log.ord);
    const isCut = log.data.length < 2 + 2 * log.dataBytes;
    return {
      id: eventId(log.ord),
      chain_id: source.chainId,
      address: log.address,
      block_number: number,
      block_hash: hashByNumber.get(number) ?? null,
      timestamp: log.timestamp,
      tx_hash: log.txHash === ZERO_HASH ? null : log.txHash,
      tx_index: log.txIndex,
      log_index: logIndexOfOrd(log.ord),
      topics: [...log.topics],
      data: log.data,
      ...(isCut ? { data_truncated: true, data_bytes: log.dataBytes } : {}),
      decoded: copyDecoded(decoded[index] ?? null),
      finalized: number <= head.finalNumber,
    };
  });
}

/** Approximate length of the decoded log as JSON. */
function jsonCharsOf(decoded: DecodedLog | null): number {
  if (decoded === null) return 0;
  return decoded.args.reduce(
    (sum, arg) => sum + jsonCharsOfField(arg),
    decoded.name.length + decoded.signature.length,
  );
}

function jsonCharsOfField({ name, type, value, raw }: DecodedLog['args'][number] | DecodedField): number {
  return FIELD_CHARS + name.length + type.length + jsonCharsOfValue(type, value) + jsonCharsOfRaw(raw);
}

function jsonCharsOfValue(type: string, value: DecodedLog['args'][number]['value']): number {
  // In JSON, only strings contain escaped characters.
  if (typeof value === 'string')
    return type.startsWith('string') ? JSON.stringify(value).length : value.length;
  if (typeof value !== 'object' || value === null) return 5;
  return value.reduce<number>((sum, item) => {
    if (typeof item !== 'object' || !('value' in item)) return sum + 3 + jsonCharsOfValue(type, item);
    return sum + jsonCharsOfField(item);
  }, 2);
}

function jsonCharsOfRaw(raw: RawText | null | undefined): number {
  if (raw === undefined) return 0;
  if (raw === null) return 5;
  return typeof raw === 'string'
    ? raw.length
    : raw.reduce<number>((sum, item) => sum + jsonCharsOfRaw(item), 2);
}

function copyDecoded(decoded: DecodedLog | null): LogEntry['decoded'] {
  return decoded === null ? null : { ...decoded, args: [...decoded.args] };
}
