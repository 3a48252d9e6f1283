/** Writes figures for previews of shared links, in plain characters that every font has. An unknown figure is null. Pure. */
import { normaliseText } from '../../domain/address';

/** Longest symbol in a preview, in characters. */
const SYMBOL_MAX = 20;
/** Prices below this have an exponent, because a preview has no room for their zeros. */
const PLAIN_PRICE_MIN = 1e-9;
const PLAIN_PRICE_MAX = 1e9;

const PRICE_FORMAT = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 5 });
const USD_FORMAT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 });
const CHANGE_FORMAT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2, signDisplay: 'exceptZero' });

export function priceFigure(value: string | number | null): string | null {
  if (value === null) return null;
  const parsedValue = Number(value);
  if (!Number.isFinite(parsedValue)) return null;
  const absoluteValue = Math.abs(parsedValue);
  return absoluteValue !== 0 && (absoluteValue < PLAIN_PRICE_MIN || absoluteValue >= PLAIN_PRICE_MAX)
    ? parsedValue.toExponential(3)
    : PRICE_FORMAT.format(parsedValue);
}

export function usdFigure(value: number | null): string | null {
  return value === null || !Number.isFinite(value) ? null : `$${USD_FORMAT.format(value)}`;
}

/** A change in percent, with its sign. */
export function changeFigure(value: number | null): string | null {
  return value === null || !Number.isFinite(value) ? null : `${CHANGE_FORMAT.format(value)}%`;
}

/** A symbol of the chain without control characters and of limited length. Without a symbol, the short address. */
export function symbolFigure({ symbol, address }: { symbol: string | null; address: string }): string {
  return normaliseText(symbol ?? '', SYMBOL_MAX) ?? shortHex(address);
}

export function shortHex(text: string): string {
  return text.length <= 14 ? text : `${text.slice(0, 6)}…${text.slice(-4)}`;
}
