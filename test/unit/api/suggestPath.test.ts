import { suggestPath } from '../../../src/api/suggestPath';

const PATHS = [
  '/',
  '/docs',
  '/api',
  '/:chainId/api',
  '/api/v1/dexes',
  '/api/v1/dexes/:dex_name',
  '/api/v1/pairs',
  '/api/v1/pairs/:address',
  '/api/v1/pairs/:address/ticks',
  '/api/v1/source-search',
  '/udf/history',
  '/openapi.json',
];

test.each([
  ['/api/v1/pair/0xab', '/api/v1/pairs/0xab'],
  ['/api/v1/pair/0xab/tick', '/api/v1/pairs/0xab/ticks'],
  ['/api/v1/piars/', '/api/v1/pairs'],
  ['/API/V1/pairs', '/api/v1/pairs'],
  ['/pair/0xab', '/api/v1/pairs/0xab'],
  ['/pairs', '/api/v1/pairs'],
  ['/api/v1/dex/pulsex', '/api/v1/dexes/pulsex'],
  ['/api/v1/sorce-seach', '/api/v1/source-search'],
  ['/udf/histroy', '/udf/history'],
  ['/openapi.jsn', '/openapi.json'],
])('a request for %s gets the suggestion %s', (path, meant) => {
  expect(suggestPath(path, PATHS)).toBe(meant);
});

test.each([
  '/nothing',
  '/api/v1/nothing',
  '/api/v1/pairs/0xab/x',
  '/',
  '//',
  '/api/v1/pair//',
  '/x/y/z',
  '/%',
])('a request for %s gets no suggestion', (path) => {
  expect(suggestPath(path, PATHS)).toBeNull();
});
