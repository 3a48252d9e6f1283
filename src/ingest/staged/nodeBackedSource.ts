/**
 * A block source that has some blocks from elsewhere, and asks the node for all other blocks and for everything else.
 */
import type { BlockHeader, BlockSource } from '../../node/blocks/blockSource';
import type { BlockRef, ChainBlock, ProofLevel } from '../../domain/block';
import type { Hex } from '../../domain/hex';

type RangeOptions = Parameters<BlockSource['fetchRange']>[2] & object;

export interface RangeBounds {
  /** Time of the block before, unix seconds. */
  readonly notBefore: number;
  /** Hash of the block before, if it is known. */
  readonly parent: Hex | undefined;
}

export abstract class NodeBackedSource<
  Part extends { readonly from: number; readonly to: number },
> implements BlockSource {
  /** Number of blocks that were read from elsewhere, and from the node. */
  protected readonly readCounts = { elsewhere: 0, node: 0 };

  constructor(protected readonly node: BlockSource) {}

  /** Cuts a range into parts, ascending. */
  protected abstract cut(from: number, to: number): readonly Part[];

  /** The blocks of a part. Null leaves the part to the node. */
  protected abstract readPart(
    part: Part,
    bounds: RangeBounds,
    signal: AbortSignal | undefined,
  ): Promise<readonly ChainBlock[] | null>;

  fetchHeader(...args: Parameters<BlockSource['fetchHeader']>): Promise<BlockHeader> {
    return this.node.fetchHeader(...args);
  }

  fetchHeaders(...args: Parameters<BlockSource['fetchHeaders']>): Promise<BlockHeader[]> {
    return this.node.fetchHeaders(...args);
  }

  confirmCanonical(...args: Parameters<BlockSource['confirmCanonical']>): Promise<boolean> {
    return this.node.confirmCanonical(...args);
  }

  checkSenders(...args: Parameters<BlockSource['checkSenders']>): Promise<void> {
    return this.node.checkSenders(...args);
  }

  async expectLevel(level: ProofLevel): Promise<void> {
    await this.node.expectLevel?.(level);
  }

  async fetchRange(from: number, to: number, range: RangeOptions = {}): Promise<ChainBlock[]> {
    const blocks: ChainBlock[] = [];
    for (const part of this.cut(from, to)) {
      const lastBlock: BlockRef | undefined = blocks.at(-1);
      const notBefore = lastBlock?.timestamp ?? range.notBefore ?? 0;
      const parent = lastBlock?.hash ?? range.parent;
      const foundBlocks = await this.readPart(part, { notBefore, parent }, range.signal);
      const parentOption = parent === undefined ? {} : { parent };
      const fetch = (): Promise<ChainBlock[]> =>
        this.node
          .fetchRange(part.from, part.to, { ...range, notBefore, ...parentOption })
          .catch((error: unknown) => {
            if (range.partial !== true || blocks.length === 0) throw error;
            return [];
          });
      const piece = foundBlocks ?? (await fetch());
      blocks.push(...piece);
      this.readCounts[foundBlocks === null ? 'node' : 'elsewhere'] += piece.length;
      // The node has sent only the first blocks of the part, so the range ends there.
      if (piece.length <= part.to - part.from) break;
    }
    return blocks;
  }
}
