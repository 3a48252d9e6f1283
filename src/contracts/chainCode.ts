/** Reads contract code and creations from the chains' nodes, for comparison with compiled sources. */
import { askContracts } from '../node/calls/askContracts';
import type { EndpointPool } from '../node/rpc/endpointPool';
import { RpcError } from '../node/rpc/rpcError';
import type { Creation } from '../domain/creation';
import { isAddress, isHexData, toLowerHex, type Hex } from '../domain/hex';
import type { ContractId } from '../domain/verifiedContract';
import { findRecentCreation } from './findRecentCreation';

export interface ChainCode {
  /** Whether a node of the chain is configured. */
  knows(chainId: number): boolean;
  /** Runtime code; `0x` if the address has none. Null if no node of the chain is configured. Throws
   * node_failed. */
  getCode(contract: ContractId): Promise<Hex | null>;
  /**
   * Runtime code of several contracts of one chain. Null for each address for which the node gave no answer. Throws
   * node_failed.
   */
  listCodes(chainId: number, addresses: readonly Hex[]): Promise<(Hex | null)[]>;
  /**
   * Creation code with arguments of a contract that a transaction created directly. Null if unknown, or if
   * another contract created it.
   */
  findCreationCode(contract: ContractId, transaction: Hex): Promise<Hex | null>;
  /**
   * The creation of a contract in the newest blocks. Null if not found there, or if no node of the chain is
   * configured. Throws node_failed.
   */
  findRecentCreation(contract: ContractId): Promise<Creation | null>;
}

/** Reads through one endpoint pool per chain. */
export function createChainCode(
  pools: ReadonlyMap<number, Pick<EndpointPool, 'call' | 'run' | 'batchOutcomes'>>,
): ChainCode {
  return {
    knows: (chainId) => pools.has(chainId),
    async getCode({ chainId, address }) {
      return (await pools.get(chainId)?.call('eth_getCode', [address, 'latest'], parseCode)) ?? null;
    },
    async listCodes(chainId, addresses) {
      const pool = pools.get(chainId);
      if (pool === undefined) return addresses.map(() => null);
      const calls = addresses.map((codeOf) => [{ codeOf }]);
      const results = await askContracts(pool, calls, { at: 'latest' });
      return results.map(({ answers: [code = null] }) => code);
    },
    async findCreationCode({ chainId, address }, transaction) {
      const pool = pools.get(chainId);
      if (pool === undefined) return null;
      const readField = (method: string, name: string): Promise<unknown> =>
        pool
          .call(method, [transaction], (value) => fieldOf(required(value), name), { roundsMax: 2 })
          .catch(orUnknown);
      const [createdAddress, input] = await Promise.all([
        readField('eth_getTransactionReceipt', 'contractAddress'),
        readField('eth_getTransactionByHash', 'input'),
      ]);
      return isAddress(createdAddress) && toLowerHex(createdAddress) === address && isHexData(input)
        ? toLowerHex(input)
        : null;
    },
    async findRecentCreation({ chainId, address }) {
      const pool = pools.get(chainId);
      return pool === undefined ? null : findRecentCreation(pool, address);
    },
  };
}

function parseCode(value: unknown): Hex {
  if (!isHexData(value)) throw new Error('the answer of eth_getCode is not hex data');
  return toLowerHex(value);
}

/** Throws for null, so that the pool asks again: a node may not have the transaction yet. */
function required(value: unknown): unknown {
  if (value === null) throw new RpcError('unknown_block', 'the node does not have the transaction');
  return value;
}

function orUnknown(error: unknown): null {
  if (error instanceof RpcError && error.kind === 'unknown_block') return null;
  throw error;
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
