/**
 * Verifies the headers and blocks that one endpoint sent: the order of the logs, the bloom, the time, and the
 * level of proof that PROOF requires.
 */
import {
  isWeaker,
  type ChainBlock,
  type ChainLog,
  type ProofLevel,
  type ProofOptions,
} from '../../domain/block';
import { ZERO_HASH } from '../../domain/hex';
import type { Logger } from '../../log';
import { AppError } from '../../errors';
import type { BlockProof, BlockProver, RawBlock } from '../proof/blockProof';
import type { EncodedList } from '../proof/encodedList';
import { ProofGuard, type Answering, type WeakBlock } from '../proof/proofGuard';
import { isRecord } from '../rpc/rpcTransport';
import { BlockMismatch } from './blockMismatch';
import { BloomCheck } from './bloomCheck';
import type { UncheckedBlock } from './fetchByReceipts';
import { parseHeader, toChainBlock, type BlockHeader } from './parseBlock';
import { checkFuture, checkLogOrder } from './checkBlocks';

const NO_PROOF: ProofOptions = { mode: 'bloom', trusted: null };

interface CheckerOptions {
  readonly proof: ProofOptions | undefined;
  /** The endpoints of the endpoint pool, without the silent ones: several calls to them failed and none succeeded. */
  readonly listAnswering: () => readonly Answering[];
  /** Called for each block that is accepted although it is proven less than the others. */
  readonly onWeak?: ((block: WeakBlock) => void) | undefined;
  /** Called for each verified block, with what the endpoint sent. */
  readonly onVerified?: ((block: ChainBlock, raw: RawBlock) => void) | undefined;
  readonly log: Logger;
  /** Unix time in seconds. */
  readonly timeOfDay: () => number;
}

/** The blocks of one answer of an endpoint. A block that could not be read is an error. */
type Answers = readonly (UncheckedBlock | AppError)[];

interface BlockOrigin {
  readonly endpoint: number;
  readonly transactions: EncodedList;
}

interface WrongSender {
  readonly endpoint: number;
  readonly mismatch: BlockMismatch;
}

export class BlockChecker {
  private readonly guard: ProofGuard;
  private readonly timeOfDay: () => number;
  private readonly blooms: BloomCheck;
  private readonly prover: BlockProver;
  private readonly onVerified: CheckerOptions['onVerified'];
  /** The endpoint and the transactions of each proven block, as long as the block is in use. */
  private readonly origins = new WeakMap<ChainBlock, BlockOrigin>();

  private constructor(guard: ProofGuard, options: CheckerOptions, blooms: BloomCheck, prover: BlockProver) {
    this.guard = guard;
    this.timeOfDay = options.timeOfDay;
    this.blooms = blooms;
    this.prover = prover;
    this.onVerified = options.onVerified;
  }

  static async create(options: CheckerOptions): Promise<BlockChecker> {
    const { proof = NO_PROOF, onWeak = () => undefined } = options;
    const guard = new ProofGuard({ ...options, proof, onWeak });
    return new BlockChecker(guard, options, await BloomCheck.create(options.log), await guard.ready());
  }

  /** Whether the verification needs transactions with all fields instead of only their hashes. */
  get needsBodies(): boolean {
    return this.guard.needsBodies;
  }

  /** Whether the verification needs receipts. */
  get needsReceipts(): boolean {
    return this.guard.needsReceipts;
  }

  /** With PROOF=auto, new blocks shall reach this level of stored blocks. */
  expectLevel(level: ProofLevel): void {
    this.guard.expectLevel(level);
  }

  /** @throws BlockMismatch. @throws RpcError `unknown_block` */
  readHeader(endpoint: number, result: unknown): BlockHeader {
    const { header } = parseHeader(result);
    if (isRecord(result)) this.guard.checkHeader(this.prover, endpoint, result, header);
    return header;
  }

  /**
   * Compares the sender of a transaction with its signature, in a block that is proven in full. Returns the endpoint that
   * sent a wrong one, and what differs.
   */
  findWrongSender(block: ChainBlock, index: number): WrongSender | null {
    const origin = this.origins.get(block);
    // A log of the block itself has the index after the last transaction, and no sender.
    if (origin === undefined || index >= block.transactions.length) return null;
    const stated = block.transactions[index]?.from;
    const fault = this.prover.senderFault(stated, index, origin.transactions.at(index));
    if (fault === null) return null;
    return { endpoint: origin.endpoint, mismatch: new BlockMismatch('proof', block.number, fault) };
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
    return answers.map((answer) => this.verifyOne(endpoint, answer));
  }

  /** Verifies one block. Returns the verified block, or its error. */
  verifyOne(endpoint: number, answer: UncheckedBlock | AppError): ChainBlock | AppError {
    return answer instanceof AppError ? answer : orError(() => this.verify(endpoint, answer));
  }

  private verify(endpoint: number, block: UncheckedBlock): ChainBlock {
    const { header, transactions, logs } = block;
    checkLogOrder(header, logs);
    checkFuture(header, this.timeOfDay());
    const blockOnlyLogs = logs.filter(({ transactionHash }) => transactionHash === ZERO_HASH);
    const raw = blockOnlyLogs.length === 0 ? block.raw : this.withBlockReceipt(block, blockOnlyLogs);
    let proven = this.guard.needsReceipts ? this.prover.prove(raw) : null;
    // The receipts root proves every log, so only the logs of a block without this proof need the bloom.
    const isCovered = (proven !== null && !isWeaker(proven.level, 'receipts')) || this.hasBloomOf(block);
    let proof: ProofLevel;
    if (
      blockOnlyLogs.length > 0 &&
      this.guard.mode === 'auto' &&
      this.isProvenExceptBlockLogs(block, proven)
    ) {
      proven = null;
      proof = 'headers';
    } else proof = this.guard.check(this.prover, endpoint, { ...block, raw }, proven, isCovered);
    const verified = toChainBlock(header, { transactions, logs, proof });
    const bodies = proven?.transactions ?? null;
    if (bodies !== null) this.origins.set(verified, { endpoint, transactions: bodies });
    this.onVerified?.(verified, raw);
    return verified;
  }

  /**
   * Whether the header has a bloom, which then is the bloom of the logs. No bloom contains the logs of a state-sync
   * transaction. @throws BlockMismatch `bloom`
   */
  private hasBloomOf({ header, logs, raw }: UncheckedBlock): boolean {
    if (this.guard.mode === 'none') return false;
    const lastIndex = header.transactionCount - 1;
    const bloomedLogs = this.prover.hasStateSync(raw.header)
      ? logs.filter(({ transactionIndex }) => transactionIndex !== lastIndex)
      : logs;
    return this.blooms.check(header, bloomedLogs);
  }

  /**
   * Appends the receipt of the logs without a transaction, unless the node sent it. On Celo it is part of the receipts
   * root: https://github.com/celo-org/celo-blockchain/blob/master/core/state_processor.go
   */
  private withBlockReceipt({ header, raw }: UncheckedBlock, blockOnlyLogs: readonly ChainLog[]): RawBlock {
    if (raw.receipts?.length !== header.transactionCount) return raw;
    const logsBloom = this.blooms.bloomOf(blockOnlyLogs);
    const receipt = { type: '0x0', status: '0x1', cumulativeGasUsed: '0x0', logsBloom, logs: blockOnlyLogs };
    return { ...raw, receipts: [...raw.receipts, receipt] };
  }

  /**
   * Whether everything is proven but the logs without a transaction, and the header's bloom contains them. The bloom of
   * the other logs must not be enough, because a node could then add false logs to any block.
   */
  private isProvenExceptBlockLogs({ header, raw, logs }: UncheckedBlock, proven: BlockProof | null): boolean {
    if (proven?.level !== 'headers' || raw.receipts === null) return false;
    const transactionLogs = logs.filter(({ transactionHash }) => transactionHash !== ZERO_HASH);
    const receipts = raw.receipts.slice(0, header.transactionCount);
    const { level } = this.prover.prove({ ...raw, receipts });
    return !isWeaker(level, 'receipts') && !this.blooms.isBloomOf(header, transactionLogs);
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
