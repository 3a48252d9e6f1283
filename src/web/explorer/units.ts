/** Exact amounts: integers of the chain in whole coins, without rounding. Pure. */

/** Decimals of the native coin and of gwei, in wei. */
export const COIN_DECIMALS = 18;
export const GWEI_DECIMALS = 9;

/** Moves the decimal point of an integer, and groups its thousands. */
export function formatUnits(value: bigint, decimals: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const wholePart = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',');
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '');
  return `${value < 0n ? '−' : ''}${wholePart}${fraction === '' ? '' : `.${fraction}`}`;
}

/** An integer with grouped thousands. */
export const formatWhole = (value: bigint): string => formatUnits(value, 0);

/** The used part of a limit, such as `21,000 of 30,000 (70%)`; only the used number without a limit. */
export function usedOf(used: bigint, limit: bigint | null): string {
  if (limit === null || limit === 0n) return formatWhole(used);
  const percent = Number((used * 10_000n) / limit) / 100;
  return `${formatWhole(used)} of ${formatWhole(limit)} (${percent}%)`;
}
