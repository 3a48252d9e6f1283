/**
 * Tags of the views of a pair, token, address, transaction and block. The figures come from tables of the head that all
 * requests share, so a link to an unknown address costs no query of its own.
 */
import { findAddress } from '../../domain/address';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import type { MarketTables } from '../../query/marketTables';
import type { PairItem } from '../../wire/pairs';
import type { TokenItem } from '../../wire/tokens';
import { changeFigure, priceFigure, shortHex, symbolFigure, usdFigure } from './figures';
import { pairRequests, tokenRequests } from './firstRequests';
import { GENERAL_TAGS, type PageTags } from './pageTags';

export interface ViewTables extends Pick<MarketTables, 'pairs' | 'tokens'> {
  /** URL of this service, such as https://example.org; null if it is unknown. */
  readonly publicUrl: string | null;
}

/** Figures of an earlier head are good enough for this time, in ms. */
const FRESH_MS = 10_000;
/** The page does not wait longer than this for the tables of a new head. Then it has the figures of an earlier head. */
const WAIT_MS = 400;

/** The tags of a view. `given` is the parameter in its path, such as an address. */
export async function findViewTags(
  tables: ViewTables,
  head: HeadSnapshot | null,
  view: string,
  given: string,
): Promise<PageTags> {
  if (view === 'tx') return hexTags('tx', 'Transaction', given, /^0x[0-9a-f]{64}$/);
  if (view === 'block') return hexTags('block', 'Block', given, /^(0x[0-9a-f]{64}|\d{1,15})$/);
  const address = findAddress(given);
  if (address === null || head === null) return GENERAL_TAGS;
  const pair = view === 'token' ? undefined : (await soon(tables.pairs, head))?.byAddress.get(address)?.item;
  if (pair !== undefined) return pairTags(pair);
  const token = view === 'pair' ? undefined : (await soon(tables.tokens, head))?.byAddress.get(address)?.item;
  if (token !== undefined) return tokenTags(token);
  return view === 'address' ? hexTags('address', 'Address', address, /./) : GENERAL_TAGS;
}

interface Waiting<T> {
  at(head: HeadSnapshot): Promise<T>;
  latest(maxAgeMs?: number): T | null;
}

/** A recent table, or else the table of the head, or the last finished one if that is not ready in time or fails. */
async function soon<T>(table: Waiting<T>, head: HeadSnapshot): Promise<T | null> {
  const recent = table.latest(FRESH_MS);
  if (recent !== null) return recent;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), WAIT_MS);
  });
  const ready = await Promise.race([table.at(head).catch(() => null), late]);
  clearTimeout(timer);
  return ready ?? table.latest();
}

function hexTags(view: string, name: string, given: string, shape: RegExp): PageTags {
  const text = given.toLowerCase();
  if (!shape.test(text)) return GENERAL_TAGS;
  const title = `${name} ${shortHex(text)} · Candlehouse`;
  return { title, description: `${name} ${text}`, path: `/${view}/${text}`, picture: null, requests: [] };
}

function pairTags(item: PairItem): PageTags {
  const name = `${symbolFigure(item.base_token)} / ${symbolFigure(item.quote_token)}`;
  const requests = pairRequests(item.address);
  return { ...marketTags(name, item, `on ${item.dex_name}`), ...placeOf('pair', item.address), requests };
}

function tokenTags(item: TokenItem): PageTags {
  const pools = item.pool_count === 1 ? 'in 1 pool' : `in ${item.pool_count} pools`;
  const requests = tokenRequests(item.address);
  return { ...marketTags(symbolFigure(item), item, pools), ...placeOf('token', item.address), requests };
}

function placeOf(view: 'pair' | 'token', address: string): Pick<PageTags, 'path' | 'picture'> {
  return { path: `/${view}/${address}`, picture: `/preview/${view}/${address}.png` };
}

function marketTags(
  name: string,
  item: Pick<PairItem, 'price_usd' | 'price_change_24h' | 'liquidity_usd' | 'volume_24h_usd'>,
  where: string,
): Pick<PageTags, 'title' | 'description'> {
  const price = priceFigure(item.price_usd);
  const change = changeFigure(item.price_change_24h);
  const shown = price === null ? name : `${name} $${price}`;
  const figures = [
    ['Price', price === null ? null : `$${price}`],
    ['change in 24 h', change],
    ['liquidity', usdFigure(item.liquidity_usd)],
    ['volume in 24 h', usdFigure(item.volume_24h_usd)],
  ].map(([label, figure]) => `${label} ${figure ?? 'unknown'}`);
  return {
    title: `${change === null ? shown : `${shown} (${change})`} · Candlehouse`,
    description: `${figures.join(', ')}, ${where}`,
  };
}
