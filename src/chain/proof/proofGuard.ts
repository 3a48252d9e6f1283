/**
 * Decides which proof a block needs. With `auto`, learns from the first blocks what the chain allows: a proof that
 * fails on one endpoint and holds on another is a fault of the first, and a proof that fails on all of them is a
 * property of the chain.
 */
import type { Hex } from '../../domain/hex';
import type { ProofLevel, ProofOptions } from '../../domain/block';
import type { Logger } from '../../log';
import { BlockMismatch } from '../blocks/blockMismatch';
import { RpcError } from '../rpc/rpcError';
import { BlockProver, type RawBlock } from './blockProof';

/** What the guard needs of an endpoint's block. */
interface Answer {
  readonly header: { readonly number: number; readonly hash: Hex; readonly transactionCount: number };
  readonly raw: RawBlock;
}

/** What the blocks of an endpoint have shown so far. `level` is the strongest proof among them. */
interface Weak {
  /** The blocks that are not proven in full. */
  readonly blocks: Set<number>;
  /** Number of answers with such blocks. A session may begin with a request for a single block. */
  answers: number;
  level: ProofLevel;
  fault: string | null;
}

const RANK: Record<ProofLevel, number> = { bloom: 0, headers: 1, full: 2 };
/**
 * Number of blocks of one endpoint whose proof must fail, or of answers with one such block, before the chain counts
 * as one without this proof.
 */
const WEAK_MIN = 3;
/** Number of further blocks that an endpoint is asked for, if it sent fewer than WEAK_MIN. */
const OTHERS = 8;

export class ProofGuard {
  private readonly options: ProofOptions;
  private readonly countAnswering: () => number;
  private readonly log: Logger;
  private readonly prover: Promise<BlockProver>;
  /** The level that every block must reach; null while `auto` learns it. */
  private required: ProofLevel | null;
  private readonly weak = new Map<number, Weak>();

  /** `countAnswering` is the number of endpoints without those that never answered. */
  constructor(options: ProofOptions, countAnswering: () => number, log: Logger) {
    this.options = options;
    this.countAnswering = countAnswering;
    this.log = log;
    this.required = options.mode === 'auto' ? null : options.mode;
    this.prover = BlockProver.create();
  }

  /** Whether blocks must be asked for with the fields of their transactions. */
  get needsBodies(): boolean {
    return this.required === null || this.required === 'full';
  }

  /** Waits until the hash function is loaded. */
  ready(): Promise<BlockProver> {
    return this.prover;
  }

  /** @throws BlockMismatch `proof` if the header does not give its hash, or is not the trusted block */
  checkHeader(
    prover: BlockProver,
    raw: RawBlock['header'],
    head: Pick<Answer['header'], 'number' | 'hash'>,
  ): void {
    this.checkTrusted(head);
    if (this.required === null || this.required === 'bloom') return;
    const fault = prover.headerFault(raw);
    if (fault !== null) throw new BlockMismatch('proof', head.number, fault);
  }

  /**
   * Returns the level that the block reaches. @throws BlockMismatch `proof` if the block does not reach the level of the
   * chain. @throws RpcError `unknown_block` if the level of the chain is not known and the block is not proven in full
   */
  check(prover: BlockProver, { header, raw }: Answer): ProofLevel {
    if (this.required === 'bloom' || this.required === 'headers') {
      this.checkHeader(prover, raw.header, header);
      return this.required;
    }
    this.checkTrusted(header);
    const { level, fault } = prover.prove(raw);
    if (level === 'full') return level;
    // Whether the endpoint or the chain is the reason is not known yet, so the endpoint is not benched.
    if (this.required === null)
      throw new RpcError('unknown_block', `block ${header.number} cannot be proven yet: ${fault}`);
    throw new BlockMismatch('proof', header.number, fault ?? 'the block is not proven');
  }

  /**
   * While the level is not known: the numbers of further blocks that an endpoint must be asked for, because it sent too
   * few to judge the chain by them. One wrong block then does not lower the level.
   */
  listOthers(prover: BlockProver, answers: readonly Answer[]): readonly number[] {
    const [first] = answers;
    const isEnough = first === undefined || answers.length >= WEAK_MIN;
    if (this.required !== null || isEnough) return [];
    if (answers.every(({ raw }) => prover.prove(raw).level === 'full')) return [];
    const { number } = first.header;
    const from = number >= OTHERS ? number - OTHERS : number + answers.length;
    return Array.from({ length: OTHERS }, (_, index) => from + index);
  }

  /** While the level is not known: learns it from what an endpoint sent. One block that is proven in full is enough. */
  study(prover: BlockProver, endpoint: number, answers: readonly Answer[]): void {
    if (this.required !== null) return;
    const seen: Weak = this.weak.get(endpoint) ?? {
      blocks: new Set<number>(),
      answers: 0,
      level: 'bloom',
      fault: null,
    };
    for (const { header, raw } of answers) {
      const { level, fault } = prover.prove(raw);
      // A block without transactions says nothing about the transactions of the chain.
      if (level === 'full' && header.transactionCount > 0) return this.settle('full', null, header.number);
      // A block without transactions that is proven shows that headers can be recomputed.
      const shown = level === 'full' ? 'headers' : level;
      if (fault !== null && (seen.fault === null || RANK[shown] > RANK[seen.level])) seen.fault = fault;
      if (RANK[shown] > RANK[seen.level]) seen.level = shown;
      if (level === 'full') continue;
      seen.blocks.add(header.number);
      this.weak.set(endpoint, seen);
    }
    seen.answers += 1;
    const all = [...this.weak.values()];
    if (all.length < this.countAnswering() || all.some((one) => !isSure(one))) return;
    const best = all.reduce((one, other) => (RANK[other.level] > RANK[one.level] ? other : one));
    this.settle(best.level, best.fault, Math.min(...best.blocks));
  }

  private settle(level: ProofLevel, fault: string | null, number: number): void {
    this.required = level;
    if (level === 'full')
      this.log.info({ level, block: number }, 'blocks are proven by header, transactions and receipts');
    else
      this.log.warn(
        { level, block: number, reason: fault },
        'blocks cannot be proven in full on this chain; the strongest check that holds is used',
      );
  }

  private checkTrusted({ number, hash }: Pick<Answer['header'], 'number' | 'hash'>): void {
    const { trusted } = this.options;
    if (trusted === null || trusted.number !== number || trusted.hash === hash) return;
    throw new BlockMismatch('proof', number, `hash is ${hash}, TRUSTED_BLOCK says ${trusted.hash}`);
  }
}

function isSure({ blocks, answers }: Weak): boolean {
  return blocks.size >= WEAK_MIN || answers >= WEAK_MIN;
}
