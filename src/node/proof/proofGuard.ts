/**
 * Decides which proof a block needs. With `auto`, learns from the first blocks how much can be proven on the
 * chain. If a proof fails on one endpoint and holds on another, the first endpoint is wrong. If the proof fails
 * on all endpoints, the chain does not allow it.
 */
import type { Hex } from '../../domain/hex';
import type { ProofLevel, ProofMode, ProofOptions } from '../../domain/block';
import type { Logger } from '../../log';
import { BlockMismatch } from '../blocks/blockMismatch';
import { RpcError } from '../rpc/rpcError';
import { BlockProver, type BlockProof, type RawBlock } from './blockProof';

/** The parts of an endpoint's block that the guard reads. */
interface Answer {
  readonly header: { readonly number: number; readonly hash: Hex; readonly transactionCount: number };
  readonly raw: RawBlock;
}

/** Proofs of the blocks of one endpoint so far. `level` is the strongest proof among them. */
interface Weak {
  /** Numbers of the blocks that were not proven in full. */
  readonly blocks: Set<number>;
  /**
   * Number of answers from the endpoint. A session may begin with requests for one single block, so the answers
   * are counted too, and not only the blocks.
   */
  answers: number;
  level: ProofLevel;
  fault: string | null;
}

const RANK: Record<ProofLevel, number> = { bloom: 0, headers: 1, full: 2 };
/**
 * Used while `auto` learns how much can be proven on the chain. A weaker level than `full` is chosen only after
 * each endpoint has sent this many blocks without a full proof, or this many answers.
 */
const WEAK_MIN = 3;
/** Number of further blocks that an endpoint is asked for, if its answer has fewer than WEAK_MIN blocks. */
const OTHERS = 8;

export class ProofGuard {
  private readonly options: ProofOptions;
  private readonly countAnswering: () => number;
  private readonly log: Logger;
  private readonly prover: Promise<BlockProver>;
  /** The level that every block must reach; null while `auto` learns it. */
  private required: ProofLevel | null;
  private readonly weak = new Map<number, Weak>();

  /**
   * `countAnswering` is the number of endpoints, without the silent ones: several calls to them failed and none
   * succeeded.
   */
  constructor(options: ProofOptions, countAnswering: () => number, log: Logger) {
    this.options = options;
    this.countAnswering = countAnswering;
    this.log = log;
    this.required = options.mode === 'auto' ? null : options.mode;
    this.prover = BlockProver.create();
  }

  get mode(): ProofMode {
    return this.options.mode;
  }

  /** Whether the proof needs transactions with all fields instead of only their hashes. */
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
   * Returns the level that the block reaches. `proven` is the result of `prove`, if it is known already.
   * @throws BlockMismatch `proof` if the block does not reach the level of the chain. @throws RpcError `unknown_block` if the level of the chain is not known and the block is not proven in full
   */
  check(prover: BlockProver, { header, raw }: Answer, proven: BlockProof | null): ProofLevel {
    if (this.required === 'bloom' || this.required === 'headers') {
      this.checkHeader(prover, raw.header, header);
      return this.required;
    }
    this.checkTrusted(header);
    const { level, fault } = proven ?? prover.prove(raw);
    if (level === 'full') return level;
    // It is not known yet whether this endpoint is wrong or the chain allows no full proof, so the endpoint is
    // not benched.
    if (this.required === null)
      throw new RpcError('unknown_block', `block ${header.number} cannot be proven yet: ${fault}`);
    throw new BlockMismatch('proof', header.number, fault ?? 'the block is not proven');
  }

  /**
   * Numbers of further blocks to fetch from an endpoint while the level of the chain is not known. Empty if the
   * answer has at least WEAK_MIN blocks, or if all its blocks are proven in full. With more blocks, one wrong
   * block cannot lower the level.
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

  /**
   * While the level of the chain is not known: learns it from the blocks of one endpoint. One block with
   * transactions that is proven in full is enough for the level `full`.
   */
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
      // A proven block without transactions shows only that headers can be recomputed on this chain.
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
