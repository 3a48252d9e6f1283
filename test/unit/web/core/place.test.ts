import { pathOfOldHash, placeOf } from '../../../../src/web/core/place';

test.each([
  ['#/', '/'],
  ['#/pair/0x12?timeframe=1h', '/pair/0x12?timeframe=1h'],
  ['#main', null],
  ['', null],
  ['#//other.example/x', '/other.example/x'],
  ['#/\\/other.example', '/other.example'],
  ['#/ \t//other.example', '/other.example'],
])('the old location %j opens the path %j of this page, never another host', (hash, path) => {
  expect(pathOfOldHash(hash)).toBe(path);
  if (path !== null) expect(new URL(path, 'http://own.example').host).toBe('own.example');
});

test('a location is split into decoded parts and parameters, also if a part is no valid text', () => {
  const { path, query } = placeOf({ pathname: '/pair/0x%41/%E0%A4%A', search: '?a=1&b=%20' });
  expect(path).toEqual(['pair', '0xA', '%E0%A4%A']);
  expect(Object.fromEntries(query)).toEqual({ a: '1', b: ' ' });
  expect(placeOf({ pathname: '/', search: '' }).path).toEqual(['']);
});
