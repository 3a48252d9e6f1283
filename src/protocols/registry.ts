/** All protocols by their names in the chain description. A new family adds its entry here. */
import { AppError } from '../errors';
import { algebra } from './algebra/algebra';
import { balancerV2 } from './balancerV2/balancerV2';
import type { ChainLog } from '../domain/block';
import type { Hex } from '../domain/hex';
import type { FirstShares, Protocol, SharesChange, SwapFees, VaultProtocol } from './protocol';
import { slipstream } from './solidly/slipstream';
import { solidly } from './solidly/solidly';
import { uniswapV2 } from './uniswapV2/uniswapV2';
import { pancakeV3 } from './uniswapV3/pancakeV3';
import { uniswapV3 } from './uniswapV3/uniswapV3';
import { uniswapV4 } from './uniswapV4/uniswapV4';

const ENTRIES: readonly (Protocol | VaultProtocol)[] = [
  uniswapV2,
  uniswapV3,
  pancakeV3,
  balancerV2,
  solidly,
  slipstream,
  algebra,
  uniswapV4,
];

/** The protocols by name. */
export const PROTOCOLS = new Map<string, Protocol | VaultProtocol>(
  ENTRIES.map((protocol) => [protocol.name, protocol]),
);

/** The protocol of this name. Throws broken_invariant for an unknown name. */
export function getProtocol(name: string): Protocol | VaultProtocol {
  const protocol = PROTOCOLS.get(name);
  if (protocol === undefined)
    throw new AppError(
      'broken_invariant',
      `protocol: got "${name}"; allowed: ${[...PROTOCOLS.keys()].join(', ')}`,
    );
  return protocol;
}

/** The protocol of this name. Null if a vault emits the events of its pools. */
export function findProtocol(name: string): Protocol | null {
  const protocol = getProtocol(name);
  return protocol.emitter === 'pool' ? protocol : null;
}

/** Whether a vault emits the events of this protocol's pools and holds their tokens. */
export function isVaultProtocol(name: string): boolean {
  return getProtocol(name).emitter === 'vault';
}

/** Whether the pools of this protocol have ids in place of contracts. */
export function hasPoolIds(name: string): boolean {
  return findProtocol(name)?.poolOf !== undefined;
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
 * Names of the protocols whose pools change their fees by events, and the topics of these events without 0x. With an
 * emitter, only the protocols of this kind.
 */
export function listFeeChanges(emitter?: 'pool'): {
  readonly protocols: string[];
  readonly topics: string[];
} {
  const changing = [...PROTOCOLS.values()].filter(
    (protocol) => protocol.feeChange !== null && protocol.emitter === (emitter ?? protocol.emitter),
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
