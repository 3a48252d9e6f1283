/**
 * Runs the whole program against its only node, which fails many calls. Each part of the program that asks the node must
 * repeat a failed call: blocks, chain id, finality, token names, pools.
 */
import { hashOf } from '../../simulation/compare/storedContent';
import { startFlakyProxy } from '../../support/node/flakyProxy';
import { seededRandom } from '../../support/random';
import { createProgramHome, type ProgramHome } from '../../support/server/runningProgram';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';

const BLOCKS = 600;

let chain: StubChain;
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  chain = await startStubChain({ blocks: BLOCKS, logsPerBlock: 8, pairs: 40, seed: 3, provable: true });
  chain.setHead(BLOCKS);
});

afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  await chain?.close();
});

async function openHome(): Promise<ProgramHome> {
  const home = await createProgramHome();
  stops.push(() => home.drop());
  return home;
}

test('with 30 % of the calls failing, a backfill never starts again and stores the rows of a healthy node', async () => {
  const [healthy, flaky] = [await openHome(), await openHome()];
  const head = chain.blocks[BLOCKS]!;
  const straight = await healthy.start([chain.url]);
  await straight.untilBlock(BLOCKS, head.hash);
  const proxy = await startFlakyProxy({ url: chain.url, random: seededRandom(11), share: 0.3 });
  stops.push(() => proxy.close());
  const program = await flaky.start([proxy.url]);
  await program.untilBlock(BLOCKS, head.hash);
  expect(program.log.filter(({ msg }) => msg === 'ingesting failed; retrying')).toEqual([]);
  proxy.share = 0.6;
  chain.setHead(BLOCKS + 20);
  for (const one of [program, straight]) await one.untilBlock(chain.head, chain.blocks[chain.head]!.hash);
  expect(await hashOf(flaky)).toBe(await hashOf(healthy));
});
