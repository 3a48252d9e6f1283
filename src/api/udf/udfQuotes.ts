/** GET /udf/quotes: last prices of several pairs, from their two newest daily bars. */
import { AppError } from '../../errors';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import { getPairSeries } from '../../query/bars/pairSeries';
import { udfQuotesAnswerShape, type UdfQuote, type UdfQuotes } from '../../wire/dialects/udf';
import type { MarketDeps } from '../marketScope';
import { parsedParam, required } from '../params';
import type { Route } from '../route';
import { route } from '../scope';
import { findSymbol, type PairSymbolTables } from './pairSymbols';
import { describePair } from './udfSymbols';
import { UDF } from './udfParams';

const SYMBOLS_MAX = 30;

export function udfQuotes(deps: MarketDeps, symbols: PairSymbolTables): Route {
  return route(deps, {
    scope: UDF,
    path: '/udf/quotes',
    summary: 'TradingView data feed: last prices of pairs, in their quote tokens',
    description: 'The last price, the change in 24 hours and the volume of up to 30 pairs.',
    query: {
      symbols: required(
        parsedParam({
          parse: parseSymbols,
          allowed: `a comma list of 1 to ${SYMBOLS_MAX} symbols`,
          doc: { type: 'string', minLength: 1 },
          description: `Comma list of 1 to ${SYMBOLS_MAX} pairs: addresses or names`,
        }),
      ),
    },
    answer: udfQuotesAnswerShape,
    errors: [503],
    async read({ symbols: wantedSymbols }, head): Promise<UdfQuotes> {
      return {
        s: 'ok',
        d: await Promise.all(wantedSymbols.map((symbol) => quoteOf(deps, symbols, head, symbol))),
      };
    },
  });
}

function parseSymbols(text: string): readonly string[] | null {
  const symbols = text.split(',');
  return symbols.length <= SYMBOLS_MAX && symbols.every((symbol) => symbol !== '') ? symbols : null;
}

/** The quote of one pair. If the pair is unknown or has no price, the quotes of other pairs are still answered. */
async function quoteOf(
  deps: MarketDeps,
  symbols: PairSymbolTables,
  head: HeadSnapshot,
  symbol: string,
): Promise<UdfQuote> {
  try {
    return await readQuote(deps, symbols, head, symbol);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'bad_request') throw error;
    return { s: 'error', n: symbol, errmsg: error.message, v: {} };
  }
}

async function readQuote(
  deps: MarketDeps,
  symbols: PairSymbolTables,
  head: HeadSnapshot,
  symbol: string,
): Promise<UdfQuote> {
  const symbolTable = await symbols.at(head);
  const entry = findSymbol(symbolTable, symbol);
  const { data } = await getPairSeries(deps, head, {
    pair: `0x${entry.item.address.slice(2)}`,
    timeframe: '1d',
    limit: 2,
    to: null,
    currency: 'quote',
    // A day without trades keeps the price of the day before.
    fill: true,
    invert: false,
    base: null,
    quote: null,
  });
  const todayBar = data.at(-1);
  if (todayBar === undefined) return { s: 'error', n: symbol, errmsg: 'the pair has no price yet', v: {} };
  const closeBefore = data.length > 1 ? (data[0]?.close ?? null) : null;
  const exchange = deps.chain.dexes.find(({ name }) => name === entry.item.dex_name)?.displayName;
  return {
    s: 'ok',
    n: symbol,
    v: {
      ch: closeBefore === null ? null : todayBar.close - closeBefore,
      chp: closeBefore === null ? null : (todayBar.close / closeBefore - 1) * 100,
      short_name: symbolTable.nameOf(entry),
      exchange: exchange ?? entry.item.dex_name,
      description: describePair(entry, exchange ?? entry.item.dex_name),
      lp: todayBar.close,
      open_price: todayBar.open,
      high_price: todayBar.high,
      low_price: todayBar.low,
      prev_close_price: closeBefore,
      volume: todayBar.volume,
    },
  };
}
