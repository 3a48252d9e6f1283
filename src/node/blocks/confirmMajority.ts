/**
 * Asks all endpoints whether they have a block. An endpoint can serve a false chain whose hashes all fit.
 * Only other endpoints can contradict it.
 */
import type { BlockRef } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { TIME_LIMITS } from '../../domain/time/timeLimits';
import { AppError } from '../../errors';
import type { Endpoint } from '../rpc/endpoint';
import type { EndpointPool } from '../rpc/endpointPool';
import type { EndpointRecord } from '../rpc/endpointRecord';
import { RpcError } from '../rpc/rpcError';
import { BlockMismatch } from './blockMismatch';
import type { BlockSource } from './blockSource';

/** An endpoint that is behind is compared at this many blocks below its head, because its head may still change. */
const BELOW_HEAD = 8;

export interface Voters {
  readonly pool: EndpointPool;
  readonly source: BlockSource;
}

type Ref = Pick<BlockRef, 'number' | 'hash'>;

/** One endpoint's block at a height, and the block at this height in the chain that is to be confirmed. */
interface Vote {
  readonly id: number;
  readonly number: number;
  /** Hash of the block in the chain that is to be confirmed. */
  readonly wantedHash: Hex;
  /** Hash of the endpoint's block. */
  readonly ownHash: Hex;
}

/** `behind`: the endpoint does not have the block yet. `silent`: no answer in time. */
type Answer = Vote | 'behind' | 'silent';

/**
 * Resolves if more than half of the endpoints that answer have the block, or if there is only one endpoint. The
 * endpoints that contradict the majority are benched. @throws AppError `node_failed` if the majority has another block,
 * or if there is no majority
 */
export async function confirmMajority(
  { pool, source }: Voters,
  ref: Ref,
  signal?: AbortSignal,
): Promise<void> {
  const { endpoints } = pool;
  if (endpoints.length < 2) return;
  const answers = await listAnswers(endpoints, (endpoint) => ask(source, endpoint, ref, signal));
  const votes = [...answers.values()].filter((answer) => typeof answer === 'object');
  const [firstAgreeing] = votes.filter(agrees);
  if (firstAgreeing !== undefined && 2 * votes.filter(agrees).length <= endpoints.length)
    for (const [endpoint, answer] of answers)
      if (answer === 'behind') votes.push(...(await askBehind(source, endpoint, firstAgreeing.id, signal)));
  signal?.throwIfAborted();
  const [agreeing, others] = [votes.filter(agrees), votes.filter((vote) => !agrees(vote))];
  const rivalHashes = others.filter(({ number }) => number === ref.number).map(({ ownHash }) => ownHash);
  // If the others disagree among themselves, none of them has a majority.
  const isSplit = rivalHashes.some((hash) => hash !== rivalHashes[0]);
  if (agreeing.length > others.length) {
    for (const { id, number, wantedHash, ownHash } of others)
      bench(pool, id, outvotedText(ownHash, wantedHash), number);
    return;
  }
  const [rival] = others;
  if (rival === undefined || others.length === agreeing.length || isSplit)
    throw failure(
      `no majority of the endpoints confirms block ${ref.number} ${ref.hash}: ${describeVotes(votes)}`,
    );
  for (const { id } of agreeing) bench(pool, id, outvotedText(rival.wantedHash, rival.ownHash), rival.number);
  throw failure(
    `the blocks up to ${ref.number} ${ref.hash} are dropped: for block ${rival.number}, the majority of the endpoints has ${rival.ownHash}`,
  );
}

/**
 * Benches the endpoints whose block at the height of `trusted` is another one. `trusted` is TRUSTED_BLOCK or an ancestor
 * of it.
 */
export async function benchOthers(
  { pool, source }: Voters,
  trusted: Ref,
  signal?: AbortSignal,
): Promise<void> {
  const answers = await Promise.all(pool.endpoints.map((endpoint) => ask(source, endpoint, trusted, signal)));
  for (const answer of answers)
    if (typeof answer === 'object' && !agrees(answer))
      bench(
        pool,
        answer.id,
        `hash is ${answer.ownHash}, but TRUSTED_BLOCK descends from ${trusted.hash}`,
        trusted.number,
      );
}

const agrees = ({ wantedHash, ownHash }: Vote): boolean => wantedHash === ownHash;

const outvotedText = (wrong: Hex, right: Hex): string =>
  `hash is ${wrong}, the majority of the endpoints says ${right}`;

function failure(message: string): AppError {
  return new AppError('node_failed', message, { retryable: true });
}

function describeVotes(votes: readonly Vote[]): string {
  if (votes.length === 0) return 'none has the block';
  return votes
    .map(({ id, number, ownHash }) => `endpoint #${id} has ${ownHash} for block ${number}`)
    .join(', ');
}

function bench(pool: EndpointPool, id: number, reason: string, number: number): void {
  // An endpoint that is benched already is left as it is, and is not logged again.
  if (pool.endpoints[id]?.record.state === 'benched') return;
  pool.reject(id, new BlockMismatch('majority', number, reason));
}

/** Resolves with all answers, or with the answers so far once more than half of all endpoints agree. */
function listAnswers(
  endpoints: readonly Endpoint[],
  answerOf: (endpoint: Endpoint) => Promise<Answer>,
): Promise<ReadonlyMap<Endpoint, Answer>> {
  const answers = new Map<Endpoint, Answer>();
  return new Promise((resolve, reject) => {
    for (const endpoint of endpoints)
      answerOf(endpoint).then((answer) => {
        answers.set(endpoint, answer);
        const votes = [...answers.values()].filter((received) => typeof received === 'object');
        const hasMajority = 2 * votes.filter(agrees).length > endpoints.length;
        if (hasMajority || answers.size === endpoints.length) resolve(answers);
      }, reject);
  });
}

async function ask(
  source: BlockSource,
  endpoint: Endpoint,
  { number, hash }: Ref,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const header = await fetchWithin(source, endpoint, number, signal);
  return typeof header === 'string'
    ? header
    : { id: endpoint.id, number, wantedHash: hash, ownHash: header.hash };
}

/**
 * Asks an endpoint that does not have the block in question yet. Compares its block a little below its own head
 * with the block of the endpoint `agreeingId` at the same height. Returns a vote only if they differ.
 */
async function askBehind(
  source: BlockSource,
  endpoint: Endpoint,
  agreeingId: number,
  signal: AbortSignal | undefined,
): Promise<Vote[]> {
  const head = await fetchWithin(source, endpoint, 'latest', signal);
  if (typeof head === 'string') return [];
  const number = Math.max(0, head.number - BELOW_HEAD);
  const ownHeader = await fetchWithin(source, endpoint, number, signal);
  const agreedHeader = await fetchWithin(source, { id: agreeingId, record: { failures: 0 } }, number, signal);
  if (
    typeof ownHeader === 'string' ||
    typeof agreedHeader === 'string' ||
    ownHeader.hash === agreedHeader.hash
  )
    return [];
  return [{ id: endpoint.id, number, wantedHash: agreedHeader.hash, ownHash: ownHeader.hash }];
}

async function fetchWithin(
  source: BlockSource,
  { id, record }: { readonly id: number; readonly record: Pick<EndpointRecord, 'failures'> },
  block: number | 'latest',
  signal: AbortSignal | undefined,
): Promise<Ref | 'behind' | 'silent'> {
  const { majorityAnswerMs, majorityFailingMs } = TIME_LIMITS;
  const timeout = AbortSignal.timeout(record.failures > 0 ? majorityFailingMs : majorityAnswerMs);
  try {
    const options = { endpoint: id, roundsMax: 1 };
    const timedSignal = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    return await source.fetchHeader(block, { ...options, signal: timedSignal });
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'unknown_block') return 'behind';
    if (timeout.aborted || (error instanceof AppError && error.retryable)) return 'silent';
    throw error;
  }
}
