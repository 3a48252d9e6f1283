/**
 * Reads bodies of the Etherscan dialect: a form or flat JSON. Limits the size by action, and the depth before parsing.
 */
import { parseJsonText } from '../../domain/texts/textThread';
import { createSlices } from '../../domain/slices';
import { bodyReader } from '../bodyReader';
import type { RouteContext } from '../route';
import { dialectError, TEXTS } from './answers';
import { BODY_MAX, VERIFY_BODY_MAX } from './mounts';

/** The only action with large bodies, because callers send sources. */
const VERIFY = 'verifysourcecode';
const JSON_BOUNDS = { depthMax: 8, partsMax: 1_000 };
const PAIRS_MAX = 1_000;
/** Length of the pieces in which a form is decoded, so that one long value does not block other requests. */
const PIECE = 65_536;

const JSON_TYPES = ['application/json', 'application/*+json'];
const FORM_TYPES = ['application/x-www-form-urlencoded'];

function readerOf(bytesMax: number): (ctx: RouteContext) => Promise<Buffer> {
  return bodyReader({
    mediaTypes: [...JSON_TYPES, ...FORM_TYPES],
    bytesMax,
    refuse: (large) => dialectError(large ? tooLarge(bytesMax) : TEXTS.badBody),
  });
}

const readShort = readerOf(BODY_MAX);
const readLong = readerOf(VERIFY_BODY_MAX);

const tooLarge = (limit: number): string => (limit === BODY_MAX ? TEXTS.largeShortBody : TEXTS.largeBody);

/**
 * The names and values of a body, in order. `action` is the action in the query string, or null if the body
 * names the action. Throws bad_request for a body that is too large for its action, too deep, or neither form
 * nor JSON.
 */
export async function readBody(
  ctx: RouteContext,
  action: string | null,
): Promise<readonly (readonly [name: string, value: string])[]> {
  const isVerify = action?.toLowerCase() === VERIFY;
  const bytes = await (action === null || isVerify ? readLong : readShort)(ctx);
  const isJson = ctx.is(JSON_TYPES) !== false;
  const isLong = bytes.length > BODY_MAX;
  if (isLong && !isVerify && !mayVerify(bytes)) throw dialectError(TEXTS.largeShortBody);
  const text = bytes.toString();
  const entries = await (isJson ? parseJson(text) : parseForm(text));
  if (isLong && !isVerify && !verifies(entries)) throw dialectError(TEXTS.largeShortBody);
  return entries;
}

/** Whether the bytes contain the name of the action. Checked in overlapping pieces before decoding. */
function mayVerify(bytes: Buffer): boolean {
  for (let from = 0; from < bytes.length; from += PIECE) {
    const piece = bytes.toString('latin1', from, from + PIECE + VERIFY.length);
    if (/verifysourcecode/i.test(piece)) return true;
  }
  return false;
}

function verifies(entries: readonly (readonly [string, string])[]): boolean {
  const [, action] = entries.find(([name]) => name.toLowerCase() === 'action') ?? [];
  return action?.trim().toLowerCase() === VERIFY;
}

/** Takes the first item of a list value. Skips values that are not text, number or boolean. */
async function parseJson(text: string): Promise<[string, string][]> {
  if (text === '') return [];
  const parsed = await parseJsonText(text, JSON_BOUNDS);
  const body = 'value' in parsed ? parsed.value : null;
  if (typeof body !== 'object' || body === null) throw dialectError(TEXTS.badBody);
  return Object.entries(body).flatMap(([name, value]): [string, string][] => {
    const single: unknown = Array.isArray(value) ? value[0] : value;
    const isPlain = typeof single === 'string' || typeof single === 'number' || typeof single === 'boolean';
    return isPlain ? [[name, String(single)]] : [];
  });
}

async function parseForm(text: string): Promise<[string, string][]> {
  const pairs = text.split('&', PAIRS_MAX + 1);
  if (pairs.length > PAIRS_MAX) throw dialectError(TEXTS.badBody);
  const slices = createSlices();
  const entries: [string, string][] = [];
  for (const pair of pairs) {
    if (pair.length <= PIECE) {
      entries.push(...new URLSearchParams(`&${pair}`));
      continue;
    }
    const equalsAt = pair.indexOf('=');
    // Skips a pair without `=`, and a pair whose name is longer than that of any parameter.
    if (equalsAt === -1 || equalsAt > PIECE) continue;
    const [[name] = ['']] = [...new URLSearchParams(`&${pair.slice(0, equalsAt)}=`)];
    const pieces: string[] = [];
    for (let from = equalsAt + 1; from < pair.length;) {
      const end = endOfPiece(pair, from + PIECE);
      pieces.push(new URLSearchParams(`=${pair.slice(from, end)}`).get('') ?? '');
      from = end;
      if (slices.isOver()) await slices.giveWay();
    }
    entries.push([name, pieces.join('')]);
  }
  return entries;
}

/**
 * The position where a piece of the body ends, at most `at`. Never splits an escaped byte (%E2), an escaped
 * character (%E2%82%AC) or a surrogate pair.
 */
function endOfPiece(text: string, at: number): number {
  if (at >= text.length) return text.length;
  let end = at;
  if (/^[\udc00-\udfff]/.test(text.slice(end, end + 1))) end -= 1;
  if (text[end - 1] === '%') end -= 1;
  else if (text[end - 2] === '%') end -= 2;
  // A UTF-8 character has at most three continuation bytes (80 to BF).
  let first = end;
  for (let back = 0; back < 3 && isContinuation(text, first) && text[first - 3] === '%'; back += 1)
    first -= 3;
  return isContinuation(text, first) ? end : first;
}

function isContinuation(text: string, at: number): boolean {
  return /^%[89abAB]/.test(text.slice(at, at + 2));
}
