/** Asks the node about tokens and pools: their code, their supply, and slot0 of V3 pools. */
import { callEach, toRpcCall, type EthCalls } from '../node/calls/askContracts';
import { callData, readUint } from '../domain/contractCall';
import { numberToHex, ZERO_ADDRESS, type Hex } from '../domain/hex';
import { readContractCodes } from '../contracts/readContractCode';

export interface CodeFacts {
  /** Hash of the contract's own code. */
  readonly hash: Hex;
  /** Code of the contract, or of the implementation of a proxy. */
  readonly code: Hex;
}

/** Reads the code of each token; null if the node does not return it. */
export async function readCodes(
  rpc: EthCalls,
  tokens: readonly Hex[],
  signal: AbortSignal,
): Promise<(CodeFacts | null)[]> {
  const currentCodes = await readContractCodes(
    rpc,
    tokens.map((address) => ({ address, block: 'latest' })),
    signal,
  );
  const targets = tokens.map((token, index) => {
    const implementation = currentCodes[index]?.implementation ?? ZERO_ADDRESS;
    return implementation === ZERO_ADDRESS ? token : implementation;
  });
  const calls = targets.map((codeOf) => toRpcCall({ codeOf }, 'latest'));
  const codes = await callEach(rpc, calls, signal);
  return tokens.map((_, index) => {
    const [hash, code] = [currentCodes[index]?.code_hash, codes[index]];
    return hash === undefined || code === undefined || 'error' in code ? null : { hash, code: code.value };
  });
}

/** Returns whether each token had code at a block. Null if the node does not have the state of that block. */
export async function readOldCodes(
  rpc: EthCalls,
  tokens: readonly Hex[],
  block: number,
  signal: AbortSignal,
): Promise<(boolean | null)[]> {
  const calls = tokens.map((codeOf) => toRpcCall({ codeOf }, numberToHex(block)));
  const codes = await callEach(rpc, calls, signal).catch(() => []);
  return tokens.map((_, index) => {
    const code = codes[index];
    return code === undefined || 'error' in code ? null : code.value !== '0x';
  });
}

/**
 * Reads slot0() of each pool at the end of a block: `0x` for a pool that reverts, and null for a pool whose answer is
 * unknown.
 */
export async function readSlot0s(
  rpc: EthCalls,
  pools: readonly Hex[],
  blockHash: Hex,
  signal: AbortSignal,
): Promise<(Hex | null)[]> {
  const calls = pools.map((to) => toRpcCall({ to, data: callData('slot0()') }, { blockHash }));
  const outcomes = await callEach(rpc, calls, signal);
  return outcomes.map((outcome) =>
    'value' in outcome ? outcome.value : outcome.error.kind === 'revert' ? '0x' : null,
  );
}

interface ReportedSupply {
  /** totalSupply() in raw units; null without a valid answer. */
  readonly supply: bigint | null;
  /** Balance of the zero address, raw units; null without a valid answer. */
  readonly zeroBalance: bigint | null;
}

/** Reads the supply, and the balance of the zero address, from each token contract at the end of a block. */
export async function readContractSupplies(
  rpc: EthCalls,
  tokens: readonly Hex[],
  blockHash: Hex,
  signal: AbortSignal,
): Promise<ReportedSupply[]> {
  const calls = tokens.flatMap((to) =>
    [callData('totalSupply()'), callData('balanceOf(address)', ZERO_ADDRESS)].map((data) =>
      toRpcCall({ to, data }, { blockHash }),
    ),
  );
  const outcomes = await callEach(rpc, calls, signal);
  const numbers = outcomes.map((outcome) => ('value' in outcome ? readUint(outcome.value) : null));
  return tokens.map((_, index) => ({
    supply: numbers[2 * index] ?? null,
    zeroBalance: numbers[2 * index + 1] ?? null,
  }));
}
