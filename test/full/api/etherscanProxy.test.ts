/**
 * Tests the module proxy of the Etherscan dialect with a real node: each read returns the node's own answer
 * in JSON-RPC's envelope, and writes are refused.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { Interface } from 'ethers';

import { field, type DevRpc } from '../../../src/dev/node/devRpc';
import type { DialectDeps } from '../../../src/api/etherscan/action';
import { createEndpointPool } from '../../../src/node/rpc/endpointPool';
import { createAccountState } from '../../../src/node/rpc/createAccountState';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { createLog } from '../../../src/log';
import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';
import { createNodeRelay } from '../../../src/contracts/createNodeRelay';
import {
  notOk,
  NOBODY,
  openDialectWorld,
  type DialectWorld,
} from '../../integration/api/etherscan/etherscanWorld';
import { LOG_CHAIN_ID } from '../../integration/api/explorer/logWorld';
import { hexOf } from '../../support/worlds/worldEvents';
import { startExplorer, type ExplorerServer } from '../../integration/api/explorer/explorerServer';
import { startNodeChain, type NodeChain } from '../../support/node/nodeChain';

const SEED = 5;
const log = createLog('silent', false);
const UNKNOWN = hexOf('99', 9, 64);

let node: NodeChain;
let rpc: DevRpc;
let world: DialectWorld;
let api: ExplorerServer;
let head: HeadSnapshot;
let contract: Hex;
let reverting: Hex;
let telling: Hex;
let creation: Hex;
let failed: Hex;

/** Code of a contract that reverts with four bytes. */
const REVERTING = '63deadbeef60e01b60005260046000fd';

/** Code of a contract that reverts with four bytes when it receives coins, and otherwise returns slot 0. */
function runtimeCode(): string {
  const jumpTo = (5 + REVERTING.length / 2).toString(16).padStart(2, '0');
  return `341560${jumpTo}57${REVERTING}5b60005460005260206000f3`;
}

/** Code that stores 42 in slot 0 and returns the runtime code, which follows these 16 bytes. */
function creationCode(runtime: string): string {
  const size = (runtime.length / 2).toString(16).padStart(2, '0');
  return `0x602a60005560${size}8060106000396000f3${runtime}`;
}

beforeAll(async () => {
  node = await startNodeChain();
  ({ rpc } = node);
  const made = await node.send({ data: creationCode(runtimeCode()) });
  creation = field(made, 'transactionHash') as Hex;
  contract = field(made, 'contractAddress') as Hex;
  failed = field(await node.send({ to: contract, value: '0x1' }), 'transactionHash') as Hex;
  reverting = await node.deploy(creationCode(REVERTING));
  const told = new Interface(['error Error(string)']).encodeErrorResult('Error', ['because']).slice(2);
  telling = await node.deploy(creationCode(`6064600c60003960646000fd${told}`));
  const block = await rpc.call('eth_getBlockByNumber', ['latest', false]);
  world = await openDialectWorld(SEED);
  const number = Number(field(block, 'number'));
  head = { ...world.head, number, hash: field(block, 'hash') as Hex, finalNumber: number - 1 };
  const reads = createNodeRelay(node.pool);
  const state = createAccountState({ rpc: node.pool, log });
  const chain = world.deps.findChain(LOG_CHAIN_ID)!;
  const deps: DialectDeps = {
    ...world.deps,
    findChain: () => ({ ...chain, head: () => head }),
    relayOf: () => reads,
    nodeOf: () => state,
  };
  api = await startExplorer(deps, () => head);
});

afterAll(async () => {
  await api?.close();
  await world?.close();
  await node?.close();
});

const ask = async (query: Record<string, string>) =>
  (await api.ask(`/api?${new URLSearchParams({ module: 'proxy', ...query }).toString()}`)).json;

const tip = (): Hex => `0x${head.number.toString(16)}`;

test('every read action of the module proxy returns the answer of the node', async () => {
  const at = { blockHash: head.hash };
  const reads: [Record<string, string>, string, unknown[]][] = [
    [
      { action: 'eth_getBlockByNumber', tag: 'latest', boolean: 'true' },
      'eth_getBlockByNumber',
      [tip(), true],
    ],
    [
      { action: 'eth_getBlockByNumber', tag: '0x1', boolean: 'false' },
      'eth_getBlockByNumber',
      ['0x1', false],
    ],
    [{ action: 'eth_getBlockByNumber', tag: '1' }, 'eth_getBlockByNumber', ['0x1', false]],
    [
      { action: 'eth_getBlockByNumber', tag: 'finalized' },
      'eth_getBlockByNumber',
      [`0x${(head.number - 1).toString(16)}`, false],
    ],
    [{ action: 'eth_getBlockByNumber', tag: '0xffffff' }, 'eth_getBlockByNumber', ['0xffffff', false]],
    [
      { action: 'eth_getUncleByBlockNumberAndIndex', tag: '0x1', index: '0x0' },
      'eth_getUncleByBlockNumberAndIndex',
      ['0x1', '0x0'],
    ],
    [
      { action: 'eth_getBlockTransactionCountByNumber', tag: 'latest' },
      'eth_getBlockTransactionCountByNumber',
      [tip()],
    ],
    [{ action: 'eth_getTransactionByHash', txhash: creation }, 'eth_getTransactionByHash', [creation]],
    [{ action: 'eth_getTransactionByHash', txhash: UNKNOWN }, 'eth_getTransactionByHash', [UNKNOWN]],
    [
      { action: 'eth_getTransactionByBlockNumberAndIndex', tag: 'latest', index: '0' },
      'eth_getTransactionByBlockNumberAndIndex',
      [tip(), '0x0'],
    ],
    [{ action: 'eth_getTransactionReceipt', txhash: creation }, 'eth_getTransactionReceipt', [creation]],
    [
      { action: 'eth_getTransactionCount', address: NOBODY, tag: 'latest' },
      'eth_getTransactionCount',
      [NOBODY, at],
    ],
    [
      { action: 'eth_getTransactionCount', address: NOBODY, tag: 'pending' },
      'eth_getTransactionCount',
      [NOBODY, 'pending'],
    ],
    [{ action: 'eth_getCode', address: contract, tag: 'latest' }, 'eth_getCode', [contract, at]],
    [{ action: 'eth_getCode', address: contract, tag: '0x0' }, 'eth_getCode', [contract, '0x0']],
    [
      { action: 'eth_getStorageAt', address: contract, position: '0x0' },
      'eth_getStorageAt',
      [contract, '0x0', at],
    ],
    [{ action: 'eth_gasPrice' }, 'eth_gasPrice', []],
    [
      { action: 'eth_estimateGas', to: contract, data: '0x01' },
      'eth_estimateGas',
      [{ to: contract, data: '0x01' }],
    ],
    [
      { action: 'eth_call', to: contract, data: '0x01', tag: 'latest' },
      'eth_call',
      [{ to: contract, data: '0x01' }, at],
    ],
    [
      { action: 'eth_call', to: contract, data: '0x01', tag: '0x0' },
      'eth_call',
      [{ to: contract, data: '0x01' }, '0x0'],
    ],
  ];
  for (const [query, method, params] of reads) {
    const result = await rpc.call(method, params);
    expect([query, await ask(query)]).toEqual([query, { jsonrpc: '2.0', id: 1, result }]);
  }
  expect(await ask({ action: 'eth_blockNumber' })).toEqual({ jsonrpc: '2.0', id: 1, result: tip() });
  // Slot 0 has the value that the constructor stored.
  expect(await ask({ action: 'eth_getStorageAt', address: contract, position: '0' })).toMatchObject({
    result: `0x${(42).toString(16).padStart(64, '0')}`,
  });
});

test('a reverting call is a JSON-RPC error with the revert data of the node', async () => {
  const paid = { to: contract, value: '0x1', from: ZERO_ADDRESS };
  const estimate = await ask({ action: 'eth_estimateGas', ...paid });
  expect(estimate).toMatchObject({
    jsonrpc: '2.0',
    id: 1,
    error: { code: 3, message: 'execution reverted', data: '0xdeadbeef' },
  });
  expect(JSON.stringify(estimate)).not.toMatch(/127\.0\.0\.1|localhost|#\d/);
  const bad = new Interface(['function nothing()']).encodeFunctionData('nothing');
  const called = await ask({ action: 'eth_call', to: contract, data: bad });
  expect(called).toMatchObject({ result: `0x${(42).toString(16).padStart(64, '0')}` });
});

test('eth_call at the head sends the given coins, and its errors have a reason as at any other block', async () => {
  const plain = { action: 'eth_call', to: contract.replace('0x', '0X'), data: '0x01' };
  const stored = { result: `0x${(42).toString(16).padStart(64, '0')}` };
  expect(await ask(plain)).toMatchObject(stored);
  for (const tag of ['latest', 'pending', tip()]) {
    const paid = await ask({ ...plain, value: '0X1', from: ZERO_ADDRESS, tag });
    expect([tag, paid]).toEqual([
      tag,
      { jsonrpc: '2.0', id: 1, error: { code: 3, message: 'execution reverted', data: '0xdeadbeef' } },
    ]);
    expect(await ask({ ...plain, value: '0', gas: '100000', tag })).toMatchObject(stored);
  }
  const said = await ask({ action: 'eth_call', to: telling, tag: 'latest' });
  expect(said).toMatchObject({ error: { code: 3, message: 'execution reverted: because' } });
  const spent = await ask({ action: 'eth_call', to: reverting, tag: 'latest' });
  expect(spent).toMatchObject({ error: { code: 3, data: '0xdeadbeef' } });
});

test('the status of a transaction comes from its receipt', async () => {
  const status = async (txhash: string) => [
    (await ask({ module: 'transaction', action: 'getstatus', txhash }))?.result,
    (await ask({ module: 'transaction', action: 'gettxreceiptstatus', txhash }))?.result,
  ];
  expect(await status(creation)).toEqual([{ isError: '0', errDescription: '' }, { status: '1' }]);
  expect(await status(failed)).toEqual([{ isError: '1', errDescription: '' }, { status: '0' }]);
  expect(await status(UNKNOWN)).toEqual([{ isError: '', errDescription: '' }, { status: '' }]);
});

test.each([
  ['eth_sendRawTransaction', { hex: '0x00' }, 'Error! Missing Or invalid Action name'],
  ['eth_sendTransaction', {}, 'Error! Missing Or invalid Action name'],
  ['debug_traceTransaction', {}, 'Error! Missing Or invalid Action name'],
  ['eth_getBlockByNumber', { tag: 'soon' }, 'Error! Invalid tag format'],
  ['eth_getBlockByNumber', { tag: '0x1', boolean: 'maybe' }, 'Error! Invalid boolean format'],
  ['eth_getTransactionByHash', { txhash: '0x12' }, 'Error! Invalid txhash format'],
  ['eth_getTransactionReceipt', {}, 'Error! Invalid txhash format'],
  ['eth_getCode', {}, 'Error! Missing address'],
  ['eth_getStorageAt', { address: ZERO_ADDRESS }, 'Error! Invalid position format'],
  ['eth_getStorageAt', { address: ZERO_ADDRESS, position: '0xzz' }, 'Error! Invalid position format'],
  ['eth_estimateGas', { to: 'x' }, 'Error! Invalid address format'],
  ['eth_estimateGas', { to: ZERO_ADDRESS, gas: '99999999999' }, 'Error! Invalid gas format'],
  ['eth_call', { data: '0x' }, 'Error! Missing address'],
  ['eth_call', { to: ZERO_ADDRESS, data: '0x1' }, 'Error! Invalid data format'],
])('the action %s with the parameters %j is refused: %s', async (action, query, text) => {
  expect(await ask({ action, ...(query as Record<string, string>) })).toEqual(notOk(text));
});

test('after a reorg, reads at the head are answered at the next head, and not with the error of the node', async () => {
  const older = head;
  const asked: [string, string][] = [
    ['action', `eth_getCode&address=${contract}`],
    ['action', `eth_call&to=${contract}&data=0x01`],
    ['module', `account&action=balance&address=${NOBODY}`],
  ];
  await rpc.call('anvil_reorg', [1, []]);
  await rpc.call('evm_mine', []);
  try {
    const early = await Promise.all(asked.map(([name, query]) => api.ask(queryOf(name, query))));
    const lost = { code: -32001, message: 'block not found' };
    expect(early[0]?.json).toEqual({ jsonrpc: '2.0', id: 1, error: lost });
    expect(early.slice(1).map(({ json }) => json?.['status'])).toEqual(['0', '0']);
    const block = await rpc.call('eth_getBlockByNumber', ['latest', false]);
    const number = Number(field(block, 'number'));
    const hash = field(block, 'hash') as Hex;
    const waiting = asked.map(([name, query]) => api.ask(queryOf(name, `${query}&again=1`)));
    // The requests find the block missing before the head changes.
    await delay(300);
    head = { ...older, number, hash, version: `${older.version} after the reorg` };
    for (const { json, headers } of await Promise.all(waiting)) {
      expect(json?.['result']).toMatch(/^(?:0x[0-9a-f]+|0)$/);
      expect(headers.get('x-indexed-block-hash')).toBe(hash);
    }
  } finally {
    head = older;
  }
});

const queryOf = (name: string, query: string): string =>
  name === 'module' ? `/api?module=${query}` : `/api?module=proxy&action=${query}`;

test('an action of the module proxy reports a dead node as a timeout, and is refused without a node', async () => {
  const away: DialectDeps = {
    ...world.deps,
    relayOf: () => createNodeRelay(createEndpointPool({ urls: ['http://127.0.0.1:9'], chainId: null, log })),
  };
  const [silent, none] = [await startExplorer(away, () => head), await startExplorer(world.deps, () => head)];
  try {
    const path = `/api?module=proxy&action=eth_getCode&address=${ZERO_ADDRESS}`;
    const busy = 'Unexpected err, timeout occurred or server too busy. Please try again later';
    expect((await silent.ask(path)).json).toEqual(notOk(busy));
    expect((await none.ask(path)).json).toEqual(notOk('Error! Missing Or invalid Action name'));
  } finally {
    await silent.close();
    await none.close();
  }
});
