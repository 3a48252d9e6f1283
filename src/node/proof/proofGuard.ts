/**
 * Decides which proof a block needs. With `auto`, learns from the first blocks how much can be proven on the
 * chain. If a proof fails on one endpoint and holds on another, the first endpoint is wrong. If the proof fails
 * on all endpoints, the chain does not allow it. Later, a single block may be proven less if its format is unknown and
 * all endpoints send the same block.
 */
import { createHash } from 'node:crypto';

import type { Hex } from '../../domain/hex';
import {
  isWeaker,
  weakerOf,
  type ChainLog,
  type ChainTransaction,
  type ProofLevel,
  type ProofMode,
  type ProofOptions,
} from '../../domain/block';
import type { Logger } from '../../log';
import { BlockMismatch } from '../blocks/blockMismatch';
import { isEmptyBloom } from '../blocks/bloom';
import { RpcError } from '../rpc/rpcError';
import { BlockProver, type BlockProof, type ProofFault, type RawBlock } from './blockProof';

type Ref = Pick<Answer['header'], 'number' | 'hash'>;

/** The parts of an endpoint's block that the guard reads. */
interface Answer {
  readonly header: {
    readonly number: number;
    readonly hash: Hex;
    readonly transactionCount: number;
    readonly logsBloom: Hex | null;
  };
  readonly transactions: readonly ChainTransaction[];
  readonly logs: readonly ChainLog[];
  readonly raw: RawBlock;
}

/** An endpoint of the endpoint pool that is not silent. */
export interface Answering {
  readonly id: number;
  readonly isBenched: boolean;
}

/** A block that was accepted although it is proven less than the others. */
export interface WeakBlock {
  readonly number: number;
  readonly level: ProofLevel;
  readonly reason: string;
}

/** Proofs of the blocks of one endpoint so far. `level` is the strongest proof among them. */
interface EndpointProofs {
  /** Numbers of the blocks that were not proven in full. */
  readonly blocks: Set<number>;
  /**
   * Number of answers from the endpoint. A session may begin with requests for one single block, so the answers
   * are counted too, and not only the blocks.
   */
  answers: number;
  level: ProofLevel;
  /** Why a block with this level has no stronger one; null as long as no block has a fault. */
  fault: ProofFault | null;
}

/**
 * Used while `auto` learns how much can be proven on the chain. A weaker level than `full` is chosen only after
 * each endpoint has sent this many blocks without a full proof, or this many answers.
 */
const WEAK_MIN = 3;
/** Number of further blocks that an endpoint is asked for, if its answer has fewer than WEAK_MIN blocks. */
const FURTHER_BLOCKS = 8;
/** Below the level `full`, TRIAL_BLOCKS of this many blocks are tried to be proven in full. */
const BLOCKS_PER_TRIAL = 1_024;
const TRIAL_BLOCKS = 32;
/** Number of blocks and headers whose answers are remembered until all endpoints have sent them. */
const VOTES_MAX = 4_096;

interface Vote {
  readonly digest: string;
  /** Number of times that the endpoint has sent this. */
  readonly times: number;
}

const NO_BLOOM: ProofFault = { text: 'the bloom of the header is empty', isUnknown: true };

interface GuardOptions {
  readonly proof: ProofOptions;
  /** The endpoints, without the silent ones: several calls to them failed and none succeeded. */
  readonly listAnswering: () => readonly Answering[];
  /** Called for each block that is accepted although it is proven less than the others. */
  readonly onWeak: (block: WeakBlock) => void;
  readonly log: Logger;
}

export class ProofGuard {
  private readonly prover: Promise<BlockProver>;
  /** The level that every block must reach; null while `auto` learns it. */
  private required: ProofLevel | null;
  /**
   * Whether a block with a stronger proof raises the level. The level `receipts` stays if all endpoints sent transactions
   * that `full` would call wrong, such as unsigned ones of a development node: their next block would stop the writer.
   */
  private canRise = true;
  /** The level of stored blocks, below which `auto` does not fall. */
  private floor: ProofLevel = 'none';
  private readonly proofsByEndpoint = new Map<number, EndpointProofs>();
  /** What each endpoint sent for a block of an unknown format, by the number of the block and by endpoint. */
  private readonly votes = new Map<string, Map<number, Vote>>();
  /** Number of checked blocks, modulo BLOCKS_PER_TRIAL. */
  private checkedBlocks = 0;

  constructor(private readonly options: GuardOptions) {
    const { mode } = options.proof;
    this.required = mode === 'auto' ? null : mode;
    this.prover = BlockProver.create();
  }

  get mode(): ProofMode {
    return this.options.proof.mode;
  }

  /** Whether the proof needs transactions with all fields instead of only their hashes. */
  get needsBodies(): boolean {
    return this.required === null || this.required === 'full' || this.isTrial;
  }

  /** Whether the proof needs the receipts. */
  get needsReceipts(): boolean {
    return this.required === null || !isWeaker(this.required, 'receipts') || this.isTrial;
  }

  /** Whether the next block is a trial of a stronger proof, as TRIAL_BLOCKS of BLOCKS_PER_TRIAL blocks are. */
  private get isTrial(): boolean {
    return this.mode === 'auto' && this.checkedBlocks >= BLOCKS_PER_TRIAL - TRIAL_BLOCKS;
  }

  /** Waits until the hash function is loaded. */
  ready(): Promise<BlockProver> {
    return this.prover;
  }

  /** In mode `auto`, new blocks shall reach the level of the stored ones. */
  expectLevel(level: ProofLevel): void {
    if (isWeaker(this.floor, level)) this.floor = level;
    if (this.required === null && this.floor === 'full') this.required = 'full';
  }

  /**
   * @throws BlockMismatch `proof` if the header does not give its hash, or is not the trusted block. @throws RpcError `unknown_block`
   * if the header has unknown fields, and other endpoints must confirm its hash
   */
  checkHeader(prover: BlockProver, endpoint: number, raw: RawBlock['header'], head: Ref): void {
    this.checkTrusted(head);
    if (this.required === null || isWeaker(this.required, 'headers')) return;
    const fault = prover.headerFault(raw);
    if (fault !== null) this.refuseUnlessAgreed(endpoint, head, fault, `header ${head.number}`, head.hash);
  }

  /**
   * Returns the level of the block. `proven` is the result of `prove`, if it is known already. `isCovered` says whether
   * the bloom or the receipts root contains the logs.
   * @throws BlockMismatch `proof` if the block does not reach the level of the chain. @throws RpcError `unknown_block` if the level of the chain is not known and the block is not proven in full, or if other endpoints must confirm the block
   */
  check(
    prover: BlockProver,
    endpoint: number,
    block: Answer,
    proven: BlockProof | null,
    isCovered: boolean,
  ): ProofLevel {
    const { header, raw } = block;
    this.checkTrusted(header);
    const { level, fault } = proven ?? this.proveAsNeeded(prover, raw);
    const { required } = this;
    // It is not known yet whether this endpoint is wrong or the chain allows no full proof, so the endpoint is
    // not benched.
    if (required === null) {
      if (level === 'full') return level;
      throw new RpcError('unknown_block', `block ${header.number} cannot be proven yet: ${fault?.text}`);
    }
    this.checkedBlocks = (this.checkedBlocks + 1) % BLOCKS_PER_TRIAL;
    const reached = isCovered ? level : 'none';
    // A fixed PROOF accepts chains with empty blooms: their blocks are stored with the level `none`.
    if (!isWeaker(this.mode === 'auto' ? reached : level, required)) {
      if (this.mode === 'auto' && isEvidence(block, reached)) this.rise(reached, header.number);
      return weakerOf(reached, this.required ?? reached);
    }
    const reason = fault ?? NO_BLOOM;
    this.refuseUnlessAgreed(endpoint, header, reason, `block ${header.number}`, digestOf(block));
    this.options.onWeak({ number: header.number, level: reached, reason: reason.text });
    return reached;
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
    const from = number >= FURTHER_BLOCKS ? number - FURTHER_BLOCKS : number + answers.length;
    return Array.from({ length: FURTHER_BLOCKS }, (_, index) => from + index);
  }

  /**
   * While the level of the chain is not known: learns it from the blocks of one endpoint. One block with
   * transactions that is proven in full is enough for the level `full`.
   */
  study(prover: BlockProver, endpoint: number, answers: readonly Answer[]): void {
    if (this.required !== null) return;
    const endpointProofs: EndpointProofs = this.proofsByEndpoint.get(endpoint) ?? {
      blocks: new Set<number>(),
      answers: 0,
      level: 'none',
      fault: null,
    };
    for (const answer of answers) {
      const { header, raw } = answer;
      const { level, fault } = prover.prove(raw);
      const isProven = isEvidence(answer, level);
      if (level === 'full' && isProven) return this.settleLevel('full', null, header.number);
      // A block that is no evidence shows at most its header. Logs that no bloom and no root covers show nothing.
      const isUncovered = answer.logs.length > 0 || isWeaker(level, 'headers');
      const shownLevel = isProven ? level : weakerOf(level, isUncovered ? 'none' : 'headers');
      if (fault !== null && (endpointProofs.fault === null || isWeaker(endpointProofs.level, shownLevel)))
        endpointProofs.fault = fault;
      if (isWeaker(endpointProofs.level, shownLevel)) endpointProofs.level = shownLevel;
      if (level === 'full') continue;
      endpointProofs.blocks.add(header.number);
      this.proofsByEndpoint.set(endpoint, endpointProofs);
    }
    endpointProofs.answers += 1;
    const allProofs = [...this.proofsByEndpoint.values()];
    if (
      allProofs.length < this.options.listAnswering().length ||
      allProofs.some((proofs) => !hasEnoughProofs(proofs))
    )
      return;
    const best = allProofs.reduce((stronger, other) =>
      isWeaker(stronger.level, other.level) ? other : stronger,
    );
    this.settleLevel(best.level, best.fault, Math.min(...best.blocks));
  }

  private proveAsNeeded(prover: BlockProver, raw: RawBlock): Pick<BlockProof, 'level' | 'fault'> {
    if (this.needsReceipts) return prover.prove(raw);
    const fault = this.required === 'headers' ? prover.headerFault(raw.header) : null;
    return { level: this.required === 'headers' && fault === null ? 'headers' : 'bloom', fault };
  }

  /** @throws BlockMismatch, or RpcError `unknown_block` until all endpoints have sent the same */
  private refuseUnlessAgreed(
    endpoint: number,
    { number }: Ref,
    fault: ProofFault,
    key: string,
    digest: string,
  ): void {
    if (this.mode !== 'auto' || !fault.isUnknown) throw new BlockMismatch('proof', number, fault.text);
    if (this.isAgreed(endpoint, key, digest)) return;
    const text = `block ${number} is proven less than others, and not all endpoints have confirmed it`;
    throw new RpcError('unknown_block', `${text}: ${fault.text}`);
  }

  /**
   * Notes what the endpoint sent. Returns whether all endpoints sent the same, or more than half of them and the others
   * have not answered for a while.
   */
  private isAgreed(endpoint: number, key: string, digest: string): boolean {
    const votes = this.votes.get(key) ?? new Map<number, Vote>();
    const lastVote = votes.get(endpoint);
    const times = lastVote?.digest === digest ? lastVote.times + 1 : 1;
    votes.set(endpoint, { digest, times });
    this.votes.set(key, votes);
    for (const oldest of this.votes.keys()) {
      if (this.votes.size <= VOTES_MAX) break;
      this.votes.delete(oldest);
    }
    const voters = this.options.listAnswering().filter(({ id, isBenched }) => id === endpoint || !isBenched);
    const digests = voters.flatMap(({ id }) => votes.get(id)?.digest ?? []);
    const isMajorityEnough = times >= WEAK_MIN && digests.length > voters.length / 2;
    return (
      digests.every((other) => other === digest) && (digests.length === voters.length || isMajorityEnough)
    );
  }

  private settleLevel(level: ProofLevel, fault: ProofFault | null, number: number): void {
    const { log } = this.options;
    this.canRise = fault?.isUnknown !== false || isWeaker(level, 'receipts');
    this.required = isWeaker(level, this.floor) ? this.floor : level;
    if (level === 'full')
      log.info({ level, block: number }, 'blocks are proven by header, transactions and receipts');
    else
      log.warn(
        { level, block: number, reason: fault?.text },
        'blocks cannot be proven in full on this chain; the strongest check that holds is used',
      );
  }

  private rise(level: ProofLevel, number: number): void {
    if (!this.canRise || this.required === null || !isWeaker(this.required, level)) return;
    this.required = level;
    this.options.log.info({ level, block: number }, 'blocks are proven at a stronger level than before');
  }

  private checkTrusted({ number, hash }: Ref): void {
    const { trusted } = this.options.proof;
    if (trusted === null || trusted.number !== number || trusted.hash === hash) return;
    throw new BlockMismatch('proof', number, `hash is ${hash}, TRUSTED_BLOCK says ${trusted.hash}`);
  }
}

/**
 * Whether the block shows that blocks of the chain can be proven at this level. A block without transactions says nothing
 * about roots, and a block without logs, or with an empty bloom, says nothing about blooms.
 */
function isEvidence({ header, logs }: Answer, level: ProofLevel): boolean {
  if (!isWeaker(level, 'receipts')) return header.transactionCount > 0;
  return logs.length > 0 && header.logsBloom !== null && !isEmptyBloom(header.logsBloom);
}

function hasEnoughProofs({ blocks, answers }: EndpointProofs): boolean {
  return blocks.size >= WEAK_MIN || answers >= WEAK_MIN;
}

/** A short text that is the same for equal blocks, whatever other fields an endpoint sends. */
function digestOf({ header: { hash }, transactions, logs }: Answer): string {
  const senders = transactions.map((transaction) => [transaction.hash, transaction.from]);
  return createHash('sha256')
    .update(JSON.stringify([hash, senders, logs]))
    .digest('hex');
}
