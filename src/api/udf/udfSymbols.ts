/** GET /udf/symbols and /udf/search: the chart settings of a pair, and pairs by a search text. */
import { fitsPair, listPairs, readPairSearch } from '../../query/pairs/pairList';
import type { PairEntry } from '../../query/pairs/pairItem';
import {
  RESOLUTIONS,
  udfSearchAnswerShape,
  udfSymbolAnswerShape,
  type UdfSearchHit,
  type UdfSymbol,
} from '../../wire/dialects/udf';
import type { ChainFacts, MarketDeps } from '../marketScope';
import { integerParam, textParam } from '../params';
import type { Route } from '../route';
import { route } from '../scope';
import { findSymbol, type PairSymbols, type PairSymbolTables } from './pairSymbols';
import { CURRENCY_PARAM, currencyOf, quoteCodeOf, SYMBOL_PARAM, UDF } from './udfParams';
import { USD } from './udfConfig';

const QUERY_LENGTH_MAX = 64;
const HITS_MAX = 100;
/**
 * Significant digits of a price in a chart, and the allowed decimal places. A price scale above 10^15 would not fit a
 * number exactly.
 */
const PRICE_DIGITS = 5;
const PRICE_PLACES = { min: 2, max: 15 } as const;
const VOLUME_DECIMAL_PLACES = 4;

export function udfSymbols(deps: MarketDeps, symbols: PairSymbolTables): Route {
  return route(deps, {
    scope: UDF,
    path: '/udf/symbols',
    summary: 'TradingView data feed: chart settings of a pair',
    description:
      'Name, price scale, session and resolutions of a pair. The symbol is the address of the pair.',
    query: { symbol: SYMBOL_PARAM, currencyCode: CURRENCY_PARAM },
    answer: udfSymbolAnswerShape,
    errors: [503],
    async read({ symbol, currencyCode }, head) {
      const symbolTable = await symbols.at(head);
      const entry = findSymbol(symbolTable, symbol);
      return toSymbol(
        symbolTable,
        entry,
        currencyOf(entry.item.quote_token, currencyCode) === 'usd',
        deps.chain,
      );
    },
  });
}

export function udfSearch(deps: MarketDeps, symbols: PairSymbolTables): Route {
  return route(deps, {
    scope: UDF,
    path: '/udf/search',
    summary: 'TradingView data feed: search for pairs, most liquidity first',
    description: 'Pairs whose symbols, names or addresses match the text.',
    query: {
      query: textParam({
        max: QUERY_LENGTH_MAX,
        description: 'Part of a name or symbol, or the start of an address; default: all pairs',
      }),
      type: textParam({
        max: QUERY_LENGTH_MAX,
        description: 'crypto is the only type; another type finds nothing',
      }),
      exchange: textParam({
        max: QUERY_LENGTH_MAX,
        description: 'Only pairs of the DEX with this dex_name or display name',
      }),
      limit: integerParam({ min: 1, max: HITS_MAX, absent: 30, description: 'Maximum number of pairs' }),
    },
    answer: udfSearchAnswerShape,
    errors: [503],
    async read({ query, type, exchange, limit }, head) {
      if (type !== null && type.toLowerCase() !== 'crypto') return [];
      const symbolTable = await symbols.at(head);
      const dex = exchange === null ? null : dexOf(deps.chain, exchange);
      const deepestFirst = listPairs(
        symbolTable.table.entries,
        { searchText: null, dex, token: null },
        'liquidity_usd',
        'desc',
      );
      const hits: UdfSearchHit[] = [];
      const search = readPairSearch(query?.trim() ?? '');
      for (const entry of deepestFirst) {
        if (!fitsPair(entry, search, symbolTable.nameOf(entry))) continue;
        hits.push(toHit(symbolTable, entry, deps.chain));
        if (hits.length === limit) break;
      }
      return hits;
    },
  });
}

/** The name of the DEX in lower case, for a name or display name from the caller. */
function dexOf({ dexes }: ChainFacts, exchange: string): string {
  const wantedName = exchange.toLowerCase();
  const dex = dexes.find(({ displayName }) => displayName.toLowerCase() === wantedName);
  return (dex?.name ?? exchange).toLowerCase();
}

function exchangeOf({ dexes }: ChainFacts, dexName: string): string {
  return dexes.find(({ name }) => name === dexName)?.displayName ?? dexName;
}

function toHit(symbolTable: PairSymbols, entry: PairEntry, chain: ChainFacts): UdfSearchHit {
  const { item } = entry;
  const exchange = exchangeOf(chain, item.dex_name);
  const name = symbolTable.nameOf(entry);
  return {
    symbol: name,
    full_name: `${exchange}:${name}`,
    description: describePair(entry, exchange),
    exchange,
    ticker: item.address,
    type: 'crypto',
  };
}

export function describePair({ item }: PairEntry, exchange: string): string {
  return `${item.name} on ${exchange}, ${item.address}`;
}

function toSymbol(symbolTable: PairSymbols, entry: PairEntry, inUsd: boolean, chain: ChainFacts): UdfSymbol {
  const { item } = entry;
  const { symbol: name, full_name, description, exchange } = toHit(symbolTable, entry, chain);
  const price = inUsd ? item.price_usd : item.price;
  const quoteCode = quoteCodeOf(item.quote_token);
  return {
    name,
    ticker: item.address,
    full_name,
    description,
    type: 'crypto',
    session: '24x7',
    timezone: 'Etc/UTC',
    exchange,
    listed_exchange: exchange,
    format: 'price',
    minmov: 1,
    pricescale: priceScale(price === null ? 1 : Number(price)),
    has_intraday: true,
    intraday_multipliers: RESOLUTIONS.filter((resolution) => !resolution.endsWith('D')),
    has_daily: true,
    daily_multipliers: ['1'],
    has_weekly_and_monthly: false,
    has_empty_bars: false,
    supported_resolutions: [...RESOLUTIONS],
    volume_precision: VOLUME_DECIMAL_PLACES,
    visible_plots_set: 'ohlcv',
    data_status: 'streaming',
    currency_code: inUsd ? USD : quoteCode,
    original_currency_code: quoteCode,
  };
}

/** A power of ten: enough decimal places for five significant digits of the price, from 2 to 15. */
function priceScale(price: number): number {
  const decimalPlaces = price > 0 ? PRICE_DIGITS - 1 - Math.floor(Math.log10(price)) : PRICE_PLACES.min;
  return 10 ** Math.min(PRICE_PLACES.max, Math.max(PRICE_PLACES.min, decimalPlaces));
}
