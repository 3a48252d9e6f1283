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
};

test('absent parameters get their defaults, and unknown parameters are ignored, even if repeated', () => {
  expect(parse('')).toEqual(ABSENT);
  expect(parse('x=1&x=2&y=&__proto__=3&constructor=')).toEqual(ABSENT);
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
