/**
 * Tests imports of verified contracts: both folder layouts, both servers, contracts of chain 1 for a chain that began
 * as its fork, broken records, and resuming.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import type { Hex } from '../../../src/domain/hex';
import type { ChainCode } from '../../../src/contracts/chainCode';
import { isBlockscoutServer, openBlockscoutServer } from '../../../src/contracts/import/blockscoutServer';
import type { ContractSource } from '../../../src/contracts/import/foundContract';
import { createJsonFetch } from '../../../src/contracts/import/jsonFetch';
import { runImport, type ImportCounts } from '../../../src/contracts/import/runImport';
import { openSourcifyFolder } from '../../../src/contracts/import/sourcifyFolder';
import { isSourcifyServer, openSourcifyServer } from '../../../src/contracts/import/sourcifyServer';
import { hashCode } from '../../../src/contracts/verifiedRecord';
import { openSourcesDatabase, type SourcesDatabase } from '../../support/engine/sourcesDatabase';
import {
  serveBlockscout,
  serveSourcify,
  writeRepository,
  type PlacedContract,
} from '../../support/node/sourceServers';
import { addressOf, compileWorld, toRecord, type WorldContract } from '../../support/worlds/verifiedWorld';

let world: WorldContract[];
const folders: string[] = [];
const databases: SourcesDatabase[] = [];
const never = new AbortController().signal;

beforeAll(async () => {
  // Contracts with unlinked libraries have no complete code, so no chain can contain it.
  world = (await compileWorld()).filter((contract) => !contract.runtime.includes('_'));
});

afterAll(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  for (const db of databases) await db.close();
});

async function open(): Promise<SourcesDatabase> {
  const db = await openSourcesDatabase();
  databases.push(db);
  return db;
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'candlehouse-repository-'));
  folders.push(folder);
  return folder;
}

/** Nodes of the given chains with code at these addresses and nowhere else. */
function codes(chains: Readonly<Record<number, Readonly<Record<Hex, string>>>>): ChainCode {
  const codeAt = (chainId: number, address: Hex): Hex => (chains[chainId]?.[address] ?? '0x') as Hex;
  return {
    knows: (chainId) => chainId in chains,
    getCode: async ({ chainId, address }) => codeAt(chainId, address),
    listCodes: async (chainId, addresses) => addresses.map((address) => codeAt(chainId, address)),
    findCreationCode: async () => null,
    findRecentCreation: async () => null,
  };
}
const runtimes = (contracts: readonly WorldContract[]): Record<Hex, string> =>
  Object.fromEntries(contracts.map((each) => [addressOf(each), each.runtime]));

interface Outcome extends ImportCounts {
  readonly finished: boolean;
  /** Skipped contracts as the text `address reason`. */
  readonly skipped: string[];
}

async function importAll(
  db: SourcesDatabase,
  source: ContractSource,
  chain = codes({}),
  signal = never,
): Promise<Outcome> {
  const skipped: string[] = [];
  const { counts, finished } = await runImport(
    {
      database: db.writer,
      runner: createQueryRunner(db.writer),
      chain,
      descendants: [369, 943],
      progress: () => undefined,
      skipped: ({ address }, reason) => skipped.push(`${address} ${reason}`),
    },
    source,
    signal,
  );
  return { ...counts, finished, skipped };
}

const find = (db: SourcesDatabase, chainId: number, address: Hex, codeHash: Hex | null = null) =>
  db.reader.find({ chainId, address }, codeHash);

test.each([
  [1, 150],
  [2, 40],
] as const)(
  'a folder of layout %i is imported completely: %i contracts with their sources',
  async (version, count) => {
    const db = await open();
    const root = await makeFolder();
    const contracts = world.slice(0, count);
    const placed = contracts.map((contract, index): PlacedContract => {
      return {
        contract,
        chainId: index % 2 === 0 ? 369 : 943,
        match: index % 5 === 0 ? 'partial_match' : 'full_match',
      };
    });
    const [first = ''] = writeRepository(root, version, placed);
    writeFileSync(join(first, 'constructor-args.txt'), `0x${'00'.repeat(31)}07`);
    writeFileSync(join(first, 'creator-tx-hash.txt'), `0x${'3c'.repeat(32)}`);
    const source = await openSourcifyFolder(root, [369, 943, 1]);
    expect(await importAll(db, source)).toEqual({
      found: count,
      stored: count,
      known: 0,
      broken: 0,
      finished: true,
      skipped: [],
    });
    for (const [index, { contract, chainId, match }] of placed.entries()) {
      const found = await find(db, chainId, addressOf(contract));
      const wanted = toRecord(contract, chainId);
      const status = match === 'full_match' ? 'exact_match' : 'match';
      const { verifiedAt, constructorArguments, settings, license, ...facts } = wanted.contract;
      expect(found).toMatchObject({ ...facts, status, source: 'sourcify', twinOf: null });
      expect(JSON.parse(found!.settings)).toMatchObject({ optimizer: contract.input.settings['optimizer'] });
      expect([verifiedAt, settings === '', license === '']).not.toContain(true);
      if (index === 0) expect(found?.constructorArguments).toBe(`0x${'00'.repeat(31)}07`);
      if (index % 30 !== 0) continue;
      const sources = await db.reader.readSources(found!);
      expect(new Map(sources.map((file) => [file.path, file.content]))).toEqual(
        new Map(wanted.sources.map((file) => [file.path, file.content])),
      );
    }
    const [stored] = await db.reader.listOwn([{ chainId: 369, address: addressOf(contracts[0]!) }]);
    expect(stored?.deployment.transaction).toBe(`0x${'3c'.repeat(32)}`);
    expect(await importAll(db, source)).toMatchObject({ stored: 0, known: count });
  },
);

test('an import skips and names invalid records, and imports the valid ones', async () => {
  const db = await open();
  const root = await makeFolder();
  const contracts = world.slice(0, 8);
  const placed = contracts.map((contract): PlacedContract => ({
    contract,
    chainId: 369,
    match: 'full_match',
  }));
  const [tampered, missing, noJson, noAbi, noTarget, latin, none] = writeRepository(root, 2, placed) as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const firstSource = (folder: string): string =>
    join(folder, 'sources', readdirSync(join(folder, 'sources'))[0]!);
  writeFileSync(firstSource(tampered), 'contract Evil {}');
  rmSync(firstSource(missing));
  writeFileSync(join(noJson, 'metadata.json'), '{"compiler":');
  const edit = (
    index: number,
    change: (metadata: Record<string, Record<string, unknown>>) => void,
  ): string => {
    const metadata = JSON.parse(contracts[index]!.metadata) as Record<string, Record<string, unknown>>;
    change(metadata);
    return JSON.stringify(metadata);
  };
  writeFileSync(
    join(noAbi, 'metadata.json'),
    edit(3, (each) => (each['output']!['abi'] = [{ type: 'function', name: 'a b' }])),
  );
  writeFileSync(
    join(noTarget, 'metadata.json'),
    edit(4, (each) => (each['settings']!['compilationTarget'] = { 'no.sol': 'No' })),
  );
  writeFileSync(firstSource(latin), Buffer.from([0x2f, 0x2f, 0xe9]));
  rmSync(join(none, 'metadata.json'));
  const outcome = await importAll(db, await openSourcifyFolder(root, [369]));
  expect(outcome).toMatchObject({ found: 8, stored: 1, broken: 7 });
  const reasons = contracts.slice(0, 7).map((contract) => {
    return outcome.skipped.find((line) => line.startsWith(addressOf(contract)))?.slice(43) ?? '';
  });
  expect(reasons).toEqual([
    expect.stringMatching(/is missing$/),
    expect.stringMatching(/is missing$/),
    'the metadata is not JSON',
    'the ABI in the metadata is not valid',
    'the sources do not contain the compilation target no.sol',
    expect.stringMatching(/is not UTF-8$/),
    'the file metadata.json is missing',
  ]);
  for (const contract of contracts.slice(0, 7)) expect(await find(db, 369, addressOf(contract))).toBeNull();
});

test('an import with a node skips records without code on the chain, and stores the code hash of the other records', async () => {
  const db = await open();
  const root = await makeFolder();
  const [there, gone] = world as [WorldContract, WorldContract];
  writeRepository(
    root,
    1,
    [there, gone].map((contract): PlacedContract => ({ contract, chainId: 369, match: 'full_match' })),
  );
  const outcome = await importAll(
    db,
    await openSourcifyFolder(root, [369]),
    codes({ 369: runtimes([there]) }),
  );
  expect(outcome).toMatchObject({
    stored: 1,
    skipped: [`${addressOf(gone)} the address has no code on the chain`],
  });
  const twin = await find(db, 943, `0x${'44'.repeat(20)}`, hashCode(there.runtime as Hex));
  expect(twin?.twinOf).toEqual({ chainId: 369, address: addressOf(there) });
});

test('a Sourcify server is recognised and imported page by page, with its creation data', async () => {
  const db = await open();
  const contracts = world.slice(0, 60);
  const server = await serveSourcify(369, contracts);
  try {
    const fetch = createJsonFetch(`${server.url}/`, { pauseMs: 1 });
    expect([await isSourcifyServer(fetch, 369, never), await isBlockscoutServer(fetch, never)]).toEqual([
      true,
      false,
    ]);
    server.failNext(2);
    const outcome = await importAll(db, openSourcifyServer(fetch, 369));
    expect(outcome).toEqual({ found: 60, stored: 60, known: 0, broken: 0, finished: true, skipped: [] });
    const [contract] = contracts as [WorldContract];
    const [stored] = await db.reader.listOwn([{ chainId: 369, address: addressOf(contract) }]);
    expect(stored).toMatchObject({
      codeHash: hashCode(contract.runtime as Hex),
      deployment: { deployer: `0x${'de'.repeat(20)}`, transaction: `0x${'7e'.repeat(32)}`, block: 1_234_567 },
      contract: {
        verifiedAt: Date.parse('2024-05-06T07:08:09Z') / 1_000,
        constructorArguments: '0x0042',
        status: 'exact_match',
      },
    });
    const asked = server.asked.length;
    // A repeated import requests only new contracts from the server.
    expect(await importAll(db, openSourcifyServer(fetch, 369))).toMatchObject({ found: 0 });
    expect(server.asked.slice(asked)).toEqual(['/v2/contracts/369?sort=asc&limit=200&afterMatchId=1059']);
    expect(await importAll(db, openSourcifyServer(fetch, 943))).toMatchObject({ found: 0, finished: true });
  } finally {
    await server.close();
  }
});

test('an import that was stopped continues at its last position', async () => {
  const db = await open();
  const contracts = world.slice(0, 150);
  const server = await serveSourcify(369, contracts);
  try {
    const source = openSourcifyServer(createJsonFetch(server.url, { pauseMs: 1 }), 369);
    const stop = new AbortController();
    const stopping: ContractSource = {
      ...source,
      async *list(position, signal) {
        let listed = 0;
        for await (const found of source.list(position, signal)) {
          listed += 1;
          if (listed === 120) stop.abort(new Error('stopped'));
          yield found;
        }
      },
    };
    const first = await importAll(db, stopping, codes({}), stop.signal);
    expect(first).toMatchObject({ found: 100, stored: 100, finished: false });
    const rest = await importAll(db, source);
    expect(rest).toMatchObject({ found: 50, stored: 50, finished: true });
  } finally {
    await server.close();
  }
});

test('a Blockscout server is recognised and imported page by page', async () => {
  const db = await open();
  const contracts = world.slice(0, 55);
  const server = await serveBlockscout(contracts, 25);
  try {
    const fetch = createJsonFetch(server.url, { pauseMs: 1 });
    expect([await isSourcifyServer(fetch, 369, never), await isBlockscoutServer(fetch, never)]).toEqual([
      false,
      true,
    ]);
    expect(await importAll(db, openBlockscoutServer(fetch, 369))).toMatchObject({
      found: 55,
      stored: 55,
      broken: 0,
    });
    for (const contract of contracts.slice(0, 10)) {
      const found = await find(db, 369, addressOf(contract));
      const { name, path, abi, compilerVersion, optimization, runs, evmVersion } = toRecord(
        contract,
        369,
      ).contract;
      expect(found).toMatchObject({ name, path, abi, compilerVersion, optimization, runs, evmVersion });
      expect(found).toMatchObject({
        source: 'blockscout',
        license: 'GPL-3.0',
        constructorArguments: '0x0043',
      });
      expect(new Set((await db.reader.readSources(found!)).map((file) => file.content))).toEqual(
        new Set(Object.values(contract.input.sources).map((file) => file.content)),
      );
    }
  } finally {
    await server.close();
  }
});

test('a contract of chain 1 is imported for a fork of chain 1 if the code is the same, and the record names its origin', async () => {
  const db = await open();
  const [same, other, absent] = world as [WorldContract, WorldContract, WorldContract];
  const server = await serveSourcify(1, [same, other, absent]);
  try {
    const chain = codes({ 369: { ...runtimes([same]), [addressOf(other)]: same.runtime } });
    await importAll(db, openSourcifyServer(createJsonFetch(server.url, { pauseMs: 1 }), 1), chain);
    expect(await find(db, 369, addressOf(same))).toMatchObject({
      source: 'ancestor:1',
      twinOf: null,
      name: same.name,
    });
    expect(await find(db, 369, addressOf(other))).toBeNull();
    expect(await find(db, 369, addressOf(absent))).toBeNull();
    // No node of chain 943 was available at the import. A later lookup by code finds the contract.
    expect(await find(db, 943, addressOf(same), hashCode(same.runtime as Hex))).toMatchObject({
      name: same.name,
    });
    const fromOne = await find(db, 943, addressOf(absent), hashCode(absent.runtime as Hex));
    expect(fromOne).toMatchObject({
      source: 'ancestor:1',
      constructorArguments: '0x0042',
      twinOf: { chainId: 1 },
    });
  } finally {
    await server.close();
  }
});

test('without a node of chain 1, a contract is imported for its fork only if the code there has the compiled metadata hash', async () => {
  const db = await open();
  const root = await makeFolder();
  const hashed = world.filter((contract) => contract.runtime.includes('64697066735822')).slice(0, 3);
  const [proven, wrong, gone] = hashed as [WorldContract, WorldContract, WorldContract];
  writeRepository(
    root,
    1,
    hashed.map((contract): PlacedContract => ({ contract, chainId: 1, match: 'full_match' })),
  );
  const chain = codes({ 369: { ...runtimes([proven]), [addressOf(wrong)]: proven.runtime }, 943: {} });
  const outcome = await importAll(db, await openSourcifyFolder(root, [369, 943, 1]), chain);
  expect(outcome).toMatchObject({ found: 3, stored: 1, broken: 2 });
  expect(await find(db, 369, addressOf(proven))).toMatchObject({
    source: 'ancestor:1',
    status: 'exact_match',
  });
  for (const each of [wrong, gone]) expect(await find(db, 369, addressOf(each))).toBeNull();
});

test('the error for a folder that is not a repository of sources names the folder', async () => {
  const root = await makeFolder();
  await expect(openSourcifyFolder(root, [369])).rejects.toMatchObject({
    code: 'bad_config',
    message: expect.stringContaining(root),
  });
});
