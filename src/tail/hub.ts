/**
 * Hands what the tail loop found to every client of the stream: one encoded buffer per event for all of them, through
 * each client's own filter and bounded queue. A slow client loses its own queue and nothing of anyone else's.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

import { matchesActivity, type ActivityEvent, type ActivityFilter } from '../query/activity/activity';
import { AppError } from '../errors';
import { StreamClient, type StreamSink } from './streamClient';
import { HEARTBEAT, reorgMessage, type StreamMessage } from './streamMessage';

/** Messages between two looks at the sockets, so that a large block does not overrun a client that reads. */
const CHUNK_MESSAGES = 200;
/** How long one change may wait for clients that are behind but reading: what a slow one can cost the others. */
const WAIT_BUDGET_MS = 100;
/** A socket that took nothing for this long is not waited for. */
const READING_MS = 50;
/** Queue length from which a reading client is waited for. */
const QUEUE_WAIT_MESSAGES = 500;
/** A client whose socket took nothing for this long is ended; it may come back with its last id. */
const STALL_MS = 300_000;
/** How often clients without a socket are looked for. Their socket's events remove them; this is for an event that is missed. */
const SWEEP_MS = 2_000;

/** What became void. */
export interface Reorg {
  /** The newest block that stays; hash8: first 8 hex digits of its hash. */
  readonly fork: { readonly number: number; readonly hash8: string };
  readonly toBlock: number;
  /** Every event of the void blocks; null when that is unknown. */
  readonly removed: readonly ActivityEvent[] | null;
}

export interface LiveEvent extends ActivityEvent {
  readonly message: StreamMessage;
}

/** One change of the chain: first what became void, then what is new (a gap stands for too many events). */
export interface ChainChange {
  readonly reorg: Reorg | null;
  readonly gap: StreamMessage | null;
  /** Ascending. */
  readonly events: readonly LiveEvent[];
}

export interface HubOptions {
  readonly heartbeatMs?: number;
  readonly sweepMs?: number;
  readonly clientsMax?: number;
  /** Of one address; loopback is exempt, since a proxy in front makes everyone look local. */
  readonly clientsPerAddressMax?: number;
  /** Told how many messages slow clients lost. */
  readonly observeDrops?: (messages: number) => void;
}

export interface Hub {
  /** Adds a client, held until its replay is done. Throws unavailable or rate_limited at the bounds. */
  subscribe(filter: ActivityFilter, sink: StreamSink, address: string): StreamClient;
  /** Forgets a client and ends it. Safe to call twice. */
  remove(client: StreamClient): void;
  clientCount(): number;
  /** Bytes kept for clients that do not read fast enough; those of one event are counted for each client that waits for it. */
  heldBytes(): number;
  /** Messages that wait for clients that do not read fast enough. */
  queuedMessages(): number;
  /** Sends a change to everyone who was there when the call began. Resolves when all of it is sent or queued. */
  publish(change: ChainChange): Promise<void>;
  /** Ends every stream; clients reconnect with their last id. */
  endAll(): void;
  /** Ends every stream and takes no more. */
  close(): void;
}

export function createHub(options: HubOptions = {}): Hub {
  const { heartbeatMs = 15_000, sweepMs = SWEEP_MS, observeDrops } = options;
  const { clientsMax = 10_000, clientsPerAddressMax = 100 } = options;
  const clients = new Map<StreamClient, string>();
  const counts = new Map<string, number>();
  let closed = false;

  const remove = (client: StreamClient): void => {
    const address = clients.get(client);
    if (address !== undefined) {
      clients.delete(client);
      const left = (counts.get(address) ?? 1) - 1;
      if (left > 0) counts.set(address, left);
      else counts.delete(address);
    }
    client.end();
  };
  const tick = (): void => {
    for (const client of [...clients.keys()]) {
      if (client.isStalled(STALL_MS)) remove(client);
      else client.beat(HEARTBEAT);
    }
  };
  const sweep = (): void => {
    for (const client of [...clients.keys()]) if (client.isGone) remove(client);
  };
  const timers = [setInterval(tick, heartbeatMs), setInterval(sweep, sweepMs)];
  for (const timer of timers) timer.unref();

  return {
    subscribe(filter, sink, address): StreamClient {
      if (closed) throw new AppError('unavailable', 'The server is shutting down');
      if (clients.size >= clientsMax)
        throw new AppError('unavailable', `All ${clientsMax} streams are in use`);
      const count = counts.get(address) ?? 0;
      if (count >= clientsPerAddressMax && !isLoopback(address)) {
        throw new AppError('rate_limited', `At most ${clientsPerAddressMax} streams per address`);
      }
      const client = new StreamClient(filter, sink);
      clients.set(client, address);
      counts.set(address, count + 1);
      return client;
    },
    remove,
    clientCount: () => clients.size,
    heldBytes: () => [...clients.keys()].reduce((sum, client) => sum + client.heldBytes, 0),
    queuedMessages: () => [...clients.keys()].reduce((sum, client) => sum + client.queued, 0),
    async publish(change): Promise<void> {
      const targets = [...clients.keys()];
      await publishTo(targets, change);
      const drops = targets.reduce((sum, client) => sum + client.takeDrops(), 0);
      if (drops > 0) observeDrops?.(drops);
    },
    endAll(): void {
      for (const client of [...clients.keys()]) remove(client);
    },
    close(): void {
      closed = true;
      for (const timer of timers) clearInterval(timer);
      for (const client of [...clients.keys()]) remove(client);
    },
  };
}

/** `0:0:0:0` is the network of `::1`: IPv6 clients are known by their /64. */
function isLoopback(address: string): boolean {
  return address === '::1' || address === '0:0:0:0' || /^(?:::ffff:)?127\./.test(address);
}

async function publishTo(targets: readonly StreamClient[], change: ChainChange): Promise<void> {
  const { reorg, gap, events } = change;
  if (reorg !== null) {
    const messageFor = createReorgEncoder(reorg);
    for (const client of targets) client.push(messageFor(client.filter));
  }
  if (gap !== null) for (const client of targets) client.push(gap);
  let budgetMs = WAIT_BUDGET_MS;
  for (let at = 0; at < events.length; at += CHUNK_MESSAGES) {
    if (at > 0) budgetMs = await letSocketsDrain(targets, budgetMs);
    const chunk = events.slice(at, at + CHUNK_MESSAGES);
    for (const client of targets) {
      for (const event of chunk) if (matchesActivity(client.filter, event.item)) client.push(event.message);
    }
  }
}

/** Encodes the reorg once per filter: each client is told the ids that it could have been sent. */
function createReorgEncoder(reorg: Reorg): (filter: ActivityFilter) => StreamMessage {
  const messages = new Map<string, StreamMessage>();
  return (filter) => {
    const key = JSON.stringify([filter.kinds, filter.pair, filter.token, filter.maker]);
    const known = messages.get(key);
    if (known !== undefined) return known;
    const ids = reorg.removed?.filter(({ item }) => matchesActivity(filter, item)).map(({ item }) => item.id);
    const message = reorgMessage(reorg.fork, reorg.toBlock, ids ?? null);
    messages.set(key, message);
    return message;
  };
}

/**
 * Gives the sockets a turn; waits up to `budgetMs` for clients with a long queue whose sockets still take bytes.
 * Returns what is left of the budget.
 */
async function letSocketsDrain(targets: readonly StreamClient[], budgetMs: number): Promise<number> {
  const started = performance.now();
  const isBehind = (client: StreamClient): boolean =>
    !client.isEnded && client.queued > QUEUE_WAIT_MESSAGES && !client.isStalled(READING_MS);
  do await nextTurn();
  while (performance.now() - started < budgetMs && targets.some(isBehind));
  return Math.max(0, budgetMs - (performance.now() - started));
}
