/** Lists the addresses whose balances a supply treats apart: burn addresses, treasuries and lockers. Pure. */
import type { ChainDescription } from './chainDescription';
import { ZERO_ADDRESS, type Hex } from './hex';

/** Burn addresses of a chain whose description names none. */
const USUAL_BURN_ADDRESSES: readonly Hex[] = [ZERO_ADDRESS, '0x000000000000000000000000000000000000dead'];

export type WatchedKind = 'burn' | 'treasury' | 'locker';

export interface WatchedHolder {
  readonly address: Hex;
  readonly label: string;
  readonly kind: WatchedKind;
  /** The tokens for which the address counts; null means every token. */
  readonly tokens: readonly Hex[] | null;
}

/** The part of a chain description that says which balances are not in circulation. */
export type SupplyRules = Pick<ChainDescription, 'burn' | 'treasuries' | 'lockers'>;

/**
 * One entry per address, in the order burn addresses, treasuries, lockers. The zero address is left out: the supply by
 * the logs does not contain what it holds.
 */
export function listWatched({ burn, treasuries = [], lockers = [] }: SupplyRules): WatchedHolder[] {
  const watched = new Map<Hex, WatchedHolder>();
  const add = (kind: WatchedKind, { address, label, tokens }: Omit<WatchedHolder, 'kind'>): void => {
    if (address !== ZERO_ADDRESS && !watched.has(address))
      watched.set(address, { address, label, kind, tokens });
  };
  for (const address of burn?.addresses ?? USUAL_BURN_ADDRESSES)
    add('burn', { address, label: 'Burn address', tokens: null });
  for (const { address, label, tokens } of treasuries)
    add('treasury', { address, label, tokens: tokens ?? null });
  for (const { address, label, tokens } of lockers) add('locker', { address, label, tokens: tokens ?? null });
  return [...watched.values()];
}
