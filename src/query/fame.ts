/** What hits of a search are sorted by and say: little of many contracts. */
import { ZERO_HASH, type Hex } from '../domain/hex';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';
import type { LogCounts } from './logCounts';
import type { LogSource } from './logFilter';
import type { VerifiedIndex } from './verifiedIndex';

export interface Fame {
  /** Null: the market knows it as neither. */
  readonly kind: 'pair' | 'token' | null;
  /** Whether a verification is stored, of it or of a contract with the same code. */
  readonly verifiable: boolean;
  /** As of some minutes ago. */
  readonly logCount: number;
}

export interface FameDeps {
  readonly verified: VerifiedIndex;
  readonly logCounts: LogCounts;
}

/**
 * In the order of the addresses, of which at most 1,000 may be different. `tokens`: whether it is asked which of them are tokens; as
 * such only pairs are known otherwise.
 */
export async function readFame(
  { verified, logCounts }: FameDeps,
  source: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
  tokens: boolean,
): Promise<Fame[]> {
  const [kinds, hashes, counts, set] = await Promise.all([
    readKinds(source, head, addresses, tokens),
    readCodeHashes(source, addresses),
    logCounts.list(source, head, addresses),
    verified.read(),
  ]);
  return addresses.map((address, index) => ({
    kind: kinds.get(address) ?? null,
    verifiable: set.has(source.chainId, address, hashes.get(address) ?? null),
    logCount: counts[index] ?? 0,
  }));
}

const bareOf = (addresses: readonly Hex[]): string[] => addresses.map((address) => address.slice(2));

async function readKinds(
  { runner }: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
  tokens: boolean,
): Promise<Map<Hex, 'pair' | 'token'>> {
  const params = { ...snapshotParams(head), addresses: bareOf(addresses), tokens };
  const kinds = new Map<Hex, 'pair' | 'token'>();
  await runner.read('explorer/list_market_kinds', params, (row) => {
    const address = row.hex0x(20);
    const isPool = row.bool();
    // A pool is a token too, maybe.
    if (isPool || !kinds.has(address)) kinds.set(address, isPool ? 'pair' : 'token');
  });
  return kinds;
}

/** Of the newest codes; where there is none or nobody asked it is missing. */
async function readCodeHashes({ runner }: LogSource, addresses: readonly Hex[]): Promise<Map<Hex, Hex>> {
  const rows = await runner.read('explorer/list_code_hashes', { addresses: bareOf(addresses) }, (row) => ({
    address: row.hex0x(20),
    hash: row.hex0x(32),
    version: row.u64(),
  }));
  rows.sort((a, b) => a.version - b.version);
  return new Map(rows.flatMap(({ address, hash }) => (hash === ZERO_HASH ? [] : [[address, hash] as const])));
}
