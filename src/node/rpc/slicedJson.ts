/**
 * Parses large JSON in one pass over its bytes and in slices, so that no node answer blocks the event loop. Answers
 * repeat most of their strings, such as keys, hashes and addresses, so equal strings become one object.
 */
import { isAscii } from 'node:buffer';

import { joinPieces } from '../../domain/time/joinPieces';
import { createSlices } from '../../domain/time/slices';
import type { Clock } from './clock';
import { ObjectShape } from './objectShape';
import { CACHED_BYTES_MIN, StringCache } from './stringCache';

const SLICE_BYTES = 65_536;
/** Size limit of one string in bytes. The log data of a full block with 60 million gas has 15 million
 * digits. */
const STRING_BYTES_MAX = 2 ** 24;
/** Limit of the nesting depth. A trace has two levels for each call, and the EVM allows 1,024 nested calls. */
const DEPTH_MAX = 4_096;
/** Limit of the members of one object. */
const KEYS_MAX = 10_000;
/**
 * Limit of the number of structural bytes, such as brackets and commas: this number, plus one for every
 * twelve bytes of text. A parsed value needs up to 60 bytes of memory for each structural byte.
 */
const STRUCTURE_BASE = 100_000;
const BYTES_PER_STRUCTURE = 12;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a] as const;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

/** 1 for each byte of a string that stands for itself: printable ASCII without quote and backslash. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x7f && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);

/** The bytes after a number or a literal. */
const ENDS_WORD: ReadonlySet<number | undefined> = new Set([
  COMMA,
  CLOSE_LIST,
  CLOSE_OBJECT,
  ...Buffer.from(' \n\r\t'),
]);
/** Lengths of a hash and of an address in hex. */
const WORD_CHARACTERS = 66;
const ADDRESS_CHARACTERS = 42;

/** A list or an object that is not closed yet. */
interface Container {
  isList: boolean;
  /** Position of its first value in the values of all open containers. */
  from: number;
  /** The keys of an object so far. */
  shape: ObjectShape;
  /** An object that is made key by key; otherwise null. */
  object: Record<string, unknown> | null;
  /** The key of the next value of `object`. */
  key: string;
  /** Number of keys so far. */
  keys: number;
}

function newContainer(): Container {
  return { isList: true, from: 0, shape: NO_KEYS, object: null, key: '', keys: 0 };
}

/** Thrown if the text is not JSON or exceeds a limit. */
const REFUSAL = new Error('refused');

const strings = new StringCache();
const NO_KEYS = ObjectShape.empty();

/**
 * Returns the parsed value. Undefined if the text is not JSON, or exceeds limits that no honest answer
 * reaches.
 */
export async function parseSliced(bytes: Buffer, clock: Clock): Promise<unknown> {
  const slices = createSlices(clock);
  const parser = new SlicedParser(bytes);
  try {
    while (!parser.parse(SLICE_BYTES)) await slices.step();
    return parser.result;
  } catch (error) {
    if (error === REFUSAL || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

class SlicedParser {
  result: unknown = undefined;
  private readonly view: DataView;
  /** The open containers are the first `depth` ones. The others are kept for later use. */
  private readonly containers: Container[] = [];
  private depth = 0;
  /** The values of all open containers. */
  private readonly openValues: unknown[] = [];
  private valueCount = 0;
  private structureLeft: number;
  private position = 0;

  constructor(private readonly bytes: Buffer) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.structureLeft = STRUCTURE_BASE + bytes.length / BYTES_PER_STRUCTURE;
  }

  /** Parses about this many bytes. Returns whether the document is complete. */
  parse(size: number): boolean {
    const limit = this.position + size;
    do {
      const byte = this.nextByte();
      const isComplete =
        byte === OPEN_LIST || byte === OPEN_OBJECT
          ? this.enter(byte === OPEN_LIST)
          : this.add(byte === QUOTE ? this.readText() : this.readWord());
      if (isComplete) return true;
    } while (this.position < limit);
    return false;
  }

  /** Opens a list or an object. Returns whether the document is complete. */
  private enter(isList: boolean): boolean {
    this.countStructure();
    this.position += 1;
    if (this.nextByte() === (isList ? CLOSE_LIST : CLOSE_OBJECT)) {
      this.position += 1;
      return this.add(isList ? [] : {});
    }
    if (this.depth >= DEPTH_MAX) throw REFUSAL;
    const container = (this.containers[this.depth] ??= newContainer());
    this.depth += 1;
    container.keys = 0;
    container.isList = isList;
    container.from = this.valueCount;
    container.shape = NO_KEYS;
    container.object = null;
    if (!isList) this.readKey(container);
    return false;
  }

  /**
   * Adds a value to the innermost container, and closes all containers that end after the value. Returns whether the
   * document is complete.
   */
  private add(value: unknown): boolean {
    let member = value;
    for (; this.depth > 0; this.depth -= 1) {
      const top = this.containers[this.depth - 1];
      if (top === undefined) throw REFUSAL;
      if (top.object === null) this.openValues[this.valueCount++] = member;
      else if (top.key === '__proto__') Object.defineProperty(top.object, top.key, ownValue(member));
      else top.object[top.key] = member;
      const byte = this.nextByte();
      this.position += 1;
      if (byte === COMMA) {
        this.countStructure();
        if (!top.isList) this.readKey(top);
        return false;
      }
      if (byte !== (top.isList ? CLOSE_LIST : CLOSE_OBJECT)) throw REFUSAL;
      member = top.isList ? this.openValues.slice(top.from, this.valueCount) : this.objectOf(top);
      this.valueCount = top.from;
    }
    this.nextByte();
    if (this.position !== this.bytes.length) throw REFUSAL;
    this.result = member;
    return true;
  }

  private objectOf({ object, shape, from }: Container): Record<string, unknown> {
    return object ?? shape.make(this.openValues, from);
  }

  private readKey(container: Container): void {
    this.countStructure();
    container.keys += 1;
    if (container.keys > KEYS_MAX || this.nextByte() !== QUOTE) throw REFUSAL;
    const { shape, object } = container;
    const key = this.readString(shape.recent?.lastKey.length ?? 0);
    if (this.nextByte() !== COLON) throw REFUSAL;
    this.position += 1;
    const nextShape = object === null ? shape.with(key) : null;
    if (nextShape !== null) container.shape = nextShape;
    else {
      container.object ??= this.objectOf(container);
      this.valueCount = container.from;
      container.key = key;
    }
  }

  private countStructure(): void {
    this.structureLeft -= 1;
    if (this.structureLeft < 0) throw REFUSAL;
  }

  private readText(): string {
    const isWord = this.bytes[this.position + 1 + WORD_CHARACTERS] === QUOTE;
    return this.readString(isWord ? WORD_CHARACTERS : ADDRESS_CHARACTERS);
  }

  /** Reads the string whose first quote is at the position. `likelyLength` is a length that it may have. */
  private readString(likelyLength: number): string {
    const { bytes, view } = this;
    const from = this.position + 1;
    // A known string needs no search for its end.
    if (likelyLength >= CACHED_BYTES_MIN && bytes[from + likelyLength] === QUOTE) {
      const cachedString = strings.find(view, from, likelyLength);
      if (cachedString !== undefined) {
        this.position = from + likelyLength + 1;
        return cachedString;
      }
    }
    const limit = Math.min(bytes.length, from + STRING_BYTES_MAX);
    let end = from;
    while (end < limit && PLAIN[bytes[end] ?? 0] === 1) end += 1;
    if (end === limit) throw REFUSAL;
    if (bytes[end] !== QUOTE) return this.readEscaped(end, limit);
    this.position = end + 1;
    return strings.get(bytes, view, from, end - from);
  }

  /** Reads a string that has escapes or is not ASCII, at the earliest from `searchFrom` on. */
  private readEscaped(searchFrom: number, limit: number): string {
    let end = searchFrom;
    while (end < limit && this.bytes[end] !== QUOTE) end += this.bytes[end] === BACKSLASH ? 2 : 1;
    if (end >= limit) throw REFUSAL;
    const text = this.bytes.toString('utf8', this.position, end + 1);
    this.position = end + 1;
    return String(JSON.parse(text));
  }

  /** Reads a number, `true`, `false` or `null`. */
  private readWord(): unknown {
    const { bytes, position: start } = this;
    let end = start;
    while (end < bytes.length && !ENDS_WORD.has(bytes[end])) end += 1;
    if (this.depth === 0 || end - start > STRING_BYTES_MAX) throw REFUSAL;
    this.position = end;
    const text = strings.get(bytes, this.view, start, end - start);
    return text === 'false' ? false : text === 'null' ? null : JSON.parse(text);
  }

  /** Skips white space. Returns the byte after it. */
  private nextByte(): number | undefined {
    const { bytes } = this;
    let byte = bytes[this.position];
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)
      byte = bytes[(this.position += 1)];
    return byte;
  }
}

function ownValue(value: unknown): PropertyDescriptor {
  return { value, writable: true, enumerable: true, configurable: true };
}

/** JSON.parse blocks only briefly for answers up to this size in bytes. */
const SMALL_BYTES = 2 ** 18;

/**
 * Returns the parsed value; undefined if the bytes are not JSON. Removes the elements of `pieces`, so that
 * memory does not hold the bytes twice.
 */
export async function parseAnswer(pieces: Buffer[], clock: Clock): Promise<unknown> {
  const bytes = await joinPieces(pieces, createSlices(clock));
  if (bytes.length > SMALL_BYTES) return parseSliced(bytes, clock);
  try {
    return JSON.parse(bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8'));
  } catch {
    return undefined;
  }
}
