/**
 * Remembers what the head tables contain above the last final block: canonical blocks by height, commits, and
 * row counts. Computes the flip that makes a new branch canonical: one insert that changes the head.
 */
import { applyMove, type HeadBlock } from '../../domain/head/foldHead';
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import { countRows, sumCounts, type BlockRows } from '../rows/blockRows';
import type { HeadRows, OpenIntent, StoredFlip, StoredState } from './store';

/** A flip before it has a version. */
type NextFlip = Omit<StoredFlip, 'version' | 'finalNumber'>;

export class HeadBook {
  /** Canonical blocks by block number. */
  private readonly canonicalByNumber = new Map<number, HeadBlock>();
  /** Stored rows by block hash. */
  private readonly commits: Map<Hex, HeadRows>;
  /** Number of rows by table, by block hash. */
  private readonly counts = new Map<Hex, Record<string, number>>();
  /** Largest number of a canonical block above a missing block; 0 if there is no such block. */
  private strayTo: number;
  /** Largest number of a block whose rows were ever stored, canonical or not. */
  private storedTo: number;

  constructor(stored: StoredState) {
    this.commits = new Map(stored.commits);
    for (const block of stored.head) this.canonicalByNumber.set(block.number, block);
    this.storedTo = stored.storedTo;
    this.strayTo = stored.headMax > (stored.head.at(-1) ?? stored.cursor).number ? stored.headMax : 0;
  }

  get size(): number {
    return this.canonicalByNumber.size;
  }

  /** Largest number of a canonical block; -Infinity if no block is known. */
  get top(): number {
    let top = -Infinity;
    for (const number of this.canonicalByNumber.keys()) if (number > top) top = number;
    return top;
  }

  /**
   * The first number of which no block was ever stored. A block below may come back with the rows that were stored for it.
   */
  get firstUnstored(): number {
    return this.storedTo + 1;
  }

  /**
   * Returns the change that makes these blocks canonical and ends the head at number `tip`. Null if nothing
   * changes. `replaces` means that a reorg removes blocks.
   */
  changeTo(
    branch: readonly BlockRows[],
    tip: number,
    replaces: boolean,
    newCommit: () => number,
  ): NextFlip | null {
    for (const rows of branch) this.counts.set(rows.ref.hash, countRows([rows]));
    const firstChanged = branch.findIndex(
      (rows) => this.canonicalByNumber.get(rows.ref.number)?.hash !== rows.ref.hash,
    );
    if (firstChanged === -1 && !replaces) return null;
    const blocks = firstChanged === -1 ? [] : branch.slice(firstChanged);
    const newBlocks = blocks
      .filter((rows) => !this.commits.has(rows.ref.hash))
      .map((rows) => ({ rows, commit: newCommit() }));
    const newCommitByHash = new Map(newBlocks.map(({ rows, commit }) => [rows.ref.hash, commit]));
    // The rows of a stored block stay as they are, and so does their level of proof, whatever the new read has proven.
    const rowsOf = ({ ref, proof }: BlockRows): HeadRows =>
      this.commits.get(ref.hash) ?? { commit: newCommitByHash.get(ref.hash) ?? 0, proof };
    const canonical = blocks.map((rows) => ({ ...rows.ref, ...rowsOf(rows) }));
    const voided = this.heightsAbove(tip);
    return canonical.length === 0 && voided.length === 0 ? null : { fresh: newBlocks, canonical, voided };
  }

  /**
   * Returns a change that gives the head a new version and changes nothing else. Null if the block is not in
   * the head.
   */
  again(number: number): NextFlip | null {
    const block = this.canonicalByNumber.get(number);
    return block === undefined ? null : { fresh: [], canonical: [block], voided: [] };
  }

  /** Records a change. Must be called after the change is stored. */
  note(flip: NextFlip): void {
    applyMove(this.canonicalByNumber, flip);
    for (const block of flip.canonical) {
      this.commits.set(block.hash, block);
      this.storedTo = Math.max(this.storedTo, block.number);
    }
    this.strayTo = 0;
  }

  private heightsAbove(tip: number): number[] {
    const top = Math.max(this.strayTo, this.top);
    return Array.from({ length: Math.max(0, top - tip) }, (_, index) => tip + 1 + index);
  }

  /**
   * Returns the canonical blocks of a range and their row counts. The range ends before the first block with another
   * level of proof than its first block. Throws broken_invariant if a block is missing.
   */
  range(from: number, to: number): { blocks: HeadBlock[] } & Pick<OpenIntent, 'counts' | 'proof'> {
    const blocks: HeadBlock[] = [];
    for (let number = from; number <= to; number += 1) {
      const block = this.canonicalByNumber.get(number);
      if (block === undefined)
        throw new AppError('broken_invariant', `final block ${number} is missing from the head`);
      if (block.proof !== (blocks[0] ?? block).proof) break;
      blocks.push(block);
    }
    const counts = sumCounts(blocks.map((block) => this.counts.get(block.hash)));
    return { blocks, counts, proof: blocks[0]?.proof ?? 'bloom' };
  }

  /**
   * Drops the canonical blocks up to `number`, because they are final. Drops the commits of abandoned blocks
   * only when more than 4 × `keptBlocks` commits are stored.
   */
  forgetBelow(number: number, keptBlocks: number): void {
    this.storedTo = Math.max(this.storedTo, number);
    for (const height of this.canonicalByNumber.keys())
      if (height <= number) this.canonicalByNumber.delete(height);
    if (this.commits.size <= 4 * keptBlocks) return;
    const hashes = new Set([...this.canonicalByNumber.values()].map((block) => block.hash));
    for (const hash of this.commits.keys()) if (!hashes.has(hash)) this.commits.delete(hash);
    for (const hash of this.counts.keys()) if (!hashes.has(hash)) this.counts.delete(hash);
  }
}
