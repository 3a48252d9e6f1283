/** Writes figures for previews of shared links, in plain characters that every font has. An unknown figure is null. Pure. */
import { normaliseText } from '../../domain/address';

/** Longest symbol in a preview, in characters. */
const SYMBOL_MAX = 20;
/** Prices below this have an exponent, because a preview has no room for their zeros. */
const PLAIN_MIN = 1e-9;
const PLAIN_MAX = 1e9;

const PRICE = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 5 });
const USD = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 });
const CHANGE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2, signDisplay: 'exceptZero' });

export function priceFigure(value: string | number | null): string | null {
  if (value === null) return null;
  const number = Number(value);
  if (!Number.isFinite(number)) return null;
  const size = Math.abs(number);
  return size !== 0 && (size < PLAIN_MIN || size >= PLAIN_MAX)
    ? number.toExponential(3)
    : PRICE.format(number);
}

export function usdFigure(value: number | null): string | null {
  return value === null || !Number.isFinite(value) ? null : `$${USD.format(value)}`;
}

/** A change in percent, with its sign. */
export function changeFigure(value: number | null): string | null {
  return value === null || !Number.isFinite(value) ? null : `${CHANGE.format(value)}%`;
}

/** A symbol of the chain without control characters and of limited length. Without a symbol, the short address. */
export function symbolFigure({ symbol, address }: { symbol: string | null; address: string }): string {
  return normaliseText(symbol ?? '', SYMBOL_MAX) ?? shortHex(address);
}

export function shortHex(text: string): string {
  return text.length <= 14 ? text : `${text.slice(0, 6)}…${text.slice(-4)}`;
}
