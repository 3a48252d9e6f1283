/**
 * Decodes logs by the best known ABI: the contract's own ABI, then the ABI of the proxy's implementation at the time of
 * the log, then the signatures of all known ABIs.
 */
import { LRUCache } from 'lru-cache';

import type { Hex } from '../../domain/hex';
import { createSlices } from '../../domain/time/slices';
import type { AbiEntry, SignatureReader, VerifiedReader } from '../../domain/verifiedContract';
import { listSpans, type CodeSpan } from '../contracts/codeSpans';
import { decodeBy, eventsByTopic, type DecodedLog, type EventForm } from './decodeEvent';
import type { HeadSnapshot } from '../head/headSnapshot';
import { inChunks } from '../head/inChunks';
import type { LogSource } from './logFilter';
import type { StoredLog } from './logs';
import { beaconsOf, candidatesAt, targetsAround, type Candidate, type Proxies } from './proxies';
import { listUpgrades, type Upgrade } from './upgrades';

/** Number of head versions in memory, over all chains. */
const FINDINGS_KEPT = 4;
/** Number of addresses and topics kept per version. Beyond this number, the findings of the version are
 * dropped. */
const FINDINGS_MAX = 20_000;

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
  readonly loadedProxies: Set<Hex>;
  /** ABIs by contract and code hash; null without a verification. */
  readonly forms: Map<string, Forms | null>;
  readonly signatures: Map<Hex, readonly EventForm[]>;
}

export function createLogDecoder(deps: DecoderDeps): LogDecoder {
  // The ABI reader returns the same object for the same ABI. Prepared events are therefore cached by this object.
  const formsByAbi = new WeakMap<readonly AbiEntry[], Forms>();
  const formsOf = (abi: readonly AbiEntry[]): Forms => {
    const forms = formsByAbi.get(abi) ?? eventsByTopic(abi);
    formsByAbi.set(abi, forms);
    return forms;
  };
  const findingsByHead = new LRUCache<string, Findings>({ max: FINDINGS_KEPT });
  const findingsOf = (source: LogSource, head: HeadSnapshot): Findings => {
    const key = `${source.chainId} ${head.version}`;
    const cachedFindings = findingsByHead.get(key);
    if (
      cachedFindings !== undefined &&
      cachedFindings.loadedProxies.size + cachedFindings.forms.size + cachedFindings.signatures.size <
        FINDINGS_MAX
    )
      return cachedFindings;
    const noFindings = {
      upgrades: new Map<Hex, readonly Upgrade[]>(),
      loadedProxies: new Set<Hex>(),
      forms: new Map<string, Forms | null>(),
      signatures: new Map<Hex, readonly EventForm[]>(),
    };
    findingsByHead.set(key, noFindings);
    return noFindings;
  };
  return {
    forget: () => findingsByHead.clear(),
    async decode(source, head, logs) {
      const logsWithTopic = logs.filter(({ topics }) => topics.length > 0);
      if (logsWithTopic.length === 0) return logs.map(() => null);
      const findings = findingsOf(source, head);
      const proxies = await findProxies(source, head, findings, [
        ...new Set(logsWithTopic.map(({ address }) => address)),
      ]);
      const candidates = await listCandidates(source, head, proxies, logs);
      await findForms(deps, source, findings, candidates, formsOf);
      const decodedByContracts = await mapInSlices(logs, (log, index) =>
        decodeByContracts(candidates[index] ?? [], findings, log),
      );
      const undecoded = logs.filter(
        (log, index) => decodedByContracts[index] === null && log.topics.length > 0,
      );
      if (undecoded.length === 0) return decodedByContracts;
      await findSignatures(deps, findings, undecoded);
      return mapInSlices(
        logs,
        (log, index) =>
          decodedByContracts[index] ?? decodeBy(findings.signatures.get(log.topics[0] ?? '0x'), log),
      );
    },
  };
}

/** Long logs take long to decode, so this loop lets other requests run. */
async function mapInSlices<T, R>(items: readonly T[], make: (item: T, index: number) => R): Promise<R[]> {
  const slices = createSlices();
  const results: R[] = [];
  for (const [index, item] of items.entries()) {
    results.push(make(item, index));
    if (slices.isOver()) await slices.giveWay();
  }
  return results;
}

/** The proxies among these contracts, with their code and their upgrades up to the head. */
async function findProxies(
  source: LogSource,
  head: HeadSnapshot,
  { upgrades, loadedProxies }: Findings,
  addresses: readonly Hex[],
): Promise<Proxies> {
  const loadUpgrades = async (addresses: readonly Hex[]): Promise<void> => {
    const unloaded = addresses.filter((address) => !loadedProxies.has(address));
    if (unloaded.length === 0) return;
    for (const [address, upgradesOfAddress] of await listUpgrades(source, head, unloaded))
      upgrades.set(address, upgradesOfAddress);
    for (const address of unloaded) loadedProxies.add(address);
  };
  const spans = await listSpans(source, head.number, addresses, { withLoneCodes: true });
  // The look-up of upgrades reads a block of rows for each contract, and most contracts are no proxies.
  await loadUpgrades(addresses.filter((address) => !isFixed(spans.get(address))));
  await loadUpgrades(beaconsOf({ spans, upgrades }, addresses));
  return { spans, upgrades };
}

/** Whether the contract only ever had a code that can never change and runs no other code. */
function isFixed(spans: readonly CodeSpan[] | undefined): boolean {
  return spans?.length === 1 && spans[0]?.code?.fixed === true;
}

async function findSignatures(
  { signatures }: DecoderDeps,
  findings: Findings,
  logs: readonly StoredLog[],
): Promise<void> {
  const eventTopics = new Set(logs.flatMap(({ topics: [topic0] }) => topic0 ?? []));
  const newTopics = [...eventTopics].filter((topic) => !findings.signatures.has(topic));
  if (newTopics.length === 0) return;
  const formsOfTopic = eventsByTopic((await signatures.listBySelectors(newTopics)).map(({ entry }) => entry));
  for (const topic of newTopics) findings.signatures.set(topic, formsOfTopic.get(topic) ?? []);
}

/** Events by contract and code hash, for all contracts whose ABI may fit a log. */
async function findForms(
  { verified }: DecoderDeps,
  source: LogSource,
  findings: Findings,
  candidates: readonly (readonly Candidate[])[],
  formsOf: (abi: readonly AbiEntry[]) => Forms,
): Promise<void> {
  const newCandidates = new Map<string, Candidate>();
  for (const candidate of candidates.flat())
    if (!findings.forms.has(keyOf(candidate))) newCandidates.set(keyOf(candidate), candidate);
  const contracts = [...newCandidates.values()].map((candidate) => ({
    ...candidate,
    chainId: source.chainId,
  }));
  const records = await inChunks(contracts, (chunk) => verified.findMany(chunk));
  contracts.forEach((contract, index) => {
    const record = records[index] ?? null;
    findings.forms.set(keyOf(contract), record === null ? null : formsOf(record.abi));
  });
}

const keyOf = ({ address, codeHash }: Candidate): string => `${address} ${codeHash}`;

/** The contracts whose ABI may fit each log, the most likely first. */
async function listCandidates(
  source: LogSource,
  head: HeadSnapshot,
  proxies: Proxies,
  logs: readonly StoredLog[],
): Promise<(readonly Candidate[])[]> {
  const targets = new Set(logs.flatMap(({ address, ord }) => targetsAround(proxies, address, ord)));
  const withoutSpans = [...targets].filter((address) => !proxies.spans.has(address));
  const spans = new Map(proxies.spans);
  await inChunks(withoutSpans, async (chunk) => {
    for (const [address, spansOfAddress] of await listSpans(source, head.number, chunk, {
      withLoneCodes: true,
    }))
      spans.set(address, spansOfAddress);
    return [];
  });
  return logs.map(({ address, ord }) => candidatesAt({ ...proxies, spans }, address, ord));
}

function decodeByContracts(
  candidates: readonly Candidate[],
  { forms }: Findings,
  log: StoredLog,
): DecodedLog | null {
  const [topic0] = log.topics;
  if (topic0 === undefined) return null;
  for (const candidate of candidates) {
    const decoded = decodeBy(forms.get(keyOf(candidate))?.get(topic0), log);
    if (decoded !== null) return decoded;
  }
  return null;
}
