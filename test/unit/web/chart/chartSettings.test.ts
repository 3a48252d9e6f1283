/** Stored choices of the chart: good values are kept, and everything else is ignored. */
import { parseLines, parseSettings } from '../../../../src/web/chart/chartSettings';

const DEFAULTS = { scale: 'linear', upsideDown: false, studies: ['volume'], zone: 'utc', continuous: true };

test('settings survive storing, also without any indicator', () => {
  const settings = {
    scale: 'log',
    upsideDown: true,
    studies: ['ma', 'rsi'],
    zone: 'local',
    continuous: false,
  };
  expect(parseSettings(JSON.stringify(settings))).toEqual(settings);
  expect(parseSettings(JSON.stringify({ ...settings, studies: [] }))).toEqual({ ...settings, studies: [] });
});

test('stored settings that are not understood become the default, one by one', () => {
  for (const text of [null, '', 'null', '7', '"log"', '[]', '{', '{"scale":{"a":1},"studies":"ma"}'])
    expect(parseSettings(text)).toEqual(DEFAULTS);
  const mixed = {
    scale: 'cubic',
    zone: 'local',
    studies: ['rsi', 'magic', 5, null],
    upsideDown: 1,
    continuous: 0,
  };
  expect(parseSettings(JSON.stringify(mixed))).toEqual({ ...DEFAULTS, zone: 'local', studies: ['rsi'] });
});

test('stored lines are prices, at most twenty per currency', () => {
  const stored = { usd: [1, 0.5, -1, 0, 'x', null, true], quote: 'many', base: [], __proto__: [3] };
  expect(parseLines(JSON.stringify(stored))).toEqual({ usd: [1, 0.5] });
  const many = Array.from({ length: 50 }, (_, index) => index + 1);
  expect(parseLines(JSON.stringify({ usd: many }))['usd']).toEqual(many.slice(0, 20));
  expect(parseLines('broken')).toEqual({});
});
