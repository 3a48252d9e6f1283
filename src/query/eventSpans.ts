/**
 * How far pages of one event of one contract reach, by the page that was read last. The next page is looked for in about as
 * much of the chain first: to read one page in order the engine opens every part of the table that the range touches, and most
 * parts hold another time.
 */
import { LRUCache } from 'lru-cache';

import type { Hex } from '../domain/hex';
import { ORD_SPAN } from '../domain/ord';
import type { Emitted } from './emitters';
import type { LogSource, OrdRange } from './logFilter';

/** 300 bytes each. */
const EVENTS_KEPT = 10_000;
/** Fewer blocks are never a window of their own. */
const BLOCKS_MIN = 256;
/** Logs do not come evenly: so many times the root of their number more. */
const DEVIATIONS = 4;
const MARGIN = 1.1;
/**
 * So many of a contract's logs are taken to hold one of an event of which no page was read yet: a window that is too small costs a
 * second statement, twice what one that is too large costs.
 */
const LOGS_PER_EVENT = 16;

export interface PagedEvent {
  readonly address: Hex;
  readonly topic0: Hex;
  readonly newestFirst: boolean;
}

interface Span {
  /** Of the first log of a page that left nothing out, in the direction of reading. */
  readonly first: number;
  /** Mean distance of two logs, in ords. */
  readonly step: number;
}

export interface EventSpans {
  /**
   * The near part of the range that should hold so many of the event's logs, by the page before it or by what the contract emitted;
   * the range itself where nothing is known.
   */
  window(event: PagedEvent, range: OrdRange, logs: number): OrdRange;
  /** Learns from the ords of a page that left nothing out. */
  note(event: PagedEvent, ords: readonly number[]): void;
}

/** What reading pages of logs of one chain needs. */
export interface PagedLogSource extends LogSource {
  readonly spans: EventSpans;
}

/** `guess`: about what a contract emitted; null: nobody knows. */
export function createEventSpans(
  guess: (address: Hex) => Emitted | null,
  blocksMin = BLOCKS_MIN,
): EventSpans {
  const spans = new LRUCache<string, Span>({ max: EVENTS_KEPT });
  const keyOf = ({ address, topic0, newestFirst }: PagedEvent): string =>
    `${newestFirst ? '-' : '+'}${address}${topic0}`;
  return {
    window(event, range, logs) {
      const span = spans.get(keyOf(event)) ?? spanOf(guess(event.address), event.newestFirst);
      if (span === null) return range;
      const wanted = (logs + DEVIATIONS * Math.sqrt(logs)) * MARGIN;
      const length = Math.max(blocksMin * ORD_SPAN, Math.ceil(span.step * wanted));
      return event.newestFirst
        ? { from: Math.max(range.from, Math.min(range.to, span.first) - length), to: range.to }
        : { from: range.from, to: Math.min(range.to, Math.max(range.from, span.first) + length) };
    },
    note(event, ords) {
      const [first, last] = [ords[0], ords.at(-1)];
      if (first === undefined || last === undefined || ords.length < 2) return;
      spans.set(keyOf(event), { first, step: Math.abs(last - first) / (ords.length - 1) });
    },
  };
}

function spanOf(emitted: Emitted | null, newestFirst: boolean): Span | null {
  if (emitted === null || emitted.logs < 2) return null;
  const { logs, firstOrd, lastOrd } = emitted;
  const step = ((lastOrd - firstOrd) / (logs - 1)) * LOGS_PER_EVENT;
  return { first: newestFirst ? lastOrd : firstOrd, step };
}
