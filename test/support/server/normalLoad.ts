/**
 * Requests paths in turn from a separate thread. The thread of an attack is busy with its own attack, and would
 * delay the requests of a normal client.
 */
import { Worker } from 'node:worker_threads';

/** The script is plain JavaScript, because the thread has no TypeScript compiler. */
const CLIENT = `
const { get } = require('node:http');
const { parentPort, workerData: { url, paths, clients, pauseMs } } = require('node:worker_threads');
const counts = {};
let stopped = false;
parentPort.once('message', () => (stopped = true));
const ask = (path) => new Promise((resolve) => {
  get(url + path, { agent: false }, (answer) => {
    answer.resume();
    answer.once('end', () => resolve(answer.statusCode));
    answer.once('error', (error) => resolve(error.code));
  }).once('error', (error) => resolve(error.code));
});
const run = async (client) => {
  for (let turn = client; !stopped; turn += 1) {
    const path = paths[turn % paths.length];
    const status = await ask(path);
    const key = status === 200 ? '200' : status + ' ' + path;
    counts[key] = (counts[key] ?? 0) + 1;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
};
Promise.all(Array.from({ length: clients }, (_, client) => run(client))).then(() => parentPort.postMessage(counts));
`;

/** Number of answers by status. Every status except 200 has its path behind it, such as `503 /api/v1/pairs`. */
type StatusCounts = Readonly<Record<string, number>>;

export function startNormalLoad(
  url: string,
  paths: readonly string[],
  { clients = 2, pauseMs = 100 } = {},
): { stop(): Promise<StatusCounts> } {
  const worker = new Worker(CLIENT, { eval: true, workerData: { url, paths, clients, pauseMs } });
  const counts = new Promise<StatusCounts>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return {
    async stop() {
      worker.postMessage('stop');
      const answer = await counts;
      await worker.terminate();
      return answer;
    },
  };
}
