/**
 * JSON-RPC over a lasting connection (WebSocket or IPC): matches answers to calls by id, pings silent servers,
 * reconnects with growing pauses, and subscribes to newHeads again after each reconnect.
 */
import { isHash, isQuantity, toLowerHex } from '../../domain/hex';
import { linkSignals, onAbort } from './abortSignals';
import { boundOf, tooLargeText } from './answerBounds';
import { backoffMs, withDeadline } from './clock';
import { parseAnswer } from './slicedJson';
import type { RpcErrorKind } from './rpcError';
import {
  endpointError,
  isRecord,
  oversizedError,
  readRpcAnswer,
  readRpcId,
  reasonOf,
  type EndpointUrl,
  type HeadHint,
  type RpcAnswer,
  type RpcCall,
  type RpcTransport,
  type TransportOptions,
} from './rpcTransport';

/**
 * Time in ms after which a silent server gets a ping. If it stays silent for the same time again, the connection is
 * treated as dead.
 */
const PING_AFTER_MS = 10_000;
/** Pauses in ms before a connection is opened again. They grow from the base up to the maximum. */
const RECONNECT_BASE_MS = 200;
const RECONNECT_MAX_MS = 10_000;
/** Largest number of calls without an answer on one connection. */
const PENDING_MAX = 10_000;

/** One connection that carries whole messages. Its events never come before `OpenLink` has returned. */
interface Link {
  send(text: string, onError: (error: Error) => void): void;
  /** Makes a living server send something. */
  ping(): void;
  /** Closes the connection at once. A further call does nothing. */
  end(): void;
}

interface LinkEvents {
  onOpen(): void;
  /** The server sent something, which need not be a message. */
  onHeard(): void;
  /** The bytes of one whole message. */
  onMessage(pieces: Buffer[]): void;
  /** The connection could not be opened, or has ended. May be called again; only the first call counts. */
  onEnd(error: Error): void;
}

export type OpenLink = (endpoint: EndpointUrl, options: TransportOptions, events: LinkEvents) => Link;

interface Pending {
  readonly call: RpcCall;
  readonly deliver: (answer: RpcAnswer) => void;
  readonly fail: (error: Error) => void;
}

/** The state of one connection. Each reconnect creates a new state. */
interface Connection {
  readonly link: Link;
  readonly pending: Map<number, Pending>;
  readonly ended: AbortController;
  lastHeardAt: number;
  /** Id of the subscription to heads. Null before it is asked for; empty if the node gave none. */
  subscription: string | null;
}

type HeadListener = (hint: HeadHint | null) => void;

class SocketTransport implements RpcTransport {
  readonly name: string;
  private readonly endpoint: EndpointUrl;
  private readonly options: TransportOptions;
  private readonly openLink: OpenLink;
  private readonly closing = new AbortController();
  private readonly headListeners = new Set<HeadListener>();
  private connecting: Promise<Connection> | null = null;
  private connection: Connection | null = null;
  private isReconnecting = false;
  private nextId = 1;

  constructor(endpoint: EndpointUrl, options: TransportOptions, openLink: OpenLink) {
    this.name = endpoint.name;
    this.endpoint = endpoint;
    this.options = options;
    this.openLink = openLink;
  }

  async send(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcAnswer[]> {
    const { clock, timeoutMs } = this.options;
    const onTimeout = (): Error => this.error('timeout', `no complete answer within ${timeoutMs} ms`);
    const linked = linkSignals(this.closing.signal, signal);
    try {
      return await withDeadline(clock, timeoutMs, linked.signal, onTimeout, async (inner) => {
        const connection = await abortable(this.connect(), inner);
        return Promise.all(calls.map((call) => this.ask(connection, call, inner)));
      });
    } finally {
      linked.release();
    }
  }

  watchHeads(onHead: HeadListener): () => void {
    this.headListeners.add(onHead);
    if (this.connection !== null) void this.subscribe(this.connection);
    void this.keepConnected();
    return () => this.headListeners.delete(onHead);
  }

  async close(): Promise<void> {
    if (this.closing.signal.aborted) return;
    this.headListeners.clear();
    this.closing.abort(this.error('network', 'the transport is closed'));
    await this.connecting?.catch(() => null);
  }

  private error(kind: RpcErrorKind, text: string, cause?: unknown): Error {
    return endpointError(this.endpoint, kind, text, { cause });
  }

  private oversized(text: string): Error {
    return oversizedError(this.endpoint, text, 'answer');
  }

  /** Returns the open connection, or the connection that is being opened. There is at most one. */
  private connect(): Promise<Connection> {
    if (this.connection !== null) return Promise.resolve(this.connection);
    this.connecting ??= this.open().finally(() => {
      this.connecting = null;
    });
    return this.connecting;
  }

  private open(): Promise<Connection> {
    const { clock } = this.options;
    return new Promise((resolve, reject) => {
      const link = this.openLink(this.endpoint, this.options, {
        onOpen: () => {
          this.connection = connection;
          void this.watchdog(connection);
          if (this.headListeners.size > 0) void this.subscribe(connection);
          resolve(connection);
        },
        onHeard: () => {
          connection.lastHeardAt = clock.now();
        },
        onMessage: (pieces) => void this.receive(connection, pieces),
        onEnd: (error) => {
          release();
          reject(error);
          this.drop(connection, error);
        },
      });
      const connection: Connection = {
        link,
        pending: new Map(),
        ended: new AbortController(),
        lastHeardAt: clock.now(),
        subscription: null,
      };
      const release = onAbort(this.closing.signal, () => link.end());
    });
  }

  /** Ends a connection and rejects all its pending calls. */
  private drop(connection: Connection, error: Error): void {
    if (connection.ended.signal.aborted) return;
    connection.ended.abort();
    connection.link.end();
    if (this.connection === connection) this.connection = null;
    for (const call of connection.pending.values()) call.fail(error);
    connection.pending.clear();
    if (this.headListeners.size > 0) void this.keepConnected();
  }

  /** Reconnects with growing pauses, as long as there are listeners for heads. */
  private async keepConnected(): Promise<void> {
    if (this.isReconnecting) return;
    this.isReconnecting = true;
    try {
      for (let attempt = 0; this.headListeners.size > 0 && this.connection === null; attempt += 1) {
        if (attempt > 0) {
          const pause = backoffMs(this.options.clock, attempt - 1, RECONNECT_BASE_MS, RECONNECT_MAX_MS);
          await this.options.clock.sleep(pause, this.closing.signal);
        }
        await this.connect().catch(() => null);
      }
    } catch {
      // The transport was closed during the pause, so no connection is needed any more.
    } finally {
      this.isReconnecting = false;
    }
  }

  /** Pings a silent server and ends a dead connection. Ends with its connection. */
  private async watchdog(connection: Connection): Promise<void> {
    const { clock } = this.options;
    try {
      // When the server was last heard before the last ping.
      for (let [heardBeforePing, waitMs] = [NaN, PING_AFTER_MS]; ;) {
        await clock.sleep(waitMs, connection.ended.signal);
        // Bytes that arrived while this process was suspended or busy are read first.
        await clock.turn();
        if (connection.lastHeardAt === heardBeforePing) {
          connection.link.end();
          return;
        }
        const restMs = connection.lastHeardAt + PING_AFTER_MS - clock.now();
        waitMs = restMs > 0 ? restMs : PING_AFTER_MS;
        if (restMs > 0) continue;
        heardBeforePing = connection.lastHeardAt;
        connection.link.ping();
      }
    } catch {
      // The connection has ended, so no more pings are needed.
    }
  }

  private async subscribe(connection: Connection): Promise<void> {
    if (connection.subscription !== null) return;
    connection.subscription = '';
    const call = { method: 'eth_subscribe', params: ['newHeads'] };
    const answer = await this.ask(connection, call, connection.ended.signal).catch(() => null);
    const id = answer !== null && 'result' in answer ? answer.result : null;
    // If the node refuses the subscription, `subscription` stays '', and the head feed finds new heads by
    // polling.
    if (typeof id === 'string') connection.subscription = id;
    this.notifyListeners(null);
  }

  private notifyListeners(hint: HeadHint | null): void {
    for (const listener of this.headListeners) listener(hint);
  }

  private ask(connection: Connection, call: RpcCall, signal: AbortSignal): Promise<RpcAnswer> {
    return new Promise((resolve, reject) => {
      if (connection.ended.signal.aborted || connection.pending.size >= PENDING_MAX) {
        reject(this.error('network', `the connection is closed or has ${PENDING_MAX} pending calls`));
        return;
      }
      const id = this.nextId;
      this.nextId += 1;
      const release = onAbort(signal, (reason) => {
        connection.pending.delete(id);
        reject(reason);
      });
      if (signal.aborted) return;
      const deliver = (answer: RpcAnswer): void => {
        release();
        resolve(answer);
      };
      const fail = (error: Error): void => {
        release();
        reject(error);
      };
      connection.pending.set(id, { call, deliver, fail });
      connection.link.send(
        JSON.stringify({ jsonrpc: '2.0', id, method: call.method, params: call.params }),
        (error) => {
          if (connection.pending.delete(id)) fail(this.error('network', reasonOf(error), error));
        },
      );
    });
  }

  private async receive(connection: Connection, pieces: Buffer[]): Promise<void> {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const parsed = await parseAnswer(pieces, this.options.clock);
    if (!isRecord(parsed)) {
      this.drop(connection, this.error('network', 'a message of the node is not JSON-RPC'));
      return;
    }
    if (parsed['method'] === 'eth_subscription') {
      const params = parsed['params'];
      const isOwnSubscription = isRecord(params) && params['subscription'] === connection.subscription;
      if (isOwnSubscription) this.notifyListeners(readHint(params['result']));
      return;
    }
    const id = readRpcId(parsed);
    const pending = id === null ? undefined : connection.pending.get(id);
    if (pending === undefined || id === null) return;
    connection.pending.delete(id);
    const { bytesMax, cut } = boundOf([pending.call], this.options.bodyBytesMax);
    if (length <= bytesMax) pending.deliver(readRpcAnswer(this.endpoint, parsed));
    else if (cut === 'answer') pending.fail(this.oversized(tooLargeText(bytesMax)));
    else pending.deliver({ error: oversizedError(this.endpoint, tooLargeText(bytesMax), cut) });
  }
}

/** Creates the transport. Connects at the first call, or when heads are first watched. */
export function createSocketTransport(
  endpoint: EndpointUrl,
  options: TransportOptions,
  openLink: OpenLink,
): RpcTransport {
  return new SocketTransport(endpoint, options, openLink);
}

function readHint(head: unknown): HeadHint | null {
  if (!isRecord(head)) return null;
  const { number, hash } = head;
  return isQuantity(number) && isHash(hash) ? { number: Number(number), hash: toLowerHex(hash) } : null;
}

/**
 * Waits for a promise until the signal aborts. After an abort, the work behind the promise still continues.
 */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = onAbort(signal, reject);
    promise.then(resolve, reject).finally(release);
  });
}
