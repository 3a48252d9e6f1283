/**
 * Reads one HTTP answer of ClickHouse: its rows, its bytes, or its error.
 *
 * ClickHouse sends status 200 before it has all rows. An error after that stands behind the rows in a frame, and the
 * connection breaks off without the last chunk. The frame carries the tag of this answer's header:
 *
 *     \r\n__exception__\r\n<tag>\r\n<text>\n<bytes of text and newline> <tag>\r\n__exception__\r\n
 *
 * Data can spell all of this but the tag, which ClickHouse draws at random for each answer. So only a frame with the
 * tag, at the very end, is an error. Nothing is searched for in data.
 */
import type { IncomingMessage } from 'node:http';

import { toEngineError, type EngineError } from './engineError';

const TAG_HEADER = 'X-ClickHouse-Exception-Tag';
const CODE_HEADER = 'X-ClickHouse-Exception-Code';
const MARKER = '\r\n__exception__\r\n';
/** ClickHouse cuts the text of an error in a frame to 16 KiB. */
const FRAME_BYTES_MAX = 32_768;
/** Of an error that is the whole answer; the rest is not kept. */
const ERROR_BYTES_MAX = 65_536;
/** Rows are parsed whenever so many bytes of them have arrived. */
const PIECE_BYTES = 1_048_576;
const NEWLINE = 10;

/** Rows of an answer in JSONEachRow. */
export async function readRows<Row>(answer: IncomingMessage): Promise<Row[]> {
  const tag = await readTag(answer);
  const rows: Row[] = [];
  let pieces: Buffer[] = [];
  let bytes = 0;
  const failure = await takeChunks(answer, (chunk) => {
    pieces.push(chunk);
    bytes += chunk.length;
    if (bytes < PIECE_BYTES) return;
    const piece = Buffer.concat(pieces, bytes);
    // What may be part of a frame waits for the end.
    const end = piece.lastIndexOf(NEWLINE, piece.length - FRAME_BYTES_MAX) + 1;
    addRows(rows, piece.subarray(0, end));
    pieces = [piece.subarray(end)];
    bytes = piece.length - end;
  });
  addRows(rows, checkedEnd(Buffer.concat(pieces, bytes), tag, failure));
  return rows;
}

/** The whole body of an answer. */
export async function readBytes(answer: IncomingMessage): Promise<Buffer> {
  const tag = await readTag(answer);
  const pieces: Buffer[] = [];
  const failure = await takeChunks(answer, (chunk) => void pieces.push(chunk));
  return checkedEnd(Buffer.concat(pieces), tag, failure);
}

/** The bytes, which are the last of an answer, unless they end in an error or the answer broke off. */
function checkedEnd(bytes: Buffer, tag: string, failure: unknown): Buffer {
  const error = findFramedError(bytes, tag);
  if (error !== null) throw error;
  if (failure !== null) throw failure;
  return bytes;
}

/** The error whose frame ends the bytes; null where they end in anything else. */
export function findFramedError(bytes: Buffer, tag: string): EngineError | null {
  const closing = Buffer.from(` ${tag}${MARKER}`);
  const closingAt = bytes.length - closing.length;
  if (closingAt < 0 || !bytes.subarray(closingAt).equals(closing)) return null;
  const lengthAt = bytes.lastIndexOf(NEWLINE, closingAt) + 1;
  const length = bytes.toString('latin1', lengthAt, closingAt);
  if (!/^\d{1,9}$/.test(length)) return null;
  const textAt = lengthAt - Number(length);
  const opening = Buffer.from(`${MARKER}${tag}\r\n`);
  const openingAt = textAt - opening.length;
  if (openingAt < 0 || !bytes.subarray(openingAt, textAt).equals(opening)) return null;
  return toEngineError(bytes.toString('utf8', textAt, lengthAt));
}

/** The tag of an answer that began well; throws the error that is the whole answer. */
async function readTag(answer: IncomingMessage): Promise<string> {
  const code = answer.headers[CODE_HEADER.toLowerCase()];
  if (answer.statusCode !== 200 || code !== undefined) throw await readError(answer, code);
  const tag = answer.headers[TAG_HEADER.toLowerCase()];
  if (typeof tag === 'string' && tag !== '') return tag;
  answer.destroy();
  throw new Error(
    `an answer without the header ${TAG_HEADER}, which ClickHouse sends since 25.11: the server is too old, or a proxy removes the header`,
  );
}

async function readError(answer: IncomingMessage, code: string | string[] | undefined): Promise<unknown> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const failure = await takeChunks(answer, (chunk) => {
    if (bytes < ERROR_BYTES_MAX) pieces.push(chunk);
    bytes += chunk.length;
  });
  const text = Buffer.concat(pieces).toString('utf8', 0, ERROR_BYTES_MAX);
  if (code !== undefined) return toEngineError(text, Number(code));
  return failure ?? new Error(`status ${answer.statusCode}: ${text}`);
}

/**
 * Resolves when the answer has ended: null, or why it broke off. By events: an async iterator makes promises for each
 * chunk.
 */
function takeChunks(answer: IncomingMessage, take: (chunk: Buffer) => void): Promise<unknown> {
  return new Promise((resolve) => {
    answer.on('data', (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        resolve(error);
        answer.destroy();
      }
    });
    answer.once('end', () => resolve(null));
    answer.once('error', resolve);
    answer.once('close', () => resolve(Object.assign(new Error('aborted'), { code: 'ECONNRESET' })));
  });
}

/** `bytes`: whole lines, each a row. */
function addRows<Row>(rows: Row[], bytes: Buffer): void {
  const text = bytes.toString().trimEnd();
  if (text === '') return;
  const more: Row[] = JSON.parse(`[${text.replaceAll('\n', ',')}]`);
  for (const row of more) rows.push(row);
}
