/**
 * Sends each change of the chain to all stream clients. An event is encoded once, then passes each client's
 * filter and bounded queue. A slow client loses only its own queue.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

import { steadyNow } from '../domain/time/steadyTime';
import { TIME_LIMITS } from '../domain/time/timeLimits';
import { matchesActivity, type ActivityEvent, type ActivityFilter } from '../query/activity/activity';
import { AppError } from '../errors';
import { problemKey, type ReadyProblem } from '../wire/ready';
import { StreamClient, type StreamSink } from './streamClient';
import { heartbeat, reorgMessage, type StreamMessage } from './streamMessage';

/**
 * Number of messages after which the hub waits until sockets have sent data. Otherwise a large block would fill the
 * queue of a client that reads normally.
 */
const CHUNK_MESSAGES = 200;
/** Length of a queue from which the hub waits for a client that reads. */
const QUEUE_WAIT_MESSAGES = 500;
/** A client whose socket accepts no bytes for this long, in ms, is disconnected. It may reconnect with its
 * last id. */
const STALL_MS = 300_000;
/**
 * Interval in ms between searches for closed sockets. Usually a socket event removes a client. The search finds
 * clients for which that event was missed.
 */
const SWEEP_MS = 2_000;

/** Blocks that a reorg removed. */
export interface Reorg {
  /** The newest block that stays. hash8 is the first 8 hex digits of its hash. */
  readonly fork: { readonly number: number; readonly hash8: string };
  readonly toBlock: number;
  /** All events of the removed blocks; null if they are unknown. */
  readonly removed: readonly ActivityEvent[] | null;
}

export interface LiveEvent extends ActivityEvent {
  readonly message: StreamMessage;
}

/** One change of the chain. Messages are sent in the order reorg, gap, events. A gap replaces events if there
 * are too many. */
export interface ChainChange {
  /** Null if no block was removed. */
  readonly reorg: Reorg | null;
  /** Null if `events` has all events. */
  readonly gap: StreamMessage | null;
  /** The new events in ascending order. */
  readonly events: readonly LiveEvent[];
}

export interface HubOptions {
  readonly heartbeatMs?: number;
  readonly sweepMs?: number;
  readonly clientsMax?: number;
  /**
   * Largest number of streams of one client address. Loopback has no such limit, because behind a proxy all clients
   * have a local address.
   */
  readonly clientsPerAddressMax?: number;
  /** Called with the number of messages that slow clients lost. */
  readonly observeDrops?: (messages: number) => void;
  /** Monotonic clock in ms, for the waits for slow clients. */
  readonly now?: () => number;
}

export interface Hub {
  /** Adds a client, whose live messages wait until its replay ends. Throws unavailable or rate_limited at the
   * limits. */
  subscribe(filter: ActivityFilter, sink: StreamSink, address: string): StreamClient;
  /**
   * Sets the problems that every heartbeat names. If a problem begins or ends, all clients without waiting messages
   * get the new comment at once. A change of a text waits for the next heartbeat.
   */
  tellProblems(problems: readonly ReadyProblem[]): void;
  /** Removes a client and ends its stream. A second call does nothing. */
  remove(client: StreamClient): void;
  clientCount(): number;
  /** Bytes held for slow clients. An event that several clients wait for counts once for each of them. */
  heldBytes(): number;
  /** Number of messages queued for slow clients. */
  queuedMessages(): number;
  /** Sends a change to the clients that are present when the call begins. Resolves when all messages are sent
   * or queued. */
  publish(change: ChainChange): Promise<void>;
  /** Ends every stream. Clients reconnect with their last id. */
  endAll(): void;
  /** Ends every stream, and accepts no new clients. */
  close(): void;
}

export function createHub(options: HubOptions = {}): Hub {
  const { heartbeatMs = 15_000, sweepMs = SWEEP_MS, observeDrops, now = steadyNow } = options;
  const { clientsMax = 10_000, clientsPerAddressMax = 100 } = options;
  const clients = new Map<StreamClient, string>();
  const countByAddress = new Map<string, number>();
  let [isClosed, heartbeatComment, sentProblemKeys] = [false, heartbeat([]), ''];

  const remove = (client: StreamClient): void => {
    const address = clients.get(client);
    if (address !== undefined) {
      clients.delete(client);
      const clientsLeft = (countByAddress.get(address) ?? 1) - 1;
      if (clientsLeft > 0) countByAddress.set(address, clientsLeft);
      else countByAddress.delete(address);
    }
    client.end();
  };
  const beatClients = (): void => {
    for (const client of [...clients.keys()]) {
      if (client.isStalled(STALL_MS)) remove(client);
      else client.beat(heartbeatComment);
    }
  };
  const removeGone = (): void => {
    for (const client of [...clients.keys()]) if (client.isGone) remove(client);
  };
  const timers = [setInterval(beatClients, heartbeatMs).unref(), setInterval(removeGone, sweepMs).unref()];

  return {
    subscribe(filter, sink, address): StreamClient {
      if (isClosed) throw new AppError('unavailable', 'The server is shutting down');
      if (clients.size >= clientsMax)
        throw new AppError('unavailable', `All ${clientsMax} streams are in use`);
      const streamsOfAddress = countByAddress.get(address) ?? 0;
      if (streamsOfAddress >= clientsPerAddressMax && !isLoopback(address)) {
        throw new AppError('rate_limited', `At most ${clientsPerAddressMax} streams per address`);
      }
      const client = new StreamClient(filter, sink, now);
      clients.set(client, address);
      countByAddress.set(address, streamsOfAddress + 1);
      return client;
    },
    remove,
    tellProblems(problems) {
      heartbeatComment = heartbeat(problems);
      const problemKeysBefore = sentProblemKeys;
      sentProblemKeys = problems.map(problemKey).sort().join(' ');
      if (sentProblemKeys === problemKeysBefore) return;
      for (const client of clients.keys()) client.beat(heartbeatComment);
    },
    clientCount: () => clients.size,
    heldBytes: () => [...clients.keys()].reduce((sum, client) => sum + client.heldBytes, 0),
    queuedMessages: () => [...clients.keys()].reduce((sum, client) => sum + client.queued, 0),
    async publish(change): Promise<void> {
      const presentClients = [...clients.keys()];
      await publishTo(presentClients, change, now);
      const droppedMessages = presentClients.reduce((sum, client) => sum + client.takeDrops(), 0);
      if (droppedMessages > 0) observeDrops?.(droppedMessages);
    },
    endAll(): void {
      for (const client of [...clients.keys()]) remove(client);
    },
    close(): void {
      isClosed = true;
      for (const timer of timers) clearInterval(timer);
      for (const client of [...clients.keys()]) remove(client);
    },
  };
}

/** `0:0:0:0` is the /64 of `::1`. IPv6 clients are identified by their /64. */
function isLoopback(address: string): boolean {
  return address === '::1' || address === '0:0:0:0' || /^(?:::ffff:)?127\./.test(address);
}

async function publishTo(
  clients: readonly StreamClient[],
  change: ChainChange,
  now: () => number,
): Promise<void> {
  const { reorg, gap, events } = change;
  if (reorg !== null) {
    const messageFor = createReorgEncoder(reorg);
    for (const client of clients) client.push(messageFor(client.filter));
  }
  if (gap !== null) for (const client of clients) client.push(gap);
  let budgetMs = TIME_LIMITS.hubWaitMs;
  for (let firstIndex = 0; firstIndex < events.length; firstIndex += CHUNK_MESSAGES) {
    if (firstIndex > 0) budgetMs = await letSocketsDrain(clients, budgetMs, now);
    const eventsOfChunk = events.slice(firstIndex, firstIndex + CHUNK_MESSAGES);
    for (const client of clients) {
      for (const event of eventsOfChunk)
        if (matchesActivity(client.filter, event.item)) client.push(event.message);
    }
  }
}

/** Encodes the reorg once per filter: a client gets only the ids that match its filter. */
function createReorgEncoder(reorg: Reorg): (filter: ActivityFilter) => StreamMessage {
  const messageByFilter = new Map<string, StreamMessage>();
  return (filter) => {
    const filterKey = JSON.stringify([filter.kinds, filter.pair, filter.token, filter.maker]);
    const cachedMessage = messageByFilter.get(filterKey);
    if (cachedMessage !== undefined) return cachedMessage;
    const removedIds = reorg.removed
      ?.filter(({ item }) => matchesActivity(filter, item))
      .map(({ item }) => item.id);
    const message = reorgMessage(reorg.fork, reorg.toBlock, removedIds ?? null);
    messageByFilter.set(filterKey, message);
    return message;
  };
}

/**
 * Lets the sockets send, and waits up to `budgetMs` for clients that read and have a long queue. Returns the
 * remaining time.
 */
async function letSocketsDrain(
  clients: readonly StreamClient[],
  budgetMs: number,
  now: () => number,
): Promise<number> {
  const startedAt = now();
  const isBehind = (client: StreamClient): boolean =>
    !client.isEnded && client.queued > QUEUE_WAIT_MESSAGES && !client.isStalled(TIME_LIMITS.hubReadingMs);
  do await nextTurn();
  while (now() - startedAt < budgetMs && clients.some(isBehind));
  return Math.max(0, budgetMs - (now() - startedAt));
}
