/** The wallets that were looked at last, kept in this browser. */
import { isAddress, readStored, writeStored } from '../core/stored.ts';

const STORAGE_KEY = 'wallets';
const RECENT_MAX = 6;

/** Newest first. */
export function recentWallets(): readonly string[] {
  const stored = readStored(STORAGE_KEY);
  return Array.isArray(stored) ? [...new Set(stored.filter(isAddress))].slice(0, RECENT_MAX) : [];
}

export function rememberWallet(address: string): void {
  writeStored(
    STORAGE_KEY,
    [address, ...recentWallets().filter((other) => other !== address)].slice(0, RECENT_MAX),
  );
}
