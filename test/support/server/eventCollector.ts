/** An SSE client that keeps the net events after reorgs, as a user of the stream would. */
import { setTimeout as delay } from 'node:timers/promises';

interface Kept {
  readonly block: number;
  readonly logIndex: number;
  readonly txHash: string;
}

export interface EventCollector {
  /** Newest block when the stream opened. The client collects only later events. */
  readonly startBlock: number;
  /** `<id> <tx_hash>` of the events that no reorg removed, ascending. Throws on a duplicate event. */
  net(): string[];
  reorgs(): number;
  /** Waits until no event has arrived for a while. */
  untilQuiet(): Promise<void>;
  close(): void;
}

const QUIET_MS = 600;

export async function collectEvents(url: string): Promise<EventCollector> {
  const controller = new AbortController();
  const response = await fetch(url, { signal: controller.signal });
  const startBlock = Number(response.headers.get('x-indexed-block'));
  const kept = new Map<string, Kept>();
  const doubled: string[] = [];
  let reorgCount = 0;
  let lastAt = Date.now();
  const take = (message: string): void => {
    const event = /^event: ?(.*)$/m.exec(message)?.[1];
    const data = /^data: ?(.*)$/m.exec(message)?.[1];
    if (event === undefined || data === undefined) return;
    lastAt = Date.now();
    const body = JSON.parse(data) as {
      id: string;
      block_number: number;
      log_index: number;
      tx_hash: string;
      from_block: number;
    };
    if (event === 'reorg') {
      reorgCount += 1;
      for (const [id, item] of kept) if (item.block >= body.from_block) kept.delete(id);
      return;
    }
    if (kept.has(body.id)) doubled.push(body.id);
    kept.set(body.id, { block: body.block_number, logIndex: body.log_index, txHash: body.tx_hash });
  };
  void (async () => {
    let text = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body!) {
        text += decoder.decode(chunk as Uint8Array, { stream: true });
        for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
          take(text.slice(0, end));
          text = text.slice(end + 2);
        }
      }
    } catch {
      // This client closed the connection.
    }
  })();
  return {
    startBlock,
    net() {
      if (doubled.length > 0) throw new Error(`events arrived twice: ${doubled.join(', ')}`);
      return [...kept]
        .sort(([, a], [, b]) => a.block - b.block || a.logIndex - b.logIndex)
        .map(([id, item]) => `${id} ${item.txHash}`);
    },
    reorgs: () => reorgCount,
    async untilQuiet() {
      while (Date.now() - lastAt < QUIET_MS) await delay(50);
    },
    close: () => controller.abort(),
  };
}
