/**
 * Encodes stream messages (server-sent events) and parses their ids. Each message also carries the positions
 * or blocks that it covers, so that a gap can replace a dropped queue.
 */
import { eventId, lastOrdOfBlock, ORD_SPAN, toOrd } from '../domain/ord';
import type { Hex } from '../domain/hex';
import type { ActivityEvent } from '../query/activity/activity';
import { isDecoded } from '../wire/activity';

/** First line of every stream: the delay in ms after which a client reconnects. */
export const RETRY_LINE = Buffer.from('retry: 3000\n\n');
/**
 * A comment that keeps proxies and clients from closing a quiet stream. It names the problems of the service, such as a
 * node that shows no new blocks, so that a client can tell a quiet market from an outage.
 */
export function heartbeat(problems: readonly { readonly code: string; readonly message: string }[]): Buffer {
  if (problems.length === 0) return Buffer.from(': still here\n\n');
  const lines = problems.map(({ code, message }) => `: ${code}: ${message.replace(/[\r\n]+/g, ' ')}\n`);
  return Buffer.from(`${lines.join('')}\n`);
}

/**
 * A position in the order of events. `hash8` is the first 8 hex digits of the block hash, or null if the
 * client omitted it.
 */
export interface StreamPosition {
  readonly ord: number;
  readonly hash8: string | null;
}

/** The part of the stream that a message covers, used when a queue is dropped. */
type MessageReach =
  | { readonly kind: 'event'; readonly ord: number }
  /** The blocks from fromBlock to toBlock were removed. */
  | { readonly kind: 'reorg'; readonly fromBlock: number; readonly toBlock: number }
  /** The events from fromOrd to toOrd are left out. */
  | { readonly kind: 'gap'; readonly fromOrd: number; readonly toOrd: number };

export interface StreamMessage {
  readonly bytes: Buffer;
  /** The id of the message: the client's position after this message. */
  readonly id: string;
  readonly reach: MessageReach;
}

/** The id as text: `<block>-<log_index>-<hash8>`. */
export function positionId(ord: number, blockHash: Hex): string {
  return `${eventId(ord)}-${blockHash.slice(2, 10)}`;
}

/** Parses `<block>-<log_index>[-<hash8>]`. Null if the text is invalid. */
export function parsePosition(text: string): StreamPosition | null {
  const idParts = /^(\d{1,10})-(\d{1,7})(?:-([0-9a-fA-F]{8}))?$/.exec(text);
  if (idParts === null) return null;
  const [, block = '', logIndex = '', hash8] = idParts;
  if (Number(block) > 4_294_967_295 || Number(logIndex) >= ORD_SPAN) return null;
  return { ord: toOrd(Number(block), Number(logIndex)), hash8: hash8?.toLowerCase() ?? null };
}

function encode(id: string, event: string, data: unknown): Buffer {
  return Buffer.from(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** The message of an event. An event that cannot be decoded becomes a gap. */
export function eventMessage(event: ActivityEvent, blockHash: Hex): StreamMessage {
  const id = positionId(event.ord, blockHash);
  if (!isDecoded(event.item)) return gapMessage(event.ord, event.ord, id);
  return {
    bytes: encode(id, event.item.event_type, event.item),
    id,
    reach: { kind: 'event', ord: event.ord },
  };
}

/** `fork` is the newest block that stays. `removedIds` is null if the removed events are unknown. */
export function reorgMessage(
  fork: { readonly number: number; readonly hash8: string },
  toBlock: number,
  removedIds: readonly string[] | null,
): StreamMessage {
  const id = `${eventId(lastOrdOfBlock(fork.number))}-${fork.hash8}`;
  return reorgWithId(id, fork.number + 1, toBlock, removedIds);
}

/** Like reorgMessage, but with a given id, for a reorg that is sent late, before a gap. */
export function reorgWithId(
  id: string,
  fromBlock: number,
  toBlock: number,
  removedIds: readonly string[] | null,
): StreamMessage {
  const data = { from_block: fromBlock, to_block: toBlock, removed_ids: removedIds };
  return { bytes: encode(id, 'reorg', data), id, reach: { kind: 'reorg', fromBlock, toBlock } };
}

/** All omitted events are between fromOrd and toOrd, both included. `id` is the position after the gap. */
export function gapMessage(fromOrd: number, toOrd: number, id: string): StreamMessage {
  const data = { from_id: eventId(fromOrd), to_id: eventId(toOrd) };
  return { bytes: encode(id, 'gap', data), id, reach: { kind: 'gap', fromOrd, toOrd } };
}
