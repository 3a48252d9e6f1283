/**
 * One stream client. Limits how much data waits for a slow client. While the socket accepts bytes, messages go
 * directly to it. Otherwise up to 1,000 messages and 1 MB wait in a queue. Beyond this limit the queue is dropped,
 * and the client gets a gap when it reads again. Sending a live message never waits.
 */
import { steadyNow } from '../domain/time/steadyTime';
import type { ActivityFilter } from '../query/activity/activity';
import { LostRange } from './lostRange';
import type { StreamMessage } from './streamMessage';

export const QUEUE_MESSAGES_MAX = 1_000;
export const QUEUE_BYTES_MAX = 1_000_000;

/** The part of an HTTP response that a stream needs. */
export interface StreamSink {
  /**
   * Writes to the socket. False means that the bytes were accepted, but the next write must wait for drain().
   */
  write(bytes: Buffer): boolean;
  end(): void;
  /** Number of written bytes that are still in this process. */
  buffered?(): number;
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

  /** At first a client is held: live messages wait in the queue until release(), while write() sends the
   * replay. */
  constructor(
    readonly filter: ActivityFilter,
    private readonly sink: StreamSink,
    private readonly now: () => number = steadyNow,
  ) {}

  get isEnded(): boolean {
    return this.ended;
  }

  /** True if the socket is closed, even if no event reported this. */
  get isGone(): boolean {
    return this.sink.isGone?.() ?? false;
  }

  /** Number of messages in the queue. */
  get queued(): number {
    return this.queue.length - this.queueHead;
  }

  get queuedBytes(): number {
    return this.queueBytes;
  }

  /** Bytes held for this client in the queue and the socket buffer; 0 after the end. */
  get heldBytes(): number {
    return this.ended ? 0 : this.queueBytes + (this.sink.buffered?.() ?? 0);
  }

  /** True if a write would go directly to the socket. */
  get isIdle(): boolean {
    return !this.ended && !this.held && this.blockedAt === null;
  }

  /** Whether the socket has accepted no bytes for this long, in ms. */
  isStalled(forMs: number): boolean {
    return this.blockedAt !== null && this.now() - this.blockedAt > forMs;
  }

  /** Number of messages dropped since the last call. */
  takeDrops(): number {
    const drops = this.drops;
    this.drops = 0;
    return drops;
  }

  /** Sends a live message, or queues the message until the socket drains. */
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
   * Writes bytes of the replay. Resolves to true when the socket accepts more, or to false when the client
   * has ended. Only while the client is held.
   */
  async write(bytes: Buffer): Promise<boolean> {
    if (this.ended) return false;
    this.send(bytes);
    while (!this.ended && this.blockedAt !== null) await this.changed();
    return !this.ended;
  }

  /** Ends the replay: sends the queue, and live messages from then on. */
  release(): void {
    this.held = false;
    this.flush();
  }

  /** Call when the socket accepts bytes again. */
  drain(): void {
    this.blockedAt = null;
    this.flush();
    this.wake();
  }

  /** Sends a heartbeat if the client is idle. */
  beat(bytes: Buffer): void {
    if (this.isIdle) this.send(bytes);
  }

  /** Resolves when the socket drains or the client ends. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.waiters.push(resolve);
    });
  }

  /** Ends the client. A second call does nothing. */
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
    const lostRange = new LostRange();
    for (const queued of this.queue.slice(this.queueHead)) this.drop(lostRange, queued);
    this.drop(lostRange, message);
    this.clearQueue();
    this.lost = lostRange;
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
