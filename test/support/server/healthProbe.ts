/**
 * Polls /healthz from a separate thread and measures memory and main-thread time of the answering process.
 * Main-thread time during a wait shows how long the process itself delayed the answer. Other work of the
 * machine caused the remaining wait.
 */
import { Worker } from 'node:worker_threads';

interface HealthFigures {
  /** Latency of each answer in ms, ascending. */
  readonly times: readonly number[];
  /** Processor time of the main thread during each wait in ms, ascending. */
  readonly busy: readonly number[];
  readonly failures: number;
  /** The largest resident set size in bytes. */
  readonly rssMax: number;
}

/** The script is plain JavaScript, because the thread has no TypeScript compiler. */
const PROBE = `
const { readFileSync } = require('node:fs');
const { Agent, get } = require('node:http');
const { parentPort, workerData: { url, pid, everyMs } } = require('node:worker_threads');
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const figures = { times: [], busy: [], failures: 0, rssMax: 0 };
let stopped = false;
parentPort.once('message', () => (stopped = true));
const ask = () => new Promise((resolve) => {
  const startedAt = performance.now();
  const computedBefore = computedMs();
  const done = (isFine) => {
    if (isFine) {
      figures.times.push(performance.now() - startedAt);
      figures.busy.push(computedMs() - computedBefore);
    } else figures.failures += 1;
    resolve();
  };
  get(url, { agent }, (answer) => {
    answer.resume();
    answer.once('end', () => done(answer.statusCode === 200));
    answer.once('error', () => done(false));
  }).once('error', () => done(false));
});
const thread = '/proc/' + pid + '/task/' + pid + '/schedstat';
const computedMs = () => Number(readFileSync(thread, 'utf8').split(' ')[0]) / 1e6;
const resident = () => {
  const [, kibibytes] = /^VmRSS:\\s+(\\d+) kB/m.exec(readFileSync('/proc/' + pid + '/status', 'utf8')) ?? [];
  return Number(kibibytes ?? 0) * 1024;
};
(async () => {
  while (!stopped) {
    await ask();
    figures.rssMax = Math.max(figures.rssMax, resident());
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  agent.destroy();
  for (const list of [figures.times, figures.busy]) list.sort((a, b) => a - b);
  parentPort.postMessage(figures);
})();
`;

/** `pid` is the process that listens at `url`. Linux only. */
export function startHealthProbe(url: string, pid: number, everyMs = 10): { stop(): Promise<HealthFigures> } {
  const worker = new Worker(PROBE, { eval: true, workerData: { url: `${url}/healthz`, pid, everyMs } });
  const figures = new Promise<HealthFigures>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return {
    async stop() {
      worker.postMessage('stop');
      const answer = await figures;
      await worker.terminate();
      return answer;
    },
  };
}

/** The quantile of ascending times, for a share between 0 and 1. */
export function quantile(times: readonly number[], share: number): number {
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Infinity;
}
