/** Shows the progress of a backfill or rebuild: a bar on a terminal, otherwise a log line every few seconds. */
import type { Logger } from '../../log';
import type { RebuildProgress } from '../repair/viewRebuild';

const LINE_EVERY_MS = 5_000;
const BAR_EVERY_MS = 200;
const BAR_CELLS = 24;

interface Progress {
  /** `doneBlocks` is the number of the last stored block; `logs` is the number of logs stored in this step. */
  step(doneBlocks: number, logs: number): void;
  end(): void;
}

interface ProgressOptions {
  readonly from: number;
  readonly to: number;
  readonly log: Logger;
  readonly now: () => number;
  /** Terminal for the progress bar. Without a terminal (or if it is no TTY), progress goes to the log. */
  readonly terminal?: { readonly isTTY?: boolean; write(text: string): unknown } | undefined;
}

export function startProgress({ from, to, log, now, terminal }: ProgressOptions): Progress {
  const startedAt = now();
  let shownAt = startedAt;
  let logs = 0;
  let lastBlock = from - 1;
  const onTerminal = terminal?.isTTY === true;
  const facts = () => {
    const seconds = Math.max((now() - startedAt) / 1000, 0.001);
    const blocks = lastBlock - from + 1;
    const rate = blocks / seconds;
    return {
      percent: to < from ? 100 : Math.floor((blocks / (to - from + 1)) * 1000) / 10,
      blocksPerSecond: Math.round(rate),
      logsPerSecond: Math.round(logs / seconds),
      etaSeconds: rate > 0 ? Math.round((to - lastBlock) / rate) : null,
    };
  };
  const draw = (): void => {
    const { percent, blocksPerSecond, logsPerSecond, etaSeconds } = facts();
    const filled = Math.round((percent / 100) * BAR_CELLS);
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_CELLS - filled);
    const eta = etaSeconds === null ? '' : ` · ETA ${etaSeconds} s`;
    const rates = `${blocksPerSecond} blocks/s · ${logsPerSecond} logs/s`;
    terminal?.write(`\r\x1b[2Kbackfill ${bar} ${percent} % · block ${lastBlock} of ${to} · ${rates}${eta}`);
  };
  return {
    step(doneBlocks, logCount) {
      lastBlock = doneBlocks;
      logs += logCount;
      if (now() - shownAt < (onTerminal ? BAR_EVERY_MS : LINE_EVERY_MS)) return;
      shownAt = now();
      if (onTerminal) draw();
      else log.info({ block: lastBlock, to, ...facts() }, 'backfill progress');
    },
    end() {
      if (onTerminal) terminal?.write('\r\x1b[2K');
      const { blocksPerSecond, logsPerSecond } = facts();
      const seconds = Math.round((now() - startedAt) / 100) / 10;
      log.info({ from, to: lastBlock, logs, seconds, blocksPerSecond, logsPerSecond }, 'backfill done');
    },
  };
}

/** Logs the progress of a view rebuild every few seconds. */
export function logRebuild(log: Logger, now: () => number): (progress: RebuildProgress) => void {
  let shownAt = now();
  return ({ target, rows, rowTotal }) => {
    if (now() - shownAt < LINE_EVERY_MS) return;
    shownAt = now();
    const percent = rowTotal === 0 ? 100 : Math.floor((rows / rowTotal) * 1000) / 10;
    log.info({ target, rows, of: rowTotal, percent }, 'rebuilding an aggregate');
  };
}
