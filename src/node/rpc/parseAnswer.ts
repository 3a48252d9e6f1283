/**
 * Parses the bytes of an answer as JSON. Large answers are parsed in slices, so that the event loop is not
 * blocked.
 */
import { isAscii } from 'node:buffer';

import { createSlices } from '../../domain/slices';
import type { Clock } from './clock';
import { parseSliced } from './slicedJson';

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
