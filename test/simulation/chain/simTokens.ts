/** Facts about the tokens of the simulated chain. */
import type { Hex } from '../../../src/domain/hex';

const DECIMALS = [18, 18, 18, 6, 8, 0, 30] as const;

/** A token's decimals, derived from its address. */
export function simDecimals(token: Hex): number {
  return DECIMALS[Number.parseInt(token.slice(-2), 16) % DECIMALS.length]!;
}

/** The symbol of every token. Decimals of 0 without a symbol would count as unknown. */
export const SIM_SYMBOL: Hex = `0x${Buffer.from('SIM').toString('hex').padEnd(64, '0')}`;
