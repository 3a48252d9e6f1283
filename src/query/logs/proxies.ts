/**
 * Tells which contracts a proxy used at the position of a log, and which code they had. Two sources know this: upgrade
 * logs, which have an exact position, and the node, which saw the state at the end of a block. The newer one counts. An
 * unknown implementation stays unknown; it is never guessed.
 */
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { blockOfOrd, toOrd } from '../../domain/ord';
import { isSameCode, listSpans, spanAt, type CodeSpan, type SpanMap } from '../contracts/codeSpans';
import type { ContractCode } from '../contracts/contractFacts';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { LogSource } from './logFilter';
import { listUpgrades, upgradeAt, type Upgrade, type UpgradeMap } from './upgrades';

/** What is known about some contracts over time: their code and targets, and their upgrade logs. */
export interface Proxies {
  readonly spans: SpanMap;
  readonly upgrades: UpgradeMap;
}

/** A contract whose ABI may fit a log, with the code that it had then; null if the code is unknown. */
export interface Candidate {
  readonly address: Hex;
  readonly codeHash: Hex | null;
}

/** Reads at most 1,000 addresses. `currentCodes` has the codes that the node sees now; null for an address without code. */
export async function readProxies(
  source: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
  currentCodes: ReadonlyMap<Hex, ContractCode | null> = new Map(),
): Promise<Proxies> {
  const [storedSpans, upgrades] = await Promise.all([
    listSpans(source, head.number, addresses, { withLoneCodes: true }),
    listUpgrades(source, head, addresses),
  ]);
  for (const [address, code] of currentCodes) {
    const spans = storedSpans.get(address) ?? [];
    const lastSpan = spans.at(-1);
    if (lastSpan === undefined || !isSameCode(lastSpan.code, code))
      storedSpans.set(address, [...spans, { from: head.number, code }]);
  }
  const beacons = beaconsOf({ spans: storedSpans, upgrades }, addresses);
  if (beacons.length === 0) return { spans: storedSpans, upgrades };
  const beaconUpgrades = await listUpgrades(source, head, beacons);
  return { spans: storedSpans, upgrades: new Map([...upgrades, ...beaconUpgrades]) };
}

/** The known beacons that these contracts have ever used. */
export function beaconsOf({ spans, upgrades }: Proxies, addresses: readonly Hex[]): Hex[] {
  const beacons = addresses.flatMap((address) => [
    ...(upgrades.get(address) ?? []).flatMap(({ kind, targets }) => (kind === 'beacon' ? targets : [])),
    ...(spans.get(address) ?? []).flatMap(({ code }) => code?.proxy?.beacon ?? []),
  ]);
  return [...new Set(beacons)];
}

/** The implementations of `address` at the position `ord`: none, one, or the facets of a diamond. */
export function implementationsAt(proxies: Proxies, address: Hex, ord: number): readonly Hex[] {
  const { spans, upgrades } = proxies;
  const ownUpgrades = upgrades.get(address);
  const upgrade = upgradeAt(ownUpgrades, ord);
  const { span } = spanAt(spans.get(address), ord);
  if (upgrade !== null && (span === null || blockOfOrd(upgrade.ord) >= span.from))
    return targetsAfterUpgrade(proxies, upgrade, span ?? spans.get(address)?.[0] ?? null, ord);
  // A proxy without upgrade logs is assumed to have had its oldest known implementation from the start.
  const { code, from } = span ?? (ownUpgrades === undefined ? spans.get(address)?.[0] : undefined) ?? NO_SPAN;
  const proxy = code?.proxy ?? null;
  if (proxy === null) return [];
  const { beacon, implementation, facets } = proxy;
  if (beacon !== null)
    return implementationsOfBeacon(upgrades, beacon, implementation, ord, span === null ? null : from);
  return implementation === null ? facets : [implementation, ...facets];
}

/** `seenFrom` is the block since which the node saw the implementation; null if it is only assumed. */
function implementationsOfBeacon(
  upgrades: UpgradeMap,
  beacon: Hex,
  implementation: Hex | null,
  ord: number,
  seenFrom: number | null,
): readonly Hex[] {
  const newestUpgrade = upgradeAt(upgrades.get(beacon), ord);
  if (newestUpgrade !== null && (seenFrom === null || blockOfOrd(newestUpgrade.ord) >= seenFrom))
    return newestUpgrade.targets;
  return (seenFrom === null && upgrades.has(beacon)) || implementation === null ? [] : [implementation];
}

const NO_SPAN: CodeSpan = { from: 0, code: null };

/** The implementations after an upgrade log. */
function targetsAfterUpgrade(
  { upgrades }: Proxies,
  { kind, targets }: Upgrade,
  span: CodeSpan | null,
  ord: number,
): readonly Hex[] {
  const proxy = span?.code?.proxy ?? null;
  // Cuts before the first stored block are missing in the logs, but not in the diamond's own list.
  if (kind === 'diamond') return [...new Set([...targets, ...(proxy?.facets ?? [])])];
  const [beacon] = targets;
  if (kind !== 'beacon' || beacon === undefined) return targets;
  return implementationsOfBeacon(upgrades, beacon, proxy?.implementation ?? null, ord, null);
}

/** Like implementationsAt, and the implementations before a change within the block. */
export function targetsAround(proxies: Proxies, address: Hex, ord: number): readonly Hex[] {
  const implementationsNow = implementationsAt(proxies, address, ord);
  const { spanBefore } = spanAt(proxies.spans.get(address), ord);
  return spanBefore === null
    ? implementationsNow
    : [
        ...new Set([
          ...implementationsNow,
          ...implementationsAt(proxies, address, toOrd(blockOfOrd(ord), 0) - 1),
        ]),
      ];
}

/** The contracts whose ABI may fit a log of `address`, the most likely first. */
export function candidatesAt(proxies: Proxies, address: Hex, ord: number): readonly Candidate[] {
  return [address, ...targetsAround(proxies, address, ord)].flatMap((contract) =>
    hashesAt(proxies.spans.get(contract), ord).map((codeHash) => ({ address: contract, codeHash })),
  );
}

/** The hash of the code at a position, and the hash before a change within the block. Null if the code is unknown. */
function hashesAt(spans: readonly CodeSpan[] | undefined, ord: number): readonly (Hex | null)[] {
  const { span, spanBefore } = spanAt(spans, ord);
  // Before the first known code, the contract is assumed to have had this code.
  const nearestSpan = span ?? spans?.[0];
  if (nearestSpan === undefined) return [null];
  const hashOf = ({ code }: CodeSpan): Hex => code?.hash ?? ZERO_HASH;
  const hash = hashOf(nearestSpan);
  return spanBefore === null || hashOf(spanBefore) === hash ? [hash] : [hash, hashOf(spanBefore)];
}
