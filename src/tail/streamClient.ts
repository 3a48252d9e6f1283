/**
 * One client of the stream: a bounded queue in front of its socket. As long as the socket takes bytes nothing is
 * queued; when it does not, up to 1,000 messages and 1 MB wait; beyond that the queue is dropped and the client is told
 * of a gap once it reads again. Nothing here ever waits for a client.
 */
import { steadyNow } from '../domain/steadyTime';
import type { ActivityFilter } from '../query/activity/activity';
import { LostRange } from './lostRange';
import type { StreamMessage } from './streamMessage';

export const QUEUE_MESSAGES_MAX = 1_000;
export const QUEUE_BYTES_MAX = 1_000_000;

/** The part of an HTTP response that a stream needs. */
export interface StreamSink {
  /** False: the bytes were taken, but wait for drain() before the next ones. */
  write(bytes: Buffer): boolean;
  end(): void;
  /** Bytes that were written and have not left the process. */
  buffered?(): number;
  /** Whether the socket is closed. */
  isGone?(): boolean;
}

export class StreamClient {
  private queue: StreamMessage[] = [];
  private queueHead = 0;
  private queueBytes = 0;
  private lost: LostRange | null = null;
  private blockedAt: number | null = null;
  private held = true;
  private ended = false;
  private waiters: (() => void)[] = [];
  private drops = 0;

  /** Starts held: live messages wait until release(), while a replay is written with write(). */
  constructor(
    readonly filter: ActivityFilter,
    private readonly sink: StreamSink,
    private readonly now: () => number = steadyNow,
  ) {}

  get isEnded(): boolean {
    return this.ended;
  }

  /** Whether the socket is closed and nobody said so. */
  get isGone(): boolean {
    return this.sink.isGone?.() ?? false;
  }

  /** Messages that wait for the socket. */
  get queued(): number {
    return this.queue.length - this.queueHead;
  }

  get queuedBytes(): number {
    return this.queueBytes;
  }

  /** Bytes kept for this client, in the queue and in front of the socket; 0 once it has ended. */
  get heldBytes(): number {
    return this.ended ? 0 : this.queueBytes + (this.sink.buffered?.() ?? 0);
  }

  /** Ready for bytes at this moment, with nothing waiting before them. */
  get isIdle(): boolean {
    return !this.ended && !this.held && this.blockedAt === null;
  }

  /** Whether the socket has taken nothing for this long, ms. */
  isStalled(forMs: number): boolean {
    return this.blockedAt !== null && this.now() - this.blockedAt > forMs;
  }

  /** Messages dropped since the last call. */
  takeDrops(): number {
    const drops = this.drops;
    this.drops = 0;
    return drops;
  }

  /** Sends a live message, now or as soon as the socket takes it. */
  push(message: StreamMessage): void {
    if (this.ended) return;
    if (this.isIdle) {
      this.send(message.bytes);
      return;
    }
    if (this.lost !== null) {
      this.drop(this.lost, message);
      return;
    }
    const isFull =
      this.queued >= QUEUE_MESSAGES_MAX ||
      (this.queued > 0 && this.queueBytes + message.bytes.length > QUEUE_BYTES_MAX);
    if (isFull) this.dropQueue(message);
    else {
      this.queue.push(message);
      this.queueBytes += message.bytes.length;
    }
  }

  /**
   * Writes bytes of a replay and resolves when the socket takes more; false when the client has gone. Only while held.
   */
  async write(bytes: Buffer): Promise<boolean> {
    if (this.ended) return false;
    this.send(bytes);
    while (!this.ended && this.blockedAt !== null) await this.changed();
    return !this.ended;
  }

  /** Ends the replay: what has waited goes out, then live messages do. */
  release(): void {
    this.held = false;
    this.flush();
  }

  /** The socket takes bytes again. */
  drain(): void {
    this.blockedAt = null;
    this.flush();
    this.wake();
  }

  /** A comment line, if nothing else is on its way. */
  beat(bytes: Buffer): void {
    if (this.isIdle) this.send(bytes);
  }

  /** Resolves when the socket drains or the client ends. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.waiters.push(resolve);
    });
  }

  /** The client has gone, or is sent away. Safe to call twice. */
  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.clearQueue();
    this.lost = null;
    this.sink.end();
    this.wake();
  }

  private send(bytes: Buffer): void {
    if (!this.sink.write(bytes)) this.blockedAt ??= this.now();
  }

  private flush(): void {
    if (this.lost !== null && this.isIdle) {
      const messages = this.lost.toMessages();
      this.lost = null;
      for (const message of messages) this.send(message.bytes);
    }
    while (this.isIdle && this.queued > 0) {
      const message = this.queue[this.queueHead];
      this.queueHead += 1;
      if (message === undefined) break;
      this.queueBytes -= message.bytes.length;
      this.send(message.bytes);
    }
    if (this.queued === 0) this.clearQueue();
  }

  private dropQueue(message: StreamMessage): void {
    const lost = new LostRange();
    for (const queued of this.queue.slice(this.queueHead)) this.drop(lost, queued);
    this.drop(lost, message);
    this.clearQueue();
    this.lost = lost;
  }

  private drop(lost: LostRange, message: StreamMessage): void {
    lost.add(message);
    this.drops += 1;
  }

  private clearQueue(): void {
    this.queue = [];
    this.queueHead = 0;
    this.queueBytes = 0;
  }

  private wake(): void {
    const waiters = this.waiters;
    this.waiters = [];
    for (const resolve of waiters) resolve();
  }
}
