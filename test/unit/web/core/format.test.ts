/** Tests how the page writes numbers, times and addresses. */
import {
  formatAgo,
  formatAmount,
  formatChange,
  formatCount,
  formatFee,
  formatPrice,
  formatShare,
  formatTime,
  formatUsd,
  formatUsdPrice,
  shortHex,
  symbolOf,
} from '../../../../src/web/core/format';

test.each([
  ['0.00005875107315003954', '0.0₄5875'],
  ['0.00000000000000000013306411951999274', '0.0₁₈1331'],
  ['0.001166405658', '0.001166'],
  ['0.00099999', '0.001000'],
  ['0.99999', '1'],
  ['1.000357758295009', '1.0004'],
  ['14.570812', '14.571'],
  ['186.8549', '186.85'],
  ['2686.2990351261205', '2,686.30'],
  ['64040.97401675283', '64,040.97'],
  ['1234567.8', '1,234,568'],
  ['0', '0'],
  ['-0.000012346', '−0.0₄1235'],
  [null, '—'],
  ['nonsense', '—'],
])('the page shows the price %s as %s', (price, shown) => {
  expect(formatPrice(price)).toBe(shown);
});

test.each([
  [58_159_453.87, '$58.16M'],
  [999_960, '$1.00M'],
  [999.99, '$1.00k'],
  [1_500, '$1.50k'],
  [12.3, '$12.30'],
  [0.001, '<$0.01'],
  [0, '$0'],
  [-2_500_000_000, '−$2.50B'],
  [null, '—'],
])('the page shows %s US dollars as %s', (value, shown) => {
  expect(formatUsd(value)).toBe(shown);
});

test('every format of the page shows null as a dash and zero as a zero', () => {
  const formats = [
    formatPrice,
    formatUsdPrice,
    formatUsd,
    formatAmount,
    formatCount,
    formatChange,
    formatShare,
  ];
  expect(formats.map((format) => format(null))).toEqual(formats.map(() => '—'));
  expect(formats.map((format) => format(0))).toEqual(['0', '$0', '$0', '0', '0', '0.00%', '0.00%']);
});

test('the page keeps the sign of a percentage change unless it rounds to zero', () => {
  expect(
    [1.9557, -14.52, 231.4, -0.001, 9_999.4, 9_999.5, 190_064, 999_500, 1.5e18].map(formatChange),
  ).toEqual(['+1.96%', '−14.5%', '+231%', '0.00%', '+9,999%', '+10.0k%', '+190k%', '+1.00M%', '+1.50e6T%']);
});

test('the page shows a price of any size with four digits', () => {
  for (let exponent = -30; exponent <= 8; exponent += 1) {
    for (const mantissa of [1, 1.2345, 5.5555, 9.9994]) {
      const price = mantissa * 10 ** exponent;
      expect(Math.abs(readBack(formatPrice(price)) / price - 1)).toBeLessThan(5.1e-4);
    }
  }
});

/**
 * The number that a person reads in a formatted text. Replaces a count of zeros by the zeros (0.0₄5 by 0.00005), and
 * removes separators.
 */
function readBack(text: string): number {
  const plain = text.replace(/0\.0([₀-₉]+)/, (_, counted: string) => {
    const zeros = Number([...counted].map((digit) => '₀₁₂₃₄₅₆₇₈₉'.indexOf(digit)).join(''));
    return `0.${'0'.repeat(zeros)}`;
  });
  return Number(plain.replaceAll(',', ''));
}

test('the page shows ages, times, fees, shares and addresses in short forms', () => {
  expect([0, 59, 60, 7_199, 86_400, 8_000_000, 90_000_000].map((age) => formatAgo(100, 100 + age))).toEqual([
    '0s',
    '59s',
    '1m',
    '1h',
    '1d',
    '3mo',
    '2y',
  ]);
  expect(formatTime(1_700_000_000)).toBe('2023-11-14 22:13:20 UTC');
  expect([29, 30, 5, 0.25, null].map(formatFee)).toEqual([
    ...['0.29%', '0.3%', '0.05%', '0.0025%', 'fee by hook'],
  ]);
  expect([100, 0.001, 38.421].map(formatShare)).toEqual(['100%', '<0.01%', '38.42%']);
  expect(shortHex('0x5fbdb2315678afecb367f032d93f642f64180aa3')).toBe('0x5fbd…0aa3');
  expect(symbolOf({ symbol: ' ', address: '0x5fbdb2315678afecb367f032d93f642f64180aa3' })).toBe(
    '0x5fbd…0aa3',
  );
});
