/** The interface of source verification: requests, tickets and their states. */
import type { Hex } from './hex';
import type { ContractId, VerificationStatus, VerifiedContract } from './verifiedContract';

export interface VerificationRequest extends ContractId {
  /** The standard JSON input, parsed but not validated. */
  readonly input: unknown;
  /** Name of the contract: `path:Name`, or `Name` if only one file has a contract with this name. */
  readonly contractName: string;
  /** Version of the compiler: `0.8.30+commit.73712a01`, with or without a leading v, or `0.8.30`. */
  readonly compilerVersion: string;
  /**
   * SPDX identifier of the licence. Null if the requester names none; then the comment
   * SPDX-License-Identifier of the source file applies.
   */
  readonly license: string | null;
  /**
   * Constructor arguments from the requester. They are compared with the chain if the creation code is known. Null or
   * absent if the requester gave none.
   */
  readonly constructorArguments?: Hex | null;
  /**
   * Addresses of libraries, by name without a path, that the settings do not contain. They are compared with
   * the addresses linked in the code on the chain.
   */
  readonly libraries?: Readonly<Record<string, Hex>>;
  /** The creation transaction from the requester, for a contract whose creation is not indexed. */
  readonly creationTransaction?: Hex | null;
}

/** The parts of a request that come from metadata or from the verification of another contract. */
export type VerificationDraft = Pick<VerificationRequest, 'input' | 'compilerVersion' | 'contractName'>;

/** Why a verification failed, in the codes of Sourcify. */
export type VerificationFault =
  | 'no_match'
  | 'bytecode_length_mismatch'
  | 'compiler_error'
  | 'contract_not_found_in_compiler_output'
  | 'compiled_bytecode_is_zero'
  | 'invalid_compiler_version'
  | 'contract_not_deployed'
  | 'no_similar_match_found'
  | 'internal_error';

/** A ticket with its contract and times. */
export interface VerificationJob extends ContractId {
  /** Id of the ticket in the form of a UUID. */
  readonly id: string;
  readonly state: VerificationState;
  /** Time of the request, unix time in milliseconds. */
  readonly startedAt: number;
  /** Time of the result, unix time in milliseconds; null while the job is open. */
  readonly finishedAt: number | null;
}

export type VerificationState =
  | { readonly state: 'pending' }
  | { readonly state: 'verified'; readonly status: VerificationStatus }
  /** The contract already has an equal verification from another source. */
  | { readonly state: 'already_verified'; readonly status: VerificationStatus }
  | { readonly state: 'failed'; readonly reason: string; readonly fault: VerificationFault };

export type Submission =
  | { readonly kind: 'queued'; readonly guid: string }
  | { readonly kind: 'already_verified'; readonly status: VerificationStatus }
  /** The address has no code. */
  | { readonly kind: 'no_code' }
  /** No node of the chain is configured, so the code is not available. */
  | { readonly kind: 'no_node' }
  /** The client has reached its limit of open jobs. */
  | { readonly kind: 'client_busy'; readonly openMax: number };

/** The client name of this program's own jobs. Their successes are logged at the level debug. */
export const OWN_CLIENT = 'this program';

export interface VerificationQueue {
  /** Available compiler versions, newest first. */
  listCompilers(): Promise<readonly string[]>;
  /**
   * Throws bad_request for an invalid request, unavailable if the queue is full, node_failed if the node does
   * not answer. A request that is already open or failed before gets the same ticket. `client` is the address
   * that the rate limiter counts; limits are per client.
   */
  submit(request: VerificationRequest, client?: string): Promise<Submission>;
  /** State of a ticket; null if the ticket does not exist or has expired. */
  status(guid: string): VerificationState | null;
  /** The job by the UUID of its ticket; null if the ticket does not exist or has expired. */
  job(id: string): VerificationJob | null;
  /** UUID of a ticket. */
  idOf(guid: string): string;
  /** Whether a job of the contract waits or runs. */
  isOpen(contract: ContractId): boolean;
  /** Builds a request from a metadata file and its sources. Throws bad_request. */
  draftFromMetadata(
    contract: ContractId,
    metadata: unknown,
    sources: readonly string[],
  ): Promise<VerificationDraft>;
  /** Builds a request from the verification of another contract. */
  draftFromRecord(
    record: VerifiedContract,
    sources: readonly { readonly path: string; readonly content: string }[],
  ): VerificationDraft;
  /** Makes a ticket for a request that failed before its compilation. Returns the UUID of the ticket. */
  refuse(contract: ContractId, fault: VerificationFault, reason: string): string;
  /** Stops the running compilation and drops the queue. */
  close(): Promise<void>;
}
