/** Serializes answers as JSON with an ETag. Long lists are written in slices, so other requests can run in between. */
import { createHash } from 'node:crypto';

import { createSlices, type Slices } from '../domain/time/slices';
import { etagOf } from './etag';

interface JsonBody {
  readonly body: Buffer | string;
  readonly etag: string;
}

/** A text longer than this is built and hashed in pieces. It is sent as bytes, so the socket needs no further
 * copy. */
const PIECE_CHARS = 524_288;

/** Gives the same text as JSON.stringify, in slices. */
export async function toJsonBody(answer: unknown): Promise<JsonBody> {
  if (typeof answer !== 'object' || answer === null) {
    const text = JSON.stringify(answer);
    return { body: text, etag: etagOf(text) };
  }
  const slices = createSlices();
  const pieces: Buffer[] = [];
  const hash = createHash('sha1');
  let text = '';
  const endPiece = (): void => {
    const piece = Buffer.from(text);
    hash.update(piece);
    pieces.push(piece);
    text = '';
  };
  const write = async (moreText: string): Promise<void> => {
    text += moreText;
    if (text.length > PIECE_CHARS) endPiece();
    if (slices.isOver()) await slices.giveWay();
  };
  await writeObject(answer, write, slices);
  if (pieces.length === 0) return { body: text, etag: etagOf(text) };
  endPiece();
  return { body: Buffer.concat(pieces), etag: `"${hash.digest('base64url')}"` };
}

type Write = (text: string) => Promise<void>;

async function writeObject(answer: object, write: Write, slices: Slices): Promise<void> {
  if (Array.isArray(answer)) return writeList(answer, write, slices);
  const values = Object.entries(answer).filter(([, value]) => value !== undefined);
  let text = '{';
  for (const [index, [name, value]] of values.entries()) {
    text += `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`;
    if (Array.isArray(value)) {
      await write(text);
      text = '';
      await writeList(value, write, slices);
    } else text += JSON.stringify(value);
  }
  await write(`${text}}`);
}

async function writeList(items: readonly unknown[], write: Write, slices: Slices): Promise<void> {
  let text = '[';
  for (const [index, item] of items.entries()) {
    text += `${index > 0 ? ',' : ''}${JSON.stringify(item) ?? 'null'}`;
    if (text.length < PIECE_CHARS && !slices.isOver()) continue;
    await write(text);
    text = '';
  }
  await write(`${text}]`);
}
