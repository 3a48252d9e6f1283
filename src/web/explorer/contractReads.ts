/** Reads contracts and chains for the explorer's pages. A contract that cannot be read is null. */
import type { ChainItem } from '../../wire/chains';
import { ApiFailure, getAnswer, type Query } from '../core/api.ts';
import type { ContractRecord, ListAnswer, LogEntry } from '../core/explorerAnswers.ts';
import { findPageChain } from '../core/pageChain.ts';
import { decodeCall, innerCalls, listEntries, readSignature, type DecodedCall } from './abiFunctions.ts';
import { getSignatures } from './nodeAnswers.ts';

/** The contract; null if the address has none. */
export async function findContract(
  address: string,
  chain: string | null,
  signal: AbortSignal,
): Promise<ContractRecord | null> {
  try {
    const answer = await getAnswer<{ data: ContractRecord }>(
      `/contracts/${address}`,
      { chainId: chain },
      signal,
    );
    return answer.data;
  } catch (error) {
    if (!signal.aborted && error instanceof ApiFailure && error.status === 404) return null;
    throw error;
  }
}

/** The logs of a block or of a transaction. */
export interface FoundLogs {
  readonly logs: readonly LogEntry[];
  readonly total: number;
  /** The newest block that the answer includes; null for a chain that this service does not index. */
  readonly asOfBlock: number | null;
  /** Why the service has no logs, if it keeps none. */
  readonly noLogsReason: string | null;
}

/** The first logs in the order of the chain. A service with EXPLORER=off keeps none. */
export async function listLogs(query: Query, signal: AbortSignal): Promise<FoundLogs> {
  try {
    const { data, meta } = await getAnswer<ListAnswer<LogEntry>>('/logs', { ...query, order: 'asc' }, signal);
    return {
      logs: data,
      total: meta?.total ?? data.length,
      asOfBlock: meta?.as_of_block ?? null,
      noLogsReason: null,
    };
  } catch (error) {
    if (error instanceof ApiFailure && error.code === 'logs_not_kept')
      return { logs: [], total: 0, asOfBlock: null, noLogsReason: error.message };
    throw error;
  }
}

/** Most contracts that are read for one page. */
const CONTRACTS_READ_MAX = 16;

/** Contracts by address. Contracts that cannot be read are missing. */
export async function readContracts(
  addresses: readonly string[],
  chain: string | null,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ContractRecord>> {
  const readAddresses = [...new Set(addresses)].slice(0, CONTRACTS_READ_MAX);
  const entries = await Promise.all(
    readAddresses.map(async (address): Promise<[string, ContractRecord][]> => {
      try {
        const record = await findContract(address, chain, signal);
        return record === null ? [] : [[address, record]];
      } catch (error) {
        if (signal.aborted) throw error;
        return [];
      }
    }),
  );
  return new Map(entries.flat());
}

/** ABI entries of the contract and of the contract behind the proxy. */
export async function readAbi(
  record: ContractRecord,
  chain: string | null,
  signal: AbortSignal,
): Promise<{
  ownAbi: readonly unknown[];
  implementationAbi: readonly unknown[];
  implementation: string | null;
}> {
  const implementation = record.proxy?.implementation ?? null;
  const implementationRecord =
    implementation === null ? null : await findContract(implementation, chain, signal);
  return { ownAbi: record.abi ?? [], implementationAbi: implementationRecord?.abi ?? [], implementation };
}

/** A decoded input, and the calls that it passes on. */
export interface DecodedInput extends DecodedCall {
  /** Whether the ABI of the called contract has the function. */
  readonly isFromAbi: boolean;
  readonly inner: readonly DecodedCall[];
}

/** The call as decoded by the ABI of the called contract, or else by a known signature; null if none fits. */
export async function decodeInput(
  to: string,
  input: string,
  chain: string | null,
  signal: AbortSignal,
): Promise<DecodedInput | null> {
  const record = await findContract(to, chain, signal);
  if (record !== null) {
    const { ownAbi, implementationAbi } = await readAbi(record, chain, signal);
    const functions = listEntries([...ownAbi, ...implementationAbi], 'function');
    const call = decodeCall(functions, input);
    if (call !== null) return { ...call, isFromAbi: true, inner: innerCalls(call, functions) };
  }
  const selector = input.slice(0, SELECTOR_LENGTH);
  if (selector.length < SELECTOR_LENGTH) return null;
  const signature = (await getSignatures([selector], signal)).get(selector);
  const knownFunction = signature === undefined ? null : readSignature(signature);
  const call = knownFunction === null ? null : decodeCall([knownFunction], input);
  return call === null ? null : { ...call, isFromAbi: false, inner: [] };
}

const SELECTOR_LENGTH = 10;

let chainsRequest: Promise<readonly ChainItem[]> | null = null;

async function listChains(): Promise<readonly ChainItem[]> {
  // Every page asks for the same list, so no page's end stops the request.
  chainsRequest ??= getAnswer<{ data: readonly ChainItem[] }>(
    '/chains',
    {},
    new AbortController().signal,
  ).then(({ data }) => data);
  try {
    return await chainsRequest;
  } catch {
    chainsRequest = null;
    return [];
  }
}

/** The chain, or the chain of the page for null. Undefined if the service does not index the chain. */
export async function findChain(chain: string | null): Promise<ChainItem | undefined> {
  const allChains = await listChains();
  return chain === null
    ? findPageChain(allChains)
    : allChains.find(({ chain_id }) => String(chain_id) === chain);
}

/**
 * The chain of a location; null for the chain of the page, also where the location names it. Throws if this service does not
 * index the chain.
 */
export async function chainOf(query: URLSearchParams): Promise<string | null> {
  const askedChain = query.get('chainId');
  if (askedChain === null) return null;
  const allChains = await listChains();
  if (String(findPageChain(allChains)?.chain_id) === askedChain) return null;
  if (allChains.length > 0 && !allChains.some(({ chain_id }) => String(chain_id) === askedChain))
    throw new ApiFailure(404, 'unknown_chain', `This service does not index chain ${askedChain}`);
  return askedChain;
}
