/** All protocols by their names in the chain description. A new family adds its entry here. */
import { AppError } from '../errors';
import { algebra } from './algebra/algebra';
import { balancerV2 } from './balancerV2/balancerV2';
import { balancerV3 } from './balancerV3/balancerV3';
import { bondingCurve } from './bondingCurve/bondingCurve';
import { camelotV2 } from './camelot/camelotV2';
import { curveStable } from './curve/curveStable';
import { curveCrypto } from './curveCrypto/curveCrypto';
import type { ChainLog } from '../domain/block';
import type { Hex } from '../domain/hex';
import { infinityBin } from './infinity/infinityBin';
import { infinityCl } from './infinity/infinityCl';
import { liquidityBook } from './liquidityBook/liquidityBook';
import type { ManyTokenProtocol } from './manyTokenProtocol';
import type { FirstShares, Protocol, SharesChange, SwapFees } from './protocol';
import { slipstream } from './solidly/slipstream';
import { solidly } from './solidly/solidly';
import { uniswapV2 } from './uniswapV2/uniswapV2';
import { pancakeV3 } from './uniswapV3/pancakeV3';
import { uniswapV3 } from './uniswapV3/uniswapV3';
import { uniswapV4 } from './uniswapV4/uniswapV4';

const ENTRIES: readonly (Protocol | ManyTokenProtocol)[] = [
  uniswapV2,
  uniswapV3,
  pancakeV3,
  balancerV2,
  balancerV3,
  solidly,
  slipstream,
  curveStable,
  curveCrypto,
  algebra,
  camelotV2,
  liquidityBook,
  uniswapV4,
  infinityCl,
  infinityBin,
  bondingCurve,
];

/** The protocols by name. */
export const PROTOCOLS = new Map<string, Protocol | ManyTokenProtocol>(
  ENTRIES.map((protocol) => [protocol.name, protocol]),
);

/** The protocol of this name. Throws broken_invariant for an unknown name. */
export function getProtocol(name: string): Protocol | ManyTokenProtocol {
  const protocol = PROTOCOLS.get(name);
  if (protocol === undefined)
    throw new AppError(
      'broken_invariant',
      `protocol: got "${name}"; allowed: ${[...PROTOCOLS.keys()].join(', ')}`,
    );
  return protocol;
}

/** The protocol of this name. Null if its pools have many tokens. */
export function findProtocol(name: string): Protocol | null {
  const protocol = getProtocol(name);
  return protocol.hasManyTokens ? null : protocol;
}

/** The protocol of this name. Null if its pools have two tokens. */
export function findManyTokenProtocol(name: string): ManyTokenProtocol | null {
  const protocol = getProtocol(name);
  return protocol.hasManyTokens ? protocol : null;
}

export function hasManyTokens(name: string): boolean {
  return getProtocol(name).hasManyTokens;
}

/** The protocol of a pool of many tokens. Throws broken_invariant for another protocol. */
export function getManyTokenProtocol(name: string): ManyTokenProtocol {
  const protocol = findManyTokenProtocol(name);
  if (protocol === null) throw new AppError('broken_invariant', `"${name}" has no pools of many tokens`);
  return protocol;
}

/** Whether the pools of this protocol have ids in place of contracts. */
export function hasPoolIds(name: string): boolean {
  return findProtocol(name)?.poolOf !== undefined;
}

/** Whether pools of this protocol have bins. */
export function hasBins(name: string | undefined): boolean {
  return name !== undefined && findProtocol(name)?.binQuestions !== undefined;
}

/** Whether the factory of the DEX, a vault or a manager, holds the tokens of all its pools. */
export function isKeptByFactory(name: string): boolean {
  const protocol = getProtocol(name);
  return protocol.hasManyTokens ? protocol.isVault : protocol.poolOf !== undefined;
}

/** Whether a Transfer can end a pool of this protocol. */
export function endsByTransfer(name: string): boolean {
  return findProtocol(name)?.readTransfer !== undefined;
}

/** Decodes an event that changes the protocol's part of a pool's fees, of any protocol. */
export function decodeSharesChange(log: Pick<ChainLog, 'topics' | 'data'>): SharesChange | null {
  for (const { feeSplit } of PROTOCOLS.values()) {
    const change = feeSplit?.decodeChange(log) ?? null;
    if (change !== null) return change;
  }
  return null;
}

/** Decodes the protocol's part of a pool's fees in an answer of slot0(), of any protocol. */
export function decodeFirstShares(answer: Hex): FirstShares | null {
  for (const { feeSplit } of PROTOCOLS.values()) {
    const first = feeSplit?.decodeSlot0(answer) ?? null;
    if (first !== null) return first;
  }
  return null;
}

/** Whether events change the fees of the protocol's pools. */
export function changesFees(name: string): boolean {
  return getProtocol(name).feeChange !== null;
}

/**
 * Names of the protocols whose pools change their fees by events, and the topics of these events without 0x. With
 * `two`, only the protocols of pools of two tokens.
 */
export function listFeeChanges(tokens?: 'two'): {
  readonly protocols: string[];
  readonly topics: string[];
} {
  const changing = [...PROTOCOLS.values()].filter(
    (protocol) => protocol.feeChange !== null && (tokens === undefined || !protocol.hasManyTokens),
  );
  return {
    protocols: changing.map(({ name }) => name),
    topics: changing.flatMap(({ feeChange }) => feeChange?.topics ?? []).map((topic) => topic.slice(2)),
  };
}

/** Decodes an event that changes the fees of a pool, of any protocol. */
export function decodeFees(log: Pick<ChainLog, 'topics' | 'data'>): SwapFees | null {
  for (const { feeChange } of PROTOCOLS.values()) {
    const fees = feeChange?.decodeFees(log) ?? null;
    if (fees !== null) return fees;
  }
  return null;
}
