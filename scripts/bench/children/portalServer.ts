/**
 * `node portalServer.js '{"rpcUrl":…,"head":…,"blocksMax":…}'`: runs the stand-in of an SQD portal in its own process. A
 * repeated query gets the bytes of its first answer.
 */
import { startPortal } from '../../../test/support/node/blockServices';

async function main(): Promise<void> {
  const options = JSON.parse(process.argv[2] ?? '{}') as { rpcUrl: string; head: number; blocksMax: number };
  const portal = await startPortal({ ...options, keepsAnswers: true });
  process.stdout.write(`${portal.url}\n`);
  process.stdin.on('end', () => process.exit(0)).resume();
}

void main();
