/**
 * Formats numbers, times and addresses for people. Tiny prices count their zeros (0.0₅1234); large figures use k, M, B
 * and T. An unknown value is a dash, never a zero. Pure.
 */

export const UNKNOWN = '—';

type Figure = number | string | null | undefined;

const SUBSCRIPTS = '₀₁₂₃₄₅₆₇₈₉';
const UNIT_STEPS: readonly (readonly [number, string])[] = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'k'],
];
/** From this number of zeros on, the number of zeros is shown instead of the zeros. */
const ZEROS_SHORTENED_AT = 4;
const SIGNIFICANT_DIGITS = 4;

function toNumber(value: Figure): number | null {
  if (value === null || value === undefined) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

function withMinusSign(text: string): string {
  return text.replace('-', '−');
}

/** By number of fraction digits. Creating a format takes longer than using it. */
const formatByDigits = new Map<number, Intl.NumberFormat>();

/** Formats with this number of fraction digits, and with commas between thousands. */
function formatDecimal(value: number, digits: number): string {
  let format = formatByDigits.get(digits);
  if (format === undefined) {
    format = new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
    formatByDigits.set(digits, format);
  }
  return withMinusSign(format.format(value));
}

/** Formats a positive number below one, to four significant digits. */
function formatSmall(value: number): string {
  const [mantissa = '', exponent = ''] = value.toExponential(SIGNIFICANT_DIGITS - 1).split('e');
  const zeros = -Number(exponent) - 1;
  const digits = mantissa.replace('.', '');
  if (zeros < 0) return '1';
  if (zeros < ZEROS_SHORTENED_AT) return `0.${'0'.repeat(zeros)}${digits}`;
  const zeroCount = [...String(zeros)].map((digit) => SUBSCRIPTS[Number(digit)] ?? '').join('');
  return `0.0${zeroCount}${digits}`;
}

/** Formats a price of any size with enough significant digits. */
export function formatPrice(value: Figure): string {
  const number = toNumber(value);
  if (number === null) return UNKNOWN;
  const size = Math.abs(number);
  const sign = number < 0 ? '−' : '';
  if (size === 0) return '0';
  if (size < 1) return sign + formatSmall(size);
  if (size >= 1e9) return sign + formatCompact(size);
  if (size >= 1_000) return sign + formatDecimal(size, size >= 1e6 ? 0 : 2);
  return sign + formatDecimal(size, size < 10 ? 4 : size < 100 ? 3 : 2);
}

export function formatUsdPrice(value: Figure): string {
  const text = formatPrice(value);
  return text === UNKNOWN ? text : text.startsWith('−') ? `−$${text.slice(1)}` : `$${text}`;
}

function formatCompact(size: number): string {
  for (const [index, [step, letter]] of UNIT_STEPS.entries()) {
    if (size < step * 0.99995) continue;
    const scaled = size / step;
    if (index === 0 && scaled >= 10_000) return scaled.toExponential(2).replace('e+', 'e') + letter;
    return `${formatDecimal(scaled, scaled >= 100 ? 1 : 2)}${letter}`;
  }
  return formatDecimal(size, size >= 100 ? 1 : 2);
}

/** Formats USD, for example $1.23M. */
export function formatUsd(value: Figure): string {
  const number = toNumber(value);
  if (number === null) return UNKNOWN;
  const size = Math.abs(number);
  const sign = number < 0 ? '−' : '';
  if (size === 0) return '$0';
  if (size < 0.01) return `${sign}<$0.01`;
  return `${sign}$${formatCompact(size)}`;
}

/** Formats an amount of tokens. */
export function formatAmount(value: Figure): string {
  const number = toNumber(value);
  if (number === null) return UNKNOWN;
  const size = Math.abs(number);
  const sign = number < 0 ? '−' : '';
  if (size === 0) return '0';
  if (size < 1) return sign + formatSmall(size);
  return sign + formatCompact(size).replace(/\.00$/, '');
}

/** Formats a count, as a whole number below a million. */
export function formatCount(value: Figure): string {
  const number = toNumber(value);
  if (number === null) return UNKNOWN;
  return Math.abs(number) < 1e6 ? formatDecimal(number, 0) : withMinusSign(formatCompact(number));
}

/** For example 12.3k or 190k. `size` is at least 1,000. */
function formatThreeDigits(size: number): string {
  const [step, letter] = UNIT_STEPS.find(([unit]) => size >= unit * 0.9995) ?? [1, ''];
  return `${(size / step).toPrecision(3).replace('e+', 'e')}${letter}`;
}

/** Formats a percentage with its sign. */
export function formatChange(value: Figure): string {
  const number = toNumber(value);
  if (number === null) return UNKNOWN;
  const size = Math.abs(number);
  const text =
    size >= 9_999.5
      ? formatThreeDigits(size)
      : size >= 1_000
        ? formatDecimal(size, 0)
        : formatDecimal(size, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
  const sign = /[1-9]/.test(text) ? (number > 0 ? '+' : '−') : '';
  return `${sign}${text}%`;
}

/** Formats a share in percent. */
export function formatShare(value: Figure): string {
  const number = toNumber(value);
  if (number === null) return UNKNOWN;
  if (number > 0 && number < 0.01) return '<0.01%';
  return `${formatDecimal(number, Math.abs(number) >= 99.995 ? 0 : 2)}%`;
}

/** Formats basis points as percent, for example 29 as 0.29%. */
export function formatFee(bps: number | null): string {
  if (bps === null) return 'fee by hook';
  return `${Number((bps / 100).toFixed(4))}%`;
}

/** Formats the time between two unix times in seconds. */
export function formatAgo(timestamp: number | null, now: number): string {
  if (timestamp === null) return UNKNOWN;
  const seconds = Math.max(0, Math.round(now - timestamp));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h`;
  if (seconds < 86_400 * 60) return `${Math.floor(seconds / 86_400)}d`;
  if (seconds < 86_400 * 730) return `${Math.floor(seconds / 2_629_800)}mo`;
  return `${Math.floor(seconds / 31_557_600)}y`;
}

/** Formats a time, for example 2027-11-21 17:51:30 UTC. */
export function formatTime(timestamp: number): string {
  return `${new Date(timestamp * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** 2027-11-21 */
export function formatDay(timestamp: number): string {
  return new Date(timestamp * 1000).toISOString().slice(0, 10);
}

/** Shortens an address, for example to 0x5fbd…0aa3. */
export function shortHex(hex: string): string {
  return hex.length > 12 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex;
}

/** The symbol of a token; its short address if it has none. */
export function symbolOf(token: { readonly symbol: string | null; readonly address: string }): string {
  return token.symbol === null || token.symbol.trim() === '' ? shortHex(token.address) : token.symbol;
}
