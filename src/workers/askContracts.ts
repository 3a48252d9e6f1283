/** Asks the node about tokens and pools: their code, their supply, and slot0 of V3 pools. */
import { z } from 'zod';

import type { EndpointPool } from '../node/rpc/endpointPool';
import { RpcError, type RpcErrorKind } from '../node/rpc/rpcError';
import type { Outcome, RpcCall } from '../node/rpc/rpcTransport';
import { isHexData, numberToHex, ZERO_ADDRESS, type Hex } from '../domain/hex';
import { AppError } from '../errors';
import { balanceOfCall, readBalance, TOTAL_SUPPLY } from '../protocols/erc20';
import { readContractCodes } from '../contracts/readContractCode';

/** Gas limit of one call. */
const CALL_GAS: Hex = '0x4c4b40';
/** Size limit of an answer in bytes: the largest code is 24,576 bytes. */
const ANSWER_BYTES_MAX = 131_072;
/** Call data of slot0(). */
const SLOT0 = '0x3850c7bd';
/** Failures of the connection. They cannot be caused by a token contract. */
export const PASSING_KINDS: ReadonlySet<RpcErrorKind> = new Set([
  'network',
  'rate_limited',
  'refused',
  'timeout',
]);

export type FactRpc = Pick<EndpointPool, 'batchOutcomes'>;

export interface CodeFacts {
  /** Hash of the contract's own code. */
  readonly hash: Hex;
  /** Code of the contract, or of the implementation of a proxy. */
  readonly code: Hex;
}

/** The answer of each call, or null if the call failed. Rejects if the node answers none of them. */
async function askOrNull(
  rpc: FactRpc,
  calls: readonly RpcCall[],
  signal: AbortSignal,
): Promise<(Hex | null)[]> {
  if (calls.length === 0) return [];
  const outcomes = await askEach(rpc, calls, signal);
  return outcomes.map((outcome) => ('value' in outcome ? outcome.value : null));
}

/**
 * Returns the outcome of each call. A hostile token can cause an error that looks like a failure of the node
 * and fails the whole batch. Each call is then sent alone, so that one token does not stop the measuring of
 * all others.
 */
export async function askEach(
  rpc: FactRpc,
  calls: readonly RpcCall[],
  signal: AbortSignal,
): Promise<Outcome<Hex>[]> {
  const options = { signal, roundsMax: 1 };
  try {
    return await rpc.batchOutcomes(calls, parseData, options);
  } catch (error) {
    if (!(error instanceof RpcError) || PASSING_KINDS.has(error.kind)) throw error;
    if (calls.length === 1) return [{ error }];
    const outcomes: Outcome<Hex>[] = [];
    for (const singleCall of calls) outcomes.push(...(await askEach(rpc, [singleCall], signal)));
    if (outcomes.every((outcome) => 'error' in outcome && outcome.error.retryable)) throw error;
    return outcomes;
  }
}

function parseData(result: unknown): Hex {
  const { success, data } = dataShape.safeParse(result);
  if (success) return data;
  throw new AppError('node_failed', 'the answer of the node is not hex data');
}
const dataShape = z.custom<Hex>(isHexData);

const codeCall = (address: Hex, block: Hex | 'latest'): RpcCall => ({
  method: 'eth_getCode',
  params: [address, block],
  answerBytesMax: ANSWER_BYTES_MAX,
});

export const call = (to: Hex, data: string, blockHash: Hex, from?: Hex): RpcCall => ({
  method: 'eth_call',
  params: [{ ...(from === undefined ? {} : { from }), to, data, gas: CALL_GAS }, { blockHash }],
  answerBytesMax: ANSWER_BYTES_MAX,
});

/** Reads the code of each token; null if the node does not return it. */
export async function readCodes(
  rpc: FactRpc,
  tokens: readonly Hex[],
  signal: AbortSignal,
): Promise<(CodeFacts | null)[]> {
  const contractCodes = await readContractCodes(
    rpc,
    tokens.map((address) => ({ address, block: 'latest' })),
    signal,
  );
  const codeAddresses = tokens.map((token, index) => {
    const implementation = contractCodes[index]?.implementation ?? ZERO_ADDRESS;
    return implementation === ZERO_ADDRESS ? token : implementation;
  });
  const codes = await askOrNull(
    rpc,
    codeAddresses.map((target) => codeCall(target, 'latest')),
    signal,
  );
  return tokens.map((_, index) => {
    const [hash, code] = [contractCodes[index]?.code_hash, codes[index] ?? null];
    return hash === undefined || code === null ? null : { hash, code };
  });
}

/** Returns whether each token had code at a block. Null if the node does not have the state of that block. */
export async function readOldCodes(
  rpc: FactRpc,
  tokens: readonly Hex[],
  block: number,
  signal: AbortSignal,
): Promise<(boolean | null)[]> {
  const calls = tokens.map((token) => codeCall(token, numberToHex(block)));
  const codes = await askOrNull(rpc, calls, signal).catch(() => tokens.map(() => null));
  return codes.map((code) => (code === null ? null : code !== '0x'));
}

/**
 * Reads slot0() of each pool at the end of a block: `0x` for a pool that reverts, and null for a pool whose answer is
 * unknown.
 */
export async function readSlot0s(
  rpc: FactRpc,
  pools: readonly Hex[],
  blockHash: Hex,
  signal: AbortSignal,
): Promise<(Hex | null)[]> {
  const outcomes = await askEach(
    rpc,
    pools.map((pool) => call(pool, SLOT0, blockHash)),
    signal,
  );
  return outcomes.map((outcome) =>
    'value' in outcome ? outcome.value : outcome.error.kind === 'revert' ? '0x' : null,
  );
}

interface ToldSupply {
  readonly supply: bigint | null;
  /** Balance of the zero address. */
  readonly zeroBalance: bigint | null;
}

/** Reads the supply, and the balance of the zero address, from each token contract at the end of a block. */
export async function readContractSupplies(
  rpc: FactRpc,
  tokens: readonly Hex[],
  blockHash: Hex,
  signal: AbortSignal,
): Promise<ToldSupply[]> {
  const calls = tokens.flatMap((token) => [
    call(token, TOTAL_SUPPLY, blockHash),
    call(token, balanceOfCall(ZERO_ADDRESS), blockHash),
  ]);
  const answers = await askOrNull(rpc, calls, signal);
  return tokens.map((_, index) => ({
    supply: readBalance(answers[2 * index]),
    zeroBalance: readBalance(answers[2 * index + 1]),
  }));
}
