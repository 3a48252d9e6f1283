/** Parameters shared by the endpoints under /udf: the pair, and the currency of its prices. */
import { parseAddress } from '../../domain/address';
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import { tokenOf } from '../../query/tokens/tokens';
import type { Token } from '../../wire/primitives';
import type { Currency } from '../../wire/ticks';
import { type MarketDeps, MARKET } from '../marketScope';
import { badParam, required, textParam } from '../params';
import { findSymbol, type PairSymbolTables } from './pairSymbols';
import { USD } from './udfConfig';
import { Refusal } from '../answering';

/**
 * The scope of the endpoints under /udf. Errors are `{s: "error", errmsg}` with status 200, because TradingView's
 * charting library reads bodies and ignores statuses. Empty parameters count as absent, because the library sends
 * them.
 */
export const UDF: typeof MARKET = {
  ...MARKET,
  tag: 'udf',
  spell(querystring) {
    const filledParams = [...new URLSearchParams(querystring)].filter(([, text]) => text !== '');
    return new URLSearchParams(filledParams).toString();
  },
  refuse: ({ code, message }) =>
    ['bad_request', 'not_found'].includes(code) ? new Refusal(200, { s: 'error', errmsg: message }) : null,
};

const SYMBOL_LENGTH_MAX = 256;

export const SYMBOL_PARAM = required(
  textParam({
    max: SYMBOL_LENGTH_MAX,
    description:
      'Address of the pair (its ticker), or its name in any letter case, with or without the prefix EXCHANGE:',
  }),
);

export const CURRENCY_PARAM = textParam({
  max: SYMBOL_LENGTH_MAX,
  description: 'USD, or the original_currency_code or address of the quote token; default: the quote token',
});

/** The currency of the prices. Throws bad_request for a currency that the pair does not have. */
export function currencyOf(quote: Token, code: string | null): Currency {
  if (code === null) return 'quote';
  const wantedCode = code.toLowerCase();
  if (wantedCode === USD.toLowerCase()) return 'usd';
  const quoteCode = quoteCodeOf(quote);
  if (wantedCode === quoteCode.toLowerCase() || wantedCode === quote.address) return 'quote';
  throw badParam('currencyCode', code, `${USD} or ${quoteCode}`);
}

/**
 * Currency code of a quote token. `USD` always means US dollars, so a token with the symbol USD has its
 * address as code.
 */
export function quoteCodeOf({ symbol, address }: Token): string {
  return symbol === null || symbol === '' || symbol.toLowerCase() === USD.toLowerCase() ? address : symbol;
}

export interface ChartedPair {
  readonly address: Hex;
  readonly quote: Token;
}

/**
 * Finds the pair of a symbol. An address needs only one look-up, because charts poll bars by address. A name
 * needs the names of all pairs. Throws bad_request or not_found.
 */
export async function findChartedPair(
  deps: Pick<MarketDeps, 'directory'>,
  symbols: PairSymbolTables,
  head: HeadSnapshot,
  symbol: string,
): Promise<ChartedPair> {
  if (!/^0x[0-9a-f]{40}$/i.test(symbol)) {
    const { item } = findSymbol(await symbols.at(head), symbol);
    return { address: `0x${item.address.slice(2)}`, quote: item.quote_token };
  }
  const address = parseAddress(symbol, 'symbol');
  const storedPool = await deps.directory.findPool(head, address);
  if (storedPool === null) throw new AppError('not_found', `there is no pair ${address}`);
  const { pool, tokens } = storedPool;
  return { address, quote: tokenOf(tokens, pool.base_is_token0 ? pool.token1 : pool.token0) };
}
