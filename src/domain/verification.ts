/** What the verification of sources is to whoever asks for it: requests, tickets and their states. */
import type { Hex } from './hex';
import type { ContractId, VerificationStatus } from './verifiedContract';

export interface VerificationRequest extends ContractId {
  /** The standard JSON input, parsed but not checked. */
  readonly input: unknown;
  /** `path:Name`, or `Name` where only one file has it. */
  readonly contractName: string;
  /** `0.8.30+commit.73712a01`, with or without a leading v, or `0.8.30`. */
  readonly compilerVersion: string;
  /** SPDX identifier; null: the one in the file. */
  readonly license: string | null;
  /** As whoever asks encoded them; compared with the chain where its creation code is known. Null or absent: not told. */
  readonly constructorArguments?: Hex | null;
  /** Addresses of libraries beside those of the settings, by the name alone; compared with what is linked on the chain. */
  readonly libraries?: Readonly<Record<string, Hex>>;
}

export type VerificationState =
  | { readonly state: 'pending' }
  | { readonly state: 'verified'; readonly status: VerificationStatus }
  /** Someone else's verification of the contract came first and says as much. */
  | { readonly state: 'already_verified'; readonly status: VerificationStatus }
  | { readonly state: 'failed'; readonly reason: string };

export type Submission =
  | { readonly kind: 'queued'; readonly guid: string }
  | { readonly kind: 'already_verified'; readonly status: VerificationStatus }
  /** There is no code at the address. */
  | { readonly kind: 'no_code' }
  /** No node of the chain is configured that could be asked for the code. */
  | { readonly kind: 'no_node' }
  /** The client has as many open jobs as it may have. */
  | { readonly kind: 'client_busy'; readonly openMax: number };

export interface VerificationQueue {
  /** Compiler versions that can be asked for, newest first. */
  readonly compilerVersions: readonly string[];
  /**
   * Throws bad_request for what is no request at all, unavailable when the queue is full, node_failed when the node is away.
   * A request that is open already, or that failed before, gets the same ticket again. `client` is the address that the
   * rate limit counts; the bounds are per client.
   */
  submit(request: VerificationRequest, client?: string): Promise<Submission>;
  /** null: no such ticket, or one long forgotten. */
  status(guid: string): VerificationState | null;
  /** Ends the running compilation and forgets the rest. */
  close(): Promise<void>;
}
