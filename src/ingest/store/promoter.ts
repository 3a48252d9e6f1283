/**
 * Moves final blocks out of the head while newer ones are followed: a range takes as long as several blocks. One range at a
 * time; what ended is taken up by whoever asked for it, when nothing else is half done.
 */
import type { Cursor, OpenIntent, Store } from './store';

export interface Promoted {
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
    /** Heights that stay in the head tables below what was promoted. */
    private readonly keptBlocks: number,
    /** Told of each end, good or bad. */
    private readonly onEnd: () => void,
  ) {}

  get isRunning(): boolean {
    return this.running !== null;
  }

  /** Whether a range was begun whose end was not taken yet. */
  get isBusy(): boolean {
    return this.running !== null || this.done !== null || this.failure !== null;
  }

  /** Only when not busy. */
  begin(intent: OpenIntent, commits: readonly number[]): void {
    this.running = this.promote(intent, commits);
  }

  /** The range that has ended since the last call, if one has. Throws what it failed with: the intent is open then. */
  take(): Promoted | null {
    const { done, failure } = this;
    this.done = null;
    this.failure = null;
    if (failure !== null) throw failure.error;
    return done;
  }

  /** Resolves when nothing is under way; never rejects. */
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

  /** Now and then: there is little to drop each time. */
  private async dropHeadBelow(block: number): Promise<void> {
    if (block - this.droppedBelow <= this.keptBlocks / 4) return;
    await this.store.dropHeadBelow(block);
    this.droppedBelow = block;
  }
}
