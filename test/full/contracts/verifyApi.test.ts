/**
 * Tests verification over the Etherscan dialect, with the whole program on two real chains: submitted,
 * compiled, stored and shown everywhere.
 */
import { getAddress } from 'ethers';

import { startAnvil, type Anvil } from '../../../src/dev/node/anvil';
import { openDevRpc, type DevRpc } from '../../../src/dev/node/devRpc';
import { runAll } from '../../../src/commands/runAll';
import { loadConfig } from '../../../src/config';
import type { Hex } from '../../../src/domain/hex';
import { createLog } from '../../../src/log';
import { askRows } from '../../support/engine/askRows';
import {
  createProgramHome,
  type ProgramHome,
  type RunningProgram,
} from '../../support/server/runningProgram';
import { compileSet, deploy, type Deployed, type WorldContract } from '../../support/worlds/verifiedWorld';
import {
  createVerifyCalls,
  fieldsFor,
  statusOf,
  type Fields,
  type Json,
} from '../../support/worlds/verifyCalls';
import { TRICKY } from '../../support/worlds/worldSources';
import { until as untilTrue } from '../../support/eventually';

// At the lowest priority the compiler takes minutes on a busy machine. This file does not test the priority.
jest.mock('../../../src/contracts/verify/compilers', () => {
  const actual = jest.requireActual<typeof import('../../../src/contracts/verify/compilers')>(
    '../../../src/contracts/verify/compilers',
  );
  const findCompilers: typeof actual.findCompilers = (bounds, root, others) =>
    actual.findCompilers({ ...bounds, niceness: 0 }, root, others);
  return { ...actual, findCompilers };
});

const log = createLog('silent', false);
const OWNER = `0x${'ab'.repeat(20)}`;
const NOBODY: Hex = `0x${'99'.repeat(20)}`;
/**
 * Constructor arguments of the contract. The argument `cap` is an immutable, so contracts with different caps have
 * different code.
 */
const vaultValues = (cap: number): unknown[] => [OWNER, cap, 'the label'];
let chains: { node: Anvil; rpc: DevRpc }[];
let home: ProgramHome;
let program: RunningProgram;
let tricky: Map<string, WorldContract>;
let deployed: Deployed[];
let library: Deployed;
let twin: Deployed;

const notOk = (result: unknown) => ({ status: '0', message: 'NOTOK', result });
const vault = (): WorldContract => tricky.get('Immutable_Vault')!;

beforeAll(async () => {
  chains = await Promise.all(
    [369, 943].map(async (chainId) => {
      const node = await startAnvil({ log, chainId, timestamp: 1_700_000_000, accounts: 3 });
      return { node, rpc: openDevRpc(node.url) };
    }),
  );
  tricky = new Map((await compileSet(TRICKY)).map((each) => [each.name, each]));
  const { rpc } = chains[0]!;
  deployed = [];
  for (let index = 0; index < 6; index += 1) deployed.push(await deploy(rpc, vault(), vaultValues(index)));
  library = await deploy(rpc, tricky.get('Vault_Maker')!);
  await chains[1]!.rpc.call('evm_mine');
  // Constructor arguments that are not immutable appear only in the creation transaction.
  twin = await deploy(chains[1]!.rpc, vault(), [OWNER, 0, 'a twin']);
  home = await createProgramHome();
  program = await home.start([chains[0]!.node.url], {
    RPC_URL_943: chains[1]!.node.url,
    FINALITY_DEPTH: '4',
  });
  await program.untilBlock(7);
});

afterAll(async () => {
  await program.stop();
  await home.database.command('drop', `DROP DATABASE IF EXISTS ${await nameOfDatabase()}_943 SYNC`);
  await home.drop();
  for (const { node, rpc } of chains) {
    await rpc.close();
    await node.stop();
  }
});

async function nameOfDatabase(): Promise<string> {
  const sql = 'SELECT currentDatabase() AS name';
  const [row] = await askRows<{ name: string }>(home.database, sql);
  return row!.name;
}

const { post, get, until, finished } = createVerifyCalls(() => program.url);

const sourceOf = async (path: string, address: Hex): Promise<Json> =>
  ((await get(`${path}?module=contract&action=getsourcecode&address=${address}`))['result'] as Json[])[0]!;

const recordOf = (address: Hex, chainId: number): Promise<Json> =>
  get(`/api/v1/contracts/${address}?chainId=${chainId}`);

test('submitted sources are compiled, compared and shown in every answer, also for contracts with the same code on the other chain', async () => {
  const { address, constructorArguments } = deployed[0]!;
  // A background task reads the code of the second contract from the node. Then the contract is recognised by
  // its code.
  await until(`/api/v1/contracts/${address}`, ({ data }) => (data as Json)?.['code_hash'] != null);
  await until(
    `/api/v1/contracts/${twin.address}?chainId=943`,
    ({ data }) => (data as Json)?.['code_hash'] != null,
  );
  const fields = fieldsFor(vault(), address, { constructorArguements: constructorArguments.slice(2) });
  const handedIn = await post(fields);
  expect(handedIn).toEqual({ status: '1', message: 'OK', result: expect.stringMatching(/^[0-9a-f]{50}$/) });
  expect(await get(statusOf(handedIn['result']))).toEqual(notOk('Pending in queue'));
  expect(await finished(handedIn['result'])).toEqual({
    status: '1',
    message: 'OK',
    result: 'Pass - Verified',
  });
  await until(
    `/api?module=contract&action=getabi&address=${address}`,
    ({ result }) => result === JSON.stringify(vault().abi),
  );
  expect(await sourceOf('/369/api', address)).toMatchObject({
    SourceCode: vault().input.sources['contracts/Tricky.sol']!.content,
    ContractName: 'Immutable_Vault',
    CompilerVersion: `v${vault().version}`,
    OptimizationUsed: '1',
    ConstructorArguments: constructorArguments.slice(2),
    EVMVersion: 'shanghai',
    SimilarMatch: '',
  });
  expect(await recordOf(address, 369)).toMatchObject({
    data: {
      name: 'Immutable_Vault',
      verified: true,
      verification: { status: 'exact_match', source: 'local' },
      constructor_args: constructorArguments,
    },
  });
  expect(await recordOf(twin.address, 943)).toMatchObject({
    data: {
      name: 'Immutable_Vault',
      verification: { status: 'exact_match', source: 'twin', twin_of: { chain_id: 369, address } },
    },
  });
  expect(await sourceOf('/943/api', twin.address)).toMatchObject({
    ContractName: 'Immutable_Vault',
    SimilarMatch: address,
  });
  // The arguments are read from the nodes in the background, without delaying an answer.
  await until(
    `/api/v1/contracts/${twin.address}?chainId=943`,
    ({ data }) => (data as Json)['constructor_args'] === twin.constructorArguments,
  );
  expect((await sourceOf('/943/api', twin.address))['ConstructorArguments']).toBe(
    twin.constructorArguments.slice(2),
  );
  expect(await post(fields)).toEqual(notOk('Contract source code already verified'));
});

test('verification accepts a JSON body, sources in double braces, and the correct spelling constructorArguments', async () => {
  const { address, constructorArguments } = deployed[1]!;
  const { module, action, apikey, ...rest } = fieldsFor(vault(), address, {
    sourceCode: `{${JSON.stringify(vault().input)}}`,
    constructorArguments,
  });
  const answer = await fetch(
    `${program.url}/v2/api?module=${module}&action=${action}&apikey=${apikey}&chainid=369`,
    {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(rest),
    },
  );
  const { result } = (await answer.json()) as Json;
  expect(await finished(result)).toMatchObject({ result: 'Pass - Verified' });
});

test('a contract of one file is verified with its compiler settings', async () => {
  const { address } = deployed[2]!;
  const { result } = await post(
    fieldsFor(vault(), address, {
      codeformat: 'solidity-single-file',
      sourceCode: vault().input.sources['contracts/Tricky.sol']!.content,
      contractname: 'Immutable_Vault',
      optimizationUsed: '1',
      runs: '200',
      evmversion: 'shanghai',
      licenseType: '5',
    }),
  );
  expect(await finished(result)).toMatchObject({ result: 'Pass - Verified' });
  expect(await recordOf(address, 369)).toMatchObject({
    data: { name: 'Immutable_Vault', verification: { status: 'match' }, license: 'GPL-3.0' },
  });
});

test('a new contract is verified only with its right constructor arguments, which are stored', async () => {
  const { address, constructorArguments } = await deploy(chains[0]!.rpc, vault(), vaultValues(77));
  const handIn = async (told: string): Promise<Json> =>
    finished((await post(fieldsFor(vault(), address, { constructorArguements: told })))['result']);
  const right = constructorArguments.slice(2);
  expect(await handIn(right.replace('ab', 'cd'))).toMatchObject({ result: 'Fail - Unable to verify' });
  expect(await handIn(right)).toMatchObject({ result: 'Pass - Verified' });
  expect((await sourceOf('/api', address))['ConstructorArguments']).toBe(right);
});

test('a contract of one file with a library is verified only with the true library address, which is listed once', async () => {
  const name = 'contracts/Tricky.sol:Sum_Library';
  const { rpc } = chains[0]!;
  const sum = (await deploy(rpc, tricky.get('Sum_Library')!)).address;
  const { address } = await deploy(rpc, tricky.get('Linked')!, [], { [name]: sum });
  const handIn = async (libraryaddress1: Hex): Promise<Json> => {
    const fields = fieldsFor(tricky.get('Linked')!, address, {
      codeformat: 'solidity-single-file',
      sourceCode: vault().input.sources['contracts/Tricky.sol']!.content,
      optimizationUsed: '1',
      evmversion: 'shanghai',
      libraryname1: 'Sum_Library',
      libraryaddress1,
    });
    return finished((await post(fields))['result']);
  };
  expect(await handIn(NOBODY)).toMatchObject({ result: 'Fail - Unable to verify' });
  expect(await handIn(sum)).toMatchObject({ result: 'Pass - Verified' });
  expect((await sourceOf('/api', address))['Library']).toBe(`Sum_Library:${sum.slice(2)}`);
  expect(await get(`/api/v2/smart-contracts/${address}`)).toMatchObject({
    external_libraries: [{ name: 'Sum_Library', address_hash: getAddress(sum) }],
  });
});

test.each([
  [
    'changed source',
    (fields: Fields) => ({
      ...fields,
      sourceCode: fields['sourceCode']!.replace('used > cap ? 0', 'used > cap ? 1'),
    }),
    /runtime code/,
  ],
])(
  'a failed verification has the literal text that clients expect, and a reason: %s',
  async (_, change, reason) => {
    const { address } = deployed[3]!;
    const { result } = await post(change(fieldsFor(vault(), address)));
    expect(await finished(result)).toEqual({
      ...notOk('Fail - Unable to verify'),
      reason: expect.stringMatching(reason),
    });
    expect((await sourceOf('/api', address))['SourceCode']).toBe('');
  },
);

test('repeated verification requests share one ticket while they wait', async () => {
  const fields = fieldsFor(vault(), deployed[4]!.address);
  const tickets = await Promise.all([post(fields), post(fields), post({ ...fields, apikey: 'other' })]);
  expect(new Set(tickets.map(({ result }) => result)).size).toBe(1);
  expect(await finished(tickets[0]!['result'])).toMatchObject({ result: 'Pass - Verified' });
});

test.each([
  ['no address', { contractaddress: '' }, 'Error! Missing address'],
  ['a bad address', { contractaddress: '0x12' }, 'Error! Invalid address format'],
  ['an address without code', { contractaddress: NOBODY }, `Unable to locate ContractCode at ${NOBODY}`],
  ['no source', { sourceCode: '' }, 'Error! Missing sourceCode'],
  ['invalid JSON', { sourceCode: '{"language":' }, 'Error! Invalid sourceCode format'],
  ['no name', { contractname: '' }, 'Error! Missing contractname'],
  [
    'control characters in the name',
    { contractname: 'a\r\n__exception__.sol:A' },
    'Error! Invalid contractname format',
  ],
  [
    'control characters in a path',
    { sourceCode: '{"language":"Solidity","sources":{"\\r\\n__exception__":{"content":""}}}' },
    /path of a source file contains control characters/,
  ],
  ['no compiler', { compilerversion: '' }, 'Error! Missing compilerversion'],
  ['a bad compiler', { compilerversion: 'latest' }, 'Error! Invalid compilerversion format'],
  ['a bad format', { codeformat: 'solidity' }, 'Error! Invalid codeformat format'],
  ['bad arguments', { constructorArguements: 'xyz' }, 'Error! Invalid constructorArguements format'],
  ['a bad licence', { licenseType: '99' }, 'Error! Invalid licenseType format'],
  ['bad runs', { codeformat: 'solidity-single-file', runs: 'many' }, 'Error! Invalid runs format'],
  [
    'a bad flag',
    { codeformat: 'solidity-single-file', optimizationUsed: 'no' },
    'Error! Invalid optimizationUsed format',
  ],
  ['an unsupported chain', { chainid: '1' }, /^Missing or unsupported chainid/],
  [
    'a compiler that is not installed',
    { compilerversion: 'v0.4.26+commit.4563c3fc' },
    /solc version v0\.4\.26.*; installed here: 0\.8\.37, /,
  ],
  [
    'Vyper',
    { codeformat: 'vyper-json', compilerversion: 'vyper:0.3.10' },
    /^Vyper contracts cannot be verified here/,
  ],
] as [string, Fields, string | RegExp][])(
  'verifysourcecode refuses a request at once: %s',
  async (_, more, text) => {
    const fields = { ...fieldsFor(vault(), library.address), ...more };
    const expected = typeof text === 'string' ? text : expect.stringMatching(text);
    expect(await post(fields)).toEqual(notOk(expected));
  },
);

test('a body of 6 MB is refused with an answer that the client reads, while other requests are served', async () => {
  const fields = fieldsFor(vault(), library.address, { sourceCode: 'a'.repeat(6 * 1_048_576) });
  const [large, small] = await Promise.all([post(fields), get(statusOf('0'.repeat(50)))]);
  expect(large).toEqual(notOk('Error! The request body is larger than 5 MB'));
  expect(small).toEqual(notOk('Unknown UID'));
  // The client reads the answer although it is still sending when the answer arrives.
  for (const megabytes of [5.5, 12, 20]) {
    const sourceCode = 'a'.repeat(megabytes * 1_048_576);
    expect(await post({ ...fields, sourceCode })).toEqual(large);
  }
});

// This test submits last, because its verifications stay open.
test('a client address may have two open verifications, and a third is refused with the reason', async () => {
  const { address } = deployed[5]!;
  const withComment = (comment: string): Fields => {
    const fields = fieldsFor(vault(), address);
    const sourceCode = fields['sourceCode']!.replace('// SPDX', `// ${comment}\\n// SPDX`);
    expect(sourceCode).not.toBe(fields['sourceCode']);
    return { ...fields, sourceCode };
  };
  const answers = await Promise.all(['one', 'two', 'three'].map((comment) => post(withComment(comment))));
  const refused = answers.filter(({ status }) => status === '0');
  expect(refused).toEqual([
    notOk('Too many open verifications: a client address may have 2; retry after one has ended'),
  ]);
  const open = answers.filter(({ status }) => status === '1');
  expect(open).toHaveLength(2);
  await Promise.race(open.map(({ result }) => finished(result)));
  expect(await post(withComment('three'))).toMatchObject({ status: '1' });
});

test('a read-only API starts, and refuses verification with the reason', async () => {
  const readerUrl = new URL(process.env['CANDLEHOUSE_TEST_READER_URL']!);
  readerUrl.pathname = `/${await nameOfDatabase()}`;
  const stop = new AbortController();
  const config = loadConfig(
    {
      PORT: '0',
      SHED_LOOP_DELAY_MS: '0',
      CLICKHOUSE_URL: readerUrl.toString(),
      RPC_URL: chains[0]!.node.url,
    },
    () => '',
  );
  let running: Promise<void> = Promise.resolve();
  const url = await new Promise<string>((resolve, reject) => {
    const onReady = (api: { readonly url: string } | null): void => resolve(api?.url ?? '');
    running = runAll(config, log, stop.signal, { api: true, ingest: false, onReady });
    running.catch(reject);
  });
  try {
    const body = new URLSearchParams(fieldsFor(vault(), library.address));
    const ask = async (): Promise<unknown> => {
      const answer = await fetch(`${url}/api`, { method: 'POST', body });
      return ((await answer.json()) as Json)['result'];
    };
    // Until the API has read the head, it refuses every verification as busy.
    await untilTrue(async () => /^This service does not verify contracts/.test(String(await ask())));
    await expect(runAll(config, log, stop.signal, { api: false, ingest: true })).rejects.toMatchObject({
      code: 'bad_config',
      message: expect.stringMatching(/may only read/),
    });
  } finally {
    stop.abort();
    await running;
  }
});
