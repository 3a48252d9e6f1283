/** Turns the bytes of an answer into JSON, with a turn of the event loop between the steps of a large one. */
import { isAscii } from 'node:buffer';

import type { Clock } from './clock';

/** Bytes from which each step takes milliseconds. */
const LARGE_BYTES = 2 ** 20;

/** undefined for what is not JSON. Empties `pieces`, so that the bytes are not held twice. */
export async function parseAnswer(pieces: Buffer[], clock: Clock): Promise<unknown> {
  const [first] = pieces;
  const bytes = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
  pieces.length = 0;
  if (bytes.length < LARGE_BYTES) return parseJson(decode(bytes));
  await clock.turn();
  const text = decode(bytes);
  await clock.turn();
  return parseJson(text);
}

/** Almost all answers are ASCII, which is decoded three times as fast as UTF-8. */
function decode(bytes: Buffer): string {
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
