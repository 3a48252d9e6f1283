/** What a call of the Etherscan dialect asks: query and body as one set of texts under lower-case names, and their parsers. */
import { isAddress, isHash, toLowerHex, type Hex } from '../../domain/hex';
import type { RouteContext } from '../route';
import { badParam, TEXTS } from './answers';
import { readBody } from './readBody';

/** Page number times page size. */
export const WINDOW_MAX = 10_000;
/** Block numbers are 32 bits wide; all above is beyond any head. */
const BLOCK_MAX = 4_294_967_295;

/** By lower-case name; where a name is given twice the first one counts, the query before the body. */
export type AskedParams = ReadonlyMap<string, string>;

export async function readAsked(ctx: RouteContext): Promise<AskedParams> {
  const asked = new Map<string, string>();
  const give = (name: string, value: string): void => {
    const key = name.toLowerCase();
    // A final newline of a source counts in its hash.
    if (!asked.has(key)) asked.set(key, key === 'sourcecode' ? value : value.trim());
  };
  for (const [name, value] of new URLSearchParams(ctx.querystring)) give(name, value);
  if (ctx.method !== 'POST') return asked;
  for (const [name, value] of await readBody(ctx, textOf(asked, 'action'))) give(name, value);
  return asked;
}

/** The text of a parameter; an empty one counts as absent. */
export function textOf(asked: AskedParams, name: string): string | null {
  const text = asked.get(name.toLowerCase());
  return text === undefined || text === '' ? null : text;
}

/** An address of any letter case; checksums are not looked at in this dialect. */
export function addressOf(text: string): Hex {
  const given = text.startsWith('0X') ? `0x${text.slice(2)}` : text;
  if (!isAddress(given)) throw badParam(TEXTS.badAddress);
  return toLowerHex(given);
}

export function needAddress(asked: AskedParams, name = 'address'): Hex {
  const text = textOf(asked, name);
  if (text === null) throw badParam(TEXTS.noAddress);
  return addressOf(text);
}

export function findAddressParam(asked: AskedParams, name = 'address'): Hex | null {
  const text = textOf(asked, name);
  return text === null ? null : addressOf(text);
}

export const badFormat = (name: string): Error => badParam(`Error! Invalid ${name} format`);

export function findHashParam(asked: AskedParams, name: string): Hex | null {
  const text = textOf(asked, name);
  if (text === null) return null;
  const given = text.startsWith('0X') ? `0x${text.slice(2)}` : text;
  if (!isHash(given)) throw badFormat(name);
  return toLowerHex(given);
}

/** A decimal or 0x-hex number, at most `max`. */
export function numberOf(text: string, name: string, max = BLOCK_MAX): number {
  if (!/^(?:\d{1,78}|0[xX][0-9a-fA-F]{1,64})$/.test(text)) throw badFormat(name);
  return Math.min(Number(text), max);
}

export interface AskedPage {
  readonly skip: number;
  readonly limit: number;
}

/** `page` and `offset` (the size of a page), both 1 and `most` where absent or 0. */
export function readPage(asked: AskedParams, most: number): AskedPage {
  const page = numberOf(textOf(asked, 'page') ?? '1', 'page') || 1;
  const size = numberOf(textOf(asked, 'offset') ?? '0', 'offset') || most;
  const limit = Math.min(size, most);
  if (page * (textOf(asked, 'offset') === null ? limit : size) > WINDOW_MAX) throw badParam(TEXTS.window);
  return { skip: (page - 1) * limit, limit };
}
