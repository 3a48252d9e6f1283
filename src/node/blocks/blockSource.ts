/**
 * Fetches verified blocks by number from the endpoint pool. A block that fails verification is fetched from another endpoint. If every
 * endpoint fails, the fetch fails: data may be late, but is never wrong.
 */
import type { BlockRef, ChainBlock, ProofLevel, ProofOptions } from '../../domain/block';
import { numberToHex, type Hex } from '../../domain/hex';
import { steadyNow } from '../../domain/time/steadyTime';
import { createSlices } from '../../domain/time/slices';
import { TIME_LIMITS } from '../../domain/time/timeLimits';
import { AppError } from '../../errors';
import type { Logger } from '../../log';
import { BlockMismatch } from './blockMismatch';
import { BlockChecker } from './blockChecker';
import { systemClock, type Clock } from '../rpc/clock';
import type { Endpoint } from '../rpc/endpoint';
import type { EndpointPool } from '../rpc/endpointPool';
import { requirePart } from './fetchByReceipts';
import { newFetched, type Fetched } from './fetchedBlocks';
import type { BlockHeader } from './parseBlock';
import { PieceFetcher } from './pieceFetcher';
import type { RawBlock } from '../proof/blockProof';
import type { WeakBlock } from '../proof/proofGuard';
import type { Unfinished } from '../rpc/retryRule';
import { RpcError } from '../rpc/rpcError';
import { checkFuture, checkLinks, checkNumber } from './checkBlocks';

export type { BlockHeader };

interface FetchOptions {
  readonly signal?: AbortSignal;
  readonly endpoint?: number;
  /** Number of rounds over all endpoints before the fetch fails. */
  readonly roundsMax?: number;
}

interface RangeOptions extends FetchOptions {
  /** Time of the block before the range, unix seconds, if known. No block of the range may be older. */
  readonly notBefore?: number;
  /**
   * Hash of the block before the range, if it is known to be right. An endpoint with another hash for this block
   * is benched.
   */
  readonly parent?: Hex;
  /**
   * If a block cannot be had, return the blocks before it, if there is at least one. The next call, from this block
   * on, rejects with the reason.
   */
  readonly partial?: boolean;
}

/**
 * Reads verified blocks. Every method rejects with RpcError or BlockMismatch (both have the code
 * `node_failed`) if all endpoints have failed.
 */
export interface BlockSource {
  /** Throws RpcError `unknown_block` if no endpoint has the block. */
  fetchHeader(block: number | 'latest' | 'finalized', options?: FetchOptions): Promise<BlockHeader>;
  /** Headers from `from` to `to`, both included, ascending, each the parent of the next. At most 1,000. */
  fetchHeaders(from: number, to: number, options?: FetchOptions): Promise<BlockHeader[]>;
  /**
   * Complete, verified blocks from `from` to `to`, both included, ascending, each the parent of the next.
   * Throws RpcError `unknown_block` if the chain changes during the call.
   */
  fetchRange(from: number, to: number, options?: RangeOptions): Promise<ChainBlock[]>;
  /**
   * Asks every endpoint once for its block at the height of `ref`. Returns true if some endpoint has this block,
   * and no other block has more endpoints; the endpoints with other blocks are then benched. Throws RpcError
   * `unknown_block` if no endpoint answers.
   */
  confirmCanonical(ref: BlockRef, signal?: AbortSignal): Promise<boolean>;
  /**
   * Compares the senders of these transactions with their signatures, in a block from `fetchRange` that is proven in
   * full. Benches the endpoint that sent a wrong one, and throws BlockMismatch `proof`.
   */
  checkSenders(block: ChainBlock, indexes: ReadonlySet<number>): Promise<void>;
  /** With PROOF=auto, new blocks shall reach this level of stored blocks. Weaker blocks need all endpoints. */
  expectLevel?(level: ProofLevel): Promise<void>;
}

export interface BlockSourceOptions {
  readonly pool: EndpointPool;
  readonly log: Logger;
  readonly clock?: Clock;
  /**
   * Returns unix time in seconds. Blocks whose time is far after it are refused. The default is a steady
   * clock: if someone sets the machine's clock back, the writer does not stop.
   */
  readonly timeOfDay?: () => number;
  /** The proof that each block needs (default: only the bloom). */
  readonly proof?: ProofOptions;
  /** Called for each block that is accepted although it is proven less than the others. */
  readonly onWeak?: (block: WeakBlock) => void;
  /** Called for each verified block, with what the endpoint sent. */
  readonly onVerified?: (block: ChainBlock, raw: RawBlock) => void;
  /** Largest number of blocks per batch of receipts (default 20). */
  readonly receiptBlocksMax?: number;
  /** Largest number of blocks per eth_getLogs (default 500). */
  readonly logBlocksMax?: number;
}

const HEADERS_MAX = 1_000;
/** Number of failures in a row after which an endpoint without any answer counts as silent. */
const SILENT_FAILURES = 3;

class PooledBlockSource implements BlockSource {
  private readonly pool: EndpointPool;
  private readonly clock: Clock;
  private readonly timeOfDay: () => number;
  private readonly checker: Promise<BlockChecker>;
  private readonly fetcher: Promise<PieceFetcher>;

  constructor(options: BlockSourceOptions) {
    const { pool, log, clock = systemClock(), receiptBlocksMax = 20, logBlocksMax = 500 } = options;
    this.pool = pool;
    this.clock = clock;
    this.timeOfDay = options.timeOfDay ?? (() => steadyNow() / 1_000);
    this.checker = BlockChecker.create({
      proof: options.proof,
      listAnswering: () =>
        pool.endpoints
          .filter((endpoint) => !isSilent(endpoint))
          .map(({ id, record }) => ({ id, isBenched: record.state === 'benched' })),
      onWeak: options.onWeak,
      onVerified: options.onVerified,
      log,
      timeOfDay: this.timeOfDay,
    });
    this.fetcher = this.checker.then(
      (checker) => new PieceFetcher({ checker, clock, log, receiptBlocksMax, logBlocksMax }),
    );
  }

  fetchHeader(block: number | 'latest' | 'finalized', options: FetchOptions = {}): Promise<BlockHeader> {
    const params = [typeof block === 'number' ? numberToHex(block) : block, false];
    // A hanging endpoint must not delay the head, so requests for block tags have a short time limit.
    const bounds =
      typeof block === 'number' ? options : { attemptMs: TIME_LIMITS.lightAttemptMs, ...options };
    return this.pool.run(async (endpoint, signal) => {
      const checker = await this.checker;
      const parse = (result: unknown): BlockHeader =>
        checker.readHeader(endpoint.id, requirePart(endpoint, result, `block ${block}`));
      const header = await endpoint.call('eth_getBlockByNumber', params, parse, signal);
      if (typeof block === 'number') checkNumber(header, block);
      checkFuture(header, this.timeOfDay());
      if (block === 'latest') endpoint.record.noteHead(header.number);
      return header;
    }, bounds);
  }

  fetchHeaders(from: number, to: number, options: FetchOptions = {}): Promise<BlockHeader[]> {
    if (to - from >= HEADERS_MAX)
      throw new RangeError(`blocks ${from} to ${to}: at most ${HEADERS_MAX} headers per request`);
    const calls = Array.from({ length: Math.max(0, to - from + 1) }, (_, offset) => ({
      method: 'eth_getBlockByNumber',
      params: [numberToHex(from + offset), false],
    }));
    const fetch = async (endpoint: Endpoint, signal: AbortSignal): Promise<BlockHeader[]> => {
      const checker = await this.checker;
      const parse = (result: unknown, index: number): BlockHeader =>
        checker.readHeader(endpoint.id, requirePart(endpoint, result, `block ${from + index}`));
      const headers = await endpoint.batch(calls, parse, signal);
      for (const [index, header] of headers.entries()) checkNumber(header, from + index);
      checkLinks(headers);
      return headers;
    };
    return this.pool.run(fetch, options);
  }

  async fetchRange(from: number, to: number, options: RangeOptions = {}): Promise<ChainBlock[]> {
    const blocks: ChainBlock[] = [];
    const fetchedById = new Map<number, Fetched>();
    const fetcher = await this.fetcher;
    while (from + blocks.length <= to) {
      const nextNumber = from + blocks.length;
      const notBefore = blocks.at(-1)?.timestamp ?? options.notBefore ?? 0;
      const parent = blocks.length === 0 ? options.parent : undefined;
      const fetch = (
        endpoint: Endpoint,
        signal: AbortSignal,
      ): Promise<ChainBlock[] | Unfinished<ChainBlock[]>> => {
        const fetchedByEndpoint = fetchedById.get(endpoint.id) ?? newFetched();
        fetchedById.set(endpoint.id, fetchedByEndpoint);
        const bounds = { from: nextNumber, to, notBefore, parent };
        return fetcher.fetchPiece(endpoint, bounds, fetchedByEndpoint, signal);
      };
      const piece = await this.pool.run(fetch, options).catch((error: unknown) => {
        const isUsable = options.partial === true && blocks.length > 0;
        if (!isUsable || !(error instanceof AppError) || options.signal?.aborted === true) throw error;
        return null;
      });
      if (piece === null) break;
      const [lastBlock, nextBlock] = [blocks.at(-1), piece[0]];
      // The parts of the range come from different nodes or times, so none of the endpoints is blamed.
      if (lastBlock !== undefined && nextBlock?.parentHash !== lastBlock.hash)
        throw new RpcError(
          'unknown_block',
          `block ${nextNumber} is not a child of block ${nextNumber - 1}: the chain changed between two requests`,
        );
      for (const block of piece) {
        blocks.push(block);
        for (const { verified: kept } of fetchedById.values()) kept.delete(block.number);
      }
    }
    return blocks;
  }

  async confirmCanonical(ref: BlockRef, signal?: AbortSignal): Promise<boolean> {
    const votes = await Promise.all(
      this.pool.endpoints.map(({ id }) => this.askHash(id, ref.number, signal)),
    );
    const dissenters = votes.filter((vote) => vote.hash !== null && vote.hash !== ref.hash);
    const countOf = (hash: Hex | null): number => votes.filter((vote) => vote.hash === hash).length;
    const mostVotes = Math.max(0, ...dissenters.map((vote) => countOf(vote.hash)));
    const isConfirmed = countOf(ref.hash) >= Math.max(1, mostVotes);
    if (!isConfirmed && dissenters.length === 0)
      throw new RpcError('unknown_block', `no endpoint returned block ${ref.number}`);
    if (!isConfirmed) return false;
    for (const { id, hash } of dissenters)
      this.pool.reject(
        id,
        new BlockMismatch('majority', ref.number, `hash is ${hash}, expected ${ref.hash}`),
      );
    return true;
  }

  async checkSenders(block: ChainBlock, indexes: ReadonlySet<number>): Promise<void> {
    const checker = await this.checker;
    const slices = createSlices(this.clock);
    for (const index of indexes) {
      await slices.step();
      const wrongSender = checker.findWrongSender(block, index);
      if (wrongSender === null) continue;
      this.pool.reject(wrongSender.endpoint, wrongSender.mismatch);
      throw wrongSender.mismatch;
    }
  }

  async expectLevel(level: ProofLevel): Promise<void> {
    (await this.checker).expectLevel(level);
  }

  private async askHash(
    id: number,
    number: number,
    signal?: AbortSignal,
  ): Promise<{ id: number; hash: Hex | null }> {
    try {
      const options = { endpoint: id, roundsMax: 1, ...(signal === undefined ? {} : { signal }) };
      const header = await this.fetchHeader(number, options);
      return { id, hash: header.hash };
    } catch (error) {
      if (error instanceof AppError && error.retryable) return { id, hash: null };
      throw error;
    }
  }
}

/** Whether several calls to the endpoint failed and none succeeded. */
function isSilent({ record }: Endpoint): boolean {
  return record.failures >= SILENT_FAILURES && record.health().lastGoodAt === null;
}

/** Creates a block source over an endpoint pool, which sends all requests. */
export function createBlockSource(options: BlockSourceOptions): BlockSource {
  return new PooledBlockSource(options);
}
