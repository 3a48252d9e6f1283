import { formatCursor, parseCursor } from '../../../src/api/activity/activity';
import { clientOf } from '../../../src/api/middleware/limitRate';
import {
  addressParam,
  flagParam,
  integerParam,
  listOfParam,
  oneOfParam,
  parseParams,
  textParam,
} from '../../../src/api/params';
import { toOrd } from '../../../src/domain/ord';

const PARAMS = {
  page: integerParam({ min: 1, absent: 1, description: '' }),
  to: integerParam({ min: 0, absent: null, description: '' }),
  order: oneOfParam(['desc', 'asc'], { absent: 'desc', description: '' }),
  kinds: listOfParam(['swap', 'mint', 'burn'], ''),
  fill: flagParam(''),
  token: addressParam('token', ''),
  q: textParam({ max: 4 }),
  timeframe: oneOfParam(['1h', '1d'], { absent: '1h', description: '' }),
} as const;

const parse = (querystring: string): unknown => parseParams(PARAMS, { querystring });

const ABSENT = {
  page: 1,
  to: null,
  order: 'desc',
  kinds: ['swap', 'mint', 'burn'],
  fill: false,
  token: null,
  q: null,
  timeframe: '1h',
};

test('absent parameters get their defaults, and unknown parameters are ignored, even if repeated', () => {
  expect(parse('')).toEqual(ABSENT);
  expect(parse('x=1&x=2&y=&__proto__=3&constructor=')).toEqual(ABSENT);
});

test.each([
  ['pag=2', 'page'],
  ['pgae=2', 'page'],
  ['paage=2', 'page'],
  ['ordr=asc', 'order'],
  ['odrer=asc', 'order'],
  ['timefram=1h', 'timeframe'],
  ['time_fraem=1h', 'timeframe'],
  ['x=1&kind=swap', 'kinds'],
])('the mistyped parameter in %s is refused with the suggestion %s', (query, meant) => {
  const name = query.replace(/^x=1&/, '').split('=')[0];
  expect(() => parse(query)).toThrow(
    expect.objectContaining({
      code: 'bad_request',
      message: `${name}: unknown parameter; did you mean ${meant}?`,
    }),
  );
});

test.each([
  ['odr=asc', 'two edits of a name of five letters'],
  ['qq=1&t=1&too=2', 'one edit of a name shorter than four letters'],
  ['pag=2&page=3', 'the parameter itself is given'],
  ['tmefrmes=1h', 'three edits of a long name'],
  ['limit=3', 'a name that is unlike all others'],
  ['PAGE=2', 'a name in another letter case'],
])('the unknown parameter in %s is ignored: %s', (query) => {
  expect(() => parse(query)).not.toThrow();
});

test('valid values are parsed, and a list drops duplicates and follows the declared order', () => {
  const token = `0x${'AB'.repeat(20)}`;
  const query = `page=7&to=9007199254740991&order=asc&kinds=burn,swap,burn&fill=true&token=${token}`;
  expect(parse(`${query}&q=%F0%9F%A6%84abc`)).toEqual({
    page: 7,
    to: 9_007_199_254_740_991,
    order: 'asc',
    kinds: ['swap', 'burn'],
    fill: true,
    token: token.toLowerCase(),
    q: '🦄abc',
    timeframe: '1h',
  });
});

test.each([
  ['page=0', 'page: got "0"; allowed: an integer from 1 to 9007199254740991'],
  ['page=1&page=1', 'page: got 2 values; allowed: one value'],
  ['page=', 'page: got ""; allowed: an integer from 1 to 9007199254740991'],
  ['to=9007199254740992', 'to: got "9007199254740992"; allowed: an integer from 0 to 9007199254740991'],
  ['order=DESC', 'order: got "DESC"; allowed: one of desc, asc'],
  ['kinds=swap,', 'kinds: got "swap,"; allowed: a comma list of swap, mint, burn'],
  ['fill=TRUE', 'fill: got "TRUE"; allowed: true or false'],
  ['q=12345', 'q: got "12345"; allowed: a text of 1 to 4 characters'],
])(
  'the value "%s" is refused with the name of the parameter, the given value and the allowed values',
  (querystring, message) => {
    expect(() => parse(querystring)).toThrow(message);
  },
);

test('the error for a long wrong value shortens the value', () => {
  expect(() => parse(`order=${'x'.repeat(500)}`)).toThrow(`"${'x'.repeat(80)}…"`);
});

test('parsing a formatted cursor gives the same cursor, and any other text is no cursor', () => {
  for (const ord of [toOrd(0, 0), toOrd(17_686_110, 42), toOrd(4_294_967_295, 1_048_575)])
    expect(parseCursor(formatCursor(ord))).toBe(ord);
  const good = formatCursor(toOrd(12, 3));
  for (const bad of [
    `${good}=`,
    `${good}A`,
    good.slice(1),
    '',
    '12-3',
    Buffer.from('012-3').toString('base64url'),
  ])
    expect(parseCursor(bad)).toBeNull();
});

test('clients are distinguished by IPv4 address, or by the /64 network of an IPv6 address', () => {
  expect(clientOf('::ffff:10.0.0.1')).toBe('10.0.0.1');
  expect(clientOf('10.0.0.1')).toBe('10.0.0.1');
  expect(clientOf('2001:db8:0:1::5')).toBe(clientOf('2001:db8::1:ffff:1:2:3'));
  expect(clientOf('2001:db8:0:1::5')).not.toBe(clientOf('2001:db8:0:2::5'));
  expect(clientOf('::1')).toBe('0:0:0:0');
});
