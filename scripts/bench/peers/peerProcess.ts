/**
 * Runs another indexer as a child process, keeps its output for errors, and ends it with the benchmark at the latest.
 */
import { spawn, type SpawnOptions } from 'node:child_process';

export interface PeerProcess {
  readonly pid: number;
  /** Waits for a line with this text. Throws if the process ends before the line, or if the line does not
   * come within an hour. */
  untilSaid(text: string): Promise<void>;
  /** Waits for the end and returns the output. Throws with the last output if the exit code is not 0. */
  untilDone(): Promise<string>;
  /** Stops the process; kills it after 10 s. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const OUTPUT_MAX = 100_000;
const PATIENCE_MS = 3_600_000;
const KILL_MS = 10_000;

export function startPeer(command: string, args: readonly string[], options: SpawnOptions): PeerProcess {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  let output = '';
  let listener: (() => void) | null = null;
  const take = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-OUTPUT_MAX);
    listener?.();
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  const exit = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      output += error.message;
      resolve();
    });
    child.once('close', () => resolve());
  }).finally(() => process.removeListener('exit', kill));
  const failure = (problem: string): Error => new Error(`${problem}:\n${output.slice(-4_000)}`);
  return {
    pid: child.pid ?? 0,
    async untilSaid(text) {
      const printed = new Promise<void>((resolve) => {
        listener = () => void (output.includes(text) && resolve());
        listener();
      });
      const timer = setTimeout(() => child.kill(), PATIENCE_MS);
      await Promise.race([printed, exit]);
      clearTimeout(timer);
      listener = null;
      if (!output.includes(text)) throw failure(`${command} ended without the output "${text}"`);
    },
    async untilDone() {
      await exit;
      if (child.exitCode !== 0)
        throw failure(`${command} ended with exit code or signal ${child.exitCode ?? child.signalCode}`);
      return output;
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const timer = setTimeout(kill, KILL_MS);
      await exit;
      clearTimeout(timer);
    },
  };
}
