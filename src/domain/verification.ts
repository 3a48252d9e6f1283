/** The interface of source verification: requests, tickets and their states. */
import type { Hex } from './hex';
import type { ContractId, VerificationStatus } from './verifiedContract';

export interface VerificationRequest extends ContractId {
  /** The standard JSON input, parsed but not validated. */
  readonly input: unknown;
  /** Name of the contract: `path:Name`, or `Name` if only one file has a contract with this name. */
  readonly contractName: string;
  /** Version of the compiler: `0.8.30+commit.73712a01`, with or without a leading v, or `0.8.30`. */
  readonly compilerVersion: string;
  /** SPDX identifier of the licence; null if the requester names none. Then the comment SPDX-License-Identifier of the source file names it. */
  readonly license: string | null;
  /**
   * Constructor arguments from the requester. They are compared with the chain if the creation code is known. Null or
   * absent if the requester gave none.
   */
  readonly constructorArguments?: Hex | null;
  /**
   * Addresses of libraries that the settings do not name, by bare name. They are compared with the addresses
   * linked on the chain.
   */
  readonly libraries?: Readonly<Record<string, Hex>>;
}

export type VerificationState =
  | { readonly state: 'pending' }
  | { readonly state: 'verified'; readonly status: VerificationStatus }
  /** State: the contract already has an equal verification from another source. */
  | { readonly state: 'already_verified'; readonly status: VerificationStatus }
  | { readonly state: 'failed'; readonly reason: string };

export type Submission =
  | { readonly kind: 'queued'; readonly guid: string }
  | { readonly kind: 'already_verified'; readonly status: VerificationStatus }
  /** State: the address has no code. */
  | { readonly kind: 'no_code' }
  /** State: no node of the chain is configured, so the code is not available. */
  | { readonly kind: 'no_node' }
  /** State: the client has reached its limit of open jobs. */
  | { readonly kind: 'client_busy'; readonly openMax: number };

export interface VerificationQueue {
  /** Installed compiler versions, newest first. */
  readonly compilerVersions: readonly string[];
  /**
   * Throws bad_request for an invalid request, unavailable if the queue is full, node_failed if the node does
   * not answer. A request that is already open or failed before gets the same ticket. `client` is the address
   * that the rate limiter counts; limits are per client.
   */
  submit(request: VerificationRequest, client?: string): Promise<Submission>;
  /** State of a ticket; null if the ticket does not exist or has expired. */
  status(guid: string): VerificationState | null;
  /** Stops the running compilation and drops the queue. */
  close(): Promise<void>;
}
