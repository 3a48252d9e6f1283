/** Asks the node about tokens: their code, their supply, and whether a sale would work. */
import { z } from 'zod';

import type { EndpointPool } from '../chain/rpc/endpointPool';
import { RpcError, type RpcErrorKind } from '../chain/rpc/rpcError';
import type { Outcome, RpcCall } from '../chain/rpc/rpcTransport';
import { isHexData, numberToHex, ZERO_ADDRESS, type Hex } from '../domain/hex';
import { AppError } from '../errors';
import { balanceOfCall, readBalance, TOTAL_SUPPLY } from '../protocols/erc20';
import { readContractCodes } from '../sources/readContractCode';

/** Gas limit of one call. */
const CALL_GAS: Hex = '0x4c4b40';
/** Size limit of an answer in bytes: the largest code is 24,576 bytes. */
const ANSWER_BYTES_MAX = 131_072;
/** Selector of transfer(address,uint256). */
const TRANSFER = '0xa9059cbb';
/** Failures of the connection. They cannot be caused by a token contract. */
const PASSING: ReadonlySet<RpcErrorKind> = new Set(['network', 'rate_limited', 'refused', 'timeout']);
/** Largest number of holders whose sale is simulated. */
const SELLERS_MAX = 3;

export type FactRpc = Pick<EndpointPool, 'batchOutcomes'>;

export interface CodeFacts {
  /** Hash of the contract's own code. */
  readonly hash: Hex;
  /** Code of the contract, or of the implementation of a proxy. */
  readonly code: Hex;
}

/** The answer of each call, or null if the call failed. Rejects if the node answers none of them. */
async function ask(rpc: FactRpc, calls: readonly RpcCall[], signal: AbortSignal): Promise<(Hex | null)[]> {
  if (calls.length === 0) return [];
  const outcomes = await askEach(rpc, calls, signal);
  return outcomes.map((outcome) => ('value' in outcome ? outcome.value : null));
}

/**
 * Returns the outcome of each call. A hostile token can cause an error that looks like a failure of the node
 * and fails the whole batch. Each call is then sent alone, so that one token does not stop the measuring of
 * all others.
 */
async function askEach(
  rpc: FactRpc,
  calls: readonly RpcCall[],
  signal: AbortSignal,
): Promise<Outcome<Hex>[]> {
  const options = { signal, roundsMax: 1 };
  try {
    return await rpc.batchOutcomes(calls, parseData, options);
  } catch (error) {
    if (!(error instanceof RpcError) || PASSING.has(error.kind)) throw error;
    if (calls.length === 1) return [{ error }];
    const outcomes: Outcome<Hex>[] = [];
    for (const one of calls) outcomes.push(...(await askEach(rpc, [one], signal)));
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

const call = (to: Hex, data: string, blockHash: Hex, from?: Hex): RpcCall => ({
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
  const found = await readContractCodes(rpc, tokens, signal);
  const targets = tokens.map((token, index) => {
    const implementation = found[index]?.implementation ?? ZERO_ADDRESS;
    return implementation === ZERO_ADDRESS ? token : implementation;
  });
  const codes = await ask(
    rpc,
    targets.map((target) => codeCall(target, 'latest')),
    signal,
  );
  return tokens.map((_, index) => {
    const [hash, code] = [found[index]?.code_hash, codes[index] ?? null];
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
  const codes = await ask(rpc, calls, signal).catch(() => tokens.map(() => null));
  return codes.map((code) => (code === null ? null : code !== '0x'));
}

interface ToldSupply {
  readonly supply: bigint | null;
  /** Balance of the zero address. */
  readonly zero: bigint | null;
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
  const answers = await ask(rpc, calls, signal);
  return tokens.map((_, index) => ({
    supply: readBalance(answers[2 * index]),
    zero: readBalance(answers[2 * index + 1]),
  }));
}

/**
 * Simulates transfers from holders to the pool at the end of a block, and returns whether all fail. Each
 * holder with a balance sends a hundredth of it. Null if the node answers none of the calls, or if no holder
 * has a balance.
 */
export async function doSalesFail(
  rpc: FactRpc,
  token: Hex,
  {
    pair,
    holders,
    blockHash,
  }: { readonly pair: Hex; readonly holders: readonly Hex[]; readonly blockHash: Hex },
  signal: AbortSignal,
): Promise<boolean | null> {
  const balances = await ask(
    rpc,
    holders.map((holder) => call(token, balanceOfCall(holder), blockHash)),
    signal,
  );
  const sales = holders
    .flatMap((holder, index) => {
      const balance = readBalance(balances[index]) ?? 0n;
      return balance > 0n ? [call(token, transferCall(pair, balance / 100n + 1n), blockHash, holder)] : [];
    })
    .slice(0, SELLERS_MAX);
  if (sales.length === 0) return null;
  const outcomes = await askEach(rpc, sales, signal);
  const tries = outcomes.flatMap((outcome) => {
    if ('value' in outcome) return [isTransferred(outcome.value)];
    return outcome.error.kind === 'revert' ? [false] : [];
  });
  return tries.length === 0 ? null : tries.every((worked) => !worked);
}

/**
 * Returns whether an answer of transfer() means success. Many tokens return nothing; a token that returns
 * false did not transfer.
 */
function isTransferred(answer: Hex): boolean {
  return answer === '0x' || BigInt(answer.slice(0, 66)) !== 0n;
}

function transferCall(to: Hex, amount: bigint): string {
  return `${TRANSFER}${to.slice(2).padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`;
}
