/**
 * Answers /search. The text may mean an address, a hash, a block, a selector or a name. Hits are ranked first by the
 * quality of the match: exact, prefix, start of a word, inside. Among equal matches, verified hits come first. Then
 * the log count decides.
 */
import { z } from 'zod';

import { address, hash, u32, u8 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { isAddress, isHash, toLowerHex, type Hex } from '../../domain/hex';
import { blockOfOrd } from '../../domain/ord';
import type { Dex } from '../../domain/pool';
import type { KnownSignature, SignatureReader, VerifiedReader } from '../../domain/verifiedContract';
import type { SearchHit } from '../../wire/explorer';
import { findVerification } from '../contracts/contractFacts';
import type { ContractReader } from '../contracts/contracts';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { ALL_LOGS, type LogSource } from '../logs/logFilter';
import { NO_DATA } from '../logs/logBytes';
import type { LogCounts } from '../logs/logCounts';
import { listLogs } from '../logs/logs';
import type { NodeRelay } from '../head/nodeRelay';
import type { Directory } from '../tokens/directory';
import { QUALITY_EXACT, matchQualityOf } from './matchQuality';
import { listNamed, listPairsNamed, type NamedPair } from './searchNames';

/** Largest number of hits of one kind. */
const HITS_PER_KIND_MAX = 100;
const SIGNATURES_MAX = 20;
const TITLE_MAX = 200;
/**
 * Part of a hit's score for the quality of the match. Half a step of quality outweighs verification and log count
 * together, so these only break ties.
 */
const QUALITY_SHARE = 0.9;
const VERIFIED_SHARE = 0.06;
const LOGS_SHARE = 0.04;
/** A hit with 10^9 logs or more gets the whole LOGS_SHARE. */
const LOGS_LOG10_MAX = 9;

const blockRow = rowType({ number: u32 });
const hashRow = rowType({ hash });
/** A row of list_hit_facts.sql, which lists the facts. */
const factRow = rowType({ address, fact: u8 });
/** A row of list_verified_twins.sql. */
const twinRow = rowType({ address });

export interface SearchDeps {
  readonly contracts: Pick<ContractReader, 'find'>;
  readonly verified: Pick<VerifiedReader, 'find'>;
  readonly signatures: SignatureReader;
  /** Access to the node of a chain; null without a node. */
  readonly relayOf?: (chainId: number) => NodeRelay | null;
  /** Database of the verified contracts. */
  readonly verifiedDb: string;
  /** DEXes of the chain. */
  readonly dexes: readonly Pick<Dex, 'name' | 'displayName' | 'factory'>[];
  /** The chain's pairs in their newest table. A reorg may have removed some pairs in the meantime. */
  readonly pairs: () => readonly NamedPair[];
}

interface Moment {
  readonly source: LogSource;
  readonly logCounts: LogCounts;
  readonly directory: Pick<Directory, 'allTokens'>;
  readonly head: HeadSnapshot;
}

/** A possible meaning of the text. Addresses and hashes may lack 0x. */
type Meaning =
  | { readonly kind: 'address'; readonly address: Hex }
  | { readonly kind: 'hash'; readonly hash: Hex }
  | { readonly kind: 'selector'; readonly selector: Hex }
  | { readonly kind: 'block'; readonly number: number }
  | { readonly kind: 'text'; readonly text: string };

function classify(searchText: string): Meaning[] {
  const text = searchText;
  const hex: Hex = /^0x/i.test(text) ? `0x${text.slice(2)}` : `0x${text}`;
  if (isAddress(hex)) return [{ kind: 'address', address: toLowerHex(hex) }];
  if (isHash(hex)) return [{ kind: 'hash', hash: toLowerHex(hex) }];
  if (/^0x[0-9a-f]{8}$/i.test(text)) return [{ kind: 'selector', selector: toLowerHex(hex) }];
  const words: Meaning = { kind: 'text', text: text.toLowerCase() };
  // A text of digits may also be a name, because a token may be called 1000.
  if (/^\d{1,10}$/.test(text)) return [{ kind: 'block', number: Number(text) }, words];
  return text === '' ? [] : [words];
}

interface FoundHits {
  readonly hits: readonly SearchHit[];
  /** False if a list of one kind reached its limit, so that further objects may match. */
  readonly isWhole: boolean;
}

/** Hits, the best hit first; at most a few hundred. */
export async function searchAll(deps: SearchDeps, moment: Moment, q: string): Promise<FoundHits> {
  const foundByMeaning = await Promise.all(classify(q).map((meaning) => searchOne(deps, moment, meaning)));
  const hits = foundByMeaning
    .flatMap((foundHits) => foundHits.hits)
    .sort((a, b) => b.score - a.score || compare(a.type, b.type) || compare(keyOf(a), keyOf(b)));
  return { hits, isWhole: foundByMeaning.every(({ isWhole }) => isWhole) };
}

async function searchOne(deps: SearchDeps, moment: Moment, meaning: Meaning): Promise<FoundHits> {
  switch (meaning.kind) {
    case 'address':
      return { hits: await searchAddress(deps, moment, meaning.address), isWhole: true };
    case 'hash':
      return searchHash(deps, moment, meaning.hash);
    case 'selector':
      return searchSelector(deps, moment, meaning.selector);
    case 'block':
      return { hits: await searchBlock(moment, meaning.number), isWhole: true };
    case 'text':
      return searchText(deps, moment, meaning.text);
  }
}

async function searchAddress(deps: SearchDeps, { source }: Moment, address: Hex): Promise<SearchHit[]> {
  const { chainId } = source;
  const facts = await deps.contracts.find(chainId, address);
  const record = await findVerification(deps.verified, chainId, address, facts);
  const token = facts?.token;
  const kind = facts?.kind ?? 'other';
  const isContract = facts !== null || record !== null;
  const type = kind === 'token' || kind === 'pair' ? kind : isContract ? 'contract' : 'address';
  const pair = kind === 'pair' ? deps.pairs().find(({ pool }) => pool.address === address) : undefined;
  const title = pair?.tokens.name ?? token?.symbol ?? token?.name ?? record?.name ?? address;
  const subtitle = title === address ? null : address;
  const verified = record !== null;
  return [makeHit(type, chainId, { address }, title, subtitle, verified, 1)];
}

async function searchHash(deps: SearchDeps, { source, head }: Moment, hash: Hex): Promise<FoundHits> {
  const { chainId, runner } = source;
  const page = { newestFirst: false, afterOrd: null, skip: 0, limit: 1, bounds: NO_DATA };
  const params = { ...snapshotParams(head), chain_id: chainId, hash: hash.slice(2), final_to: head.finalTo };
  const [{ logs }, blocks, signatures] = await Promise.all([
    listLogs(source, head, { ...ALL_LOGS, txHash: hash }, page),
    runner.run('search/find_block_by_hash', params, blockRow),
    deps.signatures.listBySelectors([hash]),
  ]);
  const blockOfLog = logs[0] === undefined ? null : blockOfOrd(logs[0].ord);
  const named = deps.pairs().filter(({ pool }) => pool.pool_id === hash);
  const isKnownOtherwise = blocks.length > 0 || signatures.length > 0 || named.length > 0;
  // A hash that no stored log, block or signature has may belong to a transaction without logs, so the node is asked.
  const block =
    blockOfLog ?? (isKnownOtherwise ? null : await findTransactionBlock(deps.relayOf?.(chainId), head, hash));
  const distinctSignatures = distinctSignaturesOf(signatures);
  const hits = [
    ...named.map(({ pool, tokens }) =>
      makeHit('pair', chainId, { address: pool.address }, tokens.name, pool.dex, false, 1),
    ),
    ...(block === null
      ? []
      : [makeHit('tx', chainId, { hash }, hash, `Transaction of block ${block}`, false, 1)]),
    ...blocks.map(({ number }) =>
      makeHit('block', chainId, { hash, number }, `Block ${number}`, hash, false, 1),
    ),
    ...distinctSignatures
      .slice(0, SIGNATURES_MAX)
      .map(({ signature, selector }) =>
        makeHit('event', chainId, { hash: selector }, signature, selector, false, 1),
      ),
  ];
  return { hits, isWhole: distinctSignatures.length <= SIGNATURES_MAX };
}

const transactionShape = z.object({ blockNumber: z.string().regex(/^0x[0-9a-f]+$/) });

/** The indexed block that contains the transaction, according to the node. Otherwise null. */
async function findTransactionBlock(
  node: NodeRelay | null | undefined,
  head: HeadSnapshot,
  hash: Hex,
): Promise<number | null> {
  const answer = await node?.call('eth_getTransactionByHash', [hash]).catch(() => null);
  if (answer == null || !('result' in answer)) return null;
  const { data } = transactionShape.safeParse(answer.result);
  const block = data === undefined ? null : Number(data.blockNumber);
  return block === null || block > head.number ? null : block;
}

/** Removes duplicates. The database has an event several times, once for each combination of indexed parameters. */
function distinctSignaturesOf(knownSignatures: readonly KnownSignature[]): KnownSignature[] {
  return [
    ...new Map(
      knownSignatures.map((known) => [`${known.kind} ${known.selector} ${known.signature}`, known]),
    ).values(),
  ];
}

async function searchSelector(deps: SearchDeps, { source }: Moment, selector: Hex): Promise<FoundHits> {
  const signatures = await deps.signatures.listBySelectors([selector]);
  const functions = distinctSignaturesOf(signatures).filter(({ kind }) => kind === 'function');
  const hits = functions
    .slice(0, SIGNATURES_MAX)
    .map(({ signature }) =>
      makeHit('function', source.chainId, { hash: selector }, signature, selector, false, 1),
    );
  return { hits, isWhole: functions.length <= SIGNATURES_MAX };
}

async function searchBlock({ source, head }: Moment, number: number): Promise<SearchHit[]> {
  if (number > head.number) return [];
  const params = { ...snapshotParams(head), chain_id: source.chainId, number, final_to: head.finalTo };
  const rows = await source.runner.run('search/find_block_by_number', params, hashRow);
  return rows.map(({ hash }) =>
    makeHit('block', source.chainId, { hash, number }, `Block ${number}`, hash, false, 1),
  );
}

async function searchText(deps: SearchDeps, moment: Moment, text: string): Promise<FoundHits> {
  const { source, logCounts, directory } = moment;
  const { chainId, runner } = source;
  const counts = logCounts.at(moment.head);
  const [{ names, isWhole }, signatures, pairs] = await Promise.all([
    listNamed({ runner, chainId, counts, directory, verifiedDb: deps.verifiedDb }, text, HITS_PER_KIND_MAX),
    deps.signatures.listByPrefix(text.replace(/\(.*$/s, ''), SIGNATURES_MAX),
    listPairsNamed(deps.pairs(), spaceSlashes(text), HITS_PER_KIND_MAX),
  ]);
  const hitByAddress = new Map(names.map((hitByName) => [hitByName.address, hitByName]));
  for (const pair of pairs) if (!hitByAddress.has(pair.address)) hitByAddress.set(pair.address, pair);
  // If all hits by name are tokens, the query need not read the table of tokens.
  const hasContracts = names.some(({ type }) => type !== 'token');
  const [facts, { logsOf }] = await Promise.all([
    readHitFacts(deps.verifiedDb, moment, [...hitByAddress.keys()], hasContracts),
    counts,
  ]);
  const pairByAddress = pairsAt(deps.pairs(), hitByAddress);
  const hits = [...hitByAddress.values()].flatMap(({ type, address, title, subtitle, quality }) => {
    const isPair = facts.pools.has(address);
    if (type === 'pair' && !isPair) return [];
    // A pool whose LP token is stored as a token is shown as a pair.
    const shownType = isPair ? 'pair' : facts.tokens.has(address) ? 'token' : type;
    const verified = type === 'contract' || facts.verified.has(address);
    const score = scoreOf(quality, verified, logsOf(address));
    const addressField = { address };
    // LP tokens and contracts of pools all have the same name, so a pair shows its tokens.
    const pair = isPair ? pairByAddress.get(address) : undefined;
    return pair === undefined
      ? makeHit(shownType, chainId, addressField, title, subtitle, verified, score)
      : makeHit(shownType, chainId, addressField, pair.tokens.name, pair.pool.dex, verified, score);
  });
  for (const { name, displayName, factory } of deps.dexes) {
    const quality = Math.max(
      matchQualityOf(name.toLowerCase(), text),
      matchQualityOf(displayName.toLowerCase(), text),
    );
    if (quality > 0) {
      const score = scoreOf(quality, true, 0);
      hits.push(makeHit('dex', chainId, { address: factory }, displayName, name, true, score));
    }
  }
  for (const { kind, selector, signature } of signatures) {
    if (kind === 'error') continue;
    const quality = signatureQuality(signature.toLowerCase(), text);
    if (quality > 0)
      hits.push(
        makeHit(
          kind,
          chainId,
          { hash: selector },
          signature,
          selector,
          false,
          scoreOf(quality - 0.5, false, 0),
        ),
      );
  }
  const isComplete = isWhole && pairs.length < HITS_PER_KIND_MAX && signatures.length < SIGNATURES_MAX;
  return { hits, isWhole: isComplete };
}

/** The pairs at the found addresses. */
function pairsAt(
  pairs: readonly NamedPair[],
  foundAddresses: ReadonlyMap<string, unknown>,
): Map<string, NamedPair> {
  const pairByAddress = new Map<string, NamedPair>();
  for (const pair of pairs)
    if (foundAddresses.has(pair.pool.address)) pairByAddress.set(pair.pool.address, pair);
  return pairByAddress;
}

/** Which of the found addresses are pools, tokens or verified contracts. */
interface HitFacts {
  readonly pools: ReadonlySet<Hex>;
  readonly tokens: ReadonlySet<Hex>;
  /** Addresses with a stored verification, or with the code of a verified contract. */
  readonly verified: ReadonlySet<Hex>;
}

/**
 * Finds out what at most 1,000 found addresses are. Two parallel queries are faster than one combined query.
 */
export async function readHitFacts(
  verifiedDb: string,
  { source, head }: Pick<Moment, 'source' | 'head'>,
  addresses: readonly Hex[],
  areOthers: boolean,
): Promise<HitFacts> {
  const [pools, tokens, verified] = [new Set<Hex>(), new Set<Hex>(), new Set<Hex>()];
  if (addresses.length === 0) return { pools, tokens, verified };
  const addressesNo0x = addresses.map((address) => address.slice(2));
  const params = {
    ...snapshotParams(head),
    chain_id: source.chainId,
    addresses: addressesNo0x,
    verified_db: verifiedDb,
    tokens: areOthers,
  };
  const [facts, twins] = await Promise.all([
    source.runner.run('search/list_hit_facts', params, factRow),
    source.runner.run('search/list_verified_twins', params, twinRow),
  ]);
  for (const { address, fact } of facts) ([pools, tokens, verified][fact - 1] ?? tokens).add(address);
  for (const { address } of twins) verified.add(address);
  return { pools, tokens, verified };
}

/** Formats `wpls/dai` as in pair names: `wpls / dai`. */
function spaceSlashes(text: string): string {
  return text.replace(/\s*\/\s*/g, ' / ');
}

/**
 * Quality of the match of a text in a signature. A text with types means one exact signature, so other
 * signatures with the same name rank last. Both texts are in lower case.
 */
function signatureQuality(signature: string, text: string): number {
  const name = signature.slice(0, signature.indexOf('('));
  const [askedName = '', askedTypes] = text.replace(/\s/g, '').split(/(?=\()/);
  if (askedTypes === undefined) return matchQualityOf(name, text);
  const quality = matchQualityOf(signature, askedName + askedTypes);
  return quality > 0 || name !== askedName ? quality : 1;
}

function scoreOf(quality: number, verified: boolean, logs: number): number {
  const logsShare = Math.min(1, Math.log10(1 + logs) / LOGS_LOG10_MAX);
  return (quality / QUALITY_EXACT) * QUALITY_SHARE + (verified ? VERIFIED_SHARE : 0) + logsShare * LOGS_SHARE;
}

function makeHit(
  type: SearchHit['type'],
  chainId: number,
  identity: Pick<SearchHit, 'address' | 'hash' | 'number'>,
  title: string,
  subtitle: string | null,
  verified: boolean,
  score: number,
): SearchHit {
  const cutTitle = (text: string): string => text.slice(0, TITLE_MAX);
  return {
    type,
    chain_id: chainId,
    ...identity,
    title: cutTitle(title),
    subtitle: subtitle === null ? null : cutTitle(subtitle),
    verified,
    score,
  };
}

const keyOf = (hit: SearchHit): string => hit.address ?? hit.hash ?? hit.title;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
