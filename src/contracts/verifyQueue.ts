/**
 * The queue of verifications. It runs one compilation at a time, lets a limited number of requests wait, and keeps
 * results for some time. Clients take turns. Tickets are only in the memory of this process.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import type { Hex } from '../domain/hex';
import type { ContractId, VerifiedContract } from '../domain/verifiedContract';
import {
  OWN_CLIENT,
  type Submission,
  type VerificationFault,
  type VerificationJob,
  type VerificationQueue,
  type VerificationRequest,
  type VerificationState,
} from '../domain/verificationQueue';
import { AppError, errorText } from '../errors';
import type { Logger } from '../log';
import type { VerificationStore } from '../query/contracts/verifiedContracts';
import type { ChainCode } from './chainCode';
import { FairQueue } from './fairQueue';
import type { VerifiedStore } from './storeVerified';
import { rememberCompilations, type Compilers } from './verify/compilers';
import { draftFromMetadata, draftFromRecord } from './verify/metadataRequest';
import { hashCode } from './verifiedRecord';
import { parseTarget, readStandardInput, SourceFault } from './verify/standardJson';
import { verifyContract, type OnChain } from './verify/verifyContract';

/** Largest number of waiting requests. */
const WAITING_MAX = 20;
/** Limit of the characters of all waiting requests together. */
const WAITING_SIZE_MAX = 32 * 2 ** 20;
/** Largest number of open jobs of one client, waiting or running. */
const OPEN_PER_CLIENT = 2;
/** Number of results that are remembered, and of failures to refuse a repeated request at once. */
const TICKETS_KEPT = 2_000;
const FAILURES_KEPT = 1_000;
/** Random bytes after the UUID of a guid: two hex digits each, because Etherscan's guids have 50 digits. */
const GUID_TAIL_BYTES = 9;
const UUID_DIGITS = 32;

interface VerifyQueueDeps {
  readonly compilers: Compilers;
  readonly chain: ChainCode;
  readonly reader: VerificationStore;
  readonly store: VerifiedStore;
  /** The transaction that created a contract. Null if unknown, for example because its block is not indexed
   * yet. */
  findCreationTransaction(contract: ContractId): Promise<Hex | null>;
  readonly log: Logger;
  /** Unix time in milliseconds. */
  now?(): number;
}

interface Job {
  readonly guid: string;
  /** Hash of the request, which identifies equal requests. */
  readonly digest: string;
  /** Hash of the request and the code on the chain, which together decide the result. */
  readonly verdictKey: string;
  readonly client: string;
  /** Length of the request, in characters. */
  readonly size: number;
  readonly request: VerificationRequest;
  readonly onChain: OnChain;
}

/** A job with the guid of the Etherscan dialect. The guid starts with the digits of the UUID. */
type Ticket = VerificationJob & { readonly guid: string };

export function createVerifyQueue(deps: VerifyQueueDeps): VerificationQueue {
  return new VerifyQueue(deps);
}

class VerifyQueue implements VerificationQueue {
  readonly draftFromMetadata = draftFromMetadata;
  readonly draftFromRecord = draftFromRecord;
  private readonly deps: VerifyQueueDeps;
  /** Tickets by UUID. */
  private readonly tickets = new LRUCache<string, Ticket>({ max: TICKETS_KEPT });
  /** Guids of failed jobs, by `verdictKey`. */
  private readonly failures = new LRUCache<string, string>({ max: FAILURES_KEPT });
  private readonly waiting = new FairQueue<Job>();
  /** Guids of open jobs, by digest. */
  private readonly open = new Map<string, string>();
  /** Number of jobs and submissions in progress, by client. */
  private readonly underWay = new Map<string, number>();
  private readonly stop = new AbortController();
  private running: Promise<void> | null = null;

  constructor(deps: VerifyQueueDeps) {
    this.deps = { ...deps, compilers: rememberCompilations(deps.compilers) };
  }

  listCompilers(): Promise<readonly string[]> {
    return this.deps.compilers.listVersions();
  }

  async submit(request: VerificationRequest, client = ''): Promise<Submission> {
    readStandardInput(request.input);
    if (parseTarget(request.contractName).name === '') {
      throw new AppError('bad_request', 'the name of the contract is missing');
    }
    const { digest, size } = digestOf(request);
    const openGuid = this.open.get(digest);
    if (openGuid !== undefined) return { kind: 'queued', guid: openGuid };
    const jobsUnderWay = this.underWay.get(client) ?? 0;
    if (jobsUnderWay >= OPEN_PER_CLIENT) return { kind: 'client_busy', openMax: OPEN_PER_CLIENT };
    this.underWay.set(client, jobsUnderWay + 1);
    let isAdded = false;
    try {
      const immediateOrCode = await examine(this.deps, request);
      if ('kind' in immediateOrCode) return immediateOrCode;
      const verdictKey = hashOf(digest + JSON.stringify(immediateOrCode));
      const earlierGuid = this.findTicket(digest, verdictKey);
      if (earlierGuid !== null) return { kind: 'queued', guid: earlierGuid };
      this.checkRoom(size);
      const guid = randomUUID().replaceAll('-', '') + randomBytes(GUID_TAIL_BYTES).toString('hex');
      this.add({ guid, digest, verdictKey, client, size, request, onChain: immediateOrCode });
      isAdded = true;
      return { kind: 'queued', guid };
    } finally {
      if (!isAdded) this.leave(client);
    }
  }

  status(guid: string): VerificationState | null {
    const ticket = this.tickets.get(this.idOf(guid));
    return ticket?.guid === guid ? ticket.state : null;
  }

  job(id: string): VerificationJob | null {
    return this.tickets.get(id.toLowerCase()) ?? null;
  }

  idOf(guid: string): string {
    return guid.slice(0, UUID_DIGITS).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  isOpen({ chainId, address }: ContractId): boolean {
    return [...this.open.values()].some((guid) => {
      const job = this.job(this.idOf(guid));
      return job?.chainId === chainId && job.address === address;
    });
  }

  refuse({ chainId, address }: ContractId, fault: VerificationFault, reason: string): string {
    const id = randomUUID();
    const now = this.now();
    const state = { state: 'failed', reason, fault } as const;
    this.tickets.set(id, { id, guid: '', chainId, address, state, startedAt: now, finishedAt: now });
    return id;
  }

  async close(): Promise<void> {
    this.stop.abort();
    this.waiting.clear();
    this.open.clear();
    await this.running;
  }

  /** The ticket of an equal request, if that request is open or has failed. */
  private findTicket(digest: string, verdictKey: string): string | null {
    const openGuid = this.open.get(digest);
    if (openGuid !== undefined) return openGuid;
    const failedGuid = this.failures.get(verdictKey);
    return failedGuid !== undefined && this.status(failedGuid) !== null ? failedGuid : null;
  }

  private checkRoom(size: number): void {
    const hasRoom = this.waiting.length < WAITING_MAX && this.waiting.size + size <= WAITING_SIZE_MAX;
    if (hasRoom && !this.stop.signal.aborted) return;
    throw new AppError('unavailable', 'too many verifications are waiting; try again later');
  }

  private add(job: Job): void {
    const { guid, request } = job;
    const { chainId, address } = request;
    const id = this.idOf(guid);
    const startedAt = this.now();
    this.tickets.set(id, {
      id,
      guid,
      chainId,
      address,
      state: { state: 'pending' },
      startedAt,
      finishedAt: null,
    });
    this.open.set(job.digest, job.guid);
    this.waiting.add(job, job.client, job.size);
    this.running ??= this.drain();
  }

  private async drain(): Promise<void> {
    const { signal } = this.stop;
    for (let job = this.waiting.take(); job !== null && !signal.aborted; job = this.waiting.take()) {
      const { state, isVerdict } = await runJob(this.deps, job, signal);
      const ticket = this.tickets.get(this.idOf(job.guid));
      if (ticket !== undefined) this.tickets.set(ticket.id, { ...ticket, state, finishedAt: this.now() });
      // An equal request gets the ticket of a failure at once, but after an internal error it may succeed.
      if (isVerdict && state.state === 'failed') this.failures.set(job.verdictKey, job.guid);
      this.open.delete(job.digest);
      this.leave(job.client);
    }
    this.running = null;
  }

  private now(): number {
    return (this.deps.now ?? Date.now)();
  }

  private leave(client: string): void {
    const stillUnderWay = (this.underWay.get(client) ?? 0) - 1;
    if (stillUnderWay > 0) this.underWay.set(client, stillUnderWay);
    else this.underWay.delete(client);
  }
}

/** Returns an immediate answer, or the code with which the compiled code is compared. */
async function examine(deps: VerifyQueueDeps, request: VerificationRequest): Promise<Submission | OnChain> {
  const ownRecord = await findOwn(deps, request);
  const alreadyVerified = ownRecord?.status === 'exact_match' ? ALREADY_VERIFIED : null;
  if (alreadyVerified !== null && !lacksArguments(ownRecord)) return alreadyVerified;
  if (!deps.chain.knows(request.chainId)) return alreadyVerified ?? { kind: 'no_node' };
  const onChain = await readOnChain(deps, request);
  if (onChain === null) return alreadyVerified ?? { kind: 'no_code' };
  return alreadyVerified !== null && onChain.creation === null ? alreadyVerified : onChain;
}

function digestOf(request: VerificationRequest): { readonly digest: string; readonly size: number } {
  const text = writeRequest(request);
  return { digest: hashOf(text), size: text.length };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function writeRequest(request: VerificationRequest): string {
  try {
    return JSON.stringify(request);
  } catch (error) {
    if (error instanceof RangeError) throw new AppError('bad_request', 'the input is nested too deeply');
    throw error;
  }
}

const ALREADY_VERIFIED = { kind: 'already_verified', status: 'exact_match' } as const;

/** The contract's own verification of the code that it has now; of its newest code if the node does not answer. */
async function findOwn(
  { reader, chain }: VerifyQueueDeps,
  contract: ContractId,
): Promise<VerifiedContract | null> {
  const [ownRecord] = await reader.listOwn([contract]);
  if (ownRecord == null || ownRecord.codeHash === null || !chain.knows(contract.chainId))
    return ownRecord?.contract ?? null;
  const code = await chain.getCode(contract).catch(() => null);
  if (code === null || code === '0x' || hashCode(code) === ownRecord.codeHash) return ownRecord.contract;
  const [currentRecord] = await reader.listOwn([{ ...contract, codeHash: hashCode(code) }]);
  return currentRecord?.contract ?? null;
}

/**
 * Whether this service verified the contract without its creation code. It may then be submitted again once the
 * creation code is known. Null arguments are unknown; `0x` means that there are none.
 */
function lacksArguments(ownContract: VerifiedContract | null): boolean {
  return ownContract?.source === 'local' && ownContract.constructorArguments === null;
}

/** Reads the code of a contract from the chain. Null if the address has no code. */
async function readOnChain(deps: VerifyQueueDeps, contract: VerificationRequest): Promise<OnChain | null> {
  const runtime = await deps.chain.getCode(contract);
  if (runtime === null || runtime === '0x') return null;
  const transaction = (await deps.findCreationTransaction(contract)) ?? contract.creationTransaction ?? null;
  if (transaction !== null)
    return { runtime, creation: await deps.chain.findCreationCode(contract, transaction), transaction };
  const recentCreation = await deps.chain.findRecentCreation(contract);
  return {
    runtime,
    creation: recentCreation?.code ?? null,
    transaction: recentCreation?.transaction ?? null,
  };
}

interface Outcome {
  readonly state: VerificationState;
  /** Whether an equal request would have the same result. */
  readonly isVerdict: boolean;
}

/** Never rejects: an error becomes the state of the ticket. */
async function runJob(deps: VerifyQueueDeps, job: Job, signal: AbortSignal): Promise<Outcome> {
  const { request, onChain } = job;
  const { chainId, address } = request;
  try {
    const now = Math.floor((deps.now ?? Date.now)() / 1_000);
    const result = await verifyContract(deps.compilers, request, onChain, now, signal);
    if ('reason' in result) return fail(deps, job, result.reason, result.fault);
    const { status } = result.record.contract;
    const { stored } = await deps.store.store([result.record]);
    const facts = { chainId, address, status, stored };
    // The program's own job, of a contract of the development chain.
    if (job.client === OWN_CLIENT) deps.log.debug(facts, 'verified an own contract');
    else deps.log.info(facts, 'verified a contract');
    return { state: { state: stored === 0 ? 'already_verified' : 'verified', status }, isVerdict: true };
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad_request')
      return fail(deps, job, error.message, error instanceof SourceFault ? error.fault : 'compiler_error');
    // A compilation that ends because the service stops is no fault.
    if (!signal.aborted)
      deps.log.error(
        { chainId, address, error: errorText(error) },
        'an internal error stopped a verification',
      );
    const reason = 'an internal error stopped the verification; try again later';
    return { state: { state: 'failed', reason, fault: 'internal_error' }, isVerdict: false };
  }
}

function fail({ log }: VerifyQueueDeps, { request }: Job, reason: string, fault: VerificationFault): Outcome {
  const { chainId, address, contractName } = request;
  log.info({ chainId, address, contractName, reason }, 'a contract was not verified');
  return { state: { state: 'failed', reason, fault }, isVerdict: true };
}
