/**
 * Verifies contracts over Sourcify's API with the whole program on a real chain, lists them in the formats of Sourcify
 * and Blockscout, and imports them into a second instance from both lists.
 */
import { getAddress } from 'ethers';

import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { createLog } from '../../../src/log';
import { startAnvil, type Anvil } from '../../../src/dev/node/anvil';
import { openDevRpc, type DevRpc } from '../../../src/dev/node/devRpc';
import type { Hex } from '../../../src/domain/hex';
import { openBlockscoutServer } from '../../../src/contracts/import/blockscoutServer';
import type { ContractSource } from '../../../src/contracts/import/foundContract';
import { createJsonFetch } from '../../../src/contracts/import/jsonFetch';
import { runImport } from '../../../src/contracts/import/runImport';
import { isSourcifyServer, openSourcifyServer } from '../../../src/contracts/import/sourcifyServer';
import { createVerifiedStore } from '../../../src/contracts/storeVerified';
import { openSourcesDatabase, type SourcesDatabase } from '../../support/engine/sourcesDatabase';
import { eventually } from '../../support/eventually';
import {
  createProgramHome,
  type ProgramHome,
  type RunningProgram,
} from '../../support/server/runningProgram';
import {
  compileSet,
  deploy,
  toRecord,
  type Deployed,
  type WorldContract,
} from '../../support/worlds/verifiedWorld';
import { fieldsFor, type Json } from '../../support/worlds/verifyCalls';
import { wholeOf } from './wholeContract';
import { TRICKY } from '../../support/worlds/worldSources';

// At the lowest priority the compiler takes minutes on a busy machine. This file does not test the priority.
jest.mock('../../../src/contracts/verify/compilers', () => {
  const actual = jest.requireActual<typeof import('../../../src/contracts/verify/compilers')>(
    '../../../src/contracts/verify/compilers',
  );
  const findCompilers: typeof actual.findCompilers = (bounds, root, others) =>
    actual.findCompilers({ ...bounds, niceness: 0 }, root, others);
  return { ...actual, findCompilers };
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const OWNER = `0x${'ab'.repeat(20)}`;
const NOBODY: Hex = `0x${'99'.repeat(20)}`;
const never = new AbortController().signal;
let node: Anvil;
let rpc: DevRpc;
let home: ProgramHome;
let program: RunningProgram;
let vault: WorldContract;
let deployed: Deployed[];
let second: SourcesDatabase;

beforeAll(async () => {
  node = await startAnvil({
    log: createLog('silent', false),
    chainId: 369,
    timestamp: 1_700_000_000,
    accounts: 3,
  });
  rpc = openDevRpc(node.url);
  vault = (await compileSet(TRICKY)).find(({ name }) => name === 'Immutable_Vault')!;
  deployed = [];
  for (const label of ['a', 'b', 'c'])
    deployed.push(await deploy(rpc, vault, [OWNER, label.charCodeAt(0), label]));
  // The code of this contract equals the code of the first one; only an argument differs.
  deployed.push(await deploy(rpc, vault, [OWNER, 'a'.charCodeAt(0), 'twin']));
  home = await createProgramHome();
  program = await home.start([node.url], { FINALITY_DEPTH: '2' });
  await program.untilBlock(4);
  second = await openSourcesDatabase();
});

afterAll(async () => {
  await second.close();
  await program.stop();
  await home.drop();
  await rpc.close();
  await node.stop();
});

interface Answer {
  readonly status: number;
  readonly json: Json;
}

async function ask(path: string, body?: unknown, text = JSON.stringify(body)): Promise<Answer> {
  const init =
    body === undefined ? {} : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: text };
  const answer = await fetch(program.url + path, init);
  return { status: answer.status, json: (await answer.json()) as Json };
}

const verify = (address: Hex, more: Json = {}, below = ''): Promise<Answer> =>
  ask(`/v2/verify/${below}369/${address}`, {
    stdJsonInput: vault.input,
    compilerVersion: vault.version,
    contractIdentifier: `${vault.path}:${vault.name}`,
    ...more,
  });

/** The final state of a job. */
async function finished({ json }: Answer): Promise<Json> {
  const path = `/v2/verify/${String(json['verificationId'])}`;
  const last = await eventually(
    () => ask(path),
    (each) => each.json['isJobCompleted'] === true,
  );
  return last.json;
}

test('a contract is verified from standard JSON, and its job reports each state of the verification', async () => {
  const { address } = deployed[0]!;
  const accepted = await verify(address, { compilerVersion: `v${vault.version}` });
  expect(accepted).toEqual({ status: 202, json: { verificationId: expect.stringMatching(UUID) } });
  const { verificationId } = accepted.json;
  const open = await ask(`/v2/verify/${String(verificationId)}`);
  expect(open).toEqual({
    status: 200,
    json: {
      isJobCompleted: false,
      verificationId,
      jobStartTime: expect.stringMatching(/Z$/),
      contract: {
        match: null,
        creationMatch: null,
        runtimeMatch: null,
        chainId: '369',
        address: getAddress(address),
      },
    },
  });
  const again = await verify(address);
  expect([again.status, again.json]).toEqual([
    429,
    {
      customCode: 'duplicate_verification_request',
      message: `Contract ${getAddress(address)} on chain 369 is already being verified`,
      errorId: expect.any(String),
    },
  ]);
  expect(await finished(accepted)).toEqual({
    isJobCompleted: true,
    verificationId,
    jobStartTime: open.json['jobStartTime'],
    jobFinishTime: expect.stringMatching(/Z$/),
    contract: {
      match: 'exact_match',
      creationMatch: 'exact_match',
      runtimeMatch: 'exact_match',
      chainId: '369',
      address: getAddress(address),
      verifiedAt: expect.stringMatching(/Z$/),
      matchId: expect.stringMatching(/^\d+$/),
    },
  });
  expect(await ask(`/v2/contract/369/${address}?fields=compilation.name`)).toMatchObject({
    status: 200,
    json: { match: 'exact_match', compilation: { name: vault.name } },
  });
  expect(await ask(`/v2/contract/369/${address}?fields=all`)).toMatchObject({ json: wholeOf(vault) });
  await eventually(
    () => verify(address),
    ({ status, json }) => status === 409 && json['customCode'] === 'already_verified',
  );
});

test('a contract is verified from metadata.json, and another contract with the same code by similarity', async () => {
  const { address } = deployed[1]!;
  const sources = Object.fromEntries(
    Object.entries(vault.input.sources).map(([path, { content }]) => [path, content]),
  );
  const body = { metadata: JSON.parse(vault.metadata) as unknown, sources };
  expect(await finished(await ask(`/v2/verify/metadata/369/${address}`, body))).toMatchObject({
    contract: { match: 'exact_match' },
  });
  const missing = await ask(`/v2/verify/metadata/369/${address}`, { ...body, sources: {} });
  expect(missing).toMatchObject({ status: 400, json: { customCode: 'invalid_parameter' } });

  const twin = deployed[3]!.address;
  await eventually(
    () => ask(`/v2/contract/369/${twin}`),
    ({ status }) => status === 200,
  );
  expect(await finished(await ask(`/v2/verify/similarity/369/${twin}`, {}))).toMatchObject({
    contract: { match: 'exact_match' },
  });
  const none = await finished(await ask(`/v2/verify/similarity/369/${deployed[2]!.address}`, {}));
  expect(none).toMatchObject({ error: { customCode: 'no_similar_match_found' } });
});

test.each([
  ['no_match', { contractIdentifier: 'contracts/Tricky.sol:Sum_Library' }, 'bytecode_length_mismatch'],
  [
    'a missing contract',
    { contractIdentifier: 'contracts/Tricky.sol:Nothing' },
    'contract_not_found_in_compiler_output',
  ],
  ['a missing compiler', { compilerVersion: '0.4.26+commit.4563c3fc' }, 'invalid_compiler_version'],
  [
    'sources that do not compile',
    {
      stdJsonInput: {
        language: 'Solidity',
        sources: { 'contracts/Tricky.sol': { content: 'contract A {' } },
      },
    },
    'compiler_error',
  ],
] as [string, Json, string][])('a job fails with the code of Sourcify: %s', async (_, more, customCode) => {
  const job = await finished(await verify(deployed[2]!.address, more));
  expect(job).toMatchObject({
    isJobCompleted: true,
    contract: { match: null },
    error: { customCode, message: expect.any(String), errorId: expect.any(String) },
  });
});

test('an address without code fails with contract_not_deployed', async () => {
  expect((await finished(await verify(NOBODY)))['error']).toMatchObject({
    customCode: 'contract_not_deployed',
    message: `Chain #369 does not have a contract deployed at ${getAddress(NOBODY)}.`,
  });
});

test('invalid requests are refused in the format of Sourcify', async () => {
  const good = deployed[2]!.address;
  const expectRefusal = ({ status, json }: Answer, wanted: readonly [number, string]): void => {
    expect([status, json['customCode']]).toEqual(wanted);
    expect(json).toEqual({
      customCode: expect.any(String),
      message: expect.any(String),
      errorId: expect.any(String),
    });
  };
  const cases: [Promise<Answer>, number, string][] = [
    [verify(good, { stdJsonInput: undefined }), 400, 'invalid_parameter'],
    [verify(good, { stdJsonInput: { language: 'Solidity' } }), 400, 'invalid_parameter'],
    [verify(good, { stdJsonInput: { language: 'Vyper', sources: {} } }), 400, 'unsupported_language'],
    [
      verify(good, { stdJsonInput: { language: 'Solidity', sources: { a: { urls: [] } } } }),
      400,
      'invalid_parameter',
    ],
    [verify(good, { contractIdentifier: 'Vault' }), 400, 'invalid_parameter'],
    [verify(good, { compilerVersion: 'latest' }), 400, 'invalid_parameter'],
    [verify(good, { creationTransactionHash: '0x12' }), 400, 'invalid_parameter'],
    [verify('0x12'), 400, 'invalid_parameter'],
    [ask(`/v2/verify/369/${good}`, {}, '{"a":'), 400, 'invalid_json'],
    [ask(`/v2/verify/369/${good}`, {}, '[1]'), 400, 'invalid_parameter'],
    [ask(`/v2/verify/369/${good}`, {}, `{"a":${'['.repeat(40)}${']'.repeat(40)}}`), 400, 'invalid_parameter'],
    [ask(`/v2/verify/369/${good}`, {}, `{"a":"${'x'.repeat(6 * 2 ** 20)}"}`), 400, 'invalid_parameter'],
    [ask(`/v2/verify/1/${good}`, {}), 400, 'unsupported_chain'],
    [ask(`/v2/verify/369/${good}`), 405, 'method_not_allowed'],
    [ask('/v2/verify/123e4567-e89b-42d3-a456-426614174000'), 404, 'job_not_found'],
    [ask('/v2/verify/etherscan/369/0x12/more', {}), 405, 'method_not_allowed'],
    [ask('/v2/contracts/1'), 400, 'unsupported_chain'],
    [ask('/v2/contracts/369?limit=201'), 400, 'invalid_parameter'],
    [ask('/v2/contracts/369?sort=up'), 400, 'invalid_parameter'],
    [ask('/v2/contracts/369?afterMatchId=x'), 400, 'invalid_parameter'],
  ];
  for (const [answer, status, code] of cases) expectRefusal(await answer, [status, code]);
});

test("verifying a verified contract again is refused in Blockscout's words to a Blockscout client, in Etherscan's to others", async () => {
  const { address } = deployed[0]!;
  const post = async (more: Record<string, string>): Promise<unknown> => {
    const { apikey, ...fields } = { ...fieldsFor(vault, address), ...more };
    const answer = await fetch(`${program.url}/api`, { method: 'POST', body: new URLSearchParams(fields) });
    return ((await answer.json()) as Json)['result'];
  };
  expect(await post({ constructorArguments: '' })).toBe('Smart-contract already verified.');
  const etherscan = 'Contract source code already verified';
  expect(await post({ constructorArguements: '' })).toBe(etherscan);
  expect(await post({ constructorArguments: '', chainid: '369' })).toBe(etherscan);
});

const extraAddress = (index: number): Hex => `0x${(index + 0x1000).toString(16).padStart(40, '0')}`;

/** Stores 52 more verified contracts. */
async function storeMany(): Promise<void> {
  const store = createVerifiedStore(home.database, createQueryRunner(home.database));
  const addresses = Array.from({ length: 52 }, (_, index) => extraAddress(index));
  await store.store(
    addresses.map((address, index) => {
      const record = toRecord(vault, 369, address);
      const facts = {
        name: `Vault_${index}`,
        constructorArguments: '0x0042' as const,
        libraries: { 'a.sol:L': OWNER as Hex },
      };
      return { ...record, contract: { ...record.contract, ...facts } };
    }),
  );
}

/** Imports everything into the second instance. Returns the verified names by address. */
async function importInto(db: SourcesDatabase, source: ContractSource): Promise<Map<string, string>> {
  const skipped: string[] = [];
  await runImport(
    {
      database: db.writer,
      runner: createQueryRunner(db.writer),
      chain: {
        knows: () => false,
        getCode: () => Promise.resolve(null),
        listCodes: () => Promise.resolve([]),
        findCreationCode: () => Promise.resolve(null),
        findRecentCreation: () => Promise.resolve(null),
      },
      descendants: [369, 943],
      progress: () => undefined,
      skipped: ({ address }, reason) => skipped.push(`${address} ${reason}`),
    },
    source,
    never,
  );
  expect(skipped).toEqual([]);
  const names = new Map<string, string>();
  for await (const { address } of source.list(null, never)) {
    const found = await db.reader.find({ chainId: 369, address }, null);
    names.set(address, found?.name ?? '');
  }
  return names;
}

test("a second instance imports all contracts over Sourcify's list and over Blockscout's, with sources, settings and arguments", async () => {
  await storeMany();
  const fetch = createJsonFetch(program.url);
  expect(await isSourcifyServer(fetch, 369, never)).toBe(true);
  const names = await importInto(second, openSourcifyServer(fetch, 369));
  expect(names.size).toBe(55);
  expect([...names.values()].filter((name) => /^Vault_\d+$/.test(name))).toHaveLength(52);
  const reader = async (db: SourcesDatabase, address: Hex) => {
    const found = (await db.reader.find({ chainId: 369, address }, null))!;
    const { source, matchId, verifiedAt, settings, ...facts } = found;
    return {
      ...facts,
      settings: JSON.parse(settings) as unknown,
      sources: await db.reader.readSources(found),
    };
  };
  const record = toRecord(vault, 369, extraAddress(0));
  const { contract, sources } = record;
  const { source, verifiedAt, settings, ...facts } = contract;
  const wanted = {
    ...facts,
    name: 'Vault_0',
    constructorArguments: '0x0042',
    libraries: { 'a.sol:L': OWNER },
    settings: JSON.parse(settings) as unknown,
    twinOf: null,
  };
  expect(await reader(second, contract.address)).toMatchObject(wanted);
  expect((await reader(second, contract.address)).sources).toEqual(
    sources.map(({ path, content }) => ({ path, content })),
  );

  const third = await openSourcesDatabase();
  try {
    const below = createJsonFetch(`${program.url}/369`);
    const over = await importInto(third, openBlockscoutServer(below, 369));
    expect(over).toEqual(names);
    const { libraries, ...rest } = wanted;
    expect(await reader(third, contract.address)).toMatchObject({ ...rest, libraries: { L: OWNER } });
  } finally {
    await third.close();
  }
});

test('the lists of verified contracts have pages in both orders, and can be filtered', async () => {
  const page = async (query: string) =>
    (await ask(`/v2/contracts/369?${query}`)).json['results'] as { matchId: string; address: string }[];
  const all: string[] = [];
  for (
    let after = '', rows = await page('sort=asc&limit=25');
    rows.length > 0;
    rows = await page(`sort=asc&limit=25&afterMatchId=${after}`)
  ) {
    expect(rows.length).toBeLessThanOrEqual(25);
    all.push(...rows.map(({ address }) => address));
    after = rows.at(-1)!.matchId;
  }
  expect(new Set(all).size).toBe(55);
  expect((await page('')).map(({ address }) => address)).toEqual(all.toReversed());
  const { json } = await ask('/api/v2/smart-contracts?q=vault_4');
  expect(json).toMatchObject({ next_page_params: null });
  expect(
    (json['items'] as { address: { name: string } }[]).map(({ address }) => address.name).sort(),
  ).toEqual([4, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49].map((index) => `Vault_${index}`));
  expect((await ask('/api/v2/smart-contracts?filter=vyper')).json).toEqual({
    items: [],
    next_page_params: null,
  });
  expect((await ask('/api/v2/smart-contracts?filter=cobol')).status).toBe(422);
});
