/**
 * Verifies the headers and blocks that one endpoint sent: the order of the logs, the bloom, the time, and the
 * level of proof that PROOF requires.
 */
import type { ChainBlock, ProofOptions } from '../../domain/block';
import type { Logger } from '../../log';
import { AppError } from '../../errors';
import type { BlockProver } from '../proof/blockProof';
import { ProofGuard } from '../proof/proofGuard';
import { isRecord } from '../rpc/rpcTransport';
import { BlockMismatch } from './blockMismatch';
import { BloomBuilder } from './bloom';
import type { UncheckedBlock } from './fetchByReceipts';
import { parseHeader, type BlockHeader } from './parseBlock';
import { checkBloom, checkFuture, checkLogOrder } from './verify';

const NO_PROOF: ProofOptions = { mode: 'bloom', trusted: null };

interface CheckerOptions {
  readonly proof: ProofOptions | undefined;
  /** Number of endpoints of the pool, without the silent ones: several calls to them failed and none succeeded. */
  readonly countAnswering: () => number;
  readonly log: Logger;
  /** Unix time in seconds. */
  readonly timeOfDay: () => number;
}

/** The blocks of one answer of an endpoint. A block that could not be read is an error. */
type Answers = readonly (UncheckedBlock | AppError)[];

interface BlockBodies {
  readonly endpoint: number;
  /** The transactions of the block, as the endpoint sent them. */
  readonly transactions: readonly unknown[];
}

interface WrongSender {
  readonly endpoint: number;
  readonly mismatch: BlockMismatch;
}

export class BlockChecker {
  private readonly guard: ProofGuard;
  private readonly log: Logger;
  private readonly timeOfDay: () => number;
  private readonly blooms: BloomBuilder;
  private readonly prover: BlockProver;
  private unfilledBloomSeen = false;
  /** The endpoint and the transactions of each verified block, as long as the block is in use. */
  private readonly sources = new WeakMap<ChainBlock, BlockBodies>();

  private constructor(guard: ProofGuard, options: CheckerOptions, blooms: BloomBuilder, prover: BlockProver) {
    this.guard = guard;
    this.log = options.log;
    this.timeOfDay = options.timeOfDay;
    this.blooms = blooms;
    this.prover = prover;
  }

  static async create(options: CheckerOptions): Promise<BlockChecker> {
    const guard = new ProofGuard(options.proof ?? NO_PROOF, options.countAnswering, options.log);
    return new BlockChecker(guard, options, await BloomBuilder.create(), await guard.ready());
  }

  /** Whether the verification needs receipts, and transactions with all fields instead of only their hashes. */
  get needsBodies(): boolean {
    return this.guard.needsBodies;
  }

  /** @throws BlockMismatch */
  readHeader(result: unknown): BlockHeader {
    const { header } = parseHeader(result);
    if (isRecord(result)) this.guard.checkHeader(this.prover, result, header);
    return header;
  }

  /**
   * Compares senders with the signatures of their transactions, in a block that is proven in full. Returns the endpoint
   * that sent a wrong one, and what differs.
   */
  findWrongSender(block: ChainBlock, indexes: ReadonlySet<number>): WrongSender | null {
    const source = this.sources.get(block);
    if (source === undefined) return null;
    for (const index of indexes) {
      const fault = this.prover.senderFault(source.transactions[index], index);
      if (fault !== null)
        return { endpoint: source.endpoint, mismatch: new BlockMismatch('proof', block.number, fault) };
    }
    return null;
  }

  /**
   * Numbers of further blocks to fetch from the endpoint before `verifyAll`, if the answer has too few blocks to
   * learn from them what can be proven on this chain.
   */
  listOthers(answers: Answers): readonly number[] {
    return this.guard.listOthers(this.prover, withoutErrors(answers));
  }

  /**
   * Verifies the blocks of one answer. Returns each verified block, or its error. The blocks of `others` only help to
   * learn what can be proven on this chain.
   */
  verifyAll(endpoint: number, answers: Answers, others: Answers): (ChainBlock | AppError)[] {
    this.guard.study(this.prover, endpoint, withoutErrors([...answers, ...others]));
    return answers.map((answer) =>
      answer instanceof AppError ? answer : orError(() => this.verify(endpoint, answer)),
    );
  }

  private verify(endpoint: number, block: UncheckedBlock): ChainBlock {
    const { header, transactions, logs } = block;
    checkLogOrder(header, logs);
    checkFuture(header, this.timeOfDay());
    const isUnfilled = checkBloom(this.blooms, header, logs) === 'unfilled';
    if (isUnfilled && !this.unfilledBloomSeen) {
      this.unfilledBloomSeen = true;
      this.log.warn(
        { block: header.number },
        'block headers have empty blooms; missing logs at the end of a block cannot be detected',
      );
    }
    const proof = this.guard.check(this.prover, block);
    const { number, hash, parentHash, timestamp, baseFeePerGas, transactionCount } = header;
    const verified: ChainBlock = {
      number,
      hash,
      parentHash,
      timestamp,
      baseFeePerGas,
      transactionCount,
      transactions,
      logs,
      proof,
    };
    const bodies = block.raw.header['transactions'];
    if (proof === 'full' && Array.isArray(bodies))
      this.sources.set(verified, { endpoint, transactions: bodies });
    return verified;
  }
}

function withoutErrors(answers: Answers): UncheckedBlock[] {
  return answers.flatMap((answer) => (answer instanceof AppError ? [] : [answer]));
}

/** Returns the result of `check`, or the AppError that it throws. */
function orError<T>(check: () => T): T | AppError {
  try {
    return check();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** Returns the result of `check`, or the BlockMismatch that it throws. */
export function orMismatch<T>(check: () => T): T | BlockMismatch {
  try {
    return check();
  } catch (error) {
    if (error instanceof BlockMismatch) return error;
    throw error;
  }
}
