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
  private lostRange: LostRange | null = null;
  private blockedAt: number | null = null;
  private isHeld = true;
  private hasEnded = false;
  private drainWaiters: (() => void)[] = [];
  private droppedMessages = 0;

  /** At first a client is held: live messages wait in the queue until release(), while write() sends the
   * replay. */
  constructor(
    readonly filter: ActivityFilter,
    private readonly sink: StreamSink,
    private readonly now: () => number = steadyNow,
  ) {}

  get isEnded(): boolean {
    return this.hasEnded;
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
    return this.hasEnded ? 0 : this.queueBytes + (this.sink.buffered?.() ?? 0);
  }

  /** True if a write would go directly to the socket. */
  get isIdle(): boolean {
    return !this.hasEnded && !this.isHeld && this.blockedAt === null;
  }

  /** Whether the socket has accepted no bytes for this long, in ms. */
  isStalled(forMs: number): boolean {
    return this.blockedAt !== null && this.now() - this.blockedAt > forMs;
  }

  /** Number of messages dropped since the last call. */
  takeDrops(): number {
    const droppedNow = this.droppedMessages;
    this.droppedMessages = 0;
    return droppedNow;
  }

  /** Sends a live message, or queues the message until the socket drains. */
  push(message: StreamMessage): void {
    if (this.hasEnded) return;
    if (this.isIdle) {
      this.send(message.bytes);
      return;
    }
    if (this.lostRange !== null) {
      this.drop(this.lostRange, message);
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
    if (this.hasEnded) return false;
    this.send(bytes);
    while (!this.hasEnded && this.blockedAt !== null) await this.changed();
    return !this.hasEnded;
  }

  /** Ends the replay: sends the queue, and live messages from then on. */
  release(): void {
    this.isHeld = false;
    this.sendQueue();
  }

  /** Call when the socket accepts bytes again. */
  drain(): void {
    this.blockedAt = null;
    this.sendQueue();
    this.wakeWaiters();
  }

  /** Sends a heartbeat if the client is idle. */
  beat(bytes: Buffer): void {
    if (this.isIdle) this.send(bytes);
  }

  /** Resolves when the socket drains or the client ends. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.drainWaiters.push(resolve);
    });
  }

  /** Ends the client. A second call does nothing. */
  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.clearQueue();
    this.lostRange = null;
    this.sink.end();
    this.wakeWaiters();
  }

  private send(bytes: Buffer): void {
    if (!this.sink.write(bytes)) this.blockedAt ??= this.now();
  }

  private sendQueue(): void {
    if (this.lostRange !== null && this.isIdle) {
      const messages = this.lostRange.toMessages();
      this.lostRange = null;
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
    const newLostRange = new LostRange();
    for (const queuedMessage of this.queue.slice(this.queueHead)) this.drop(newLostRange, queuedMessage);
    this.drop(newLostRange, message);
    this.clearQueue();
    this.lostRange = newLostRange;
  }

  private drop(range: LostRange, message: StreamMessage): void {
    range.add(message);
    this.droppedMessages += 1;
  }

  private clearQueue(): void {
    this.queue = [];
    this.queueHead = 0;
    this.queueBytes = 0;
  }

  private wakeWaiters(): void {
    const wakingWaiters = this.drainWaiters;
    this.drainWaiters = [];
    for (const resolve of wakingWaiters) resolve();
  }
}
