/**
 * What a slow client lost with its queue, in constant space: which blocks became void and which events it was not sent.
 * It is told so later by at most one `reorg` and one `gap`.
 */
import { lastOrdOfBlock } from '../domain/ord';
import { gapMessage, reorgWithId, type StreamMessage } from './streamMessage';

interface LostReorg {
  /** Position of the newest block that stayed. */
  readonly id: string;
  readonly fromBlock: number;
  readonly toBlock: number;
}

interface LostEvents {
  readonly fromOrd: number;
  readonly toOrd: number;
}

/** Invariant: where both are known, the lost events lie in or above the first void block. */
export class LostRange {
  private reorg: LostReorg | null = null;
  private events: LostEvents | null = null;
  private lastId = '';

  /** Adds a dropped message; they come in the order of the stream. */
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
      // The client has nothing beyond its first lost event, so this reorg takes nothing from it.
      this.events = { fromOrd: this.events.fromOrd, toOrd: Math.min(this.events.toOrd, forkOrd) };
      return;
    }
    // Lost events of void blocks are no loss.
    this.events = null;
    const known = this.reorg;
    const deeper = known === null || reorg.fromBlock < known.fromBlock ? reorg : known;
    this.reorg = { ...deeper, toBlock: Math.max(reorg.toBlock, known?.toBlock ?? reorg.toBlock) };
  }

  /**
   * The messages that stand for what was lost. After the first the client is at the fork, after the last at the
   * position of the newest dropped message. Which of its ids a late reorg removes is unknown by then.
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
