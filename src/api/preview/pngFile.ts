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
const ROWS_PER_PART = 16;

/** `pixels` has four bytes a pixel: red, green, blue and opacity. */
export async function pngFile(pixels: Buffer, width: number, height: number): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = BIT_DEPTH;
  header[9] = COLOUR_TYPE_RGBA;
  const chunks: Buffer[] = [];
  const rows = listRows(pixels, width, height);
  await pipeline(rows, createDeflate(), async (compressed: AsyncIterable<Buffer>) => {
    for await (const chunk of compressed) chunks.push(chunk);
  });
  const data = Buffer.concat(chunks);
  return Buffer.concat([
    SIGNATURE,
    pngChunk('IHDR', header),
    pngChunk('IDAT', data),
    pngChunk('IEND', EMPTY),
  ]);
}

/** The rows of the picture, some at a time. Each row begins with the number of its filter; 0 is none. */
function* listRows(pixels: Buffer, width: number, height: number): Generator<Buffer> {
  const rowBytes = width * BYTES_PER_PIXEL;
  for (let firstRow = 0; firstRow < height; firstRow += ROWS_PER_PART) {
    const rowCount = Math.min(ROWS_PER_PART, height - firstRow);
    const rows = Buffer.alloc((rowBytes + 1) * rowCount);
    for (let y = 0; y < rowCount; y += 1)
      pixels.copy(rows, y * (rowBytes + 1) + 1, (firstRow + y) * rowBytes, (firstRow + y + 1) * rowBytes);
    yield rows;
  }
}

function pngChunk(type: string, data: Buffer): Buffer {
  const typeAndData = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [lengthField, checksumField] = [Buffer.alloc(4), Buffer.alloc(4)];
  lengthField.writeUInt32BE(data.length);
  checksumField.writeUInt32BE(crc32(typeAndData));
  return Buffer.concat([lengthField, typeAndData, checksumField]);
}
