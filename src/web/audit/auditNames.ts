/** Names for the addresses of an audit: symbols of tokens, and names of pools. */
import type { Audit } from '../../wire/audit';
import type { PairsAnswer } from '../../wire/pairs';
import { getAnswer } from '../core/api.ts';
import { shortHex, symbolOf } from '../core/format.ts';

interface PoolName {
  /** Such as WETH / DAI. */
  readonly name: string;
  readonly dex: string;
  readonly type: number;
  readonly feeBps: number | null;
}

export interface AuditNames {
  /** The symbol, or else the short address. */
  symbolOf(address: string): string;
  poolOf(address: string): PoolName | null;
}

/** Most pools of one call of the API, and most calls for an audit. */
const POOLS_PER_CALL = 30;
const CALLS_MAX = 4;
/** Number of pools to remember. */
const POOLS_KEPT_MAX = 2_000;

const poolNameByAddress = new Map<string, PoolName>();
const symbolByAddress = new Map<string, string>();

/** Asks only for pools that are not known yet. An answer that fails leaves addresses without names. */
export async function readAuditNames(audit: Audit, signal: AbortSignal): Promise<AuditNames> {
  if (poolNameByAddress.size > POOLS_KEPT_MAX) {
    poolNameByAddress.clear();
    symbolByAddress.clear();
  }
  symbolByAddress.set(audit.token.address, symbolOf(audit.token));
  const usedPools = audit.hops.flatMap((hop) => hop.pools.map(({ address }) => address));
  const allPools = [...usedPools, ...audit.excluded_pools.map(({ address }) => address)];
  const unknownPools = [...new Set(allPools)]
    .filter((address) => !poolNameByAddress.has(address))
    .slice(0, POOLS_PER_CALL * CALLS_MAX);
  const calls: Promise<void>[] = [];
  for (let start = 0; start < unknownPools.length; start += POOLS_PER_CALL)
    calls.push(readPoolNames(unknownPools.slice(start, start + POOLS_PER_CALL), signal));
  await Promise.all(calls);
  return {
    symbolOf: (address) => symbolByAddress.get(address) ?? shortHex(address),
    poolOf: (address) => poolNameByAddress.get(address) ?? null,
  };
}

async function readPoolNames(addresses: readonly string[], signal: AbortSignal): Promise<void> {
  try {
    const { data } = await getAnswer<PairsAnswer>('/pairs', { addresses: addresses.join(',') }, signal);
    for (const pair of data) {
      poolNameByAddress.set(pair.address, {
        name: pair.name,
        dex: pair.dex_name,
        type: pair.pool_type,
        feeBps: pair.fee_bps,
      });
      for (const token of pair.tokens) symbolByAddress.set(token.address, symbolOf(token));
    }
  } catch (error) {
    if (signal.aborted) throw error;
  }
}
