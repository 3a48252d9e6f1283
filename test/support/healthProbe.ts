/** Asks /healthz all the time from a thread of its own, and watches the memory of the process that answers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface HealthFigures {
  /** How long each answer took, ms, ascending. */
  readonly times: readonly number[];
  readonly failures: number;
  /** The largest resident set seen, bytes. */
  readonly rssMax: number;
}

/** Plain JavaScript: the thread knows no compiler. */
const PROBE = `
const { readFileSync } = require('node:fs');
const { Agent, get } = require('node:http');
const { parentPort, workerData: { url, pid, everyMs } } = require('node:worker_threads');
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const figures = { times: [], failures: 0, rssMax: 0 };
let stopped = false;
parentPort.once('message', () => (stopped = true));
const ask = () => new Promise((resolve) => {
  const began = performance.now();
  const done = (isFine) => {
    if (isFine) figures.times.push(performance.now() - began);
    else figures.failures += 1;
    resolve();
  };
  get(url, { agent }, (answer) => {
    answer.resume();
    answer.once('end', () => done(answer.statusCode === 200));
    answer.once('error', () => done(false));
  }).once('error', () => done(false));
});
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
  figures.times.sort((a, b) => a - b);
  parentPort.postMessage(figures);
})();
`;

/** `pid`: of the process that listens at `url`. Linux only. */
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

/** An idle server in a process of its own: how long its answers take is the machine's doing. */
export async function startIdleServer(): Promise<{ url: string; pid: number; stop(): void }> {
  const code = `require('node:http').createServer((_, answer) => answer.end('ok')).listen(0, '127.0.0.1', function () {
    process.stdout.write(String(this.address().port));
  });
  process.stdin.on('end', () => process.exit(0)).resume();`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: `http://127.0.0.1:${port.toString()}`,
    pid: child.pid ?? 0,
    stop: () => void child.stdin.end(),
  };
}

/** The time within which this share of the answers came, ms. */
export function quantile({ times }: HealthFigures, share: number): number {
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Infinity;
}
