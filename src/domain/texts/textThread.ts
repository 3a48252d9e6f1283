/**
 * Parses and hashes long texts in one worker thread, one text after another, so that the main thread stays free for
 * requests. The thread starts with the first long text, and ends with the process.
 */
import { z } from 'zod';

import { isHash, ZERO_HASH, type Hex } from '../hex';
import { TaskThread } from '../threads/taskThread';
import { isWithin, type JsonBounds } from './jsonShape';

/** A text of at most this many characters takes less time in the main thread than its way to the other thread. */
const SHORT_LENGTH_MAX = 65_536;

const SCRIPT = `
const hasher = require(workerData.hashWasm).createKeccak(256);
const isWithin = ${isWithin.toString()};
const parse = ${parse.toString()};
const work = async ({ text, bounds, texts }) => {
  if (texts === undefined) return parse(text, bounds, isWithin);
  const keccak = await hasher;
  return texts.map((each) => '0x' + keccak.init().update(each).digest());
};
`;

type Parsed = { readonly value: unknown } | { readonly fault: 'bounds' | 'syntax' };

type Task = { readonly text: string; readonly bounds: JsonBounds } | { readonly texts: readonly string[] };

const parsedShape = z.union([
  z.object({ fault: z.enum(['bounds', 'syntax']) }),
  z.object({ value: z.unknown() }),
]);
const hashesShape = z.array(z.custom<Hex>(isHash));

/** Like `isWithin`, this function runs in both threads. */
function parse(text: string, bounds: JsonBounds, isWithinBounds: typeof isWithin): Parsed {
  if (!isWithinBounds(text, bounds)) return { fault: 'bounds' };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { fault: 'syntax' };
  }
}

let thread: TaskThread | null = null;

function run(task: Task): Promise<unknown> {
  const hashWasm = require.resolve('hash-wasm');
  thread ??= new TaskThread(SCRIPT, { hashWasm }, () => (thread = null));
  return thread.run(task);
}

/** The value of a JSON text, or why it has none. */
export async function parseJsonText(text: string, bounds: JsonBounds): Promise<Parsed> {
  if (text.length <= SHORT_LENGTH_MAX) return parse(text, bounds, isWithin);
  return parsedShape.parse(await run({ text, bounds }));
}

/** The keccak256 of each text as UTF-8. */
export async function hashTexts(texts: readonly string[]): Promise<readonly Hex[]> {
  return hashesShape.parse(await run({ texts }));
}

/** The texts by their keccak256. */
export async function mapByHash(texts: readonly string[]): Promise<ReadonlyMap<Hex, string>> {
  const hashes = await hashTexts(texts);
  return new Map(texts.map((text, index) => [hashes[index] ?? ZERO_HASH, text]));
}
