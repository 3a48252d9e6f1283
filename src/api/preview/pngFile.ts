/**
 * Writes pixels as a PNG file (https://www.w3.org/TR/png-3/). resvg can do this too, but only on the event loop, where it takes
 * longer than other requests should wait. Here the compression runs in Node's thread pool.
 */
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflate } from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const EMPTY = Buffer.alloc(0);
const BIT_DEPTH = 8;
const COLOUR_TYPE_RGBA = 6;
const BYTES_PER_PIXEL = 4;
/** Other work of the event loop runs between these parts. */
const ROWS_AT_ONCE = 16;

/** `pixels` has four bytes a pixel: red, green, blue and opacity. */
export async function pngFile(pixels: Buffer, width: number, height: number): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = BIT_DEPTH;
  header[9] = COLOUR_TYPE_RGBA;
  const parts: Buffer[] = [];
  const rows = listRows(pixels, width, height);
  await pipeline(rows, createDeflate(), async (compressed: AsyncIterable<Buffer>) => {
    for await (const part of compressed) parts.push(part);
  });
  const data = Buffer.concat(parts);
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', EMPTY)]);
}

/** The rows of the picture, some at a time. Each row begins with the number of its filter; 0 is none. */
function* listRows(pixels: Buffer, width: number, height: number): Generator<Buffer> {
  const row = width * BYTES_PER_PIXEL;
  for (let top = 0; top < height; top += ROWS_AT_ONCE) {
    const count = Math.min(ROWS_AT_ONCE, height - top);
    const rows = Buffer.alloc((row + 1) * count);
    for (let y = 0; y < count; y += 1)
      pixels.copy(rows, y * (row + 1) + 1, (top + y) * row, (top + y + 1) * row);
    yield rows;
  }
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}
