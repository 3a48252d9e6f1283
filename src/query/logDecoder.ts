/**
 * Decodes logs by what is known of their contracts: the contract's own ABI, for a proxy that of the implementation which was
 * live at the log, else the signatures of all known ABIs.
 */
import type { Hex } from '../domain/hex';
import type { AbiEntry, SignatureReader, VerifiedReader } from '../domain/verifiedContract';
import { listCodes, type ContractCode } from './contracts';
import { decodeBy, eventsByTopic, type DecodedLog, type EventForm } from './decodeEvent';
import type { HeadSnapshot } from './headSnapshot';
import { inChunks } from './inChunks';
import type { LogSource } from './logFilter';
import type { StoredLog } from './logs';
import { listUpgrades, upgradeAt, type UpgradeMap } from './upgrades';

export interface DecoderDeps {
  readonly verified: Pick<VerifiedReader, 'findMany'>;
  readonly signatures: Pick<SignatureReader, 'listBySelectors'>;
}

type Forms = ReadonlyMap<Hex, readonly EventForm[]>;

export interface LogDecoder {
  /** For each log what it says; null where nothing known fits it. At most 1,000 logs. */
  decode(source: LogSource, head: HeadSnapshot, logs: readonly StoredLog[]): Promise<(DecodedLog | null)[]>;
}

export function createLogDecoder(deps: DecoderDeps): LogDecoder {
  // ABIs are parsed once by their reader and given again: what was made of one is found by its identity.
  const made = new WeakMap<readonly AbiEntry[], Forms>();
  const formsOf = (abi: readonly AbiEntry[]): Forms => {
    const known = made.get(abi) ?? eventsByTopic(abi);
    made.set(abi, known);
    return known;
  };
  return {
    async decode(source, head, logs) {
      const named = logs.filter(({ topics }) => topics.length > 0);
      if (named.length === 0) return logs.map(() => null);
      const routes = await readRoutes(source, head, [...new Set(named.map(({ address }) => address))]);
      const forms = await readForms(deps, source, routes, named, formsOf);
      const first = logs.map((log) => decodeByContracts(routes, forms, log));
      const missing = logs.filter((log, index) => first[index] === null && log.topics.length > 0);
      if (missing.length === 0) return first;
      const topics = new Set(missing.flatMap(({ topics: [topic0] }) => topic0 ?? []));
      const signatures = await deps.signatures.listBySelectors([...topics]);
      const known = eventsByTopic(signatures.map(({ entry }) => entry));
      return logs.map((log, index) => first[index] ?? decodeBy(known.get(log.topics[0] ?? '0x'), log));
    },
  };
}

/** Where the contracts of a page lead to, and when. */
export interface Routes {
  readonly codes: ReadonlyMap<Hex, ContractCode>;
  readonly upgrades: UpgradeMap;
}

/** At most 1,000 addresses. */
export async function readRoutes(
  source: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
): Promise<Routes> {
  const [codes, upgrades] = await Promise.all([
    listCodes(source, addresses),
    listUpgrades(source, head, addresses),
  ]);
  const beacons = [...upgrades.values()]
    .flat()
    .flatMap(({ kind, targets }) => (kind === 'beacon' ? targets : []));
  for (const { proxy } of codes.values()) if (proxy?.beacon) beacons.push(proxy.beacon);
  if (beacons.length === 0) return { codes, upgrades };
  const ofBeacons = await listUpgrades(source, head, [...new Set(beacons)]);
  return { codes, upgrades: new Map([...upgrades, ...ofBeacons]) };
}

/** The contracts whose ABIs a log of `address` may be of, the likeliest first. */
export function implementationsAt({ codes, upgrades }: Routes, address: Hex, ord: number): readonly Hex[] {
  const own = upgrades.get(address);
  const proxy = codes.get(address)?.proxy ?? null;
  const upgrade = upgradeAt(own, ord);
  const beacon = upgrade?.kind === 'beacon' ? upgrade.targets[0] : own === undefined ? proxy?.beacon : null;
  if (beacon !== undefined && beacon !== null) {
    const live = upgradeAt(upgrades.get(beacon), ord);
    if (live !== null) return live.targets;
    return upgrades.has(beacon) || proxy?.implementation == null ? [] : [proxy.implementation];
  }
  if (upgrade !== null) return upgrade.targets;
  // Without any upgrade in the logs the proxy leads today where it always led, as far as is known.
  return own === undefined && proxy?.implementation != null ? [proxy.implementation] : [];
}

/** Events by contract, of all that the page may need. */
async function readForms(
  { verified }: DecoderDeps,
  source: LogSource,
  routes: Routes,
  logs: readonly StoredLog[],
  formsOf: (abi: readonly AbiEntry[]) => Forms,
): Promise<ReadonlyMap<Hex, Forms>> {
  const own = new Set(logs.map(({ address }) => address));
  const behind = new Set(logs.flatMap(({ address, ord }) => implementationsAt(routes, address, ord)));
  const more = [...behind].filter((address) => !own.has(address));
  const moreCodes = new Map<Hex, ContractCode>();
  await inChunks(more, async (chunk) => {
    for (const [address, code] of await listCodes(source, chunk)) moreCodes.set(address, code);
    return [];
  });
  const contracts = [...own, ...more].map((address) => ({
    chainId: source.chainId,
    address,
    codeHash: (routes.codes.get(address) ?? moreCodes.get(address))?.hash ?? null,
  }));
  const found = await inChunks(contracts, (chunk) => verified.findMany(chunk));
  const forms = new Map<Hex, Forms>();
  contracts.forEach(({ address }, index) => {
    const record = found[index];
    if (record !== null && record !== undefined) forms.set(address, formsOf(record.abi));
  });
  return forms;
}

function decodeByContracts(
  routes: Routes,
  forms: ReadonlyMap<Hex, Forms>,
  log: StoredLog,
): DecodedLog | null {
  const [topic0] = log.topics;
  if (topic0 === undefined) return null;
  for (const address of [log.address, ...implementationsAt(routes, log.address, log.ord)]) {
    const decoded = decodeBy(forms.get(address)?.get(topic0), log);
    if (decoded !== null) return decoded;
  }
  return null;
}
