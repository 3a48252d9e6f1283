/** Interface through which the Etherscan and Blockscout proxies read from a chain's node. Answers pass
 * through unchanged. */

/** Error code of a read that names a block which the node does not have. */
export const BLOCK_NOT_FOUND = -32001;

/** The JSON-RPC answer. Messages contain no host name. */
export type NodeAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: string } };

export interface NodeRelay {
  /** Resolves to the node's answer or to its error. Throws node_failed on a timeout. */
  call(method: string, params: readonly unknown[]): Promise<NodeAnswer>;
}
