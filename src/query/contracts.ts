/** Contracts as of a snapshot: what they emitted, who made them, what code they have, by address or as a list. */
import { z } from 'zod';

import { ZERO_ADDRESS, ZERO_HASH, type Hex } from '../domain/hex';
import { blockOfOrd } from '../domain/ord';
import { PROXY_KINDS, type ProxyKind } from '../domain/proxies';
import type { Order } from './ranking';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';
import type { LogSource } from './logFilter';

/** Contracts named in one call. */
const CONTRACTS_MAX = 1_000;

export const CONTRACT_KINDS = ['token', 'pair', 'proxy', 'other'] as const;
export type ContractKind = (typeof CONTRACT_KINDS)[number];
export const CONTRACT_SORTS = ['created_at', 'log_count'] as const;
export type ContractSort = (typeof CONTRACT_SORTS)[number];

const hex = z.templateLiteral(['0x', z.string()]);
const emitterShape = z.object({
  address: hex,
  logs: z.string(),
  first_ord: z.string(),
  last_ord: z.string(),
  ahead: z.boolean(),
});
const creationShape = z.object({
  address: hex,
  creator: hex.nullable(),
  factory: hex.nullable(),
  tx_hash: hex,
  block: z.int(),
  timestamp: z.int(),
});
const codeShape = z.object({
  address: hex,
  code_hash: hex,
  code_size: z.int(),
  proxy: z.union([z.enum(PROXY_KINDS), z.literal('')]),
  implementation: hex,
  beacon: hex,
  checked_block: z.int(),
});
const kindShape = z.object({ address: hex, kind: z.enum(['token', 'pair']) });
const listShape = z.object({
  address: hex,
  log_count: z.string(),
  created_at: z.int().nullable(),
  total: z.string(),
});

export interface ContractCode {
  readonly hash: Hex;
  readonly size: number;
  readonly checkedBlock: number;
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
}

export interface ContractQuestion {
  /** 1 to 64 characters; null: all. */
  readonly q: string | null;
  readonly verified: boolean | null;
  readonly kind: ContractKind | null;
  readonly sort: ContractSort;
  readonly order: Order;
  readonly skip: number;
  readonly limit: number;
}

export interface ContractReader {
  /** Null: nothing at the address was ever seen to be a contract. */
  find(chainId: number, address: Hex): Promise<ContractFacts | null>;
  /** The same for many, in their order. At most 1,000. */
  findMany(chainId: number, addresses: readonly Hex[]): Promise<(ContractFacts | null)[]>;
  list(chainId: number, question: ContractQuestion): Promise<{ addresses: Hex[]; total: number }>;
}

/** A chain as it is at one moment; null: nothing of it is stored. */
export type ChainAt = (chainId: number) => { readonly source: LogSource; readonly head: HeadSnapshot } | null;

/** `verifiedDb`: names the database with the verified contracts, which is the market chain's. */
export function createContractReader(chainAt: ChainAt, verifiedDb: () => string): ContractReader {
  const findMany: ContractReader['findMany'] = async (chainId, addresses) => {
    const chain = chainAt(chainId);
    if (chain === null || addresses.length === 0) return addresses.map(() => null);
    const facts = await readFacts(chain.source, chain.head, [...new Set(addresses)].slice(0, CONTRACTS_MAX));
    return addresses.map((address) => facts.get(address) ?? null);
  };
  return {
    findMany,
    find: async (chainId, address) => (await findMany(chainId, [address]))[0] ?? null,
    async list(chainId, question) {
      const chain = chainAt(chainId);
      if (chain === null) return { addresses: [], total: 0 };
      return listContracts(chain.source, chain.head, verifiedDb(), question);
    },
  };
}

async function listContracts(
  { runner, chainId }: LogSource,
  head: HeadSnapshot,
  verifiedDb: string,
  question: ContractQuestion,
): Promise<{ addresses: Hex[]; total: number }> {
  const q = (question.q ?? '').toLowerCase();
  const params = {
    ...snapshotParams(head),
    chain_id: chainId,
    verified_db: verifiedDb,
    q: /^0x[0-9a-f]*$/.test(q) ? q.slice(2) : q,
    verified: question.verified === null ? 2 : Number(question.verified),
    kind: question.kind ?? '',
    by_logs: question.sort === 'log_count',
    newest: question.order === 'desc',
    limit: question.limit,
    skip: question.skip,
  };
  const rows = await runner.run('explorer/list_contracts', params, listShape);
  const [first] = rows;
  if (first !== undefined || question.skip === 0)
    return { addresses: rows.map(({ address }) => address), total: Number(first?.total ?? 0) };
  // A page past the end has no row that could tell how many there are.
  const [any] = await runner.run('explorer/list_contracts', { ...params, limit: 1, skip: 0 }, listShape);
  return { addresses: [], total: Number(any?.total ?? 0) };
}

async function readFacts(
  { runner, chainId }: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
): Promise<Map<Hex, ContractFacts>> {
  const params = {
    ...snapshotParams(head),
    chain_id: chainId,
    addresses: addresses.map((address) => address.slice(2)),
    limit: 2 * CONTRACTS_MAX,
  };
  const [emitters, creations, codes, kinds] = await Promise.all([
    runner.run('explorer/list_emitters', params, emitterShape),
    runner.run('explorer/list_creations', params, creationShape),
    runner.run('explorer/list_codes', params, codeShape),
    runner.run('explorer/list_kinds', params, kindShape),
  ]);
  const ahead = emitters.filter((row) => row.ahead).map((row) => row.address.slice(2));
  const recounted =
    ahead.length === 0
      ? []
      : await runner.run('explorer/recount_emitters', { ...params, addresses: ahead }, emitterShape);
  const emitted = new Map(emitters.flatMap((row) => (row.ahead ? [] : [[row.address, row] as const])));
  for (const row of recounted) emitted.set(row.address, row);
  const created = new Map(creations.map((row) => [row.address, row]));
  const code = new Map(codes.map((row) => [row.address, row]));
  const pairs = new Set(kinds.filter(({ kind }) => kind === 'pair').map((row) => row.address));
  const tokens = new Set(kinds.filter(({ kind }) => kind === 'token').map((row) => row.address));
  const facts = new Map<Hex, ContractFacts>();
  for (const address of addresses) {
    const logs = emitted.get(address);
    const stored = toCode(code.get(address));
    const creation = created.get(address);
    const known = logs !== undefined || creation !== undefined || pairs.has(address) || tokens.has(address);
    if (!known && stored === null) continue;
    const other: ContractKind = stored?.proxy === null || stored === null ? 'other' : 'proxy';
    facts.set(address, {
      chainId,
      address,
      kind: pairs.has(address) ? 'pair' : tokens.has(address) ? 'token' : other,
      code: stored,
      creation: creation === undefined ? null : toCreation(creation),
      logCount: Number(logs?.logs ?? 0),
      firstSeenBlock: logs === undefined ? null : blockOfOrd(Number(logs.first_ord)),
      lastSeenBlock: logs === undefined ? null : blockOfOrd(Number(logs.last_ord)),
    });
  }
  return facts;
}

/** What is known of the code at these addresses; those never asked for are missing. At most 1,000. */
export async function listCodes(
  { runner }: LogSource,
  addresses: readonly Hex[],
): Promise<Map<Hex, ContractCode>> {
  if (addresses.length === 0) return new Map();
  const params = { addresses: addresses.map((address) => address.slice(2)), limit: CONTRACTS_MAX };
  const codes = new Map<Hex, ContractCode>();
  for (const row of await runner.run('explorer/list_codes', params, codeShape)) {
    const code = toCode(row);
    if (code !== null) codes.set(row.address, code);
  }
  return codes;
}

/** Whether the market knows it as a token; LP tokens are. */
export function isToken(facts: ContractFacts | null | undefined): boolean {
  return facts?.kind === 'token' || facts?.kind === 'pair';
}

/** How many logs contracts emitted, and which of them are pairs. At most 1,000. */
export async function readFame(
  { runner, chainId }: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
): Promise<{ readonly logs: ReadonlyMap<Hex, number>; readonly pairs: ReadonlySet<Hex> }> {
  if (addresses.length === 0) return { logs: new Map(), pairs: new Set() };
  const params = {
    ...snapshotParams(head),
    chain_id: chainId,
    addresses: addresses.map((address) => address.slice(2)),
    limit: 2 * CONTRACTS_MAX,
  };
  const [emitters, kinds] = await Promise.all([
    runner.run('explorer/list_emitters', params, emitterShape),
    runner.run('explorer/list_kinds', params, kindShape),
  ]);
  return {
    logs: new Map(emitters.map(({ address, logs }) => [address, Number(logs)])),
    pairs: new Set(kinds.flatMap(({ address, kind }) => (kind === 'pair' ? [address] : []))),
  };
}

function toCreation(row: z.infer<typeof creationShape>): ContractFacts['creation'] {
  const { creator, factory, tx_hash: txHash, block, timestamp } = row;
  return { creator, factory, txHash, block, timestamp };
}

function toCode(row: z.infer<typeof codeShape> | undefined): ContractCode | null {
  if (row === undefined || row.code_hash === ZERO_HASH) return null;
  const some = (address: Hex): Hex | null => (address === ZERO_ADDRESS ? null : address);
  const { implementation, beacon } = row;
  return {
    hash: row.code_hash,
    size: row.code_size,
    checkedBlock: row.checked_block,
    proxy:
      row.proxy === ''
        ? null
        : { kind: row.proxy, implementation: some(implementation), beacon: some(beacon) },
  };
}
