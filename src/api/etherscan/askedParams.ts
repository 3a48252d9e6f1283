/**
 * Parameters of a call in the Etherscan dialect: query and body, merged under lower-case names, and parsers
 * for the values.
 */
import { isAddress, isHash, toLowerHex, type Hex } from '../../domain/hex';
import type { RouteContext } from '../route';
import { dialectError, TEXTS } from './answers';
import { readBody } from './readBody';

/** Largest allowed product of page number and page size. */
const RESULT_WINDOW_MAX = 10_000;
/** Block numbers have 32 bits. A larger number is above any head. */
const BLOCK_MAX = 4_294_967_295;

/**
 * The values by lower-case name. If a name is repeated, its first value is used. The query string comes before the
 * body.
 */
export type AskedParams = ReadonlyMap<string, string>;

export async function readAsked(ctx: RouteContext): Promise<AskedParams> {
  const asked = new Map<string, string>();
  const addParam = (name: string, value: string): void => {
    const lowerName = name.toLowerCase();
    // A newline at the end of a source changes its hash, so the text of a source is not trimmed.
    if (!asked.has(lowerName)) asked.set(lowerName, lowerName === 'sourcecode' ? value : value.trim());
  };
  for (const [name, value] of new URLSearchParams(ctx.querystring)) addParam(name, value);
  if (ctx.method !== 'POST') return asked;
  // The action decides how large the body may be: verifysourcecode accepts more bytes than the others.
  for (const [name, value] of await readBody(ctx, textOf(asked, 'action'))) addParam(name, value);
  return asked;
}

/** The text of a parameter. An empty text counts as absent. */
export function textOf(asked: AskedParams, name: string): string | null {
  const text = asked.get(name.toLowerCase());
  return text === undefined || text === '' ? null : text;
}

/** Parses an address in any letter case. The Etherscan dialect ignores checksums. */
export function addressOf(text: string): Hex {
  const hex = text.startsWith('0X') ? `0x${text.slice(2)}` : text;
  if (!isAddress(hex)) throw dialectError(TEXTS.badAddress);
  return toLowerHex(hex);
}

export function needAddress(asked: AskedParams, name = 'address'): Hex {
  const text = textOf(asked, name);
  if (text === null) throw dialectError(TEXTS.noAddress);
  return addressOf(text);
}

export function findAddressParam(asked: AskedParams, name = 'address'): Hex | null {
  const text = textOf(asked, name);
  return text === null ? null : addressOf(text);
}

export const badFormat = (name: string): Error => dialectError(`Error! Invalid ${name} format`);

export function findHashParam(asked: AskedParams, name: string): Hex | null {
  const text = textOf(asked, name);
  if (text === null) return null;
  const hex = text.startsWith('0X') ? `0x${text.slice(2)}` : text;
  if (!isHash(hex)) throw badFormat(name);
  return toLowerHex(hex);
}

/** Parses a decimal or 0x-hex number. A number above `max` gives `max`. */
export function numberOf(text: string, name: string, max = BLOCK_MAX): number {
  if (!/^(?:\d{1,78}|0[xX][0-9a-fA-F]{1,64})$/.test(text)) throw badFormat(name);
  return Math.min(Number(text), max);
}

interface AskedPage {
  readonly skip: number;
  readonly limit: number;
}

/** Reads `page` and `offset` (the page size). If absent or 0, `page` is 1 and `offset` is `limitMax`. */
export function readPage(asked: AskedParams, limitMax: number): AskedPage {
  const page = numberOf(textOf(asked, 'page') ?? '1', 'page') || 1;
  const pageSize = numberOf(textOf(asked, 'offset') ?? '0', 'offset') || limitMax;
  const limit = Math.min(pageSize, limitMax);
  if (page * (textOf(asked, 'offset') === null ? limit : pageSize) > RESULT_WINDOW_MAX)
    throw dialectError(TEXTS.window);
  return { skip: (page - 1) * limit, limit };
}
