/**
 * Reads a contract for the Etherscan and Blockscout dialects: facts, verification, and implementations as of the head.
 */
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import type { VerifiedContract, VerifiedReader } from '../../domain/verifiedContract';
import type { ContractCode, ContractFacts } from './contractFacts';
import type { ContractReader } from './contracts';
import type { HeadSnapshot } from '../head/headSnapshot';
import { implementationsAt, readProxies } from '../logs/logDecoder';
import type { LogSource } from '../logs/logFilter';
import { findWholeVerification, type TwinArguments } from './twinArguments';

interface ViewDeps {
  readonly contracts: Pick<ContractReader, 'find' | 'findMany'>;
  readonly verified: Pick<VerifiedReader, 'find' | 'findMany'>;
  /** Finds constructor arguments of twins; optional. */
  readonly twinArguments?: TwinArguments;
}

interface Implementation {
  readonly address: Hex;
  /** Null for an unverified implementation. */
  readonly name: string | null;
}

export interface ContractView {
  /** Null: no sign of a contract at this address. */
  readonly facts: ContractFacts | null;
  /** The contract's own verification, or else that of a twin. */
  readonly record: VerifiedContract | null;
  /** Implementations of a proxy; several for a diamond. Empty for other contracts, and for unknown implementations. */
  readonly implementations: readonly Implementation[];
}

/** `moment`: null for a chain without stored blocks, which may still have verifications. */
export async function readContractView(
  deps: ViewDeps,
  chainId: number,
  moment: { readonly chain: LogSource; readonly head: HeadSnapshot } | null,
  address: Hex,
): Promise<ContractView> {
  const facts = await deps.contracts.find(chainId, address);
  const code = facts?.code ?? null;
  const [record, targets] = await Promise.all([
    findWholeVerification(deps.verified, deps.twinArguments, chainId, address, facts),
    moment === null || code === null ? [] : listTargets(moment, address, code),
  ]);
  if (targets.length === 0) return { facts, record, implementations: [] };
  const behind = await deps.contracts.findMany(chainId, targets);
  const records = await deps.verified.findMany(
    targets.map((target, index) => ({
      chainId,
      address: target,
      codeHash: behind[index]?.code?.hash ?? null,
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
