/** Splits a stream of bytes into lines of JSON (NDJSON). Bounds the length of a line and the time between two pieces. */
import { AppError } from '../../errors';

/** Longest line, which is one block, in bytes. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Yields the text of each line. `onPiece` is called for each piece of the stream. @throws AppError `bad_config` if a line is too
 * long or empty
 */
export async function* readLines(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  onPiece: () => void,
): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    onPiece();
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, from)) {
      parts.push(piece.subarray(from, end));
      const line = Buffer.concat(parts).toString('utf8');
      if (line === '')
        throw new AppError('bad_config', `${name}: got an empty line; allowed: a block per line`);
      yield line;
      parts = [];
      size = 0;
      from = end + 1;
    }
    size += piece.length - from;
    if (size > LINE_BYTES_MAX)
      throw new AppError('bad_config', `${name}: a line has more than ${LINE_BYTES_MAX} bytes`);
    if (from < piece.length) parts.push(piece.subarray(from));
  }
  if (size > 0) yield Buffer.concat(parts).toString('utf8');
}
