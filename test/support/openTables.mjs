/**
 * Reads tables with the packages that analysts use: Parquet with hyparquet, Arrow with apache-arrow. Gets
 * `[[format, base64], …]` on the standard input and prints `[[row, …], …]` as JSON. A separate program, because
 * hyparquet is an ES module.
 */
import { text } from 'node:stream/consumers';

import { tableFromIPC } from 'apache-arrow';
import { parquetReadObjects } from 'hyparquet';

/** The packages return 64-bit integers as bigint. Integers of the API are below 2^53, so they fit a number. */
const toPlainRow = (row) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? Number(value) : (value ?? null),
    ]),
  );

async function readRows(format, bytes) {
  if (format === 'arrow') return [...tableFromIPC(bytes)].map((row) => toPlainRow(row.toJSON()));
  const file = new Uint8Array(bytes).buffer;
  return (await parquetReadObjects({ file })).map(toPlainRow);
}

const files = JSON.parse(await text(process.stdin));
const tables = [];
for (const [format, base64] of files) tables.push(await readRows(format, Buffer.from(base64, 'base64')));
process.stdout.write(JSON.stringify(tables));
