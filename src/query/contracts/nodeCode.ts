/**
 * Contracts that nobody asked the node for yet, as one that a contract made and that never emitted anything: where one is asked
 * for by itself, its node tells its code, and by that whose source it has. Lists are of what is stored.
 */
import type { Hex } from '../../domain/hex';
import { silentFacts, type ContractCode, type ContractFacts } from './contractFacts';
import type { ContractReader } from './contracts';

/** The port to the node of one chain. */
export interface NodeCode {
  /** What stands at an address now; null: there is no code; undefined: the node does not say at once. Never rejects. */
  find(address: Hex): Promise<ContractCode | null | undefined>;
  /** The same, as long as the node is given at all. Throws node_failed. */
  get(address: Hex): Promise<ContractCode | null>;
}

/** The same reader, which finds by address what its node alone knows. `nodeCodeOf`: null where there is nobody to ask. */
export function withNodeCode(
  reader: ContractReader,
  nodeCodeOf: (chainId: number) => NodeCode | null,
): ContractReader {
  return {
    ...reader,
    async find(chainId, address) {
      const facts = await reader.find(chainId, address);
      if (facts !== null && facts.code !== null) return facts;
      const code = await nodeCodeOf(chainId)?.find(address);
      return code === undefined || code === null ? facts : withCode(chainId, address, facts, code);
    },
  };
}

/** What is known of a contract, with its code. */
export function withCode(
  chainId: number,
  address: Hex,
  facts: ContractFacts | null,
  code: ContractCode,
): ContractFacts {
  const known = facts ?? silentFacts(chainId, address);
  const kind = known.kind === 'other' && code.proxy !== null ? 'proxy' : known.kind;
  return { ...known, kind, code };
}
