/**
 * Parses large JSON in slices, so that no node answer blocks the event loop. JSON.parse parses groups of
 * small members of a list or object. Lists and objects that are larger than a slice are assembled here.
 */
import { isAscii } from 'node:buffer';

import { createSlices, type Slices } from '../../domain/slices';
import type { Clock } from './clock';

const SLICE_BYTES = 65_536;
/** Size limit of one string in bytes. The log data of a full block with 60 million gas has 15 million
 * digits. */
const STRING_BYTES_MAX = 2 ** 24;
/** Limit of the nesting depth of lists and objects larger than a slice. The logs in a batch of receipts are
 * six levels deep. */
const DEPTH_MAX = 32;
/** Limit of the members of an object that is larger than a slice. */
const KEYS_MAX = 10_000;
/**
 * Limit of the number of structural bytes, such as brackets and commas: this number, plus one for every
 * twelve bytes of text. JSON.parse uses up to 60 bytes of memory for each structural byte.
 */
const STRUCTURE_FREE = 100_000;
const BYTES_PER_STRUCTURE = 12;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

type Container =
  | { readonly close: typeof CLOSE_LIST; readonly items: unknown[] }
  | { readonly close: typeof CLOSE_OBJECT; readonly items: [string, unknown][]; key: string };

/** Thrown if the text is not JSON or exceeds a limit. */
const REFUSED = new Error('refused');

/**
 * Returns the parsed value. Undefined if the text is not JSON, or exceeds limits that no honest answer
 * reaches.
 */
export async function parseSliced(bytes: Buffer, clock: Clock): Promise<unknown> {
  try {
    return await new SlicedParser(bytes, createSlices(clock)).parse();
  } catch (error) {
    if (error === REFUSED || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

class SlicedParser {
  private readonly open: Container[] = [];
  private readonly encoding: 'latin1' | 'utf8';
  private structure = 0;
  /** Start of the first member that is not parsed yet, as a byte position. */
  private from = 0;
  private at = 0;
  private result: unknown = undefined;

  constructor(
    private readonly bytes: Buffer,
    private readonly slices: Slices,
  ) {
    // Almost all answers are ASCII, which decodes much faster than UTF-8.
    this.encoding = isAscii(bytes) ? 'latin1' : 'utf8';
  }

  async parse(): Promise<unknown> {
    this.descend();
    for (let top = this.open.at(-1); top !== undefined; top = this.open.at(-1)) {
      await this.slices.step();
      const end = this.endOfMember();
      if (end === null) this.takeLarge(top);
      else if (this.bytes[end] !== COMMA) {
        this.takeGroup(top, end);
        this.close(top, end);
      } else {
        this.at = end + 1;
        if (this.at - this.from < SLICE_BYTES) continue;
        this.takeGroup(top, end);
        this.from = this.at;
      }
    }
    this.skipSpace();
    if (this.at !== this.bytes.length) throw REFUSED;
    return this.result;
  }

  /** Position of the comma or bracket after the current member; null if the member is longer than a slice. */
  private endOfMember(): number | null {
    const { bytes } = this;
    const limit = Math.min(bytes.length, this.at + SLICE_BYTES);
    let depth = 0;
    for (let at = this.at; at < limit; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        at = endOfString(bytes, at, limit);
      } else if (byte === COMMA || byte === COLON) {
        this.structure += 1;
        if (depth === 0 && byte === COMMA) return at;
      } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        this.structure += 1;
        depth += 1;
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        if (depth === 0) return at;
        depth -= 1;
      }
    }
    if (this.structure > STRUCTURE_FREE + bytes.length / BYTES_PER_STRUCTURE) throw REFUSED;
    return null;
  }

  /** Parses all members between `from` and the comma or bracket at `end` in one step. */
  private takeGroup(top: Container, end: number): void {
    const text = this.bytes.toString(this.encoding, this.from, end);
    if (text.trim() === '') {
      // There is no member between two separators. This is valid in an empty list or object, but not before or
      // after a comma.
      if (this.bytes[end] === COMMA || this.bytes[this.from - 1] === COMMA) throw REFUSED;
      return;
    }
    if (this.structure > STRUCTURE_FREE + this.bytes.length / BYTES_PER_STRUCTURE) throw REFUSED;
    if (top.close === CLOSE_LIST) {
      const items: unknown = JSON.parse(`[${text}]`);
      if (Array.isArray(items)) for (const item of items) top.items.push(item);
      return;
    }
    const members: unknown = JSON.parse(`{${text}}`);
    for (const entry of Object.entries(members ?? {})) top.items.push(entry);
    if (top.items.length > KEYS_MAX) throw REFUSED;
  }

  /** Handles a member longer than SLICE_BYTES: enters a list or object, or parses a string as a whole. */
  private takeLarge(top: Container): void {
    if (this.at > this.from) this.takeGroup(top, this.at - 1);
    if (top.close === CLOSE_OBJECT) {
      top.key = String(this.readString());
      this.skipSpace();
      if (this.bytes[this.at] !== COLON) throw REFUSED;
      this.at += 1;
    }
    this.skipSpace();
    if (this.bytes[this.at] === QUOTE) this.add(this.readString());
    else this.descend();
  }

  private descend(): void {
    this.skipSpace();
    const byte = this.bytes[this.at];
    if (this.open.length >= DEPTH_MAX) throw REFUSED;
    if (byte === OPEN_LIST) this.open.push({ close: CLOSE_LIST, items: [] });
    else if (byte === OPEN_OBJECT) this.open.push({ close: CLOSE_OBJECT, items: [], key: '' });
    else throw REFUSED;
    this.at += 1;
    this.from = this.at;
  }

  private close(top: Container, end: number): void {
    if (this.bytes[end] !== top.close) throw REFUSED;
    this.open.pop();
    this.at = end + 1;
    this.add(top.close === CLOSE_LIST ? top.items : Object.fromEntries<unknown>(top.items));
  }

  /** Adds a large value to its list or object, and continues after it. */
  private add(value: unknown): void {
    const parent = this.open.at(-1);
    if (parent === undefined) {
      this.result = value;
      return;
    }
    if (parent.close === CLOSE_LIST) parent.items.push(value);
    else parent.items.push([parent.key, value]);
    this.skipSpace();
    const isComma = this.bytes[this.at] === COMMA;
    if (!isComma && this.bytes[this.at] !== parent.close) throw REFUSED;
    if (isComma) this.at += 1;
    this.from = this.at;
  }

  private readString(): unknown {
    this.skipSpace();
    const from = this.at;
    if (this.bytes[from] !== QUOTE) throw REFUSED;
    const end = endOfString(this.bytes, from, Math.min(this.bytes.length, from + STRING_BYTES_MAX));
    if (this.bytes[end] !== QUOTE) throw REFUSED;
    this.at = end + 1;
    return JSON.parse(this.bytes.toString(this.encoding, from, this.at));
  }

  private skipSpace(): void {
    for (let byte = this.bytes[this.at]; isSpace(byte); byte = this.bytes[this.at]) this.at += 1;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** For strings with more bytes, such as hashes and data, one call of `indexOf` is faster than a loop over the bytes. */
const SHORT_STRING = 24;

/** Position of the quote that ends the string at `at`, or `limit`. */
function endOfString(bytes: Buffer, at: number, limit: number): number {
  const end = endOfShortString(bytes, at + 1, Math.min(limit, at + SHORT_STRING));
  if (end >= limit || bytes[end] === QUOTE) return Math.min(end, limit);
  const quote = bytes.indexOf(QUOTE, end);
  if (quote === -1 || quote >= limit) return limit;
  // A backslash before the quote may escape it.
  return bytes[quote - 1] === BACKSLASH ? Math.min(endOfShortString(bytes, end, limit), limit) : quote;
}

/**
 * Position of the quote that ends a string, found byte by byte. `from` is a position inside the string. Without a quote,
 * returns `limit`, or `limit + 1` after a backslash.
 */
function endOfShortString(bytes: Buffer, from: number, limit: number): number {
  let end = from;
  while (end < limit && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
  return end;
}

/** JSON.parse blocks only briefly for answers up to this size in bytes. */
const SMALL_BYTES = 2 ** 18;

/**
 * Returns the parsed value; undefined if the bytes are not JSON. Removes the elements of `pieces`, so that
 * memory does not hold the bytes twice.
 */
export async function parseAnswer(pieces: Buffer[], clock: Clock): Promise<unknown> {
  const bytes = await join(pieces, clock);
  if (bytes.length > SMALL_BYTES) return parseSliced(bytes, clock);
  try {
    return JSON.parse(bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Joins the pieces like Buffer.concat. Lets other work run in between, because writing to newly allocated
 * memory is slow.
 */
async function join(pieces: Buffer[], clock: Clock): Promise<Buffer> {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  const slices = createSlices(clock);
  const bytes = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    at += piece.copy(bytes, at);
    if (bytes.length > SMALL_BYTES) await slices.step();
  }
  pieces.length = 0;
  return bytes;
}
