/** Compares the bloom of a block's logs with the header's bloom. */
import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import type { Logger } from '../../log';
import { BLOOM_BYTES, BloomBuilder, bloomToHex, isEmptyBloom } from './bloom';
import { BlockMismatch } from './blockMismatch';
import type { BlockHeader } from './parseBlock';

export class BloomCheck {
  private unfilledSeen = false;

  private constructor(
    private readonly builder: BloomBuilder,
    private readonly log: Logger,
  ) {}

  static async create(log: Logger): Promise<BloomCheck> {
    return new BloomCheck(await BloomBuilder.create(), log);
  }

  /**
   * Returns whether the bloom says which logs the block has. Some chains leave blooms empty; if a header's bloom is empty
   * although there are logs, warns once. @throws BlockMismatch `bloom` if a log is missing, added or changed
   */
  check({ number, logsBloom }: BlockHeader, logs: readonly ChainLog[]): boolean {
    if (logsBloom === null || isEmptyBloom(logsBloom)) {
      if (logs.length > 0) this.warnUnfilled(number);
      return !this.unfilledSeen;
    }
    if (this.bloomOf(logs) === logsBloom) return true;
    const what = `the ${8 * BLOOM_BYTES}-bit bloom of the ${logs.length} logs differs from the header's`;
    throw new BlockMismatch('bloom', number, what);
  }

  /** Whether the header has exactly the bloom of these logs. */
  isBloomOf({ logsBloom }: BlockHeader, logs: readonly ChainLog[]): boolean {
    return logsBloom === this.bloomOf(logs);
  }

  bloomOf(logs: readonly ChainLog[]): Hex {
    return bloomToHex(this.builder.build(logs));
  }

  private warnUnfilled(block: number): void {
    if (this.unfilledSeen) return;
    this.unfilledSeen = true;
    this.log.warn(
      { block },
      'block headers have empty blooms; missing logs at the end of a block cannot be detected',
    );
  }
}
