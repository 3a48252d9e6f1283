/** A real node over IPC: backfill, head and reorg give the same rows as over HTTP. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { DevTransaction } from '../../../src/dev/node/blockMaker';
import { deployTestWorld, startTestAnvil, type TestAnvil, type TestWorld } from '../../support/node/anvil';
import {
  createProgramHome,
  type ProgramHome,
  type RunningProgram,
} from '../../support/server/runningProgram';
import { contentHash, engineContent, readTip } from '../../simulation/compare/storedContent';

const SETTINGS = { FINALITY_DEPTH: '5', CHAIN_CONFIG: '', START_BLOCK: '0' };

let folder: string;
let anvil: TestAnvil;
let world: TestWorld;
let homes: ProgramHome[];
let programs: RunningProgram[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ipc-'));
  SETTINGS.CHAIN_CONFIG = join(folder, 'chain.json');
  const socket = join(folder, 'anvil.ipc');
  anvil = await startTestAnvil(['--ipc', socket]);
  world = await deployTestWorld(anvil);
  writeFileSync(SETTINGS.CHAIN_CONFIG, JSON.stringify(world.chainDescription));
  homes = await Promise.all([createProgramHome(), createProgramHome()]);
  await mine(20);
  programs = await Promise.all([
    homes[0]!.start([`ipc://${socket}`], SETTINGS),
    homes[1]!.start([anvil.url], SETTINGS),
  ]);
});

afterAll(async () => {
  await Promise.all((homes ?? []).map((home) => home.drop()));
  await anvil?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function swap(): Promise<DevTransaction> {
  const pool = world.pool(0);
  const amountIn = (await world.balanceOf(pool.token0, pool.address)) / 5_000n;
  return world.swapV2(pool, { from: world.users[0]!, zeroForOne: true, amountIn });
}

async function mine(blocks: number): Promise<{ number: number; hash: string }> {
  let head = { number: 0, hash: '' };
  for (let i = 0; i < blocks; i += 1)
    head = await world.mineBlock(undefined, i % 3 === 2 ? [] : [await swap()]);
  return head;
}

async function expectEqual(head: { number: number; hash: string }): Promise<void> {
  await Promise.all(programs.map((program) => program.untilBlock(head.number, head.hash)));
  const hashes = await Promise.all(
    homes.map(async ({ database }) => {
      const tip = (await readTip(database))!;
      expect(tip.hash).toBe(head.hash);
      const content = await engineContent(database, tip);
      expect(content.rows.get('swaps')!.length).toBeGreaterThan(10);
      return contentHash(content);
    }),
  );
  expect(hashes[0]).toBe(hashes[1]);
}

test('a backfill, new heads and a reorg over IPC store the same rows as over HTTP', async () => {
  await expectEqual(await mine(2));
  for (let i = 0; i < 5; i += 1) await expectEqual(await mine(1));
  const plans = [{ transactions: [await swap()] }, {}, { transactions: [await swap()] }, {}];
  await expectEqual((await world.reorg(3, plans)).at(-1)!);
  await expectEqual(await mine(12));
});

test('metrics and log do not contain the path of the socket', async () => {
  const [program] = programs;
  const metrics = await program!.metrics();
  expect(metrics).toContain('endpoint="rpc-0"');
  expect(metrics).not.toContain('anvil.ipc');
  expect(JSON.stringify(program!.log)).not.toContain('anvil.ipc');
});
