/**
 * Shows the progress of a long statement. On a terminal, one line is updated; elsewhere, a new line is
 * printed at intervals.
 */
import type { BackupProgress } from '../../clickhouse/engine/backup';
import { showBytes } from '../attach';

interface LineProgress {
  show(progress: BackupProgress): void;
  end(): void;
}

const EVERY_MS = 5_000;

/** `total` is the expected number of bytes, or null if unknown. Without a terminal, a line is printed every
 * five seconds. */
export function lineProgress(verb: string, total: number | null): LineProgress {
  const terminal = process.stderr;
  let shownAtMs = performance.now();
  const isTerminal = terminal.isTTY;
  return {
    show({ files, bytes }) {
      const nowMs = performance.now();
      if (!isTerminal && nowMs - shownAtMs < EVERY_MS) return;
      shownAtMs = nowMs;
      const percent =
        total === null || total === 0 ? '' : ` (${Math.min(100, Math.floor((100 * bytes) / total))} %)`;
      terminal.write(
        `${isTerminal ? '\r' : ''}${verb} ${files} files, ${showBytes(bytes)}${percent}${isTerminal ? '   ' : '\n'}`,
      );
    },
    end() {
      if (isTerminal) terminal.write('\n');
    },
  };
}
