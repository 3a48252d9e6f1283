/** Reads of a chain's node that are handed on as they are: the port through which the dialects' proxies ask. */

/** As JSON-RPC has it; texts name no host. */
export type NodeAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: string } };

export interface NodeReads {
  /** Resolves to what a node says, its refusal too. Throws node_failed where nobody answers in time. */
  call(method: string, params: readonly unknown[]): Promise<NodeAnswer>;
}
