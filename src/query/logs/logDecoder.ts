/**
 * Decodes logs by the best known ABI: the contract's own ABI, then the ABI of the proxy's implementation at the time of
 * the log, then the signatures of all known ABIs.
 */
import { LRUCache } from 'lru-cache';

import type { Hex } from '../../domain/hex';
import { createSlices } from '../../domain/turns';
import type { AbiEntry, SignatureReader, VerifiedReader } from '../../domain/verifiedContract';
import type { ContractCode } from '../contracts/contractFacts';
import { listCodes } from '../contracts/contracts';
import { decodeBy, eventsByTopic, type DecodedLog, type EventForm } from './decodeEvent';
import type { HeadSnapshot } from '../head/headSnapshot';
import { inChunks } from '../head/inChunks';
import type { LogSource } from './logFilter';
import type { StoredLog } from './logs';
import { listUpgrades, upgradeAt, type Upgrade, type UpgradeMap } from './upgrades';

/** Number of head versions in memory, over all chains. */
const FINDINGS_KEPT = 4;
/** Number of addresses and topics kept per version. Beyond this number, the findings of the version are
 * dropped. */
const ADDRESSES_KEPT = 20_000;

interface DecoderDeps {
  readonly verified: Pick<VerifiedReader, 'findMany'>;
  readonly signatures: Pick<SignatureReader, 'listBySelectors'>;
}

type Forms = ReadonlyMap<Hex, readonly EventForm[]>;

export interface LogDecoder {
  /** One decoded log per log; null for a log without a fitting event. At most 1,000 logs. */
  decode(source: LogSource, head: HeadSnapshot, logs: readonly StoredLog[]): Promise<(DecodedLog | null)[]>;
  /**
   * Drops all remembered ABIs. Must be called when a verification is stored, because this does not change the
   * head.
   */
  forget(): void;
}

/**
 * Upgrades, ABIs and signatures that were read at one head version of one chain. Contract code is not kept, because
 * it changes between heads too.
 */
interface Findings {
  readonly upgrades: Map<Hex, readonly Upgrade[]>;
  /** Contracts whose upgrades have been read. */
  readonly loaded: Set<Hex>;
  /** ABIs by contract and code hash; null without a verification. */
  readonly forms: Map<string, Forms | null>;
  readonly signatures: Map<Hex, readonly EventForm[]>;
}

export function createLogDecoder(deps: DecoderDeps): LogDecoder {
  // The ABI reader returns the same object for the same ABI. Prepared events are therefore cached by this object.
  const made = new WeakMap<readonly AbiEntry[], Forms>();
  const formsOf = (abi: readonly AbiEntry[]): Forms => {
    const known = made.get(abi) ?? eventsByTopic(abi);
    made.set(abi, known);
    return known;
  };
  const found = new LRUCache<string, Findings>({ max: FINDINGS_KEPT });
  const findingsOf = (source: LogSource, head: HeadSnapshot): Findings => {
    const key = `${source.chainId} ${head.version}`;
    const known = found.get(key);
    if (known !== undefined && known.loaded.size + known.forms.size + known.signatures.size < ADDRESSES_KEPT)
      return known;
    const none = {
      upgrades: new Map<Hex, readonly Upgrade[]>(),
      loaded: new Set<Hex>(),
      forms: new Map<string, Forms | null>(),
      signatures: new Map<Hex, readonly EventForm[]>(),
    };
    found.set(key, none);
    return none;
  };
  return {
    forget: () => found.clear(),
    async decode(source, head, logs) {
      const named = logs.filter(({ topics }) => topics.length > 0);
      if (named.length === 0) return logs.map(() => null);
      const findings = findingsOf(source, head);
      const proxies = await findProxies(source, head, findings, [
        ...new Set(named.map(({ address }) => address)),
      ]);
      const forms = await findForms(deps, source, findings, proxies, named, formsOf);
      const first = await mapInSlices(logs, (log) => decodeByContracts(proxies, forms, log));
      const missing = logs.filter((log, index) => first[index] === null && log.topics.length > 0);
      if (missing.length === 0) return first;
      await findSignatures(deps, findings, missing);
      return mapInSlices(
        logs,
        (log, index) => first[index] ?? decodeBy(findings.signatures.get(log.topics[0] ?? '0x'), log),
      );
    },
  };
}

/** Long logs take long to decode, so this loop lets other requests run. */
async function mapInSlices<T, R>(items: readonly T[], make: (item: T, index: number) => R): Promise<R[]> {
  const slices = createSlices();
  const made: R[] = [];
  for (const [index, item] of items.entries()) {
    made.push(make(item, index));
    if (slices.isOver()) await slices.giveWay();
  }
  return made;
}

/** The proxies among these contracts, with their current code and their upgrades up to the head. */
async function findProxies(
  source: LogSource,
  head: HeadSnapshot,
  { upgrades, loaded }: Findings,
  addresses: readonly Hex[],
): Promise<Proxies> {
  const read = async (wanted: readonly Hex[]): Promise<void> => {
    const fresh = wanted.filter((one) => !loaded.has(one));
    if (fresh.length === 0) return;
    for (const [address, list] of await listUpgrades(source, head, fresh)) upgrades.set(address, list);
    for (const address of fresh) loaded.add(address);
  };
  const [codes] = await Promise.all([listCodes(source, addresses), read(addresses)]);
  await read(beaconsOf({ codes, upgrades }, addresses));
  return { codes, upgrades };
}

async function findSignatures(
  { signatures }: DecoderDeps,
  findings: Findings,
  logs: readonly StoredLog[],
): Promise<void> {
  const topics = new Set(logs.flatMap(({ topics: [topic0] }) => topic0 ?? []));
  const fresh = [...topics].filter((topic) => !findings.signatures.has(topic));
  if (fresh.length === 0) return;
  const known = eventsByTopic((await signatures.listBySelectors(fresh)).map(({ entry }) => entry));
  for (const topic of fresh) findings.signatures.set(topic, known.get(topic) ?? []);
}

/** The proxies among the emitters of a page's logs, with their implementations over time. */
export interface Proxies {
  readonly codes: ReadonlyMap<Hex, ContractCode>;
  readonly upgrades: UpgradeMap;
}

/**
 * Finds the proxies among at most 1,000 addresses. `known` has contract codes that the caller has already
 * read.
 */
export async function readProxies(
  source: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
  known: ReadonlyMap<Hex, ContractCode> = new Map(),
): Promise<Proxies> {
  const unknown = addresses.filter((address) => !known.has(address));
  const [read, upgrades] = await Promise.all([
    listCodes(source, unknown),
    listUpgrades(source, head, addresses),
  ]);
  const codes = new Map([...known, ...read]);
  const beacons = beaconsOf({ codes, upgrades }, addresses);
  if (beacons.length === 0) return { codes, upgrades };
  return { codes, upgrades: new Map([...upgrades, ...(await listUpgrades(source, head, beacons))]) };
}

/** The known beacons that these contracts have ever used. */
function beaconsOf({ codes, upgrades }: Proxies, addresses: readonly Hex[]): Hex[] {
  const beacons = addresses.flatMap((address) =>
    (upgrades.get(address) ?? []).flatMap(({ kind, targets }) => (kind === 'beacon' ? targets : [])),
  );
  for (const address of addresses) {
    const beacon = codes.get(address)?.proxy?.beacon;
    if (beacon) beacons.push(beacon);
  }
  return [...new Set(beacons)];
}

/** Contracts whose ABI may fit a log of `address` at position `ord`, the most likely first. */
export function implementationsAt({ codes, upgrades }: Proxies, address: Hex, ord: number): readonly Hex[] {
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
  // A proxy without upgrade logs is assumed to have had its current implementation from the start.
  return own === undefined && proxy?.implementation != null ? [proxy.implementation] : [];
}

/** Events by contract, for all contracts of the page. */
async function findForms(
  { verified }: DecoderDeps,
  source: LogSource,
  findings: Findings,
  proxies: Proxies,
  logs: readonly StoredLog[],
  formsOf: (abi: readonly AbiEntry[]) => Forms,
): Promise<ReadonlyMap<Hex, Forms>> {
  const own = new Set(logs.map(({ address }) => address));
  const behind = new Set(logs.flatMap(({ address, ord }) => implementationsAt(proxies, address, ord)));
  const more = [...behind].filter((address) => !own.has(address));
  const codes = new Map(proxies.codes);
  await inChunks(more, async (chunk) => {
    for (const [address, code] of await listCodes(source, chunk)) codes.set(address, code);
    return [];
  });
  const contracts = [...own, ...more].map((address) => ({
    chainId: source.chainId,
    address,
    codeHash: codes.get(address)?.hash ?? null,
  }));
  const keyOf = ({ address, codeHash }: (typeof contracts)[number]): string => `${address} ${codeHash}`;
  const fresh = contracts.filter((contract) => !findings.forms.has(keyOf(contract)));
  const records = await inChunks(fresh, (chunk) => verified.findMany(chunk));
  fresh.forEach((contract, index) => {
    const record = records[index] ?? null;
    findings.forms.set(keyOf(contract), record === null ? null : formsOf(record.abi));
  });
  return new Map(
    contracts.flatMap((contract) => {
      const forms = findings.forms.get(keyOf(contract)) ?? null;
      return forms === null ? [] : [[contract.address, forms] as const];
    }),
  );
}

function decodeByContracts(
  proxies: Proxies,
  forms: ReadonlyMap<Hex, Forms>,
  log: StoredLog,
): DecodedLog | null {
  const [topic0] = log.topics;
  if (topic0 === undefined) return null;
  for (const address of [log.address, ...implementationsAt(proxies, log.address, log.ord)]) {
    const decoded = decodeBy(forms.get(address)?.get(topic0), log);
    if (decoded !== null) return decoded;
  }
  return null;
}
