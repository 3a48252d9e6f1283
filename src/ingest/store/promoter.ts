/**
 * Promotes final blocks (copies them from the head tables into the final tables) in the background, one range
 * at a time. Copying a range takes longer than a block, so the session follows the head meanwhile. The
 * session takes the result between two heads.
 */
import type { Cursor, OpenIntent, Store } from './store';

interface Promoted {
  readonly intent: OpenIntent;
  readonly cursor: Cursor;
}

export class Promoter {
  private running: Promise<void> | null = null;
  private done: Promoted | null = null;
  private failure: { readonly error: unknown } | null = null;
  private droppedBelow = 0;

  constructor(
    private readonly store: Pick<Store, 'promote' | 'dropHeadBelow'>,
    /** Number of blocks that stay in the head tables below the promoted range. */
    private readonly keptBlocks: number,
    /** Called when a promotion has ended, with success or not. */
    private readonly onEnd: () => void,
  ) {}

  get isRunning(): boolean {
    return this.running !== null;
  }

  /** True from the start of a range until `take` returns its result. */
  get isBusy(): boolean {
    return this.running !== null || this.done !== null || this.failure !== null;
  }

  /** Starts a promotion. Must not be called while another promotion runs. */
  begin(intent: OpenIntent, commits: readonly number[]): void {
    this.running = this.promote(intent, commits);
  }

  /**
   * Returns the promoted range, or null if no promotion has finished since the last call. If a promotion
   * failed, throws its error; its range stays unfinished.
   */
  take(): Promoted | null {
    const { done, failure } = this;
    this.done = null;
    this.failure = null;
    if (failure !== null) throw failure.error;
    return done;
  }

  /** Resolves when no promotion is running. Never rejects. */
  async idle(): Promise<void> {
    await this.running;
  }

  private async promote(intent: OpenIntent, commits: readonly number[]): Promise<void> {
    try {
      const cursor = await this.store.promote(intent, commits, false);
      await this.dropHeadBelow(intent.to - this.keptBlocks);
      this.done = { intent, cursor };
    } catch (error) {
      this.failure = { error };
    }
    this.running = null;
    this.onEnd();
  }

  /** Drops partitions only once in a while, because each call would find only a few. */
  private async dropHeadBelow(block: number): Promise<void> {
    if (block - this.droppedBelow <= this.keptBlocks / 4) return;
    await this.store.dropHeadBelow(block);
    this.droppedBelow = block;
  }
}
