/**
 * `node flakyServer.js '{"url":…,"share":…,"latencyMs":…}'`: runs a proxy in front of a node in its own process. A
 * share of the calls fails.
 */
import { startFlakyProxy } from '../../../test/support/node/flakyProxy';
import { seededRandom } from '../../../test/support/random';

async function main(): Promise<void> {
  const options = JSON.parse(process.argv[2] ?? '{}') as { url: string; share: number; latencyMs?: number };
  const proxy = await startFlakyProxy({ ...options, random: seededRandom(5) });
  process.stdout.write(`${proxy.url}\n`);
  process.stdin.on('end', () => process.exit(0)).resume();
}

void main();
