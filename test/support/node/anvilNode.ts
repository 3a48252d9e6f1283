/**
 * Starts a real Anvil node on a free port for tests, with a fixed time and no automatic mining. Its spill files are in
 * a temporary folder.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface AnvilNode {
  readonly port: number;
  /** Sends one JSON-RPC call. Throws the node's error. */
  call(method: string, ...params: unknown[]): Promise<unknown>;
  stop(): Promise<void>;
}

const FLAGS =
  '--host 127.0.0.1 --port 0 --chain-id 369 --hardfork shanghai --prune-history 300 --timestamp 1700000000 --no-mining';
const START_TIMEOUT_MS = 20_000;

export async function startAnvil(): Promise<AnvilNode> {
  const folder = await mkdtemp(join(tmpdir(), 'candlehouse-anvil-'));
  const platform = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const binary = join(dirname(require.resolve(`${platform}/package.json`)), 'bin', 'anvil');
  const child = spawn(binary, [...FLAGS.split(' '), '--cache-path', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const port = await new Promise<number>((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(new Error(`anvil did not start: ${output}`)), START_TIMEOUT_MS);
    child.once('error', reject);
    child.stdout.on('data', (chunk: Buffer) => {
      output += String(chunk);
      const found = /Listening on [^:]+:(\d+)/.exec(output);
      if (found === null) return;
      clearTimeout(timer);
      resolve(Number(found[1]));
    });
  }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const call = async (method: string, ...params: unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body });
    const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  };
  return { port, call, stop };
}
