/** Finds out whether a block of the chain is final. Asks the node only if the last final block that the node named is lower. */
import type { BlockSource } from '../../node/blocks/blockSource';
import type { Finality } from '../../node/head/finality';

export class FinalTip {
  private number = -1;

  constructor(
    private readonly source: BlockSource,
    private readonly finality: Finality,
  ) {}

  /** @throws AppError `node_failed` */
  async reaches(block: number, signal: AbortSignal): Promise<boolean> {
    if (block <= this.number) return true;
    const head = await this.source.fetchHeader('latest', { signal });
    this.number = (await this.finality.finalAt(head, signal)).number;
    return block <= this.number;
  }
}
