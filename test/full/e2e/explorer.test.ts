/**
 * The explorer over two real chains: proxies of every kind with upgrades, and logs decoded with the
 * implementation at that time. Also contracts with creation and code, and contracts with the same code on the
 * other chain.
 */

import { AbiCoder, Interface, keccak256 } from 'ethers';

import { startAnvil, type Anvil } from '../../../src/dev/node/anvil';
import { field, openDevRpc, type DevRpc } from '../../../src/dev/node/devRpc';
import type { Database } from '../../../src/clickhouse/client/database';
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import type { Hex } from '../../../src/domain/hex';
import { createLog } from '../../../src/log';
import { createVerifiedStore } from '../../../src/contracts/storeVerified';
import type { Json } from '../../support/server/apiServer';
import { askRows } from '../../support/engine/askRows';
import { PROXY_SOURCES } from '../../support/node/proxyContracts';
import {
  createProgramHome,
  type ProgramHome,
  type RunningProgram,
} from '../../support/server/runningProgram';
import { compileSet, deploy, toRecord, type WorldContract } from '../../support/worlds/verifiedWorld';
import { eventually } from '../../support/eventually';

interface Proxy {
  readonly name: string;
  readonly kind: string;
  readonly address: Hex;
  readonly creation: Hex;
  /** Upgrades the proxy to V2; null if the proxy cannot be upgraded. */
  readonly upgrade: (() => Promise<unknown>) | null;
}

const STORE = new Interface(['function store(uint256)']);
const log = createLog('silent', false);
let chains: { node: Anvil; rpc: DevRpc }[];
let home: ProgramHome;
let program: RunningProgram;
let contracts: Map<string, WorldContract>;
let accounts: Hex[];
let v1: Hex;
let v2: Hex;
let twin: Hex;
let proxies: Proxy[];

const main = (): DevRpc => chains[0]!.rpc;

async function send(rpc: DevRpc, from: Hex, to: Hex, data: string): Promise<void> {
  const hash = await rpc.call('eth_sendTransaction', [{ from, to, data, gas: '0x1e8480' }]);
  await rpc.call('evm_mine');
  expect(field(await rpc.call('eth_getTransactionReceipt', [hash]), 'status')).toBe('0x1');
}

async function nameOf(database: Database): Promise<string> {
  const [row] = await askRows<{ name: string }>(database, 'SELECT currentDatabase() AS name');
  return row!.name;
}

/** Deploys a contract from an npm artifact. */
async function deployArtifact(name: string, types: string[], values: unknown[]): Promise<Hex> {
  const { bytecode } = require(`@openzeppelin/contracts/build/contracts/${name}.json`) as {
    bytecode: string;
  };
  const data = bytecode + AbiCoder.defaultAbiCoder().encode(types, values).slice(2);
  return deployCode(data);
}

async function deployCode(data: string): Promise<Hex> {
  const hash = await main().call('eth_sendTransaction', [{ from: accounts[1], data, gas: '0x7a1200' }]);
  await main().call('evm_mine');
  const receipt = await main().call('eth_getTransactionReceipt', [hash]);
  expect(field(receipt, 'status')).toBe('0x1');
  return field(receipt, 'contractAddress') as Hex;
}

const named = (name: string): WorldContract => contracts.get(name)!;

async function deployProxies(): Promise<Proxy[]> {
  const upgradeTo = new Interface(['function upgradeTo(address)']).encodeFunctionData('upgradeTo', [v2]);
  const cutter = new Interface(['function cut(address,uint8,bytes4[])']);
  const selector = STORE.getFunction('store')!.selector;
  const [admin] = accounts;
  const transparent = await deployArtifact(
    'TransparentUpgradeableProxy',
    ['address', 'address', 'bytes'],
    [v1, admin, '0x'],
  );
  const beacon = await deployArtifact('UpgradeableBeacon', ['address'], [v1]);
  const beaconProxy = await deployArtifact('BeaconProxy', ['address', 'bytes'], [beacon, '0x']);
  const clone = await deployCode(
    `0x3d602d80600a3d3981f3363d3d373d3d3d363d73${v1.slice(2)}5af43d82803e903d91602b57fd5bf3`,
  );
  const legacy = await deploy(main(), named('LegacyProxy'), [v1]);
  const proxiable = await deploy(main(), named('Proxiable'), [v1]);
  const diamond = await deploy(main(), named('Diamond'));
  const cut = (target: Hex, action: number): Promise<void> =>
    send(main(), admin!, diamond.address, cutter.encodeFunctionData('cut', [target, action, [selector]]));
  await cut(v1, 0);
  const creator = accounts[1]!;
  return [
    {
      name: 'transparent',
      kind: 'eip1967',
      address: transparent,
      creation: creator,
      upgrade: () => send(main(), admin!, transparent, upgradeTo),
    },
    {
      name: 'beacon proxy',
      kind: 'eip1967_beacon',
      address: beaconProxy,
      creation: creator,
      upgrade: () => send(main(), creator, beacon, upgradeTo),
    },
    { name: 'clone', kind: 'eip1167', address: clone, creation: creator, upgrade: null },
    {
      name: 'legacy, not indexed',
      kind: 'openzeppelin_legacy',
      address: legacy.address,
      creation: admin!,
      upgrade: () => send(main(), admin!, legacy.address, upgradeTo),
    },
    { name: 'proxiable', kind: 'eip1822', address: proxiable.address, creation: admin!, upgrade: null },
    {
      name: 'diamond',
      kind: 'eip2535',
      address: diamond.address,
      creation: admin!,
      upgrade: () => cut(v2, 1),
    },
  ];
}

async function get(path: string): Promise<{ status: number; headers: Headers; json: Json }> {
  const answer = await fetch(`${program.url}/api/v1${path}`);
  return { status: answer.status, headers: answer.headers, json: (await answer.json()) as Json };
}

/** Polls until the answer satisfies `wanted`. */
const until = (path: string, wanted: (json: Json) => boolean): Promise<Json> =>
  eventually(async () => (await get(path)).json, wanted);

beforeAll(async () => {
  chains = await Promise.all(
    [369, 943].map(async (chainId) => {
      const node = await startAnvil({ log, chainId, timestamp: 1_700_000_000, accounts: 3 });
      return { node, rpc: openDevRpc(node.url) };
    }),
  );
  contracts = new Map((await compileSet(PROXY_SOURCES)).map((one) => [one.name, one]));
  accounts = (await main().call('eth_accounts')) as Hex[];
  v1 = (await deploy(main(), named('StoreV1'))).address;
  v2 = (await deploy(main(), named('StoreV2'))).address;
  proxies = await deployProxies();
  for (const { address } of proxies)
    await send(main(), accounts[2]!, address, STORE.encodeFunctionData('store', [1]));
  for (const { upgrade } of proxies) await upgrade?.();
  for (const { address } of proxies)
    await send(main(), accounts[2]!, address, STORE.encodeFunctionData('store', [2]));
  // The contract with the same code on the other chain, at another address.
  await chains[1]!.rpc.call('evm_mine');
  twin = (await deploy(chains[1]!.rpc, named('StoreV1'))).address;
  await send(chains[1]!.rpc, accounts[2]!, twin, STORE.encodeFunctionData('store', [7]));

  home = await createProgramHome();
  program = await home.start([chains[0]!.node.url], {
    RPC_URL_943: chains[1]!.node.url,
    FINALITY_DEPTH: '4',
  });
  const store = createVerifiedStore(home.database, createQueryRunner(home.database));
  const record = (name: string, address: Hex) => toRecord(named(name), 369, address);
  await store.store([record('StoreV1', v1), record('StoreV2', v2)]);
});

afterAll(async () => {
  await program.stop();
  const name = await nameOf(home.database);
  await home.database.command('drop', `DROP DATABASE IF EXISTS ${name}_943 SYNC`);
  await home.drop();
  for (const { node, rpc } of chains) {
    await rpc.close();
    await node.stop();
  }
});

test('both chains are indexed to their heads, and each answer names the head of its chain', async () => {
  for (const [index, chainId] of [369, 943].entries()) {
    const head = Number(await chains[index]!.rpc.call('eth_blockNumber'));
    await until(`/logs?chainId=${chainId}`, () => true);
    const read = async (): Promise<string | null> =>
      (await get(`/logs?chainId=${chainId}`)).headers.get('x-indexed-block');
    await eventually(read, (block) => block === String(head));
  }
  const { status } = await get(`/contracts/${proxies[0]!.address}?chainId=943`);
  expect(status).toBe(404);
});

test('logs of proxies are decoded with the implementation at the time of each log', async () => {
  // The record of a contract may come from the node. Logs and lists need stored data, so the test waits for
  // them.
  await until('/contracts?type=proxy', ({ data }) => data?.length === proxies.length);
  for (const { name, address, kind, upgrade } of proxies) {
    const { json } = await get(`/contracts/${address}/events?event=Stored&order=asc`);
    const said = (json['data'] as unknown as { decoded: { args: { name: string; value: string }[] } }[]).map(
      ({ decoded }) => decoded.args.map((arg) => [arg.name, arg.value]),
    );
    const first = [
      ['who', accounts[2]],
      ['oldName', '1'],
    ];
    const later = [
      ['who', accounts[2]],
      [upgrade === null ? 'oldName' : 'newName', '2'],
    ];
    expect({ name, said }).toEqual({ name, said: [first, later] });
    // The event is given by its canonical signature, and by Solidity's short form.
    for (const event of ['Stored(address,uint256)', 'Stored(address,uint)'])
      expect((await get(`/contracts/${address}/events?event=${event}&order=asc`)).json).toEqual(json);
    const { json: record } = await get(`/contracts/${address}`);
    expect({ name, proxy: record['data']!['proxy'] }).toEqual({
      name,
      proxy: { kind, implementation: upgrade === null ? v1 : v2 },
    });
  }
});

test('the record of a contract has the code, creator, creation, and first and last log that the node reports', async () => {
  for (const { address, creation } of proxies) {
    const code = String(await main().call('eth_getCode', [address, 'latest']));
    const logs = (await main().call('eth_getLogs', [{ address, fromBlock: '0x0' }])) as {
      blockNumber: string;
    }[];
    const { json } = await get(`/contracts/${address}`);
    const data = json['data'] as unknown as Record<string, unknown>;
    const receipt = await main().call('eth_getTransactionReceipt', [data['creation_tx']]);
    expect(String(field(receipt, 'contractAddress'))).toBe(address);
    expect(data).toMatchObject({
      address,
      verified: false,
      code_hash: keccak256(code),
      code_size: (code.length - 2) / 2,
      creator: creation,
      creation_block: Number(field(receipt, 'blockNumber')),
      log_count: logs.length,
      first_seen_block: Math.min(Number(field(receipt, 'blockNumber')), Number(logs[0]!.blockNumber)),
      last_seen_block: Number(logs.at(-1)!.blockNumber),
    });
  }
  const nobody = `0x${'77'.repeat(20)}`;
  expect((await get(`/contracts/${nobody}`)).status).toBe(404);
});

test('a contract is verified if a contract with the same code on the other chain is verified', async () => {
  await until('/contracts?chainId=943&verified=true', ({ data }) => data?.length === 1);
  const { json } = await get(`/contracts/${twin}?chainId=943`);
  expect(json['data']).toMatchObject({
    chain_id: 943,
    name: 'StoreV1',
    verification: { status: 'exact_match', source: 'twin', twin_of: { chain_id: 369, address: v1 } },
  });
  const { json: events } = await get(`/contracts/${twin}/events?chainId=943`);
  expect(events['data']![0]!['decoded']!['signature']).toBe('Stored(address,uint256)');
  const { json: list } = await get('/contracts?chainId=943&verified=true');
  expect(list['data']!.map((each) => each['address'])).toEqual([twin]);
});

test('the list of contracts can be filtered by kind, verification and name, and sorted', async () => {
  const { json: verified } = await get('/contracts?verified=true');
  expect(verified['data']!.map((each) => String(each['address'])).sort()).toEqual([v1, v2].sort());
  const { json: found } = await get('/contracts?type=proxy&sort=log_count');
  const listed = found['data'] as unknown as { address: Hex; log_count: number }[];
  expect(listed.map(({ address }) => address).sort()).toEqual(proxies.map(({ address }) => address).sort());
  const counts = listed.map(({ log_count: count }) => count);
  expect(counts).toEqual([...counts].sort((a, b) => b - a));
  expect(found['meta']).toMatchObject({ limit: 25, offset: 0, total: proxies.length });
  const { json: byName } = await get('/contracts?q=orev2');
  expect(byName['data']!.map((each) => each['address'])).toEqual([v2]);
  const { json: past } = await get('/contracts?verified=true&offset=50');
  expect(past).toMatchObject({ success: true, data: [], meta: { limit: 25, offset: 50, total: 2 } });
});

test('the search finds contracts, transactions, blocks, events and selectors by name', async () => {
  const hits = async (q: string): Promise<{ type: string; title: string; [key: string]: unknown }[]> =>
    (await get(`/search?q=${encodeURIComponent(q)}`)).json['data'] as never;
  expect((await hits('storev'))[0]).toMatchObject({ type: 'contract', verified: true });
  expect((await hits('StoreV2'))[0]).toMatchObject({ type: 'contract', address: v2, title: 'StoreV2' });
  expect((await hits(v1.slice(2).toUpperCase()))[0]).toMatchObject({ type: 'contract', address: v1 });
  expect(await hits(`0x${'88'.repeat(20)}`)).toMatchObject([{ type: 'address' }]);
  expect((await hits('Stored')).map(({ type, title }) => [type, title])).toContainEqual([
    'event',
    'Stored(address,uint256)',
  ]);
  expect(await hits(STORE.getFunction('store')!.selector)).toMatchObject([
    { type: 'function', title: 'store(uint256)' },
  ]);
  // A signature with types is an exact query. Without types the name is searched.
  for (const asked of ['transfer(address,uint256)', 'Transfer(address, uint256)'])
    expect((await hits(asked))[0]).toMatchObject({ type: 'function', title: 'transfer(address,uint256)' });
  expect((await hits('transfer')).map(({ title }) => title)).toContain('Transfer(address,address,uint256)');
  expect((await hits('store(bool)')).map(({ title }) => title)).toContain('store(uint256)');
  const block = await main().call('eth_getBlockByNumber', ['0x3', false]);
  expect(await hits('3')).toContainEqual(expect.objectContaining({ type: 'block', number: 3 }));
  expect(await hits(String(field(block, 'hash')))).toMatchObject([{ type: 'block', number: 3 }]);
  const { json } = await get(`/contracts/${proxies[0]!.address}/events?limit=1`);
  const tx = String(json['data']![0]!['tx_hash']);
  expect(await hits(tx)).toMatchObject([{ type: 'tx', hash: tx }]);
  const { json: ofTx } = await get(`/logs?tx_hash=${tx}`);
  expect(ofTx['meta']).toMatchObject({ total: 1, total_relation: 'eq' });
});

test('the program does not start if the endpoint for the second chain serves another chain', async () => {
  const other = await createProgramHome();
  const name = await nameOf(other.database);
  try {
    const wrong = await other.start([chains[0]!.node.url], { RPC_URL_943: chains[0]!.node.url });
    await eventually(
      () => wrong.log,
      (lines) => lines.some(({ msg }) => msg === 'stopped'),
    );
    await expect(wrong.stop()).rejects.toThrow(/943/);
  } finally {
    for (const database of [`${name}_943`, name])
      await other.database.command('drop', `DROP DATABASE IF EXISTS ${database} SYNC`);
    await other.cable.cut();
    await other.database.close();
  }
});
