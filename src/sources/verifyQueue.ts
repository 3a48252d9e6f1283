/**
 * The queue of verifications: one compilation at a time, a bounded number waiting, results kept for a while. A ticket is
 * known to this process alone.
 */
import { createHash, randomBytes } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import type { Hex } from '../domain/hex';
import type { ContractId, VerifiedContract } from '../domain/verifiedContract';
import type {
  Submission,
  VerificationQueue,
  VerificationRequest,
  VerificationState,
} from '../domain/verification';
import { AppError, errorText } from '../errors';
import type { Logger } from '../log';
import type { VerificationStore } from '../query/verifiedContracts';
import type { ChainCode } from './chainCode';
import type { VerifiedStore } from './storeVerified';
import { rememberCompilations, type Compilers } from './verify/compilers';
import { parseTarget, readStandardInput } from './verify/standardJson';
import { verifyContract, type OnChain } from './verify/verifyContract';

/** Waiting requests; each may hold 10 MB of sources. */
const WAITING_MAX = 20;
const TICKETS_KEPT = 2_000;
/** Each holds the code of one contract. */
const COMPILATIONS_KEPT = 32;
const GUID_BYTES = 25;

export interface VerifyQueueDeps {
  readonly compilers: Compilers;
  readonly chain: ChainCode;
  readonly reader: VerificationStore;
  readonly store: VerifiedStore;
  /** The transaction that created a contract; null where it is not known, as of one that the index has not reached. */
  findCreationTransaction(contract: ContractId): Promise<Hex | null>;
  readonly log: Logger;
  /** Unix milliseconds. */
  now?(): number;
}

interface Job {
  readonly guid: string;
  /** Of all that is asked. */
  readonly digest: string;
  readonly request: VerificationRequest;
  readonly onChain: OnChain;
}

export function createVerifyQueue(given: VerifyQueueDeps): VerificationQueue {
  const deps = { ...given, compilers: rememberCompilations(given.compilers, COMPILATIONS_KEPT) };
  const tickets = new LRUCache<string, VerificationState>({ max: TICKETS_KEPT });
  const waiting: Job[] = [];
  /** Tickets of what waits or is being compiled, by what is asked. */
  const open = new Map<string, string>();
  const stop = new AbortController();
  let running: Promise<void> | null = null;
  const drain = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined && !stop.signal.aborted; job = waiting.shift()) {
      tickets.set(job.guid, await runJob(deps, job, stop.signal));
      open.delete(job.digest);
    }
    running = null;
  };
  return {
    compilerVersions: deps.compilers.versions,
    async submit(request): Promise<Submission> {
      readStandardInput(request.input);
      if (parseTarget(request.contractName).name === '') {
        throw new AppError('bad_request', 'the name of the contract is missing');
      }
      const digest = digestOf(request);
      const own = await findOwn(deps.reader, request);
      const already = own?.status === 'exact_match' ? ALREADY : null;
      if (already !== null && !lacksArguments(own)) return already;
      if (!deps.chain.knows(request.chainId)) return already ?? { kind: 'no_node' };
      const onChain = await readOnChain(deps, request);
      if (onChain === null) return already ?? { kind: 'no_code' };
      if (already !== null && onChain.creation === null) return already;
      // Another one may have handed it in meanwhile.
      const same = open.get(digest);
      if (same !== undefined) return { kind: 'queued', guid: same };
      if (stop.signal.aborted || waiting.length >= WAITING_MAX) {
        throw new AppError('unavailable', 'too many verifications are waiting');
      }
      const guid = randomBytes(GUID_BYTES).toString('hex');
      tickets.set(guid, { state: 'pending' });
      open.set(digest, guid);
      waiting.push({ guid, digest, request, onChain });
      running ??= drain();
      return { kind: 'queued', guid };
    },
    status: (guid) => tickets.get(guid) ?? null,
    async close() {
      stop.abort();
      waiting.length = 0;
      open.clear();
      await running;
    },
  };
}

function digestOf(request: VerificationRequest): string {
  return createHash('sha256').update(writeRequest(request)).digest('hex');
}

function writeRequest(request: VerificationRequest): string {
  try {
    return JSON.stringify(request);
  } catch (error) {
    if (error instanceof RangeError) throw new AppError('bad_request', 'the input is nested too deeply');
    throw error;
  }
}

const ALREADY = { kind: 'already_verified', status: 'exact_match' } as const;

async function findOwn(reader: VerificationStore, contract: ContractId): Promise<VerifiedContract | null> {
  const [own] = await reader.listOwn([contract]);
  return own?.contract ?? null;
}

/** Whether it was verified here without its creation code: once that is known, it may be handed in again. */
function lacksArguments(own: VerifiedContract | null): boolean {
  return own?.source === 'local' && own.constructorArguments === null;
}

/** null: no code is there. */
async function readOnChain(deps: VerifyQueueDeps, contract: ContractId): Promise<OnChain | null> {
  const runtime = await deps.chain.getCode(contract);
  if (runtime === null || runtime === '0x') return null;
  const transaction = await deps.findCreationTransaction(contract);
  if (transaction !== null)
    return { runtime, creation: await deps.chain.findCreationCode(contract, transaction), transaction };
  const recent = await deps.chain.findRecentCreation(contract);
  return { runtime, creation: recent?.code ?? null, transaction: recent?.transaction ?? null };
}

/** Never rejects: whatever happens is the ticket's state. */
async function runJob(deps: VerifyQueueDeps, job: Job, signal: AbortSignal): Promise<VerificationState> {
  const { request, onChain } = job;
  const { chainId, address } = request;
  try {
    const now = Math.floor((deps.now ?? Date.now)() / 1_000);
    const result = await verifyContract(deps.compilers, request, onChain, now, signal);
    if ('reason' in result) return fail(deps, job, result.reason);
    const { status } = result.record.contract;
    const { stored } = await deps.store.store([result.record]);
    deps.log.info({ chainId, address, status, stored }, 'verified a contract');
    return { state: stored === 0 ? 'already_verified' : 'verified', status };
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad_request') return fail(deps, job, error.message);
    deps.log.error({ chainId, address, error: errorText(error) }, 'a verification failed');
    return { state: 'failed', reason: 'the verification could not be carried out; try again later' };
  }
}

function fail({ log }: VerifyQueueDeps, { request }: Job, reason: string): VerificationState {
  const { chainId, address, contractName } = request;
  log.info({ chainId, address, contractName, reason }, 'a contract was not verified');
  return { state: 'failed', reason };
}
