/** The chain as the simulated nodes see it: when each block appeared, and which block was the head at each time. */
import type { ChainBlock } from '../../../src/domain/block';
import type { Hex } from '../../../src/domain/hex';
import type { VirtualClock } from '../virtualClock';
import type { SimChain } from '../chain/simChain';

/** The quirks of nodes and chains that a report counts. */
export const QUIRKS = [
  'logs without a transaction',
  'finalized tags that stand still',
  'lost logs under the same hash',
  'batches with HTTP 429',
  'wrong ids',
  'ids as text',
  'failures of single calls',
] as const;
export type Quirk = (typeof QUIRKS)[number];

interface HeadChange {
  /** Virtual time in ms. */
  readonly at: number;
  readonly tip: Hex;
}

export class SimWorld {
  private readonly changes: HeadChange[] = [];
  private readonly branches = new Map<Hex, readonly ChainBlock[]>();
  /** The highest block that was ever the head. */
  private highestHead = 0;
  /** The final block at the beginning. */
  readonly firstFinal: number;
  /** How often each quirk of a node changed an answer. */
  readonly quirksSeen = new Map<Quirk, number>();

  constructor(
    readonly chain: SimChain,
    readonly clock: VirtualClock,
    /** Maximum depth of a reorg, counted from the highest head. */
    readonly depth: number,
  ) {
    this.noteHead();
    this.firstFinal = this.finalNumber;
  }

  noteQuirk(name: Quirk): void {
    this.quirksSeen.set(name, (this.quirksSeen.get(name) ?? 0) + 1);
  }

  /** Records the head and the present time. To be called after every change of the chain. */
  noteHead(): void {
    this.highestHead = Math.max(this.highestHead, this.chain.head.number);
    this.changes.push({ at: this.clock.now(), tip: this.chain.head.hash });
  }

  /** The last block that no reorg can remove any more. */
  get finalNumber(): number {
    return Math.max(0, this.highestHead - this.depth);
  }

  get head(): Hex {
    return this.chain.head.hash;
  }

  /** The head at that time. */
  headAt(time: number): Hex {
    for (let index = this.changes.length - 1; index >= 0; index -= 1) {
      const headChange = this.changes[index]!;
      if (headChange.at <= time) return headChange.tip;
    }
    return this.changes[0]!.tip;
  }

  /** The branch that ends with this block, starting with block 0. */
  branch(tip: Hex): readonly ChainBlock[] {
    if (tip === this.chain.head.hash) return this.chain.canonicalView();
    const knownBranch = this.branches.get(tip);
    if (knownBranch !== undefined) return knownBranch;
    const blocks: ChainBlock[] = [];
    for (let block = this.chain.block(tip); block !== undefined; block = this.chain.block(block.parentHash)) {
      blocks.push(block);
    }
    blocks.reverse();
    this.branches.set(tip, blocks);
    return blocks;
  }
}
