/**
 * Exports days as a snapshot, and fills empty databases from it. Expects the rows of a backfill from the node, and no
 * altered row, whatever a mirror changes.
 */
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startApi } from '../../../src/commands/api';
import { runCompare } from '../../../src/commands/snapshot/compare';
import { runExport } from '../../../src/commands/snapshot/export';
import { readRangeHashes } from '../../../src/ingest/repair/rangeHash';
import { sumBlocks } from '../../../src/ingest/repair/sumBlocks';
import { readStoredState } from '../../../src/ingest/store/storedState';
import { createMetrics } from '../../../src/metrics';
import { hashOf } from '../../simulation/compare/storedContent';
import { silent } from '../../support/engine/embedded';
import { eventually } from '../../support/eventually';
import { deployTestWorld, startTestAnvil } from '../../support/node/anvil';
import { HostileMirror, HOSTILE_KINDS } from '../../support/node/hostileMirror';
import { SEED } from '../../support/run/seed';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { findLine, listLevels, StubFills, type FillTarget } from '../../support/stub/stubFills';

const CHAIN_ID = 369;
const CHANGES = 2;
const BLOCK_SECONDS = 120;
const FIRST_DAY = '2024-03-01';
const LAST_DAY = '2024-03-02';
/** The first day has 400 blocks, because the chain begins in it; the second has 720. */
const GENESIS = Date.parse(LAST_DAY) / 1_000 - 401 * BLOCK_SECONDS;
const LAST = 400 + 720;
const DAYS = { from: FIRST_DAY, to: LAST_DAY };

let chain: StubChain;
let folder: string;
let fills: StubFills;
let straight: FillTarget;
let straightHash: string;
let exporter: FillTarget;
const snapshot = (): string => join(folder, 'snapshot');
const { signal } = new AbortController();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'snapshot-'));
  chain = await startStubChain({
    blocks: LAST + 200,
    logsPerBlock: 8,
    pairs: 12,
    seed: 4,
    provable: true,
    transactionsMin: 2,
    genesisTime: GENESIS,
    blockSeconds: BLOCK_SECONDS,
  });
  fills = new StubFills(chain.url);
  exporter = await fills.openTarget();
  await fills.fill(exporter, { from: 1, to: LAST + 20 });
  const lines: string[] = [];
  const output = { write: (line: string) => void lines.push(line) };
  await runExport(fills.configOf(exporter), silent, signal, { days: DAYS, out: snapshot() }, output);
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

test('a snapshot of an http server continues after the stored blocks, and later days come from the node', async () => {
  const server = createServer((request, response) => {
    const file = createReadStream(join(snapshot(), request.url!));
    file.on('error', () => response.writeHead(404).end());
    file.pipe(response);
  }).listen(0, '127.0.0.1');
  await eventually(
    () => server.address(),
    (address) => address !== null,
  );
  const { port } = server.address() as { port: number };
  const target = await fills.openTarget();
  const mirror = { snapshot: `http://127.0.0.1:${port}/` };
  await fills.fill(target, { ...mirror, to: 450 });
  expect((await readStoredState(target.database, CHAIN_ID))!.cursor.number).toBe(450);
  const lines = await fills.fill(target, { ...mirror, to: LAST + 20 });
  expect(findLine(lines, 'blocks were read')).toMatchObject({ node: 20 });
  expect(await hashOf(target)).toBe(await hashOf(exporter));
  server.close();
});

test.each(HOSTILE_KINDS)(
  'a mirror that changes one %s is refused, and nothing altered is stored',
  async (kind) => {
    const folderOf = join(folder, `hostile-${kind}`);
    const mirror = await HostileMirror.open(snapshot(), folderOf, straight.test.writerUrl);
    for (let seed = SEED; seed < SEED + CHANGES; seed += 1) {
      const { path, description, block } = await mirror.change(kind, seed);
      const target = await fills.openTarget();
      const failure = await fills.fill(target, { snapshot: folderOf }).then(
        () => 'no error',
        (error: unknown) => String(error),
      );
      const told = `seed ${seed}: ${description}: ${failure}`;
      expect([told, failure.includes(path)]).toEqual([told, true]);
      const state = await readStoredState(target.database, CHAIN_ID);
      const to = state?.cursor.number ?? 0;
      expect([told, to < block]).toEqual([told, true]);
      if (to < 1) continue;
      const [ours, theirs] = await Promise.all(
        [target, straight].map(({ database }) => sumBlocks(database, CHAIN_ID, { from: 1, to })),
      );
      expect([told, ours]).toEqual([told, theirs]);
    }
    await mirror.close();
  },
);

test('two instances compare their rows, and name the first block that differs', async () => {
  const config = { ...fills.configOf(straight), host: '127.0.0.1', port: 0 };
  const api = await startApi({ config, log: silent, metrics: createMetrics() });
  api.connect(straight.test.readerUrl, null);
  const target = await fills.openTarget();
  await fills.fill(target, { snapshot: snapshot() });
  const compare = async (): Promise<[number, string]> => {
    const lines: string[] = [];
    const output = { write: (line: string) => void lines.push(line) };
    const code = await runCompare(fills.configOf(target), silent, signal, api.url, output);
    return [code, lines.join('')];
  };
  await eventually(
    () => fetch(`${api.url}/api/v1/range-hash`),
    ({ status }) => status === 200,
  );
  expect(await compare()).toEqual([0, `The stored rows of blocks 1-${LAST} are equal.\n`]);
  // The range hash of the first 1,000 blocks does not see this change, as it does not see a fault of the disk.
  const later = `INSERT INTO blocks SELECT * REPLACE (log_count + 1 AS log_count) FROM blocks WHERE number = 1050`;
  await target.database.command('change a row', later);
  expect(await compare()).toEqual([
    1,
    `The rows of blocks 1-${LAST} differ in blocks.\nDIFFERENT block 1050 is the first that differs: in blocks\n`,
  ]);
  await api.close();
});

test('a snapshot of a real node is proven in full: every type of transaction, a day without logs, a day without blocks', async () => {
  const anvil = await startTestAnvil([], 'prague');
  const { rpc } = anvil;
  await deployTestWorld(anvil);
  const [from, to] = (await rpc.call('eth_accounts')) as string[];
  const price = '0x77359400';
  const accessList = [{ address: from, storageKeys: [`0x${'34'.repeat(32)}`] }];
  const tip = { maxFeePerGas: price, maxPriorityFeePerGas: '0x1' };
  for (let block = 0; block < 6; block += 1) {
    for (const fields of [{ gasPrice: price }, { gasPrice: price, accessList }, tip].slice(0, block))
      await rpc.call('eth_sendTransaction', [{ from, to, value: '0x1', ...fields }]);
    await rpc.call('evm_mine');
  }
  const last = Number(await rpc.call('eth_blockNumber'));
  const { timestamp } = (await rpc.call('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  const dayAfter = (days: number): string =>
    new Date(1_000 * (Number(timestamp) + 86_400 * days)).toISOString().slice(0, 10);
  for (const [after, blocks] of [
    [1, 3],
    [3, 12],
  ] as const) {
    await rpc.call('evm_setNextBlockTimestamp', [Date.parse(dayAfter(after)) / 1_000]);
    for (let block = 0; block < blocks; block += 1) await rpc.call('evm_mine');
  }
  const own = new StubFills(anvil.url);
  const source = await own.openTarget();
  await own.fill(source, { from: 1, to: last + 8 });
  const options = { days: { from: dayAfter(0), to: dayAfter(2) }, out: join(folder, 'anvil') };
  const output = { write: () => undefined };
  await runExport(own.configOf(source), silent, signal, options, output);
  const target = await own.openTarget();
  const lines = await own.fill(target, { snapshot: options.out, to: last + 8 });
  expect(findLine(lines, 'reading blocks from a snapshot')).toMatchObject({ days: 2 });
  expect(findLine(lines, 'blocks were read')).toMatchObject({ snapshot: last + 3, node: 5 });
  expect(await listLevels(target)).toBe('full');
  expect(await hashOf(target)).toBe(await hashOf(source));
  await own.close();
  await anvil.stop();
});
