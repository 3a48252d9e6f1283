/**
 * Reads symbol, name and decimals of tokens, many at once through Multicall3 where the chain has it. Tokens answer
 * whatever they like: bytes32 texts, reverts, absurd decimals, endless symbols. What is no sane answer is null.
 * Multicall3: https://github.com/mds1/multicall3
 */
import { AbiCoder, Interface } from 'ethers';

import type { RpcErrorKind } from '../chain/rpcError';
import type { TokenRow } from '../clickhouse/tables';
import { normaliseText } from '../domain/address';
import { DECIMALS_MAX } from '../domain/amounts';
import { isHexData, type Hex } from '../domain/hex';
import { AppError } from '../errors';
import type { EthCalls } from './ethCalls';

export const MULTICALL3: Hex = '0xca11bde05977b3631167028862be2a173976ca11';
const MULTICALL = new Interface([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) returns ((bool success, bytes returnData)[])',
]);
/** symbol(), name(), decimals(). */
const CALLS = ['0x95d89b41', '0x06fdde03', '0x313ce567'] as const;
/** Tokens in one aggregate: one that burns all its gas must leave enough for the others. */
const TOKENS_MAX = 40;
/** Gas of one call to one token, when asked alone. */
const CALL_GAS: Hex = '0x1c9c380';
/** Failures that say nothing about the token: ask again later. */
const NODE_FAULTS: ReadonlySet<RpcErrorKind> = new Set([
  'rate_limited',
  'timeout',
  'network',
  'refused',
  'bad_answer',
]);
const SYMBOL_MAX = 64;
const NAME_MAX = 128;
/** Hex digits of an answer that are looked at: enough for the longest name in four-byte characters. */
const TEXT_HEX_MAX = 2 + 64 * 2 + NAME_MAX * 8;

/** One row per token, in the order given. Rejects retryably when the node does not answer. */
export async function readTokens(
  rpc: EthCalls,
  tokens: readonly Hex[],
  blockNumber: number,
  signal?: AbortSignal,
): Promise<TokenRow[]> {
  const rows: TokenRow[] = [];
  for (let at = 0; at < tokens.length; at += TOKENS_MAX) {
    const some = tokens.slice(at, at + TOKENS_MAX);
    const answers = (await aggregate(rpc, some, signal)) ?? (await askAlone(rpc, some, signal));
    some.forEach((address, index) => {
      const [symbol, name, decimals] = answers.slice(index * CALLS.length, (index + 1) * CALLS.length);
      rows.push({
        address,
        symbol: textOf(symbol, SYMBOL_MAX),
        name: textOf(name, NAME_MAX),
        decimals: decimalsOf(decimals),
        version: blockNumber,
      });
    });
  }
  return rows;
}

/** null when the chain has no Multicall3 or the aggregate as a whole failed. */
async function aggregate(
  rpc: EthCalls,
  tokens: readonly Hex[],
  signal?: AbortSignal,
): Promise<(Hex | null)[] | null> {
  const calls = tokens.flatMap((target) =>
    CALLS.map((callData) => ({ target, allowFailure: true, callData })),
  );
  const data = MULTICALL.encodeFunctionData('aggregate3', [calls]);
  const [settled] = await rpc.batchSettled(
    [{ method: 'eth_call', params: [{ to: MULTICALL3, data }, 'latest'] }],
    parseData,
    signal === undefined ? {} : { signal },
  );
  if (settled === undefined || 'error' in settled || settled.value.length < 130) return null;
  try {
    const [results] = MULTICALL.decodeFunctionResult('aggregate3', settled.value) as unknown as [
      { success: boolean; returnData: Hex }[],
    ];
    return results.map(({ success, returnData }) => (success ? returnData : null));
  } catch {
    return null;
  }
}

async function askAlone(
  rpc: EthCalls,
  tokens: readonly Hex[],
  signal?: AbortSignal,
): Promise<(Hex | null)[]> {
  const settled = await rpc.batchSettled(
    tokens.flatMap((to) =>
      CALLS.map((data) => ({ method: 'eth_call', params: [{ to, data, gas: CALL_GAS }, 'latest'] })),
    ),
    parseData,
    signal === undefined ? {} : { signal },
  );
  return settled.map((item) => {
    if ('value' in item) return item.value;
    if (NODE_FAULTS.has(item.error.kind)) throw item.error;
    return null;
  });
}

function parseData(result: unknown): Hex {
  if (isHexData(result)) return result;
  throw new AppError('node_failed', 'eth_call answered something that is not hex data');
}

/** A string answer, or a bytes32 one (MKR's symbol), cleaned; null when it is neither. */
export function textOf(data: Hex | null | undefined, lengthMax: number): string | null {
  if (data == null || data.length < 66) return null;
  if (data.length === 66) {
    const bytes = Buffer.from(data.slice(2), 'hex');
    const end = bytes.indexOf(0);
    return normaliseText(bytes.subarray(0, end === -1 ? 32 : end).toString('utf8'), lengthMax);
  }
  const offset = Number(BigInt(`0x${data.slice(2, 66)}`));
  const start = 2 + offset * 2;
  if (!Number.isSafeInteger(offset) || start + 64 > data.length) return null;
  const length = BigInt(`0x${data.slice(start, start + 64)}`);
  const available = data.length - start - 64;
  if (length * 2n > BigInt(available)) return null;
  const digits = Math.min(Number(length) * 2, TEXT_HEX_MAX);
  const bytes = Buffer.from(data.slice(start + 64, start + 64 + digits), 'hex');
  return normaliseText(bytes.toString('utf8'), lengthMax);
}

/** uint8 by the standard, but any word may come: only 0–77 is believed. */
export function decimalsOf(data: Hex | null | undefined): number | null {
  if (data == null || data.length < 66) return null;
  const [value] = AbiCoder.defaultAbiCoder().decode(['uint256'], data.slice(0, 66)) as unknown as [bigint];
  return value <= BigInt(DECIMALS_MAX) ? Number(value) : null;
}
