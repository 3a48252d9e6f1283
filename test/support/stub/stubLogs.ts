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

const FIELDS = 7;
const START = 5;
const END = 6;
const COMMA = Buffer.from(',');
const OPENING = Buffer.from('[');
const CLOSING = Buffer.from(']');

/** Maps addresses and topics to small numbers, because millions of logs share a few thousand of them. */
export class LogIndexer {
  private readonly ids = new Map<string, number>();

  /** `texts` are the encoded logs. In the block's text a bracket precedes the first log, and commas separate
   * the logs. */
  index(logs: readonly StubLog[], texts: readonly string[]): LogIndex {
    const index = new Int32Array(FIELDS * logs.length).fill(-1);
    let position = 1;
    logs.forEach(({ address, topics }, logIndex) => {
      const length = texts[logIndex]?.length ?? 0;
      [address, ...topics].forEach((item, field) => (index[FIELDS * logIndex + field] = this.idOf(item)));
      index[FIELDS * logIndex + START] = position;
      index[FIELDS * logIndex + END] = position + length;
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
    return new Set(list.map((item) => this.ids.get(item.toLowerCase()) ?? -2));
  }
}

/** Appends the texts of matching logs. Adjacent logs become one piece. */
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
  for (let position = 0; position < index.length; position += FIELDS) {
    if (!wantedIds.every((ids, field) => ids === null || ids.has(index[position + field] ?? -1))) {
      flush();
      continue;
    }
    if (start < 0) start = index[position + START] ?? 0;
    end = index[position + END] ?? 0;
  }
  flush();
}
