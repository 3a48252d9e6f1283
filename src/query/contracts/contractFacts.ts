/** Reads facts about contracts by address as of a snapshot: log counts, creation, code, proxy and token metadata. */
import { checkComplete } from '../../clickhouse/client/namedQueries';
import { address, hash, nullable, text, u32, u64, u8 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import type { ContractCodeRow } from '../../clickhouse/schema/explorerTables';
import { isAddress, ZERO_ADDRESS, ZERO_HASH, type Hex } from '../../domain/hex';
import { blockOfOrd } from '../../domain/ord';
import { PROXY_KINDS, type ProxyKind } from '../../domain/proxies';
import type { VerifiedContract, VerifiedReader } from '../../domain/verifiedContract';
import type { Token } from '../../wire/primitives';
import { readEmitted, type Emitted } from '../logs/emitters';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { LogSource } from '../logs/logFilter';

/** Largest number of contracts in one query. */
export const CONTRACTS_MAX = 1_000;
export const CONTRACT_KINDS = ['token', 'pair', 'proxy', 'other'] as const;
export type ContractKind = (typeof CONTRACT_KINDS)[number];

/** Largest number of rows, far more than 1,000 contracts have. */
const ROWS_MAX = 1_000_000;

export interface ContractCode {
  readonly hash: Hex;
  readonly size: number;
  /** Whether the code can never change. */
  readonly fixed: boolean;
  /**
   * A null `implementation` means that the proxy has several implementations, or that its implementation is unknown.
   */
  readonly proxy: {
    readonly kind: ProxyKind;
    readonly implementation: Hex | null;
    readonly beacon: Hex | null;
    /** Facets of a diamond, as it names them itself; empty for other proxies. */
    readonly facets: readonly Hex[];
  } | null;
}

export interface ContractFacts {
  readonly chainId: number;
  readonly address: Hex;
  readonly kind: ContractKind;
  /** The contract's code. Null if the address has no code, or if no node has answered yet. */
  readonly code: ContractCode | null;
  /** keccak256 of the code; zero bytes if the node saw no code, null if no node has answered yet. */
  readonly codeHash: Hex | null;
  /**
   * The creation of the contract. Null if it is before the first indexed block, if no receipt was read, or if an
   * unknown contract created it.
   */
  readonly creation: {
    /** Sender of the creating transaction, if known. */
    readonly creator: Hex | null;
    /** The contract that created this contract, if it is a known factory. */
    readonly factory: Hex | null;
    readonly txHash: Hex;
    readonly block: number;
    /** Time of the creation, unix seconds. */
    readonly timestamp: number;
  } | null;
  readonly logCount: number;
  /** Blocks of the first and last log; null without logs. */
  readonly firstSeenBlock: number | null;
  readonly lastSeenBlock: number | null;
  /** Metadata if the market stores this contract as a token. */
  readonly token: Token | null;
}

/** Reads the facts about at most 1,000 different addresses. The map omits addresses without any fact. */
export async function readFacts(
  source: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
): Promise<Map<Hex, ContractFacts>> {
  const [storedByAddress, emittedByAddress] = await Promise.all([
    readKnown(source, head, addresses),
    readEmitted(source, head, addresses),
  ]);
  const facts = new Map<Hex, ContractFacts>();
  for (const address of new Set([...storedByAddress.keys(), ...emittedByAddress.keys()])) {
    const stored = storedByAddress.get(address) ?? noFacts();
    const addressFacts = toFacts(source.chainId, address, stored, emittedByAddress.get(address));
    if (addressFacts !== null) facts.set(address, addressFacts);
  }
  return facts;
}

type Origin = Pick<ContractFacts, 'creation' | 'firstSeenBlock'>;

/** Creations and first blocks of contracts, as in readFacts. The map omits unknown addresses. At most 1,000. */
export async function readOrigins(
  source: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
): Promise<Map<Hex, Origin>> {
  const [storedByAddress, emittedByAddress] = await Promise.all([
    readKnown(source, head, addresses),
    readEmitted(source, head, addresses),
  ]);
  const origins = new Map<Hex, Origin>();
  for (const address of new Set([...storedByAddress.keys(), ...emittedByAddress.keys()])) {
    const addressLogs = emittedByAddress.get(address);
    const firstSeenBlock = addressLogs === undefined ? null : blockOfOrd(addressLogs.firstOrd);
    origins.set(address, { creation: creationOf(storedByAddress.get(address) ?? noFacts()), firstSeenBlock });
  }
  return origins;
}

async function readKnown(
  source: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
): Promise<Map<Hex, Known>> {
  const addressesNo0x = addresses.map((address) => address.slice(2));
  const [firstAddress] = addressesNo0x;
  const params = {
    ...snapshotParams(head),
    // A single address has its own parameter, because ClickHouse reads one key faster than a set of one key.
    address: addressesNo0x.length === 1 && firstAddress !== undefined ? firstAddress : '',
    addresses: addressesNo0x.length === 1 ? [] : addressesNo0x,
    limit: ROWS_MAX,
  };
  const rows = await source.runner.run('contracts/list_contract_facts', params, factRow);
  checkComplete('contracts/list_contract_facts', rows, ROWS_MAX);
  const byAddress = new Map<Hex, Known>();
  for (const row of rows) {
    const knownOfAddress = byAddress.get(row.address) ?? noFacts();
    byAddress.set(row.address, knownOfAddress);
    addFact(knownOfAddress, row);
  }
  return byAddress;
}

/** The values of the column `fact`, as in list_contract_facts.sql. */
const FACT = { created: 1, nodeCreation: 2, pool: 3, code: 4, token: 5 } as const;

/** One fact about a contract. What each column means depends on the fact; see list_contract_facts.sql. */
const factRow = rowType({
  address,
  fact: u8,
  one: nullable(address),
  other: nullable(address),
  hash: nullable(hash),
  x: nullable(u64),
  y: nullable(u32),
  version: u64,
  word: nullable(text),
  words: nullable(text),
});
type FactRow = RowOf<typeof factRow>;

/** The facts of a contract that has no stored logs, code or creation. */
export function silentFacts(chainId: number, address: Hex): ContractFacts {
  return {
    chainId,
    address,
    kind: 'other',
    code: null,
    codeHash: null,
    creation: null,
    logCount: 0,
    firstSeenBlock: null,
    lastSeenBlock: null,
    token: null,
  };
}

/** The verification of the contract, or of a contract with the same code. */
export function findVerification(
  verified: Pick<VerifiedReader, 'find'>,
  chainId: number,
  address: Hex,
  facts: ContractFacts | null,
): Promise<VerifiedContract | null> {
  return verified.find({ chainId, address }, facts?.codeHash ?? null);
}

type Creation = NonNullable<ContractFacts['creation']>;

/** A value with the version of its row. The value with the newest version is used. */
interface Versioned<T> {
  readonly version: number;
  readonly value: T;
}

/** The facts that the rows of one contract contain. */
interface Known {
  readonly created: Creation[];
  nodeCreation: Versioned<Creation> | null;
  isPool: boolean;
  code: Versioned<ContractCode | null> | null;
  token: Versioned<Pick<Token, 'symbol' | 'name' | 'decimals'>> | null;
}

function noFacts(): Known {
  return { created: [], nodeCreation: null, isPool: false, code: null, token: null };
}

function newerOf<T>(earlier: Versioned<T> | null, { version }: FactRow, value: T): Versioned<T> {
  return earlier !== null && earlier.version >= version ? earlier : { version, value };
}

function addFact(facts: Known, row: FactRow): void {
  const { one: firstAddress, other: secondAddress, hash, x, y, word, words } = row;
  switch (row.fact) {
    case FACT.created:
      facts.created.push({
        creator: firstAddress,
        factory: null,
        txHash: hash ?? ZERO_HASH,
        block: x ?? 0,
        timestamp: y ?? 0,
      });
      break;
    case FACT.nodeCreation: {
      const nodeCreation = {
        creator: firstAddress,
        factory: secondAddress,
        txHash: hash ?? ZERO_HASH,
        block: x ?? 0,
        timestamp: y ?? 0,
      };
      facts.nodeCreation = newerOf(facts.nodeCreation, row, nodeCreation);
      break;
    }
    case FACT.pool:
      facts.isPool = true;
      if (hash !== null && x !== null && y !== null)
        facts.created.push({ creator: null, factory: firstAddress, txHash: hash, block: x, timestamp: y });
      break;
    case FACT.code: {
      const code = {
        code_hash: hash ?? ZERO_HASH,
        code_size: x ?? 0,
        proxy: proxyKindOf(word),
        implementation: firstAddress ?? ZERO_ADDRESS,
        beacon: secondAddress ?? ZERO_ADDRESS,
        facets: words ?? '',
        fixed: y === 1,
      };
      facts.code = newerOf(facts.code, row, toCode(code));
      break;
    }
    case FACT.token:
      facts.token = newerOf(facts.token, row, { symbol: word, name: words, decimals: x });
  }
}

function proxyKindOf(word: string | null): ProxyKind | '' {
  return PROXY_KINDS.find((kind) => kind === word) ?? '';
}

/** The facts about one contract. Null if no fact about it is stored, even if the contract is verified. */
function toFacts(
  chainId: number,
  address: Hex,
  storedFacts: Known,
  emittedLogs: Emitted | undefined,
): ContractFacts | null {
  const creation = creationOf(storedFacts);
  const code = storedFacts.code?.value ?? null;
  const isSilent = emittedLogs === undefined && creation === null && code === null;
  if (isSilent && !storedFacts.isPool && storedFacts.token === null) return null;
  return {
    chainId,
    address,
    kind: kindOf(storedFacts),
    code,
    codeHash: storedFacts.code === null ? null : (code?.hash ?? ZERO_HASH),
    creation,
    logCount: emittedLogs?.logs ?? 0,
    firstSeenBlock: emittedLogs === undefined ? null : blockOfOrd(emittedLogs.firstOrd),
    lastSeenBlock: emittedLogs === undefined ? null : blockOfOrd(emittedLogs.lastOrd),
    token: tokenOf(address, storedFacts),
  };
}

function creationOf({ created, nodeCreation }: Known): Creation | null {
  const creations = nodeCreation === null ? created : [...created, nodeCreation.value];
  return creations.sort(compareCreations)[0] ?? null;
}

function tokenOf(address: Hex, { token }: Known): Token | null {
  return token === null ? null : { address, ...token.value };
}

function kindOf({ isPool, token, code }: Known): ContractKind {
  if (isPool) return 'pair';
  if (token !== null) return 'token';
  return code?.value?.proxy == null ? 'other' : 'proxy';
}

/** Sorts the latest creation first. For equal blocks, the most complete record comes first. */
function compareCreations(a: Creation, b: Creation): number {
  if (a.block !== b.block) return b.block - a.block;
  const isMissing = (value: Hex | null): number => (value === null ? 1 : 0);
  return isMissing(a.creator) - isMissing(b.creator) || isMissing(a.factory) - isMissing(b.factory);
}

/** The contract's code from a row. Null if the address of the row has no code. */
export function toCode(
  row: Omit<ContractCodeRow, 'address' | 'checked_block' | 'version'>,
): ContractCode | null {
  if (row.code_hash === ZERO_HASH) return null;
  const nullIfZero = (address: Hex): Hex | null => (address === ZERO_ADDRESS ? null : address);
  const facets = row.facets.split(',').filter(isAddress);
  return {
    hash: row.code_hash,
    size: row.code_size,
    fixed: row.fixed,
    proxy:
      row.proxy === ''
        ? null
        : {
            kind: row.proxy,
            implementation: nullIfZero(row.implementation),
            beacon: nullIfZero(row.beacon),
            facets,
          },
  };
}
