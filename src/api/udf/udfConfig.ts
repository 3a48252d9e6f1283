/** GET /udf/config and /udf/time: the features of the data feed, and the server time. */
import { RESOLUTIONS, udfConfigShape, type UdfConfig } from '../../wire/dialects/udf';
import type { ChainFacts } from '../marketScope';
import type { Route } from '../route';

/** Currency code for prices in US dollars. Prices in the pair's quote token are the default. */
export const USD = 'USD';

export function udfConfig(chain: Pick<ChainFacts, 'dexes'>): Route {
  const answer: UdfConfig = {
    supported_resolutions: [...RESOLUTIONS],
    supports_search: true,
    supports_group_request: false,
    supports_marks: false,
    supports_timescale_marks: false,
    supports_time: true,
    exchanges: [
      { value: '', name: 'All DEXes', desc: '' },
      ...chain.dexes.map(({ name, displayName }) => ({ value: name, name: displayName, desc: displayName })),
    ],
    symbols_types: [
      { name: 'All types', value: '' },
      { name: 'Crypto', value: 'crypto' },
    ],
    currency_codes: [USD],
  };
  const body = Buffer.from(JSON.stringify(answer));
  return {
    path: '/udf/config',
    doc: {
      summary: 'TradingView data feed: configuration',
      tag: 'udf',
      description:
        'The datafeed URL for UDFCompatibleDatafeed of the charting library is the base of this path: ' +
        'http://<host>/udf.',
      answer: udfConfigShape,
    },
    handle(ctx) {
      ctx.type = 'application/json';
      ctx.body = body;
    },
  };
}

export function udfTime(): Route {
  return {
    path: '/udf/time',
    doc: {
      summary: 'TradingView data feed: server time, unix seconds',
      description: 'The clock of the server as a decimal number without JSON.',
      tag: 'udf',
      mediaType: 'text/plain',
    },
    handle(ctx) {
      ctx.type = 'text/plain';
      ctx.set('Cache-Control', 'no-store');
      ctx.body = String(Math.floor(Date.now() / 1000));
    },
  };
}
