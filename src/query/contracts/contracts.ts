/** Reads contracts as of a snapshot, by address or as a list: log counts, creation and code. */
import { address, u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import { CONTRACTS_MAX, readFacts, type ContractFacts, type ContractKind } from './contractFacts';
import type { Order } from '../pairs/rankings';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { LogSource } from '../logs/logFilter';

export const CONTRACT_SORTS = ['created_at', 'log_count'] as const;
type ContractSort = (typeof CONTRACT_SORTS)[number];

const listRow = rowType({ address, total: u64 });

interface ContractQuestion {
  /** Search text of 1 to 64 characters; null means all contracts. */
  readonly q: string | null;
  /** Only verified or only unverified contracts; null means both. */
  readonly verified: boolean | null;
  /** Null means contracts of every kind. */
  readonly kind: ContractKind | null;
  readonly sort: ContractSort;
  readonly order: Order;
  readonly skip: number;
  readonly limit: number;
}

export interface ContractReader {
  /** The facts about one contract. Null if nothing shows that the address is a contract. */
  find(chainId: number, address: Hex): Promise<ContractFacts | null>;
  /** Reads many contracts in the order of their addresses; at most 1,000. */
  findMany(chainId: number, addresses: readonly Hex[]): Promise<(ContractFacts | null)[]>;
  list(chainId: number, question: ContractQuestion): Promise<{ addresses: Hex[]; total: number }>;
}

/** A chain at one moment; null for a chain without stored blocks. */
export type ChainAt = (chainId: number) => { readonly source: LogSource; readonly head: HeadSnapshot } | null;

/** `verifiedDb` is the name of the market chain's database, which stores the verified contracts. */
export function createContractReader(chainAt: ChainAt, verifiedDb: () => string): ContractReader {
  const findMany = async (chainId: number, addresses: readonly Hex[]): Promise<(ContractFacts | null)[]> => {
    const chain = chainAt(chainId);
    if (chain === null || addresses.length === 0) return addresses.map(() => null);
    const facts = await readFacts(chain.source, chain.head, distinctOf(addresses));
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

function distinctOf(addresses: readonly Hex[]): Hex[] {
  return [...new Set(addresses)].slice(0, CONTRACTS_MAX);
}

async function listContracts(
  { runner, chainId }: LogSource,
  head: HeadSnapshot,
  verifiedDb: string,
  question: ContractQuestion,
): Promise<{ addresses: Hex[]; total: number }> {
  const searchText = (question.q ?? '').toLowerCase();
  const params = {
    ...snapshotParams(head),
    chain_id: chainId,
    verified_db: verifiedDb,
    q: /^0x[0-9a-f]*$/.test(searchText) ? searchText.slice(2) : searchText,
    // 2: verified and unverified contracts.
    verified: question.verified === null ? 2 : Number(question.verified),
    kind: question.kind ?? '',
    by_logs: question.sort === 'log_count',
    newest: question.order === 'desc',
    limit: question.limit,
    skip: question.skip,
  };
  const rows = await runner.run('contracts/list_contracts', params, listRow);
  const [firstRow] = rows;
  if (firstRow !== undefined || question.skip === 0)
    return { addresses: rows.map(({ address }) => address), total: firstRow?.total ?? 0 };
  // A page past the end has no row. The total comes with the rows, so another query reads it.
  const [anyRow] = await runner.run('contracts/list_contracts', { ...params, limit: 1, skip: 0 }, listRow);
  return { addresses: [], total: anyRow?.total ?? 0 };
}

/**
 * Whether the contract may be a token. Contracts of the kind 'pair' count, because many are LP tokens too. The kind
 * does not tell them from V3 pools, which are no tokens.
 */
export function isToken(facts: ContractFacts | null | undefined): boolean {
  return facts?.kind === 'token' || facts?.kind === 'pair';
}
