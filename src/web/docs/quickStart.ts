/** The first part of the docs page: calls that a newcomer can copy, and the facts that hold for all endpoints. */
import { apiBase } from '../core/api.ts';
import { h } from '../core/dom.ts';
import { copyButton } from '../core/pieces.ts';
import { codeTabs } from './codeTabs.ts';
import type { Samples } from './docsSamples.ts';
import type { Call } from './examples.ts';

interface Step {
  readonly title: string;
  readonly text: string;
  /** Path below the base. */
  readonly path: string;
  readonly params: Call['params'];
  readonly answer?: Call['answer'];
  /** Id of the endpoint on this page. */
  readonly endpoint: string;
}

/** Without an indexed pair, the calls show this instead of an address. */
const UNKNOWN_ADDRESS = 'ADDRESS';

function stepsOf({ pair, tokens }: Samples): Step[] {
  return [
    {
      title: 'List pairs',
      text: 'The pairs with the highest volume of the last 24 hours. Each has an address, prices, liquidity and volume.',
      path: '/pairs',
      params: [['limit', '3']],
      endpoint: 'get-api-v1-pairs',
    },
    {
      title: 'Get the bars of a pair',
      text: 'Open, high, low, close and volume of each hour. The address comes from the list above.',
      path: `/pairs/${pair ?? UNKNOWN_ADDRESS}/ticks`,
      params: [
        ['timeframe', '1h'],
        ['limit', '24'],
      ],
      endpoint: 'get-api-v1-pairs-address-ticks',
    },
    {
      title: 'Get the prices of tokens',
      text: 'Up to 30 tokens by address, in one call. The field price_usd is the price, price_confidence says how far to trust it.',
      path: '/tokens',
      params: [['addresses', tokens.join(',') || UNKNOWN_ADDRESS]],
      endpoint: 'get-api-v1-tokens',
    },
    {
      title: 'Follow trades live',
      text: 'Server-sent events: a message for each swap, and one for each reorg that takes swaps back. Without event_type, you also get mints, burns and syncs.',
      path: '/activity/stream',
      params: [['event_type', 'swap']],
      answer: 'stream',
      endpoint: 'get-api-v1-activity-stream',
    },
    {
      title: 'Download a table',
      text: 'Every list is also a CSV file for a spreadsheet. The formats parquet and arrow are for data tools.',
      path: '/pairs',
      params: [
        ['format', 'csv'],
        ['limit', '100'],
      ],
      answer: 'text',
      endpoint: 'get-api-v1-pairs',
    },
  ];
}

export function quickStart(samples: Samples): HTMLElement {
  const baseUrl = location.origin + apiBase();
  return h(
    'section',
    { class: 'quick card', id: 'quick-start' },
    h('h2', {}, 'Quick start'),
    h(
      'p',
      {},
      'The base URL is ',
      h('code', {}, baseUrl),
      copyButton(baseUrl, 'Copy the base URL'),
      '. You need no key and no account. Copy a command into a terminal:',
    ),
    h('ol', { class: 'steps' }, ...stepsOf(samples).map(renderStep)),
    h('h3', {}, 'Good to know'),
    renderFacts(),
  );
}

function renderStep({ title, text, path, params, answer = 'json', endpoint }: Step): HTMLElement {
  const call = { method: 'GET', url: location.origin + apiBase() + path, params, answer } as const;
  return h(
    'li',
    {},
    h('h3', {}, title),
    h('p', {}, `${text} `, h('a', { href: `#${endpoint}` }, 'All parameters'), '.'),
    codeTabs(title, () => call).element,
  );
}

function renderFacts(): HTMLElement {
  const code = (text: string): HTMLElement => h('code', {}, text);
  const facts: [name: string, ...parts: (string | HTMLElement)[]][] = [
    [
      'Units',
      'Prices and token amounts are decimal strings in whole tokens. Times are unix seconds. Unknown values are null.',
    ],
    [
      'Pages',
      'Lists take ',
      code('page'),
      ' and ',
      code('limit'),
      ' (at most 100). ',
      code('meta.has_next'),
      ' says whether there is more.',
    ],
    [
      'Tables',
      code('format=csv'),
      ', ',
      code('parquet'),
      ' or ',
      code('arrow'),
      ' answers any list as a table. The ',
      code('Link'),
      ' header names the next page.',
    ],
    [
      'Errors',
      'An error has the status 400, 404, 429, 500 or 503 and the body ',
      code('{"success": false, "error": "…", "code": "…"}'),
      '. The text says what is wrong and what is allowed. Each endpoint below lists its errors.',
    ],
    [
      'Rate limit',
      'The headers ',
      code('X-RateLimit-Limit'),
      ' and ',
      code('X-RateLimit-Remaining'),
      ' count your calls per minute. After a 429 or 503, wait for the seconds in ',
      code('Retry-After'),
      '.',
    ],
    [
      'Freshness',
      'The header ',
      code('X-Indexed-Block'),
      ' names the newest block in the answer. Send the ',
      code('ETag'),
      ' as ',
      code('If-None-Match'),
      ' to get a 304 while nothing has changed.',
    ],
    [
      'Machines',
      h('a', { href: '/openapi.json' }, '/openapi.json'),
      ' describes everything below for code generators, ',
      h('a', { href: '/llms.txt' }, '/llms.txt'),
      ' for language models.',
    ],
  ];
  return h(
    'dl',
    { class: 'facts' },
    ...facts.flatMap(([name, ...parts]) => [h('dt', {}, name), h('dd', {}, ...parts)]),
  );
}
