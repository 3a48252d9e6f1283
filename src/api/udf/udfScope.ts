/**
 * The scope of the endpoints under /udf. Errors are `{s: "error", errmsg}` with status 200, because TradingView's
 * charting library reads bodies and ignores statuses. Empty parameters count as absent, because the library sends
 * them.
 */
import { Refusal } from '../answering';
import { MARKET } from '../marketScope';

export const UDF: typeof MARKET = {
  ...MARKET,
  tag: 'udf',
  spell(querystring) {
    const nonEmpty = [...new URLSearchParams(querystring)].filter(([, text]) => text !== '');
    return new URLSearchParams(nonEmpty).toString();
  },
  refuse: ({ code, message }) =>
    ['bad_request', 'not_found'].includes(code) ? new Refusal(200, { s: 'error', errmsg: message }) : null,
};
