/**
 * Remembers in constant space which blocks and events a slow client lost with its queue. The client later
 * gets at most one `reorg` and one `gap` for the loss.
 */
import { lastOrdOfBlock } from '../domain/ord';
import { gapMessage, reorgWithId, type StreamMessage } from './streamMessage';

interface LostReorg {
  /** Position of the newest block that stays. */
  readonly id: string;
  readonly fromBlock: number;
  readonly toBlock: number;
}

interface LostEvents {
  readonly fromOrd: number;
  readonly toOrd: number;
}

/** Invariant: if both are set, the lost events are in or above the first removed block. */
export class LostRange {
  private reorg: LostReorg | null = null;
  private events: LostEvents | null = null;
  private lastId = '';

  /** Adds a dropped message. Messages must come in stream order. */
  add(message: StreamMessage): void {
    this.lastId = message.id;
    const { reach } = message;
    if (reach.kind === 'event') this.addEvents(reach.ord, reach.ord);
    else if (reach.kind === 'gap') this.addEvents(reach.fromOrd, reach.toOrd);
    else this.addReorg({ id: message.id, fromBlock: reach.fromBlock, toBlock: reach.toBlock });
  }

  private addEvents(fromOrd: number, toOrd: number): void {
    const known = this.events;
    this.events = {
      fromOrd: Math.min(fromOrd, known?.fromOrd ?? fromOrd),
      toOrd: Math.max(toOrd, known?.toOrd ?? toOrd),
    };
  }

  private addReorg(reorg: LostReorg): void {
    const forkOrd = lastOrdOfBlock(reorg.fromBlock - 1);
    if (this.events !== null && this.events.fromOrd <= forkOrd) {
      // The client has no event after its first lost one, so this reorg removes nothing that it has.
      this.events = { fromOrd: this.events.fromOrd, toOrd: Math.min(this.events.toOrd, forkOrd) };
      return;
    }
    // Lost events of removed blocks need no gap.
    this.events = null;
    const known = this.reorg;
    const deeper = known === null || reorg.fromBlock < known.fromBlock ? reorg : known;
    this.reorg = { ...deeper, toBlock: Math.max(reorg.toBlock, known?.toBlock ?? reorg.toBlock) };
  }

  /**
   * The messages that replace the loss. After `reorg` the client is at the fork; after `gap`, at the newest
   * dropped message. The removed ids are unknown by then.
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
