/**
 * The bytes of the stream's messages (server-sent events) and the positions that their ids name. Where a message
 * belongs in the order of events is kept beside its bytes, so that a client's queue can be folded into a gap.
 */
import { eventId, lastOrdOfBlock, ORD_SPAN, toOrd } from '../domain/ord';
import type { Hex } from '../domain/hex';
import type { ActivityEvent } from '../query/activity/activity';
import { isDecoded } from '../wire/activity';

/** First line of every stream: how long a client waits before it reconnects, ms. */
export const RETRY_LINE = Buffer.from('retry: 3000\n\n');
/** A comment; keeps proxies and clients from taking a quiet stream for a dead one. */
export const HEARTBEAT = Buffer.from(': still here\n\n');

/** A place in the order of events. `hash8`: first 8 hex digits of the block's hash; null where the client left it out. */
export interface StreamPosition {
  readonly ord: number;
  readonly hash8: string | null;
}

/** What a queue must know of a message when it has to drop it. */
export type MessageReach =
  | { readonly kind: 'event'; readonly ord: number }
  /** Blocks fromBlock … toBlock are void. */
  | { readonly kind: 'reorg'; readonly fromBlock: number; readonly toBlock: number }
  /** Events fromOrd … toOrd are left out. */
  | { readonly kind: 'gap'; readonly fromOrd: number; readonly toOrd: number };

export interface StreamMessage {
  readonly bytes: Buffer;
  /** The message's id line: the position that a client has after it. */
  readonly id: string;
  readonly reach: MessageReach;
}

/** `<block>-<log_index>-<hash8>`. */
export function positionId(ord: number, blockHash: Hex): string {
  return `${eventId(ord)}-${blockHash.slice(2, 10)}`;
}

/** Parses `<block>-<log_index>[-<hash8>]`; null when it is none. */
export function parsePosition(text: string): StreamPosition | null {
  const parts = /^(\d{1,10})-(\d{1,7})(?:-([0-9a-fA-F]{8}))?$/.exec(text);
  if (parts === null) return null;
  const [, block = '', logIndex = '', hash8] = parts;
  if (Number(block) > 4_294_967_295 || Number(logIndex) >= ORD_SPAN) return null;
  return { ord: toOrd(Number(block), Number(logIndex)), hash8: hash8?.toLowerCase() ?? null };
}

function encode(id: string, event: string, data: unknown): Buffer {
  return Buffer.from(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** The message of an event; of one that cannot be read, the gap that it leaves. */
export function eventMessage(event: ActivityEvent, blockHash: Hex): StreamMessage {
  const id = positionId(event.ord, blockHash);
  if (!isDecoded(event.item)) return gapMessage(event.ord, event.ord, id);
  return {
    bytes: encode(id, event.item.event_type, event.item),
    id,
    reach: { kind: 'event', ord: event.ord },
  };
}

/** `fork`: the newest block that stays. `removedIds`: null when unknown. */
export function reorgMessage(
  fork: { readonly number: number; readonly hash8: string },
  toBlock: number,
  removedIds: readonly string[] | null,
): StreamMessage {
  const id = `${eventId(lastOrdOfBlock(fork.number))}-${fork.hash8}`;
  return reorgWithId(id, fork.number + 1, toBlock, removedIds);
}

/** The same under an id of its own: for a reorg that is told late, in front of a gap. */
export function reorgWithId(
  id: string,
  fromBlock: number,
  toBlock: number,
  removedIds: readonly string[] | null,
): StreamMessage {
  const data = { from_block: fromBlock, to_block: toBlock, removed_ids: removedIds };
  return { bytes: encode(id, 'reorg', data), id, reach: { kind: 'reorg', fromBlock, toBlock } };
}

/** Every event left out lies between fromOrd and toOrd, both included. `id`: the position after the gap. */
export function gapMessage(fromOrd: number, toOrd: number, id: string): StreamMessage {
  const data = { from_id: eventId(fromOrd), to_id: eventId(toOrd) };
  return { bytes: encode(id, 'gap', data), id, reach: { kind: 'gap', fromOrd, toOrd } };
}
