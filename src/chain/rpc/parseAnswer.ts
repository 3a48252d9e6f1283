/** Turns the bytes of an answer into JSON. Large ones are parsed in slices. */
import { isAscii } from 'node:buffer';

import { TimeSlices, type Clock } from './clock';
import { parseSliced } from './slicedJson';

/** JSON.parse takes at most some tens of milliseconds for so many bytes, whatever they are. */
const SMALL_BYTES = 2 ** 18;

/** undefined for what is not JSON. Empties `pieces`, so that the bytes are not held twice. */
export async function parseAnswer(pieces: Buffer[], clock: Clock): Promise<unknown> {
  const bytes = await join(pieces, clock);
  if (bytes.length > SMALL_BYTES) return parseSliced(bytes, clock);
  try {
    return JSON.parse(bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8'));
  } catch {
    return undefined;
  }
}

/** Buffer.concat in steps: new memory is slow to write. */
async function join(pieces: Buffer[], clock: Clock): Promise<Buffer> {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  const slices = new TimeSlices(clock);
  const bytes = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    at += piece.copy(bytes, at);
    if (bytes.length > SMALL_BYTES) await slices.step();
  }
  pieces.length = 0;
  return bytes;
}
