/**
 * Reads bodies of the Etherscan dialect: a form or flat JSON. Limits the size by action, and the depth before parsing.
 */
import { parseJsonText } from '../../domain/texts/textThread';
import { createSlices } from '../../domain/time/slices';
import { bodyReader } from '../bodyReader';
import type { RouteContext } from '../route';
import { dialectError, TEXTS } from './answers';
import { BODY_MAX, VERIFY_BODY_MAX } from './mounts';

/** The only action with large bodies, because callers send sources. */
const VERIFY_ACTION = 'verifysourcecode';
const JSON_BOUNDS = { depthMax: 8, partsMax: 1_000 };
const PAIRS_MAX = 1_000;
/** Length of the pieces in which a form is decoded, so that one long value does not block other requests. */
const PIECE_CHARS = 65_536;

const JSON_TYPES = ['application/json', 'application/*+json'];
const FORM_TYPES = ['application/x-www-form-urlencoded'];

function readerOf(bytesMax: number): (ctx: RouteContext) => Promise<Buffer> {
  return bodyReader({
    mediaTypes: [...JSON_TYPES, ...FORM_TYPES],
    bytesMax,
    refuse: (large) => dialectError(large ? tooLargeText(bytesMax) : TEXTS.badBody),
  });
}

const readShortBody = readerOf(BODY_MAX);
const readLongBody = readerOf(VERIFY_BODY_MAX);

const tooLargeText = (bytesMax: number): string =>
  bytesMax === BODY_MAX ? TEXTS.largeShortBody : TEXTS.largeBody;

/**
 * The names and values of a body, in order. `action` is the action in the query string, or null if the body
 * names the action. Throws bad_request for a body that is too large for its action, too deep, or neither form
 * nor JSON.
 */
export async function readBody(
  ctx: RouteContext,
  action: string | null,
): Promise<readonly (readonly [name: string, value: string])[]> {
  const isVerify = action?.toLowerCase() === VERIFY_ACTION;
  const bytes = await (action === null || isVerify ? readLongBody : readShortBody)(ctx);
  const isJson = ctx.is(JSON_TYPES) !== false;
  const isLong = bytes.length > BODY_MAX;
  if (isLong && !isVerify && !mentionsVerify(bytes)) throw dialectError(TEXTS.largeShortBody);
  const text = bytes.toString();
  const entries = await (isJson ? parseJson(text) : parseForm(text));
  if (isLong && !isVerify && !isVerifyCall(entries)) throw dialectError(TEXTS.largeShortBody);
  return entries;
}

/** Whether the bytes contain the name of the action. Checked in overlapping pieces before decoding. */
function mentionsVerify(bytes: Buffer): boolean {
  for (let pieceStart = 0; pieceStart < bytes.length; pieceStart += PIECE_CHARS) {
    const piece = bytes.toString('latin1', pieceStart, pieceStart + PIECE_CHARS + VERIFY_ACTION.length);
    if (/verifysourcecode/i.test(piece)) return true;
  }
  return false;
}

function isVerifyCall(entries: readonly (readonly [string, string])[]): boolean {
  const [, action] = entries.find(([name]) => name.toLowerCase() === 'action') ?? [];
  return action?.trim().toLowerCase() === VERIFY_ACTION;
}

/** Takes the first item of a list value. Skips values that are not text, number or boolean. */
async function parseJson(text: string): Promise<[string, string][]> {
  if (text === '') return [];
  const parsed = await parseJsonText(text, JSON_BOUNDS);
  const body = 'value' in parsed ? parsed.value : null;
  if (typeof body !== 'object' || body === null) throw dialectError(TEXTS.badBody);
  return Object.entries(body).flatMap(([name, value]): [string, string][] => {
    const firstValue: unknown = Array.isArray(value) ? value[0] : value;
    const isPlain =
      typeof firstValue === 'string' || typeof firstValue === 'number' || typeof firstValue === 'boolean';
    return isPlain ? [[name, String(firstValue)]] : [];
  });
}

async function parseForm(text: string): Promise<[string, string][]> {
  const pairs = text.split('&', PAIRS_MAX + 1);
  if (pairs.length > PAIRS_MAX) throw dialectError(TEXTS.badBody);
  const slices = createSlices();
  const entries: [string, string][] = [];
  for (const pair of pairs) {
    if (pair.length <= PIECE_CHARS) {
      entries.push(...new URLSearchParams(`&${pair}`));
      continue;
    }
    const equalsAt = pair.indexOf('=');
    // Skips a pair without `=`, and a pair whose name is longer than that of any parameter.
    if (equalsAt === -1 || equalsAt > PIECE_CHARS) continue;
    const name = decodePiece(pair.slice(0, equalsAt));
    const pieces: string[] = [];
    for (let pieceStart = equalsAt + 1; pieceStart < pair.length;) {
      const pieceEnd = endOfPiece(pair, pieceStart + PIECE_CHARS);
      pieces.push(decodePiece(pair.slice(pieceStart, pieceEnd)));
      pieceStart = pieceEnd;
      if (slices.isOver()) await slices.giveWay();
    }
    entries.push([name, pieces.join('')]);
  }
  return entries;
}

/** Decodes a part of a name or a value: `+` and escaped bytes. */
function decodePiece(text: string): string {
  return new URLSearchParams(`=${text}`).get('') ?? '';
}

/**
 * The position where a piece of the body ends, at most `latestEnd`. Never splits an escaped byte (%E2), an escaped
 * character (%E2%82%AC) or a surrogate pair.
 */
function endOfPiece(text: string, latestEnd: number): number {
  if (latestEnd >= text.length) return text.length;
  let end = latestEnd;
  if (/^[\udc00-\udfff]/.test(text.slice(end, end + 1))) end -= 1;
  if (text[end - 1] === '%') end -= 1;
  else if (text[end - 2] === '%') end -= 2;
  // A UTF-8 character has at most three continuation bytes (80 to BF).
  let characterStart = end;
  for (
    let stepsBack = 0;
    stepsBack < 3 && isContinuation(text, characterStart) && text[characterStart - 3] === '%';
    stepsBack += 1
  )
    characterStart -= 3;
  return isContinuation(text, characterStart) ? end : characterStart;
}

function isContinuation(text: string, position: number): boolean {
  return /^%[89abAB]/.test(text.slice(position, position + 2));
}
