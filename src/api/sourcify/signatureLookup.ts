/**
 * Looks up signatures by selector and topic, in the format of openchain's and Sourcify's signature databases.
 * The clients `cast 4byte` and whatsabi use this endpoint. As in those databases, an unknown function is null
 * and an unknown event is an empty list.
 */
import { isHexOfLength, toLowerHex, type Hex } from '../../domain/hex';
import type { KnownSignature } from '../../domain/verifiedContract';
import { AppError } from '../../errors';
import { signaturesShape } from '../../wire/dialects/sourcify';
import type { DialectDeps } from '../etherscan/action';
import { textParam } from '../params';
import type { Route } from '../route';
import { refuseMistyped } from '../suggestName';

const SELECTORS_MAX = 100;
const LIST_LENGTH_MAX = 8_000;
const FUNCTION_DIGITS = 8;
const EVENT_DIGITS = 64;

export function signatureLookup(deps: DialectDeps): Route {
  return {
    path: '/signature-database/v1/lookup',
    doc: {
      summary: 'Signatures by selector and topic0, in the format of openchain',
      description:
        'The answer is {ok: true, result: {function: {<selector>: [{name, filtered}]}, event: {<topic0>: ' +
        '[{name, filtered}]}}}. An unknown function is null, and an unknown event is an empty list.',
      tag: 'explorer',
      query: {
        function: textParam({
          max: LIST_LENGTH_MAX,
          description: `Comma list of at most ${SELECTORS_MAX} selectors, each 0x and 8 hex digits`,
        }),
        event: textParam({
          max: LIST_LENGTH_MAX,
          description: `Comma list of at most ${SELECTORS_MAX} topics, each 0x and 64 hex digits`,
        }),
        filter: textParam({ max: 5, description: 'Accepted for compatibility and ignored' }),
      },
      answer: signaturesShape,
      hasExample: false,
      errors: [400, 503],
    },
    async handle(ctx) {
      const query = new URLSearchParams(ctx.querystring);
      refuseMistyped(query, ['function', 'event', 'filter']);
      const functions = readList(query.get('function'), 'function', FUNCTION_DIGITS);
      const events = readList(query.get('event'), 'event', EVENT_DIGITS);
      const signatures = await deps.signatures.listBySelectors([...functions, ...events]);
      const listNames = (
        kind: KnownSignature['kind'],
        selector: Hex,
      ): { name: string; filtered: false }[] => {
        const matching = signatures.filter(
          (signature) => signature.kind === kind && signature.selector === selector,
        );
        return [...new Set(matching.map(({ signature }) => signature))].map((name) => ({
          name,
          filtered: false,
        }));
      };
      const result = {
        event: Object.fromEntries(events.map((topic) => [topic, listNames('event', topic)])),
        function: Object.fromEntries(
          functions.map((selector) => {
            const names = listNames('function', selector);
            return [selector, names.length === 0 ? null : names];
          }),
        ),
      };
      ctx.type = 'application/json';
      ctx.body = Buffer.from(JSON.stringify({ ok: true, result }));
    },
  };
}

function readList(text: string | null, name: string, digitCount: number): Hex[] {
  const items = (text ?? '').split(',').filter((item) => item !== '');
  const allowed = `allowed: a comma list of at most ${SELECTORS_MAX} items, each 0x and ${digitCount} hex digits`;
  if (items.length > SELECTORS_MAX)
    throw new AppError('bad_request', `${name}: got ${items.length} items; ${allowed}`);
  return items.map((item) => {
    if (!isHexOfLength(item, digitCount))
      throw new AppError('bad_request', `${name}: got "${item.slice(0, 80)}"; ${allowed}`);
    return toLowerHex(item);
  });
}
