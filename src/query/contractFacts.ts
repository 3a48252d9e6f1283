/** What is known of contracts by their addresses, as of a snapshot, in one statement: what they emitted, who made them, what code they have. */
import { z } from 'zod';

import { ZERO_ADDRESS, ZERO_HASH, type Hex } from '../domain/hex';
import { blockOfOrd } from '../domain/ord';
import { PROXY_KINDS, type ProxyKind } from '../domain/proxies';
import type { VerifiedContract, VerifiedReader } from '../domain/verifiedContract';
import type { Token } from '../wire/primitives';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';
import type { LogSource } from './logFilter';

/** Contracts named in one statement. */
export const CONTRACTS_MAX = 1_000;
/** Rows of one contract at most: two of logs, three of creations, two of pools, one each of the others. */
const FACTS_EACH = 16;

export const CONTRACT_KINDS = ['token', 'pair', 'proxy', 'other'] as const;
export type ContractKind = (typeof CONTRACT_KINDS)[number];

const hex = z.templateLiteral(['0x', z.string()]);
const factShape = z.object({
  address: hex,
  fact: z.enum(['emitted', 'created', 'pool', 'code', 'token', 'verified', 'twin']),
  body: z.string(),
});
type OwnFact = Exclude<z.infer<typeof factShape>['fact'], 'twin'>;
/** Hash of a code. */
const twinShape = z.tuple([hex]);
const proxyShape = z.union([z.enum(PROXY_KINDS), z.literal('')]);
/** Logs, first and last ord, whether there are logs beyond the snapshot. */
const emittedShape = z.tuple([z.string(), z.string(), z.string(), z.boolean()]);
const recountedShape = z.object({
  address: hex,
  logs: z.string(),
  first_ord: z.string(),
  last_ord: z.string(),
});
/** Factory, transaction, block and time. */
const poolShape = z.tuple([hex, hex.nullable(), z.int().nullable(), z.int().nullable()]);
/** Creator, factory, transaction, block and time. */
const createdShape = z.tuple([hex.nullable(), hex.nullable(), hex, z.int(), z.int()]);
/** Symbol, name, decimals. */
const tokenShape = z.tuple([z.string().nullable(), z.string().nullable(), z.int().nullable()]);
/** Hash, size, kind of proxy, implementation, beacon. */
const codeFactShape = z.tuple([hex, z.int(), proxyShape, hex, hex]);
export const codeShape = z.object({
  code_hash: hex,
  code_size: z.int(),
  proxy: proxyShape,
  implementation: hex,
  beacon: hex,
});

export interface ContractCode {
  readonly hash: Hex;
  readonly size: number;
  /** `implementation`: null where it is not one contract. */
  readonly proxy: {
    readonly kind: ProxyKind;
    readonly implementation: Hex | null;
    readonly beacon: Hex | null;
  } | null;
}

export interface ContractFacts {
  readonly chainId: number;
  readonly address: Hex;
  readonly kind: ContractKind;
  /** Null: not asked of a node yet, or there was none. */
  readonly code: ContractCode | null;
  /** Null where it lies before the first block, or receipts were not read, or another contract made it. */
  readonly creation: {
    /** Sender of the transaction, where receipts tell. */
    readonly creator: Hex | null;
    /** The contract that made it, where that is a known factory. */
    readonly factory: Hex | null;
    readonly txHash: Hex;
    readonly block: number;
    /** Unix seconds. */
    readonly timestamp: number;
  } | null;
  readonly logCount: number;
  /** Blocks of its first and last log; null: it emitted none. */
  readonly firstSeenBlock: number | null;
  readonly lastSeenBlock: number | null;
  /** Metadata, where the market knows it as a token. */
  readonly token: Token | null;
  /** Whether a verification is stored, of it or of a contract with the same code. */
  readonly verifiable: boolean;
}

/**
 * At most 1,000 different addresses; what nobody ever saw to be a contract is missing. Without `details` there are no creations:
 * for lists of many by their fame.
 */
export async function readFacts(
  { runner, chainId }: LogSource,
  head: HeadSnapshot,
  verifiedDb: string,
  addresses: readonly Hex[],
  details = true,
): Promise<Map<Hex, ContractFacts>> {
  const bare = addresses.map((address) => address.slice(2));
  const [only] = bare;
  const params = {
    ...snapshotParams(head),
    chain_id: chainId,
    verified_db: verifiedDb,
    details,
    // One address is found by its key without making a set of it first.
    address: bare.length === 1 && only !== undefined ? only : '',
    addresses: bare.length === 1 ? [] : bare,
    limit: FACTS_EACH * CONTRACTS_MAX,
  };
  const rows = await runner.run('explorer/list_contract_facts', params, factShape);
  const known = new Map<Hex, Known>();
  const twins = new Set<Hex>();
  for (const { address, fact, body } of rows) {
    if (fact === 'twin') {
      twins.add(twinShape.parse(JSON.parse(body))[0]);
      continue;
    }
    const one = known.get(address) ?? nothing();
    known.set(address, one);
    addFact(one, fact, JSON.parse(body));
  }
  const ahead = [...known].flatMap(([address, one]) => (one.ahead ? [address] : []));
  if (ahead.length > 0) {
    const again = { ...params, addresses: ahead.map((address) => address.slice(2)) };
    for (const address of ahead) known.get(address)?.emitted.splice(0);
    const recounted = await runner.run('explorer/recount_emitters', again, recountedShape);
    for (const row of recounted) known.get(row.address)?.emitted.push(toEmitted(row));
  }
  const facts = new Map<Hex, ContractFacts>();
  for (const [address, one] of known) {
    const found = toFacts(chainId, address, one, twins);
    if (found !== null) facts.set(address, found);
  }
  return facts;
}

/** What is known of a contract that was never seen to do anything here. */
export function silentFacts(chainId: number, address: Hex): ContractFacts {
  return {
    chainId,
    address,
    kind: 'other',
    code: null,
    creation: null,
    logCount: 0,
    firstSeenBlock: null,
    lastSeenBlock: null,
    token: null,
    verifiable: true,
  };
}

/** The verification of the contract, or of one with the same code; asks for none where the facts know of none. */
export async function findVerification(
  verified: Pick<VerifiedReader, 'find'>,
  chainId: number,
  address: Hex,
  facts: ContractFacts | null,
): Promise<VerifiedContract | null> {
  if (facts?.verifiable === false) return null;
  return verified.find({ chainId, address }, facts?.code?.hash ?? null);
}

interface Emitted {
  readonly logs: number;
  readonly firstBlock: number;
  readonly lastBlock: number;
}

type Creation = NonNullable<ContractFacts['creation']>;

/** What the rows of one contract say. */
interface Known {
  /** Of the final part and of the head. */
  readonly emitted: Emitted[];
  /** Whether the final part holds logs beyond the snapshot. */
  ahead: boolean;
  readonly created: Creation[];
  isPool: boolean;
  isVerified: boolean;
  code: ContractCode | null;
  token: Pick<Token, 'symbol' | 'name' | 'decimals'> | null;
}

function nothing(): Known {
  return {
    emitted: [],
    ahead: false,
    created: [],
    isPool: false,
    isVerified: false,
    code: null,
    token: null,
  };
}

function addFact(known: Known, fact: OwnFact, body: unknown): void {
  switch (fact) {
    case 'emitted': {
      const [logs, first_ord, last_ord, ahead] = emittedShape.parse(body);
      known.emitted.push(toEmitted({ logs, first_ord, last_ord }));
      known.ahead ||= ahead;
      break;
    }
    case 'created': {
      const [creator, factory, txHash, block, timestamp] = createdShape.parse(body);
      known.created.push({ creator, factory, txHash, block, timestamp });
      break;
    }
    case 'pool': {
      const [factory, txHash, block, timestamp] = poolShape.parse(body);
      known.isPool = true;
      if (txHash !== null && block !== null && timestamp !== null)
        known.created.push({ creator: null, factory, txHash, block, timestamp });
      break;
    }
    case 'code': {
      const [code_hash, code_size, proxy, implementation, beacon] = codeFactShape.parse(body);
      known.code = toCode({ code_hash, code_size, proxy, implementation, beacon });
      break;
    }
    case 'token': {
      const [symbol, name, decimals] = tokenShape.parse(body);
      known.token = { symbol, name, decimals };
      break;
    }
    case 'verified':
      known.isVerified = true;
  }
}

function toEmitted(row: { logs: string; first_ord: string; last_ord: string }): Emitted {
  const { logs, first_ord: first, last_ord: last } = row;
  return { logs: Number(logs), firstBlock: blockOfOrd(Number(first)), lastBlock: blockOfOrd(Number(last)) };
}

/** Null: it is verified, maybe, but nothing was seen of it on the chain. */
function toFacts(chainId: number, address: Hex, known: Known, twins: ReadonlySet<Hex>): ContractFacts | null {
  const { emitted, created, isPool, isVerified, code, token } = known;
  const creation = created.sort(compareCreations)[0] ?? null;
  if (emitted.length === 0 && creation === null && !isPool && token === null && code === null) return null;
  const other: ContractKind = code === null || code.proxy === null ? 'other' : 'proxy';
  const seen = emitted.length > 0;
  return {
    chainId,
    address,
    kind: isPool ? 'pair' : token !== null ? 'token' : other,
    code,
    creation,
    logCount: emitted.reduce((sum, { logs }) => sum + logs, 0),
    firstSeenBlock: seen ? Math.min(...emitted.map(({ firstBlock }) => firstBlock)) : null,
    lastSeenBlock: seen ? Math.max(...emitted.map(({ lastBlock }) => lastBlock)) : null,
    token: token === null ? null : { address, ...token },
    verifiable: isVerified || (code !== null && twins.has(code.hash)),
  };
}

/** The last creation first; of one and the same what tells most. */
function compareCreations(a: Creation, b: Creation): number {
  if (a.block !== b.block) return b.block - a.block;
  const missing = (value: Hex | null): number => (value === null ? 1 : 0);
  return missing(a.creator) - missing(b.creator) || missing(a.factory) - missing(b.factory);
}

/** Null: there is no code. */
export function toCode(row: z.infer<typeof codeShape>): ContractCode | null {
  if (row.code_hash === ZERO_HASH) return null;
  const some = (address: Hex): Hex | null => (address === ZERO_ADDRESS ? null : address);
  const { implementation, beacon } = row;
  return {
    hash: row.code_hash,
    size: row.code_size,
    proxy:
      row.proxy === ''
        ? null
        : { kind: row.proxy, implementation: some(implementation), beacon: some(beacon) },
  };
}
