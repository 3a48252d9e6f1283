/**
 * Reads a contract for the Etherscan and Blockscout dialects: facts, verification, and implementations as of the head.
 */
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import type { VerifiedContract, VerifiedReader } from '../../domain/verifiedContract';
import { soleTarget } from './codeSpans';
import type { ContractCode, ContractFacts } from './contractFacts';
import type { ContractReader } from './contracts';
import type { HeadSnapshot } from '../head/headSnapshot';
import { implementationsAt, readProxies } from '../logs/proxies';
import type { LogSource } from '../logs/logFilter';
import { findWholeVerification, type TwinArguments } from './twinArguments';

interface ViewDeps {
  readonly contracts: Pick<ContractReader, 'find' | 'findMany'>;
  readonly verified: Pick<VerifiedReader, 'find' | 'findMany'>;
  /** Finds constructor arguments of contracts that have the code of a verified contract; optional. */
  readonly twinArguments?: TwinArguments;
}

interface Implementation {
  readonly address: Hex;
  /** Name of the implementation; null for an unverified implementation. */
  readonly name: string | null;
}

export interface ContractView {
  /** Facts about the contract. Null if nothing shows that the address is a contract. */
  readonly facts: ContractFacts | null;
  /** The contract's own verification, or the verification of a contract with the same code. */
  readonly record: VerifiedContract | null;
  /**
   * Implementations of a proxy; several for a diamond. Empty if the contract is no proxy or its implementations are
   * unknown.
   */
  readonly implementations: readonly Implementation[];
}

/** `chainAtHead` is null for a chain without stored blocks, which may still have verifications. */
export async function readContractView(
  deps: ViewDeps,
  chainId: number,
  chainAtHead: { readonly chain: LogSource; readonly head: HeadSnapshot } | null,
  address: Hex,
): Promise<ContractView> {
  const facts = await deps.contracts.find(chainId, address);
  const code = facts?.code ?? null;
  const [record, targets] = await Promise.all([
    findWholeVerification(deps.verified, deps.twinArguments, chainId, address, facts),
    chainAtHead === null || code === null ? [] : listTargets(chainAtHead, address, code),
  ]);
  if (targets.length === 0) return { facts, record, implementations: [] };
  const targetFacts = await deps.contracts.findMany(chainId, targets);
  const records = await deps.verified.findMany(
    targets.map((target, index) => ({
      chainId,
      address: target,
      codeHash: targetFacts[index]?.codeHash ?? null,
    })),
  );
  const implementations = targets.map((target, index) => ({
    address: target,
    name: records[index]?.name ?? null,
  }));
  return { facts, record, implementations };
}

async function listTargets(
  { chain, head }: { readonly chain: LogSource; readonly head: HeadSnapshot },
  address: Hex,
  code: ContractCode,
): Promise<readonly Hex[]> {
  if (code.proxy === null) return [];
  const proxies = await readProxies(chain, head, [address], new Map([[address, code]]));
  return implementationsAt(proxies, address, lastOrdOfBlock(head.number));
}

/** The implementation of a proxy at the head. Null if the contract is no proxy or has several implementations. */
export async function findImplementation(
  chainAtHead: { readonly chain: LogSource; readonly head: HeadSnapshot } | null,
  facts: ContractFacts | null,
): Promise<Hex | null> {
  if (chainAtHead === null || facts === null || facts.code === null) return null;
  const targets = await listTargets(chainAtHead, facts.address, facts.code);
  return soleTarget(facts.code, targets);
}
