/**
 * Finds the JSON objects and lists in a stream of bytes that has nothing or white space between them. Each byte is
 * read once. Whether a message is valid JSON is left to its parser.
 */

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const SPACES: ReadonlySet<number | undefined> = new Set([0x20, 0x0a, 0x0d, 0x09]);

interface FrameEvents {
  /** Bytes of a message that arrived. The handler limits the size of messages: it calls `close`. */
  onPart(part: Buffer): void;
  onMessage(message: Buffer): void;
}

export class JsonFrames {
  private readonly events: FrameEvents;
  private isClosed = false;
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  /** The message so far, in the first `size` bytes. It grows by doubling, so small pieces cost no memory of their own. */
  private buffer: Buffer = Buffer.alloc(0);
  private size = 0;

  constructor(events: FrameEvents) {
    this.events = events;
  }

  /** Ends the work also in the middle of a piece, and frees the memory. */
  close(): void {
    this.isClosed = true;
    this.buffer = Buffer.alloc(0);
    this.size = 0;
  }

  /** Reads the next piece of the stream. False if a message begins with anything but an object or a list. */
  add(piece: Buffer): boolean {
    let partStart = 0;
    while (!this.isClosed) {
      if (this.depth === 0) {
        while (SPACES.has(piece[partStart])) partStart += 1;
        if (partStart === piece.length) return true;
        if (piece[partStart] !== OPEN_OBJECT && piece[partStart] !== OPEN_LIST) return false;
      }
      const end = this.endOfPart(piece, partStart);
      const part = piece.subarray(partStart, end);
      this.events.onPart(part);
      if (this.isClosed) return true;
      if (this.depth > 0) {
        this.keep(part);
        return true;
      }
      this.events.onMessage(this.take(part));
      partStart = end;
    }
    return true;
  }

  /** The position after the message that begins or continues at `from`, or the end of the piece. */
  private endOfPart(piece: Buffer, from: number): number {
    for (let position = from; position < piece.length; position += 1) {
      const byte = piece[position];
      if (this.isInString) {
        if (this.isEscaped) this.isEscaped = false;
        else if (byte === BACKSLASH) this.isEscaped = true;
        else if (byte === QUOTE) this.isInString = false;
      } else if (byte === QUOTE) this.isInString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.depth += 1;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        this.depth -= 1;
        if (this.depth === 0) return position + 1;
      }
    }
    return piece.length;
  }

  private keep(part: Buffer): void {
    const newSize = this.size + part.length;
    if (newSize > this.buffer.length) {
      const larger = Buffer.allocUnsafe(2 * newSize);
      this.buffer.copy(larger, 0, 0, this.size);
      this.buffer = larger;
    }
    part.copy(this.buffer, this.size);
    this.size = newSize;
  }

  /** The whole message, whose last part this is. */
  private take(part: Buffer): Buffer {
    if (this.size === 0) return part;
    this.keep(part);
    const message = this.buffer.subarray(0, this.size);
    this.buffer = Buffer.alloc(0);
    this.size = 0;
    return message;
  }
}
