import { crc32, inflateSync } from 'node:zlib';

import { pngFile } from '../../../../src/api/preview/pngFile';
import { Random } from '../../../support/random';
import { SEED } from '../../../support/run/seed';

/** The chunks of a PNG by type, with their checksums compared. */
function chunksOf(png: Buffer): [type: string, data: Buffer][] {
  const chunks: [string, Buffer][] = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const typed = png.subarray(at + 4, at + 8 + length);
    expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(typed));
    chunks.push([typed.toString('latin1', 0, 4), typed.subarray(4)]);
    at += 12 + length;
  }
  return chunks;
}

test.each([
  [1, 1],
  [3, 16],
  [5, 17],
  [200, 40],
])('a PNG file of %i×%i pixels has these pixels', async (width, height) => {
  const random = new Random(SEED);
  const pixels = Buffer.from(Array.from({ length: width * height * 4 }, () => random.int(0, 255)));
  const chunks = chunksOf(await pngFile(pixels, width, height));
  expect(chunks.map(([type]) => type)).toEqual(['IHDR', 'IDAT', 'IEND']);
  const [[, header], [, data]] = [chunks[0]!, chunks[1]!];
  const facts = [header.readUInt32BE(0), header.readUInt32BE(4), ...header.subarray(8)];
  expect(facts).toEqual([width, height, 8, 6, 0, 0, 0]);
  const rows = inflateSync(data);
  const row = width * 4 + 1;
  expect(rows.length).toBe(row * height);
  const kept = Array.from({ length: height }, (_, y) => rows.subarray(y * row + 1, (y + 1) * row));
  expect(Buffer.concat(kept).equals(pixels)).toBe(true);
});
