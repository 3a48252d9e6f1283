/** Creates the log: pino, with a child logger for each module. Messages are constant sentences; values go
 * into fields. */
import pino, { type DestinationStream, type Logger } from 'pino';

import { cutText } from './errors';

export type { Logger };

/** Size limit of a log line in bytes, with its newline. Clients and nodes can cause errors of a megabyte. */
export const LOG_LINE_BYTES_MAX = 2_048;
/** Lengths to which texts of a long line are cut. The first length with which the line fits is used. */
const TEXT_LENGTHS = [1_024, 512, 256, 128, 64, 16];
/** Number of entries of a list or object that stay in a long line. */
const ENTRIES_MAX = 20;
const DEPTH_MAX = 4;

/**
 * Creates the root logger. On a terminal, lines are readable text; otherwise each line is a JSON object.
 * `level` is a pino level or `silent`. The default of `destination` is standard output.
 */
export function createLog(
  level: string,
  pretty = process.stdout.isTTY === true,
  destination?: DestinationStream,
): Logger {
  const redact = { paths: ['*.password', 'password'], censor: '…' };
  const options = { level, base: null, redact, hooks: { streamWrite: boundLine } };
  if (destination !== undefined) return pino(options, destination);
  if (!pretty) return pino(options);
  const target = { target: 'pino-pretty', options: { translateTime: 'HH:MM:ss', ignore: 'pid,hostname' } };
  return pino({ ...options, transport: target });
}

/** The line, or a copy of at most LOG_LINE_BYTES_MAX bytes with shortened texts. */
function boundLine(line: string): string {
  if (Buffer.byteLength(line) <= LOG_LINE_BYTES_MAX) return line;
  const entry: Readonly<Record<string, unknown>> = JSON.parse(line);
  for (const length of TEXT_LENGTHS) {
    const shorter = `${JSON.stringify(shorten(entry, length, DEPTH_MAX))}\n`;
    if (Buffer.byteLength(shorter) <= LOG_LINE_BYTES_MAX) return shorter;
  }
  const { level, time, msg } = entry;
  return `${JSON.stringify({ level, time, msg: cutText(String(msg), 256) })}\n`;
}

function shorten(value: unknown, length: number, depth: number): unknown {
  if (typeof value === 'string') return cutText(value, length);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '…';
  if (Array.isArray(value))
    return value.slice(0, ENTRIES_MAX).map((each) => shorten(each, length, depth - 1));
  const keptEntries = Object.entries(value).slice(0, ENTRIES_MAX);
  return Object.fromEntries(
    keptEntries.map(([name, each]) => [cutText(name, 64), shorten(each, length, depth - 1)]),
  );
}
