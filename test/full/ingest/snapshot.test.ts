/**
 * Exports days as a snapshot, and fills empty databases from it. Expects the rows of a backfill from the node, and no
 * altered row, whatever a mirror changes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runExport } from '../../../src/commands/snapshot/export';
import { readRangeHashes } from '../../../src/ingest/repair/rangeHash';
import { hashOf } from '../../simulation/compare/storedContent';
import { silent } from '../../support/engine/embedded';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { findLine, listLevels, StubFills, type FillTarget } from '../../support/stub/stubFills';

const CHAIN_ID = 369;
const BLOCK_SECONDS = 120;
const FIRST_DAY = '2024-03-01';
const LAST_DAY = '2024-03-02';
/** The first day has 400 blocks, because the chain begins in it; the second has 720. */
const GENESIS = Date.parse(LAST_DAY) / 1_000 - 401 * BLOCK_SECONDS;
const LAST = 400 + 720;
const BLOCKS = LAST + 200;

let chain: StubChain;
let folder: string;
let fills: StubFills;
let straight: FillTarget;
let straightHash: string;
const snapshot = (): string => join(folder, 'snapshot');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'snapshot-'));
  chain = await startStubChain({
    blocks: BLOCKS,
    logsPerBlock: 8,
    pairs: 12,
    seed: 4,
    provable: true,
    transactionsMin: 2,
    genesisTime: GENESIS,
    blockSeconds: BLOCK_SECONDS,
  });
  fills = new StubFills(chain.url);
  const exporter = await fills.openTarget();
  await fills.fill(exporter, { from: 1, to: LAST + 20 });
  const lines: string[] = [];
  const output = { write: (line: string) => void lines.push(line) };
  const options = { days: { from: FIRST_DAY, to: LAST_DAY }, out: snapshot() };
  await runExport(fills.configOf(exporter), silent, new AbortController().signal, options, output);
  process.stdout.write(lines.join(''));
  straight = await fills.openTarget();
  await fills.fill(straight, { from: 1, to: LAST });
  straightHash = await hashOf(straight);
});

afterAll(async () => {
  await fills?.close();
  await chain?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('a snapshot gives the rows and the range hashes of the node, proven in full', async () => {
  const target = await fills.openTarget();
  const lines = await fills.fill(target, { snapshot: snapshot() });
  expect(await hashOf(target)).toBe(straightHash);
  expect(await listLevels(target)).toBe('full');
  const [ours, theirs] = await Promise.all(
    [target, straight].map(({ database }) => readRangeHashes(database, CHAIN_ID, 0, LAST)),
  );
  expect(ours).toEqual(theirs);
  expect(findLine(lines, 'reading blocks from a snapshot')).toMatchObject({ days: 2, nodeBlocks: 0 });
  expect(findLine(lines, 'the range hashes equal')).toMatchObject({ ranges: 1, compared: 1 });
});
