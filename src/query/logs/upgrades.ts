/**
 * Finds the implementation of a proxy at the time of each log. Uses the proxy's logs Upgraded, BeaconUpgraded and
 * DiamondCut, with or without indexed parameters. For a proxy without such logs, callers use the node's answer. An
 * unknown implementation stays unknown; it is never guessed.
 */
import { AbiCoder } from 'ethers';
import { z } from 'zod';

import { address, hash, hexBytes, nullable, u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { addressOfWord, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { BEACON_UPGRADED, DIAMOND_CUT, UPGRADED } from '../../domain/proxies';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { LogSource } from './logFilter';

/** Largest number of upgrades of all requested contracts together. Further upgrades are ignored. */
const UPGRADES_MAX = 10_000;
/** Largest number of functions of one diamond that are remembered. */
const SELECTORS_MAX = 5_000;

const upgradeRow = rowType({ address, ord: u64, topic0: hash, topic1: nullable(hash), data: hexBytes });

/** From the position `ord` on, the proxy uses `targets`. The target of a beacon proxy is its beacon. */
export interface Upgrade {
  readonly ord: number;
  readonly kind: 'implementation' | 'beacon' | 'diamond';
  readonly targets: readonly Hex[];
}

export type UpgradeMap = ReadonlyMap<Hex, readonly Upgrade[]>;

/** The upgrades of these contracts at the snapshot. At most 1,000 addresses. */
export async function listUpgrades(
  { runner, chainId }: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
): Promise<UpgradeMap> {
  if (addresses.length === 0) return new Map();
  const params = {
    ...snapshotParams(head),
    chain_id: chainId,
    addresses: addresses.map((address) => address.slice(2)),
    limit: UPGRADES_MAX,
  };
  const rows = await runner.run('logs/list_upgrades', params, upgradeRow);
  const upgrades = new Map<Hex, Upgrade[]>();
  const facetsByProxy = new Map<Hex, Map<string, Hex>>();
  for (const { address: proxy, ord, topic0, topic1, data } of rows) {
    const proxyUpgrades = upgrades.get(proxy) ?? [];
    upgrades.set(proxy, proxyUpgrades);
    if (topic0 === DIAMOND_CUT) {
      const facetBySelector = facetsByProxy.get(proxy) ?? new Map<string, Hex>();
      facetsByProxy.set(proxy, facetBySelector);
      if (!applyCut(facetBySelector, data)) continue;
      proxyUpgrades.push({ ord, kind: 'diamond', targets: [...new Set(facetBySelector.values())] });
      continue;
    }
    const target = readTarget(topic1, data);
    const kind = topic0 === BEACON_UPGRADED ? 'beacon' : 'implementation';
    if (target !== null && (topic0 === UPGRADED || topic0 === BEACON_UPGRADED))
      proxyUpgrades.push({ ord, kind, targets: [target] });
  }
  return upgrades;
}

/** The implementation or beacon that the event names: in a topic, or in the data if the parameter is not indexed. */
function readTarget(topic1: Hex | null, data: Hex): Hex | null {
  const word = topic1 ?? (data.length === 66 ? data : null);
  if (word === null || !word.startsWith(`0x${'0'.repeat(24)}`)) return null;
  const target = addressOfWord(word);
  return target === ZERO_ADDRESS ? null : target;
}

/**
 * Applies a DiamondCut (EIP-2535): action 0 adds functions, 1 replaces them, 2 removes them. Returns false for
 * invalid data.
 */
function applyCut(facetBySelector: Map<string, Hex>, data: Hex): boolean {
  try {
    const [cutList] = AbiCoder.defaultAbiCoder().decode(
      ['tuple(address,uint8,bytes4[])[]', 'address', 'bytes'],
      data,
    );
    const cuts = z.array(z.tuple([z.string(), z.bigint(), z.array(z.string())])).parse(cutList.toArray(true));
    for (const [facet, action, selectors] of cuts) {
      for (const selector of selectors) {
        if (action === 2n) facetBySelector.delete(selector);
        else if (facetBySelector.has(selector) || facetBySelector.size < SELECTORS_MAX)
          facetBySelector.set(selector, `0x${facet.slice(2).toLowerCase()}`);
      }
    }
    return true;
  } catch {
    return false;
  }
}

/** The newest upgrade at or before a log, or null. */
export function upgradeAt(upgrades: readonly Upgrade[] | undefined, ord: number): Upgrade | null {
  return upgrades?.findLast((upgrade) => upgrade.ord <= ord) ?? null;
}
