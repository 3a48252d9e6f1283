/** Clients of the event stream: the events that a client holds after reorgs, and a client that disconnects
 * and reconnects at random moments. */
import { setTimeout as delay } from 'node:timers/promises';

import { systemClock, withDeadline } from '../../../src/node/rpc/clock';
import type { Random } from '../random';

interface HeldEvent {
  readonly id: string;
  readonly block: number;
  readonly logIndex: number;
  readonly txHash: string;
}

/** The data of a message. Events and reorgs have other fields. */
export interface StreamData {
  readonly id: string;
  readonly block_number: number;
  readonly log_index: number;
  readonly tx_hash: string;
  readonly from_block: number;
  readonly removed_ids: readonly string[] | null;
}

/** The events of the client that no reorg removed. */
export class NetEvents {
  /** Errors in the stream: a gap, a duplicate or unordered event, or a reorg that does not list the removed
   * events. */
  readonly faults: string[] = [];
  reorgs = 0;
  private readonly heldEvents: HeldEvent[] = [];

  /** The events as `<id> <tx_hash>`, in the order of their arrival. */
  net(): string[] {
    return this.heldEvents.map(({ id, txHash }) => `${id} ${txHash}`);
  }

  take(event: string | undefined, data: StreamData): void {
    if (event === 'gap')
      this.faults.push(`unexpected gap after ${this.heldEvents.at(-1)?.id}: ${JSON.stringify(data)}`);
    else if (event === 'reorg') this.takeReorg(data);
    else this.takeEvent(data);
  }

  private takeReorg({ from_block, removed_ids }: StreamData): void {
    this.reorgs += 1;
    while ((this.heldEvents.at(-1)?.block ?? -1) >= from_block) {
      const removedEvent = this.heldEvents.pop();
      if (removed_ids !== null && removedEvent !== undefined && !removed_ids.includes(removedEvent.id)) {
        this.faults.push(`a reorg from block ${from_block} does not list ${removedEvent.id}`);
      }
    }
  }

  private takeEvent({ id, block_number: block, log_index: logIndex, tx_hash: txHash }: StreamData): void {
    const lastHeld = this.heldEvents.at(-1);
    const isInOrder =
      lastHeld === undefined ||
      block > lastHeld.block ||
      (block === lastHeld.block && logIndex > lastHeld.logIndex);
    if (!isInOrder) this.faults.push(`event ${id} arrived after ${lastHeld.id}`);
    this.heldEvents.push({ id, block, logIndex, txHash });
  }
}

const clock = systemClock();
const leave = (): Error => new Error('the client leaves');

/** Disconnects at random moments and reconnects with its last event id. */
export class EventFollower extends NetEvents {
  connections = 0;
  private lastId: string;
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  /**
   * `url` returns the current address of the stream. `lastEventId` is the first Last-Event-ID. `stayMs` limits one
   * connection.
   */
  constructor(
    private readonly url: () => string,
    private readonly random: Random,
    lastEventId: string,
    private stayMs: number,
  ) {
    super();
    this.lastId = lastEventId;
  }

  begin(): void {
    this.running = this.follow();
  }

  /**
   * From the next connection on, the client no longer disconnects. Otherwise a client that always leaves before the
   * first answer would receive no events.
   */
  stayConnected(): void {
    this.stayMs = Infinity;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async follow(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        if (this.stayMs === Infinity) await this.visit(signal);
        // AbortSignal.timeout inside AbortSignal.any may never fire after a garbage collection, and the
        // client would stay connected.
        else
          await withDeadline(clock, this.random.int(20, this.stayMs), signal, leave, (end) =>
            this.visit(end),
          );
      } catch {
        // The connection was refused, closed by either side, or cut within a message. The client then
        // reconnects.
      }
      await delay(this.random.int(1, 60));
    }
  }

  private async visit(signal: AbortSignal): Promise<void> {
    const response = await fetch(this.url(), { signal, headers: { 'last-event-id': this.lastId } });
    if (response.status !== 200 || response.body === null) return;
    this.connections += 1;
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const messages = text.split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) this.takeMessage(message);
    }
  }

  private takeMessage(message: string): void {
    const field = (name: string): string | undefined =>
      message
        .split('\n')
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2);
    const data = field('data');
    if (data === undefined) return;
    this.take(field('event'), JSON.parse(data) as StreamData);
    this.lastId = field('id') ?? this.lastId;
  }
}
