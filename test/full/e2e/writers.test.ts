/**
 * Several ingesters on one database: the newer one fences off the older one, and a standby takes over. `npm run kills --
 * --scenario writers` and `--scenario standby` are the long versions.
 */
import { fightOverDatabase, killWriters } from '../../../scripts/kills/writers';
import { Random } from '../../support/random';

const SEED = Number(process.env['KILL_SEED'] ?? 7);
const plan = (blocks: number) => ({
  random: new Random(SEED),
  seed: SEED,
  blocks,
  say: (): void => undefined,
});

test('live writers that replace each other, and stand still at random moments, leave the data of one undisturbed writer', async () => {
  const report = await fightOverDatabase(plan(150));
  expect(report.mismatches).toEqual([]);
  expect(report.replaced).toBeGreaterThan(1);
  expect(report.stops).toBeGreaterThan(0);
});

test('a standby takes over soon after the writer is killed, and nothing is lost or stored twice', async () => {
  const report = await killWriters(1, plan(10_000));
  expect(report.mismatches).toEqual([]);
  expect(report.seconds).toHaveLength(1);
});
