/**
 * Unpacks a WOFF font (https://www.w3.org/TR/WOFF/) into the form that programs outside of browsers read: the same tables
 * without compression.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { inflateSync } from 'node:zlib';

/** Lengths in bytes of the header and of one entry of the table directory, in both forms. */
const WOFF_HEADER = 44;
const WOFF_ENTRY = 20;
const SFNT_HEADER = 12;
const SFNT_ENTRY = 16;

/** Reads the WOFF file `from` and writes the font to `to`. */
export function unpackFont(from, to) {
  const woff = readFileSync(from);
  const count = woff.readUInt16BE(12);
  const directory = Buffer.alloc(SFNT_HEADER + SFNT_ENTRY * count);
  // The header: the flavour of the font, the number of tables, and three values for a binary search over the entries.
  woff.copy(directory, 0, 4, 8);
  directory.writeUInt16BE(count, 4);
  const exponent = Math.floor(Math.log2(count));
  const searchRange = SFNT_ENTRY * 2 ** exponent;
  directory.writeUInt16BE(searchRange, 6);
  directory.writeUInt16BE(exponent, 8);
  directory.writeUInt16BE(SFNT_ENTRY * count - searchRange, 10);
  const parts = [directory];
  let end = directory.length;
  for (let index = 0; index < count; index += 1) {
    const entry = WOFF_HEADER + WOFF_ENTRY * index;
    const [offset, storedLength, length] = [4, 8, 12].map((field) => woff.readUInt32BE(entry + field));
    const storedTable = woff.subarray(offset, offset + storedLength);
    const table = storedLength < length ? inflateSync(storedTable) : storedTable;
    const target = SFNT_HEADER + SFNT_ENTRY * index;
    // The tag and the checksum.
    woff.copy(directory, target, entry, entry + 4);
    woff.copy(directory, target + 4, entry + 16, entry + 20);
    directory.writeUInt32BE(end, target + 8);
    directory.writeUInt32BE(length, target + 12);
    // A table begins at a multiple of four bytes.
    const padding = Buffer.alloc((4 - (length % 4)) % 4);
    parts.push(table, padding);
    end += length + padding.length;
  }
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, Buffer.concat(parts));
}
