/**
 * Killing any process at any moment and restarting gives the same bars and events as an undisturbed run. `npm run
 * kills` is the long version.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { startStubChain } from '../../support/stub/stubChain';
import { stubDescription } from '../../support/stub/stubDescription';
import { killCreations } from '../../../scripts/kills/creation';
import { allInOne, separate } from '../../../scripts/kills/deployment';
import { ChainLoad, KILL_PLANS, KillRun } from '../../../scripts/kills/killRun';
import { Random } from '../../support/random';
import { runToSuccess } from '../../support/server/program';

const ROUNDS = 3;
const CREATION_KILLS = 2;
const SEED = Number(process.env['KILL_SEED'] ?? 11);

test.each([allInOne, separate])(
  'after kills at random moments %p has the bars and events of the oracle, and no process or file is left',
  async (deploy) => {
    const random = new Random(SEED);
    const folder = mkdtempSync(join(tmpdir(), 'candlehouse-kill-'));
    const chain = await startStubChain({
      blocks: 100,
      logsPerBlock: 24,
      pairs: 14,
      seed: SEED,
      families: true,
    });
    writeFileSync(join(folder, 'chain.json'), JSON.stringify(stubDescription(true)));
    const settings = {
      RPC_URL: chain.url,
      CHAIN_CONFIG: join(folder, 'chain.json'),
      START_BLOCK: '0',
      RATE_LIMIT_PER_MINUTE: '0',
    };
    const dataDir = join(folder, 'data');
    const run = new KillRun(chain, deploy(settings, dataDir), random);
    const load = new ChainLoad(chain, random, 300);
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        load.begin();
        await run.deployment.start();
        await delay(random.int(300, 2_000));
        await run.recover(await run.kill(random.pick(KILL_PLANS)));
      }
      load.pause();
      await run.untilHead();
      expect(await run.compare()).toEqual([]);
      await run.deployment.stop();
      const verified = await runToSuccess(['verify'], { ...settings, DATA_DIR: dataDir });
      expect(verified).toContain('agree with the stored events');
      expect(run.deployment.enginesLeft()).toEqual([]);
    } finally {
      load.pause();
      await run.deployment.stop();
      await chain.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test('a data folder whose first start was killed can be started again, and its answers equal the oracle', async () => {
  const said: string[] = [];
  const random = new Random(SEED);
  const report = await killCreations({ kills: CREATION_KILLS, random, say: (text) => said.push(text) });
  expect({ mismatches: report.mismatches, said }).toEqual({ mismatches: [], said });
  expect(report.kills).toBe(CREATION_KILLS);
});
