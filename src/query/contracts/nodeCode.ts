/**
 * Asks the node for the code of a contract, unless it is stored and can never change. So an answer about one contract
 * follows a change of its code or of its implementation at once, and contracts without logs are found too. Lists show
 * the stored code.
 */
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { silentFacts, type ContractCode, type ContractFacts } from './contractFacts';
import type { ContractReader } from './contracts';

/** Reads code from the node of one chain. An answer is kept only for requests at the same head. */
export interface NodeCode {
  /** The current code at an address. Null if there is no code, undefined if no answer came in time. Never
   * rejects. */
  find(address: Hex, head?: string): Promise<ContractCode | null | undefined>;
  /** Like `find`, but waits for the answer until the node client's timeout. Then throws node_failed. */
  get(address: Hex, head?: string): Promise<ContractCode | null>;
}

/**
 * A reader that also asks the node. `nodeCodeOf` returns null for a chain without a node; `headOf` returns the version
 * of the chain's head.
 */
export function withNodeCode(
  reader: ContractReader,
  nodeCodeOf: (chainId: number) => NodeCode | null,
  headOf: (chainId: number) => string = () => '',
): ContractReader {
  return {
    ...reader,
    async find(chainId, address) {
      const facts = await reader.find(chainId, address);
      if (facts?.code?.fixed === true) return facts;
      const code = await nodeCodeOf(chainId)?.find(address, headOf(chainId));
      if (code === undefined) return facts;
      return code === null && facts === null ? null : withCode(chainId, address, facts, code);
    },
  };
}

/** The facts with the code that the node sees now; null means no code. */
export function withCode(
  chainId: number,
  address: Hex,
  facts: ContractFacts | null,
  code: ContractCode | null,
): ContractFacts {
  const storedFacts = facts ?? silentFacts(chainId, address);
  const kindByCode = code?.proxy == null ? 'other' : 'proxy';
  const kind = storedFacts.kind === 'other' || storedFacts.kind === 'proxy' ? kindByCode : storedFacts.kind;
  return { ...storedFacts, kind, code, codeHash: code?.hash ?? ZERO_HASH };
}
