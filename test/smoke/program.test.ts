/**
 * The smoke test of the built program: a stepped chain with a reorg, its bars, its stream, its page in Chromium, a clean
 * exit, and `verify` over the stored rows. The chain moves only when the test moves it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Random } from '../support/random';
import { DESKTOP, launchBrowser, openPage, untilLoaded } from '../support/server/browser';
import { enginePid, isEngine, runProgram, startProgram, type Program } from '../support/server/program';
import { EventFollower } from '../support/server/eventFollower';
import { eventually } from '../support/eventually';
import { startStubChain, type StubChain } from '../support/stub/stubChain';
import { stubDescription } from '../support/stub/stubDescription';
import { describeDifference, StubTruth } from '../support/stub/stubTruth';

const SEED = 48;
const HEAD = 90;

const folder = mkdtempSync(join(tmpdir(), 'smoke-'));
const dataDir = join(folder, 'data');
let chain: StubChain;
let program: Program;
let settings: Readonly<Record<string, string>>;

beforeAll(async () => {
  chain = await startStubChain({ blocks: HEAD + 1, logsPerBlock: 12, pairs: 4, seed: SEED });
  chain.setHead(HEAD - 10);
  const description = join(folder, 'chain.json');
  writeFileSync(description, JSON.stringify(stubDescription()));
  settings = {
    RPC_URL: chain.url,
    CHAIN_CONFIG: description,
    START_BLOCK: '0',
    DATA_DIR: dataDir,
    RATE_LIMIT_PER_MINUTE: '0',
  };
  program = await startProgram('all', settings);
});

afterAll(async () => {
  await program?.end('SIGKILL');
  await chain?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Waits until the API shows the head of the chain. */
const untilHead = (): Promise<unknown> =>
  eventually(
    async () => (await fetch(`${program.url}/healthz`)).headers.get('x-indexed-block-hash'),
    (hash) => hash === chain.blocks[chain.head]?.hash,
  );

/** The trades that the page of a pair shows, newest first, by the ids of their events. */
async function readTrades(pair: string): Promise<{ ids: string[]; faults: readonly string[] }> {
  const { browser, close } = await launchBrowser();
  try {
    const { page, faults } = await openPage(browser, program.url, DESKTOP);
    await page.goto(`/pair/${pair}`);
    await untilLoaded(page);
    await page.waitForSelector('canvas');
    await page.waitForSelector('table.tape tbody tr[data-id]');
    const ids = await page.$$eval('table.tape tbody tr', (rows) =>
      rows.map((row) => row.getAttribute('data-id') ?? ''),
    );
    return { ids, faults };
  } finally {
    await close();
  }
}

test('from the first block to bars, stream, page and a clean exit', async () => {
  const truth = new StubTruth(chain);
  await untilHead();
  const events = new EventFollower(
    () => `${program.url}/api/v1/activity/stream`,
    new Random(SEED),
    '1-1048575',
    Infinity,
  );
  events.begin();
  await eventually(
    () => describeDifference(events.net(), truth.activity(2)),
    (difference) => difference === null,
  );
  chain.setHead(HEAD - 4);
  await untilHead();
  chain.reorg(3, 5);
  await untilHead();
  await eventually(
    () => describeDifference(events.net(), truth.activity(2)),
    (difference) => difference === null,
  );
  await events.stop();
  expect([events.faults, events.reorgs]).toEqual([[], 1]);
  expect(await truth.findWrongBars(program.url)).toEqual([]);
  expect(await truth.findWrongActivity(program.url)).toBeNull();

  const swaps = truth.swaps();
  const pair = swaps.at(-1)!.pair;
  const ofPair = swaps
    .filter((swap) => swap.pair === pair)
    .map(({ block, logIndex }) => `${block}-${logIndex}`);
  const { ids, faults } = await readTrades(pair);
  expect(faults).toEqual([]);
  expect(ids.slice(0, 5)).toEqual(ofPair.reverse().slice(0, 5));

  const engine = enginePid(dataDir);
  expect(await program.end('SIGTERM')).toBe(0);
  expect(engine !== null && isEngine(engine, dataDir)).toBe(false);

  const { code, output } = await runProgram(['verify'], settings);
  expect([code, code === 0 ? '' : output]).toEqual([0, '']);
});
