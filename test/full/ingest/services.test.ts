/**
 * Backfills from services: an SQD portal and a HyperSync server, as stand-ins in the formats that the services document.
 * Compares them with all other sources. Expects the rows that a backfill from the node stores, and a clear error, without a wrong row, for each wrong answer.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { runExport } from '../../../src/commands/snapshot/export';
import { readRangeHashes } from '../../../src/ingest/repair/rangeHash';
import { hashOf } from '../../simulation/compare/storedContent';
import { silent } from '../../support/engine/embedded';
import { createTestDatabase, type TestDatabase } from '../../support/engine/engine';
import {
  createHyperSync,
  HYPERSYNC_URL,
  packageLoaderFor,
  startPortal,
  type PortalFault,
  type StandInHyperSync,
  type StandInPortal,
  type SentBlock,
} from '../../support/node/blockServices';
import { writeCryoFiles } from '../../support/node/cryoFiles';
import type { Json } from '../../support/node/lies';
import { runToSuccess, type Settings } from '../../support/server/program';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { stubDescription } from '../../support/stub/stubDescription';
import {
  atLeast,
  countRows,
  findLine,
  listLevels,
  StubFills,
  type FillOptions,
  type FillSettings,
  type FillTarget,
} from '../../support/stub/stubFills';

const CHAIN_ID = 369;
const BLOCKS = 1_400;
const LAST = 1_200;
/** Last block of tests that need only a few. */
const FEW = 40;
const CHAIN = {
  blocks: BLOCKS,
  logsPerBlock: 8,
  pairs: 12,
  seed: 4,
  provable: true,
  transactionsMin: 2,
  genesisTime: Date.parse('2024-03-02') / 1_000 - 10 * (LAST + 1),
};
/** The blocks up to LAST are a day. */
const DAY = '2024-03-01';

let folder: string;
let chain: StubChain;
let portal: StandInPortal;
let hyperSync: StandInHyperSync;
let made: TestDatabase;
let fills: StubFills;
let straight: FillTarget;
let straightHash: string;

/** Options and settings of a backfill from the stand-in of HyperSync. */
function fromHyperSync(to: number, client = hyperSync): readonly [FillOptions, FillSettings] {
  const loadPackage = packageLoaderFor(client);
  return [{ from: 1, to, source: HYPERSYNC_URL, loadPackage }, { HYPERSYNC_TOKEN: 'secret-token' }];
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'services-'));
  chain = await startStubChain(CHAIN);
  made = await createTestDatabase();
  fills = new StubFills(chain.url);
  straight = await fills.openTarget();
  await fills.fill(straight, { from: 1, to: LAST });
  straightHash = await hashOf(straight);
});

beforeEach(async () => {
  portal = await startPortal({ rpcUrl: chain.url, head: LAST, blocksMax: 500 });
  hyperSync = createHyperSync(chain.url, LAST, 500);
});

afterEach(() => portal?.close());

afterAll(async () => {
  await fills?.close();
  await made?.drop();
  await chain?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('the rows and range hashes of the same blocks are equal, whichever source they come from', async () => {
  const expected = await readRangeHashes(straight.database, CHAIN_ID, 0, LAST);
  expect([...expected.keys()]).toEqual([0]);
  const range = { from: 1, to: LAST };
  const files = join(folder, 'files');
  await writeCryoFiles({ rpcUrl: chain.url, databaseUrl: made.writerUrl, folder: files, ...range });
  // A day can be exported when a later block is stored.
  await fills.fill(straight, { from: 1, to: LAST + 20 });
  const snapshot = { days: { from: DAY, to: DAY }, out: join(folder, 'snapshot') };
  const output = { write: () => undefined };
  await runExport(fills.configOf(straight), silent, new AbortController().signal, snapshot, output);
  const socket = await listenOnSocket(join(folder, 'node.ipc'));
  const workers = ['backfill', '--from', '1', '--to', String(LAST), '--workers', '2'];
  const from = (options: FillOptions, settings: FillSettings = {}) => {
    return async (target: FillTarget) => void (await fills.fill(target, options, settings));
  };
  const sources: Readonly<Record<string, (target: FillTarget) => Promise<void>>> = {
    'a node over WebSocket': from(range, { RPC_URL: chain.wsUrl }),
    'a node over IPC': from(range, { RPC_URL: `ipc://${join(folder, 'node.ipc')}` }),
    'worker processes': async ({ test: { writerUrl } }) =>
      void (await runToSuccess(workers, settingsOf(writerUrl))),
    'Parquet files': from({ ...range, parquet: [files] }),
    'an SQD portal': from({ ...range, source: portal.url }),
    HyperSync: from(...fromHyperSync(LAST)),
    'a snapshot': from({ snapshot: snapshot.out }),
  };
  for (const [name, fill] of Object.entries(sources)) {
    const target = await fills.openTarget();
    await fill(target);
    expect([name, await hashOf(target)]).toEqual([name, straightHash]);
    expect([name, await readRangeHashes(target.database, CHAIN_ID, 0, LAST)]).toEqual([name, expected]);
  }
  socket.close();
});

/** Passes the calls on a Unix socket to the node. */
async function listenOnSocket(path: string): Promise<Server> {
  const server = createServer((socket) => {
    createInterface(socket).on('line', (body) => {
      void fetch(chain.url, { method: 'POST', body })
        .then((answer) => answer.text())
        .then((text) => socket.write(text));
    });
  }).listen(path);
  await once(server, 'listening');
  return server;
}

/** Settings of the program for this database. */
function settingsOf(writerUrl: string): Settings {
  const file = join(folder, 'chain.json');
  writeFileSync(file, JSON.stringify({ ...stubDescription(), burn: undefined, logo: undefined }));
  return { RPC_URL: chain.url, CHAIN_CONFIG: file, FINALITY_DEPTH: '5', CLICKHOUSE_URL: writerUrl };
}

test('what a service cannot prove is said in the log and stored with the blocks, and verify --proof proves it', async () => {
  const target = await fills.openTarget();
  const lines = await fills.fill(target, { from: 1, to: FEW, source: portal.url });
  expect(findLine(lines, 'reading blocks from a service')).toMatchObject({
    service: expect.stringMatching(/^sqd\+http:\/\/127\.0\.0\.1:\d+\/…$/),
    blocks: FEW,
    nodeBlocks: 0,
  });
  expect(findLine(lines, 'the service does not prove')).toMatchObject({ level: 'bloom', headers: 'service' });
  expect(findLine(lines, 'blocks were read from the service')).toMatchObject({
    service: atLeast(FEW),
    node: 0,
  });
  expect(await listLevels(target)).toBe('bloom');
  const proof = await runToSuccess(['verify', '--proof'], settingsOf(target.test.writerUrl));
  expect(proof).toContain(`Blocks 1-${FEW} are proven at the level full.`);
  expect(proof).toContain(`The stored rows of blocks 1-${FEW} equal the proven blocks`);
  const proven = await fills.openTarget();
  await fills.fill(proven, ...withProof(fromHyperSync(FEW), 'headers'));
  expect(await listLevels(proven)).toBe('headers');
  expect(await hashOf(proven)).toBe(await hashOf(target));
  await expect(
    fills.fill(target, { from: 1, to: LAST, source: portal.url }, { PROOF: 'full' }),
  ).rejects.toThrow('allowed with --source: auto, none, bloom or headers');
});

function withProof([options, settings]: readonly [FillOptions, FillSettings], proof: string) {
  return [options, { ...settings, PROOF: proof }] as const;
}

test('the node sends the blocks that the service does not have, and a second backfill continues', async () => {
  const short = await startPortal({ rpcUrl: chain.url, head: 25 });
  const target = await fills.openTarget();
  const lines = await fills.fill(target, { from: 1, to: FEW, source: short.url });
  expect(findLine(lines, 'reading blocks from a service')).toMatchObject({ blocks: 25, nodeBlocks: 15 });
  expect(findLine(lines, 'blocks were read')).toMatchObject({ service: atLeast(25), node: atLeast(15) });
  await short.close();
  await fills.fill(target, { from: 1, to: LAST, source: portal.url });
  expect(portal.queries[0]!.fromBlock).toBe(FEW + 1);
  expect(await hashOf(target)).toBe(straightHash);
  const empty = await startPortal({ rpcUrl: chain.url, head: 25 });
  await expect(fills.fill(target, { from: 1_201, to: 1_210, source: empty.url })).rejects.toThrow(
    'the service has the blocks 0-25, not 1201-1210',
  );
  await empty.close();
});

test('a stream that is cut, refused or limited goes on after the last block, and names its hash', async () => {
  const target = await fills.openTarget();
  const faults: readonly (PortalFault | 'cut' | null)[] = [
    { status: 429, headers: { 'retry-after': '2' } },
    'cut',
    { status: 503, body: 'busy' },
    null,
    { status: 204 },
    'cut',
  ];
  const at: number[] = [];
  portal.onStream = (_query, index) => {
    at.push(performance.now());
    return faults[index] ?? null;
  };
  const lines = await fills.fill(target, { from: 1, to: LAST, source: portal.url });
  expect(await hashOf(target)).toBe(straightHash);
  expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(1_990);
  expect(findLine(lines, 'a request of a service is repeated')).toMatchObject({
    error: 'HTTP 429',
    pauseMs: 2_000,
  });
  const [first, ...later] = portal.queries.slice(1);
  expect(first).toMatchObject({ fromBlock: 1, toBlock: LAST });
  expect(first!.parentBlockHash).toBeUndefined();
  const resumed = later.filter(({ fromBlock }) => fromBlock > 1);
  expect(resumed.length).toBeGreaterThanOrEqual(4);
  for (const { fromBlock, parentBlockHash } of resumed)
    expect(parentBlockHash).toBe(chain.blocks[fromBlock - 1]!.hash);
});

/** Wrong blocks, and what the error must say. */
const WRONG: readonly (readonly [name: string, change: (block: SentBlock) => void, error: RegExp])[] = [
  [
    'a missing field',
    ({ header }) => delete header['logsBloom'],
    /block \d+: logsBloom is missing; allowed: 256 bytes/,
  ],
  [
    'a number as text',
    ({ header }) => (header['timestamp'] = 'soon'),
    /block \d+: timestamp is soon; allowed: 0 to/,
  ],
  ['logs too few', ({ logs }) => logs.splice(4), /block \d+ fails verification \(bloom\)/],
  ['a log that is missing between others', ({ logs }) => logs.splice(2, 1), /log 2 has no row before log 3/],
  ['a log twice', ({ logs }) => logs.push(logs[1]!), /log 1 has two rows/],
  [
    'another topic',
    ({ logs }) => ((logs[3]!['topics'] as string[])[0] = `0x${'ab'.repeat(32)}`),
    /\(bloom\)/,
  ],
  [
    'a topic that is too short',
    ({ logs }) => (logs[0]!['topics'] = ['0x12']),
    /topic0 is 0x12; allowed: 32 bytes/,
  ],
  [
    'an odd number of digits',
    ({ logs }) => (logs[0]!['data'] = '0x123'),
    /data is 0x123; allowed: bytes in hex/,
  ],
  [
    'a log of another transaction',
    ({ logs }) => (logs[0]!['transactionHash'] = `0x${'ab'.repeat(32)}`),
    /transaction_hash is 0xabab/,
  ],
  [
    'a transaction too few',
    ({ transactions }) => transactions.pop(),
    /transaction_index is 1|used \d+ gas|has \d+ transactions/,
  ],
  [
    'another hash',
    ({ header }) => (header['hash'] = `0x${'ab'.repeat(32)}`),
    /block_hash is 0xabab|parent_link/,
  ],
  [
    'another parent',
    ({ header }) => (header['parentHash'] = `0x${'ab'.repeat(32)}`),
    /\(parent_link\)|409|continue/,
  ],
  ['another number', ({ header }) => (header['number'] = 7_000), /is (7000|10); allowed: \d+/],
];

const DAMAGED = 9;

test('each wrong block of a service is an error that names the service, and no row is stored', async () => {
  for (const kind of ['sqd', 'hypersync']) {
    const target = await fills.openTarget();
    for (const [name, change, error] of WRONG) {
      portal.change = (block) => {
        if (block.header['number'] === DAMAGED) change(block);
        return block;
      };
      hyperSync.change = (answer) => {
        const { blocks, transactions, logs } = answer.data as Record<string, Json[]>;
        const isOwn = (one: Json): boolean => one['blockNumber'] === DAMAGED;
        const told = {
          header: blocks!.find((one) => one['number'] === DAMAGED)!,
          transactions: transactions!.filter(isOwn),
          logs: logs!.filter(isOwn),
        };
        change(told);
        answer.data = {
          blocks,
          transactions: [...transactions!.filter((one) => !isOwn(one)), ...told.transactions],
          logs: [...logs!.filter((one) => !isOwn(one)), ...told.logs],
        };
        return answer;
      };
      const [options, settings] =
        kind === 'sqd' ? [{ from: 1, to: 20, source: portal.url }, {}] : fromHyperSync(20);
      const failed = await fills.fill(target, options, settings).catch((caught: unknown) => caught);
      const message = failed instanceof Error ? failed.message : 'no error';
      expect([kind, name, message]).toEqual([kind, name, expect.stringMatching(error)]);
      expect(message).toMatch(new RegExp(`^${kind}\\+http`));
      expect([kind, name, await countRows(target)]).toEqual([kind, name, '0']);
    }
  }
});

test('a portal with other final blocks, or one that refuses the request, ends the backfill', async () => {
  const target = await fills.openTarget();
  const conflict = JSON.stringify({ previousBlocks: [{ number: 0, hash: `0x${'cd'.repeat(32)}` }] });
  const answers: readonly (readonly [PortalFault, RegExp])[] = [
    [{ status: 409, body: conflict }, /final blocks do not continue block .*0xcdcd/],
    [{ status: 400, body: 'unknown field' }, /HTTP 400: unknown field/],
    [{ status: 403, body: 'no key' }, /HTTP 403: no key/],
    [{ status: 200, body: '\n\n' }, /got an empty line; allowed: a block per line/],
    [{ status: 200, body: '[]\n' }, /a line is .*; allowed: an object/],
  ];
  for (const [fault, error] of answers) {
    portal.onStream = () => fault;
    await expect(fills.fill(target, { from: 1, to: 20, source: portal.url })).rejects.toThrow(error);
  }
  expect(await countRows(target)).toBe('0');
});

test('a HyperSync source needs its package and a token, and must serve the same chain', async () => {
  const target = await fills.openTarget();
  const [options, settings] = fromHyperSync(20);
  await expect(fills.fill(target, options)).rejects.toThrow(
    'HYPERSYNC_TOKEN: got nothing; allowed: the token of',
  );
  const absent = { ...options, loadPackage: () => import('@envio-dev/not-installed' as string) };
  await expect(fills.fill(target, absent, settings)).rejects.toThrow(
    /needs the package @envio-dev\/hypersync-client; install it with: npm install @envio-dev\/hypersync-client@1\.3\.0/,
  );
  hyperSync.getChainId = () => Promise.resolve(1);
  await expect(fills.fill(target, options, settings)).rejects.toThrow('the chain id is 1; allowed: 369');
  for (const source of ['https://portal.example', 'sqd+ftp://a/b', 'sqd+https://'])
    await expect(fills.fill(target, { from: 1, to: 20, source })).rejects.toThrow(/^--source: got /);
});

test('an error of a HyperSync call is repeated, and the stream goes on', async () => {
  const target = await fills.openTarget();
  const { get } = hyperSync;
  let calls = 0;
  hyperSync.get = (query) =>
    (calls += 1) % 2 === 1 ? Promise.reject(new Error('rate limited by server')) : get(query);
  const lines = await fills.fill(target, ...fromHyperSync(FEW));
  expect(findLine(lines, 'a request of a service is repeated')['error']).toContain('rate limited by server');
  expect(findLine(lines, 'blocks were read')).toMatchObject({ service: atLeast(FEW), node: 0 });
  expect(JSON.stringify(lines)).not.toContain('secret-token');
});
