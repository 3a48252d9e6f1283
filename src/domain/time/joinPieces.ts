/** Joins long bytes in slices, because writing to newly allocated memory is slow: hundreds of megabytes take a second. */
import { createSlices, type Slices } from './slices';

/** Up to this many bytes are joined at once. */
const SMALL_BYTES = 2 ** 18;

/** Joins the pieces like Buffer.concat, and empties the list, so that memory does not hold the bytes twice for long. */
export async function joinPieces(pieces: Buffer[], slices: Slices = createSlices()): Promise<Buffer> {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  const bytes = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, 0));
  let copied = 0;
  for (const piece of pieces) {
    copied += piece.copy(bytes, copied);
    if (bytes.length > SMALL_BYTES) await slices.step();
  }
  pieces.length = 0;
  return bytes;
}
