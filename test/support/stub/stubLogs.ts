/**
 * Filters logs of the benchmark chain like eth_getLogs. Cuts the answer out of the encoded blocks instead of encoding
 * logs again.
 */

export interface StubLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** For each log of a block: ids of its address and topics (-1 for no topic), then start and end of its
 * text. */
export type LogIndex = Int32Array;

export interface LogFilter {
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly address?: string | readonly string[] | null;
  readonly topics?: readonly (string | readonly string[] | null)[];
}

interface IndexedBlock {
  readonly logs: Buffer;
  readonly index: LogIndex | null;
}

/** Numbers of one log in an index, and the places of start and end among them. */
const NUMBERS_PER_LOG = 7;
const START_FIELD = 5;
const END_FIELD = 6;
/** Id of an address or topic that no log has. -1 stands for no topic. */
const UNKNOWN_ITEM = -2;
const COMMA = Buffer.from(',');
const OPENING = Buffer.from('[');
const CLOSING = Buffer.from(']');

/** Maps addresses and topics to small numbers, because millions of logs share a few thousand of them. */
export class LogIndexer {
  private readonly ids = new Map<string, number>();

  /** `texts` are the encoded logs. In the block's text a bracket precedes the first log, and commas separate
   * the logs. */
  index(logs: readonly StubLog[], texts: readonly string[]): LogIndex {
    const index = new Int32Array(NUMBERS_PER_LOG * logs.length).fill(-1);
    let position = 1;
    logs.forEach(({ address, topics }, logIndex) => {
      const length = texts[logIndex]?.length ?? 0;
      [address, ...topics].forEach(
        (item, field) => (index[NUMBERS_PER_LOG * logIndex + field] = this.idOf(item)),
      );
      index[NUMBERS_PER_LOG * logIndex + START_FIELD] = position;
      index[NUMBERS_PER_LOG * logIndex + END_FIELD] = position + length;
      position += length + 1;
    });
    return index;
  }

  /** The matching logs of these blocks as one JSON array. Throws if a block has no index. */
  select(blocks: readonly IndexedBlock[], filter: LogFilter): Buffer {
    const wantedIds = [filter.address ?? null, ...(filter.topics ?? [])].map((items) => this.idsOf(items));
    const chunks: Buffer[] = [OPENING];
    for (const block of blocks) {
      if (block.index === null) throw new TypeError('this chain has no index of its logs; pass forIndexers');
      selectOf(block.logs, block.index, wantedIds, chunks);
    }
    chunks.push(CLOSING);
    return Buffer.concat(chunks);
  }

  private idOf(item: string): number {
    const knownId = this.ids.get(item);
    if (knownId !== undefined) return knownId;
    this.ids.set(item, this.ids.size);
    return this.ids.size - 1;
  }

  private idsOf(items: string | readonly string[] | null): ReadonlySet<number> | null {
    if (items === null) return null;
    const list = typeof items === 'string' ? [items] : items;
    return new Set(list.map((item) => this.ids.get(item.toLowerCase()) ?? UNKNOWN_ITEM));
  }
}

/** Appends the texts of matching logs. Adjacent logs become one chunk. */
function selectOf(
  logs: Buffer,
  index: LogIndex,
  wantedIds: readonly (ReadonlySet<number> | null)[],
  chunks: Buffer[],
): void {
  let start = -1;
  let end = -1;
  const flush = (): void => {
    if (start < 0) return;
    if (chunks.length > 1) chunks.push(COMMA);
    chunks.push(logs.subarray(start, end));
    start = -1;
  };
  for (let position = 0; position < index.length; position += NUMBERS_PER_LOG) {
    if (!wantedIds.every((ids, field) => ids === null || ids.has(index[position + field] ?? -1))) {
      flush();
      continue;
    }
    if (start < 0) start = index[position + START_FIELD] ?? 0;
    end = index[position + END_FIELD] ?? 0;
  }
  flush();
}
