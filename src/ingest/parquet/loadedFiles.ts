/**
 * Loads a Parquet file into the staging database when one of its blocks is needed, one file at a time. Drops a file when all
 * blocks in use are above it, so the number of staged rows does not grow with the number of files.
 */
import type { FilePlan, ParquetFile } from './filePlan';
import type { Staging } from './staging';

export class LoadedFiles {
  private readonly loads = new Map<ParquetFile, Promise<void>>();
  /** First blocks of the ranges in use. */
  private readonly activeRanges = new Set<{ readonly from: number }>();
  private lastWork: Promise<void> = Promise.resolve();

  constructor(
    private readonly staging: Pick<Staging, 'load' | 'release'>,
    private readonly plan: FilePlan,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Loads the files, begins to load the next ones up to block `lastBlock` in the background, and runs `read`. The files stay
   * loaded until `read` ends.
   */
  async use<T>(
    files: readonly ParquetFile[],
    { from, to }: { readonly from: number; readonly to: number },
    lastBlock: number,
    read: () => Promise<T>,
  ): Promise<T> {
    const range = { from };
    this.activeRanges.add(range);
    try {
      await Promise.all(files.map((file) => this.ensureLoaded(file)));
      for (const file of this.plan.filesAfter(to))
        if (file.from <= lastBlock) this.ensureLoaded(file).catch(() => undefined);
      return await read();
    } finally {
      this.activeRanges.delete(range);
      this.dropBelow(Math.min(to + 1, ...[...this.activeRanges].map((activeRange) => activeRange.from)));
    }
  }

  /** Resolves when no file is being loaded or dropped. */
  idle(): Promise<void> {
    return this.lastWork;
  }

  private ensureLoaded(file: ParquetFile): Promise<void> {
    const loading = this.loads.get(file);
    if (loading !== undefined) return loading;
    const load = this.queue(() => this.staging.load(file, this.signal));
    this.loads.set(file, load);
    // A failed load is repeated when the file is needed again.
    load.catch(() => this.loads.delete(file));
    return load;
  }

  private dropBelow(block: number): void {
    for (const file of this.loads.keys()) {
      if (file.to >= block) continue;
      this.loads.delete(file);
      this.queue(() => this.staging.release(file)).catch(() => undefined);
    }
  }

  private queue(work: () => Promise<void>): Promise<void> {
    const working = this.lastWork.then(() => {
      this.signal.throwIfAborted();
      return work();
    });
    this.lastWork = working.catch(() => undefined);
    return working;
  }
}
