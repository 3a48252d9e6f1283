/**
 * Remembers which blocks and events a slow client lost when its queue was dropped. Needs constant memory. The client
 * later gets at most one `reorg` and one `gap` for all lost messages.
 */
import { lastOrdOfBlock } from '../domain/ord';
import { gapMessage, reorgWithId, type StreamMessage } from './streamMessage';

interface LostReorg {
  /** Position of the newest block that stays after the lost reorgs. */
  readonly id: string;
  readonly fromBlock: number;
  readonly toBlock: number;
}

interface LostEvents {
  readonly fromOrd: number;
  readonly toOrd: number;
}

/**
 * The blocks and events that a client lost. If both `reorg` and `events` are set, all lost events are in the
 * first removed block or above.
 */
export class LostRange {
  private reorg: LostReorg | null = null;
  private events: LostEvents | null = null;
  private lastId = '';

  /** Adds a message that was dropped. Messages must come in the order of the stream. */
  add(message: StreamMessage): void {
    this.lastId = message.id;
    const { reach } = message;
    if (reach.kind === 'event') this.addEvents(reach.ord, reach.ord);
    else if (reach.kind === 'gap') this.addEvents(reach.fromOrd, reach.toOrd);
    else this.addReorg({ id: message.id, fromBlock: reach.fromBlock, toBlock: reach.toBlock });
  }

  private addEvents(fromOrd: number, toOrd: number): void {
    const earlierEvents = this.events;
    this.events = {
      fromOrd: Math.min(fromOrd, earlierEvents?.fromOrd ?? fromOrd),
      toOrd: Math.max(toOrd, earlierEvents?.toOrd ?? toOrd),
    };
  }

  private addReorg(reorg: LostReorg): void {
    const forkOrd = lastOrdOfBlock(reorg.fromBlock - 1);
    if (this.events !== null && this.events.fromOrd <= forkOrd) {
      // The client has no event after its first lost event, so this reorg removes no event that the client has.
      this.events = { fromOrd: this.events.fromOrd, toOrd: Math.min(this.events.toOrd, forkOrd) };
      return;
    }
    // Lost events in removed blocks need no gap.
    this.events = null;
    const earlierReorg = this.reorg;
    const deeperReorg =
      earlierReorg === null || reorg.fromBlock < earlierReorg.fromBlock ? reorg : earlierReorg;
    this.reorg = { ...deeperReorg, toBlock: Math.max(reorg.toBlock, earlierReorg?.toBlock ?? reorg.toBlock) };
  }

  /**
   * The messages that replace the lost messages. After `reorg` the client's position is the fork. After `gap` it is
   * the newest dropped message. The ids of removed events are not known any more.
   */
  toMessages(): StreamMessage[] {
    const messages: StreamMessage[] = [];
    if (this.reorg !== null) {
      messages.push(reorgWithId(this.reorg.id, this.reorg.fromBlock, this.reorg.toBlock, null));
    }
    if (this.events !== null) messages.push(gapMessage(this.events.fromOrd, this.events.toOrd, this.lastId));
    return messages;
  }
}
