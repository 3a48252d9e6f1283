/** The interface of source verification: requests, tickets and their states. */
import type { Hex } from './hex';
import type { ContractId, VerificationStatus } from './verifiedContract';

export interface VerificationRequest extends ContractId {
  /** The standard JSON input, parsed but not validated. */
  readonly input: unknown;
  /** `path:Name`, or `Name` if only one file has it. */
  readonly contractName: string;
  /** `0.8.30+commit.73712a01`, with or without a leading v, or `0.8.30`. */
  readonly compilerVersion: string;
  /** SPDX identifier; null: the identifier in the file. */
  readonly license: string | null;
  /** Encoded by the requester; compared with the chain if its creation code is known. Null or absent: not given. */
  readonly constructorArguments?: Hex | null;
  /**
   * Addresses of libraries that the settings do not name, by bare name. Compared with the addresses linked on the
   * chain.
   */
  readonly libraries?: Readonly<Record<string, Hex>>;
}

export type VerificationState =
  | { readonly state: 'pending' }
  | { readonly state: 'verified'; readonly status: VerificationStatus }
  /** The contract already has an equal verification from another source. */
  | { readonly state: 'already_verified'; readonly status: VerificationStatus }
  | { readonly state: 'failed'; readonly reason: string };

export type Submission =
  | { readonly kind: 'queued'; readonly guid: string }
  | { readonly kind: 'already_verified'; readonly status: VerificationStatus }
  /** The address has no code. */
  | { readonly kind: 'no_code' }
  /** No node of the chain is configured, so the code is unavailable. */
  | { readonly kind: 'no_node' }
  /** The client has reached its limit of open jobs. */
  | { readonly kind: 'client_busy'; readonly openMax: number };

export interface VerificationQueue {
  /** Installed compiler versions, newest first. */
  readonly compilerVersions: readonly string[];
  /**
   * Throws bad_request for an invalid request, unavailable if the queue is full, node_failed if the node is away. A
   * request that is already open or failed before gets the same ticket. `client` is the address that the rate limiter
   * counts; limits are per client.
   */
  submit(request: VerificationRequest, client?: string): Promise<Submission>;
  /** Null: the ticket does not exist or has expired. */
  status(guid: string): VerificationState | null;
  /** Stops the running compilation and drops the queue. */
  close(): Promise<void>;
}
