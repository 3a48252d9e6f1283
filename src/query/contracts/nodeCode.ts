/**
 * Asks the node for the code of a contract if the code is not stored. For example, a contract that another contract
 * created and that has no logs. With the code, a verified contract with the same code can be found. Only requests
 * for a single contract ask the node; lists show stored contracts.
 */
import type { Hex } from '../../domain/hex';
import { silentFacts, type ContractCode, type ContractFacts } from './contractFacts';
import type { ContractReader } from './contracts';

/** Reads code from the node of one chain. */
export interface NodeCode {
  /** The current code at an address. Null if there is no code, undefined if no answer came in time. Never
   * rejects. */
  find(address: Hex): Promise<ContractCode | null | undefined>;
  /** Like `find`, but waits for the answer until the node client's timeout. Then throws node_failed. */
  get(address: Hex): Promise<ContractCode | null>;
}

/** A reader that also finds contracts by their code on the node. `nodeCodeOf` returns null for a chain
 * without a node. */
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
