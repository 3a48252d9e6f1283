/** Tests creators of contracts that other contracts created: read once from a real node, stored, and shown by
 * every dialect. */
import { readFileSync } from 'node:fs';

import { getCreateAddress, Interface } from 'ethers';

import { field, type DevRpc } from '../../../src/dev/node/devRpc';
import { createEndpointPool } from '../../../src/node/rpc/endpointPool';
import { RpcError } from '../../../src/node/rpc/rpcError';
import type { RpcCall } from '../../../src/node/rpc/rpcTransport';
import { insertRows } from '../../../src/clickhouse/rows/inserter';
import { logsTable, poolsTable, type LogRow } from '../../../src/clickhouse/schema/tables';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { toOrd } from '../../../src/domain/ord';
import { createLog } from '../../../src/log';
import { contractCreationsTable } from '../../../src/contracts/findCreators';
import type { VerifiedRecord } from '../../../src/contracts/verifiedRecord';
import { askRows } from '../../support/engine/askRows';
import type { SourcesDatabase } from '../../support/engine/sourcesDatabase';
import { makeSmallRecords } from '../../support/worlds/verifiedWorld';
import { hexOf } from '../../support/worlds/worldEvents';
import type { ExplorerServer } from '../../integration/api/explorer/explorerServer';
import { finalHead } from '../../support/worlds/finalHead';
import { logRow } from '../../support/worlds/logRow';
import { openCodeWorld, type CodeWorld } from '../../integration/contracts/codeWorld';

const CHAIN_ID = 369;
const log = createLog('silent', false);
const FACTORY = new Interface([
  'event PairCreated(address indexed token0, address indexed token1, address pair, uint256 count)',
  'function createPair(address, address)',
]);
const { bytecode } = JSON.parse(
  readFileSync(require.resolve('@uniswap/v2-core/build/UniswapV2Factory.json'), 'utf8'),
) as { bytecode: string };

interface Pair {
  readonly address: Hex;
  readonly creator: Hex;
  readonly tx: Hex;
  readonly block: number;
  readonly timestamp: number;
}

let on: CodeWorld;
let rpc: DevRpc;
let db: SourcesDatabase;
let api: ExplorerServer;
let accounts: readonly Hex[];
let factory: Hex;
let factoryTx: Hex;
let pairs: Pair[];
let status: CodeWorld['status'];
const asked: RpcCall[] = [];

async function send(from: Hex, tx: object): Promise<{ hash: Hex; receipt: unknown }> {
  const receipt = await on.node.send({ from, ...tx });
  return { hash: field(receipt, 'transactionHash') as Hex, receipt };
}

async function makePair(index: number): Promise<Pair> {
  const creator = accounts[index % accounts.length]!;
  const tokens = [hexOf('a0', 2 * index, 40), hexOf('a1', index, 40)];
  const data = FACTORY.encodeFunctionData('createPair', tokens);
  const { hash, receipt } = await send(creator, { to: factory, data });
  const [event] = field(receipt, 'logs') as { topics: string[]; data: string }[];
  const made = String(FACTORY.parseLog(event!)!.args['pair']).toLowerCase() as Hex;
  const number = field(receipt, 'blockNumber') as Hex;
  const block = await rpc.call('eth_getBlockByNumber', [number, false]);
  const timestamp = Number(field(block, 'timestamp'));
  return { address: made, creator, tx: hash, block: Number(number), timestamp };
}

async function storePair({
  address,
  tx,
  block,
  timestamp,
}: Pick<Pair, 'address' | 'tx' | 'block' | 'timestamp'>) {
  const row = {
    ord: toOrd(block, 0),
    address,
    dex: 'dev',
    protocol: 'uniswap_v2',
    pool_type: 2,
    factory,
    token0: ZERO_ADDRESS,
    token1: ZERO_ADDRESS,
    base_is_token0: true,
    tokens: [],
    weights: [],
    doubts: 0,
    fee_pips: 3_000,
    tick_spacing: 0,
    scale_decimals: [],
    pool_id: null,
    hooks: null,
    hook_bits: null,
    created_block: block,
    created_at: timestamp,
    created_tx: tx,
  };
  await insertRows(db.writer, poolsTable, [row]);
}

beforeAll(async () => {
  on = await openCodeWorld();
  ({ db, api, status } = on);
  ({ rpc, accounts } = on.node);
  const deployed = await send(accounts[2]!, {
    data: `${bytecode.startsWith('0x') ? '' : '0x'}${bytecode}${'0'.repeat(64)}`,
  });
  factory = field(deployed.receipt, 'contractAddress') as Hex;
  factoryTx = deployed.hash;
  pairs = [];
  for (let index = 0; index < 5; index += 1) pairs.push(await makePair(index + 1));
  for (const pair of pairs) await storePair(pair);
  const number = Number(await rpc.call('eth_blockNumber'));
  status.indexed = number;
  status.finalTo = pairs[3]!.block;
  on.head = finalHead(number);
});

afterAll(() => on?.close());

/** `nullReceipts` is how often the node answers null to the request for each receipt. */
function newWorker(traces = true, nullReceipts = 0) {
  const timesOf = new Map<unknown, number>();
  const isNull = ({ method, params }: RpcCall): boolean => {
    const times = timesOf.get(params[0]) ?? 0;
    timesOf.set(params[0], times + 1);
    return method === 'eth_getTransactionReceipt' && times < nullReceipts;
  };
  return on.newWorker({
    rpc: {
      batchOutcomes(calls, parse, options) {
        asked.push(...calls);
        const absent = calls.map(isNull);
        const parseOne: typeof parse = (result, index) =>
          parse(absent[index] === true ? null : result, index);
        return on.node.pool.batchOutcomes(calls, parseOne, options);
      },
      run: (work, options) =>
        traces ? on.node.pool.run(work, options) : Promise.reject(new RpcError('refused', 'no traces here')),
    },
  });
}

const logOf = (address: Hex, block: number, tx: Hex): LogRow =>
  logRow({ ord: toOrd(block, Number(BigInt(address) % 1_000n)), address, tx_hash: tx });

const signal = new AbortController().signal;
const recordOf = (address: Hex) => on.recordOf(address);

test('the creator of a pool is the sender of its creation transaction, once the block is final', async () => {
  const worker = newWorker();
  expect((await recordOf(pairs[0]!.address))['creator']).toBeNull();
  expect(await worker.findSomeCreators(signal)).toBe(4);
  for (const { address, creator, tx, block } of pairs.slice(0, 4))
    expect(await recordOf(address)).toMatchObject({
      creator,
      factory,
      creation_tx: tx,
      creation_block: block,
    });
  expect(await recordOf(pairs[4]!.address)).toMatchObject({
    creator: null,
    factory,
    creation_tx: pairs[4]!.tx,
  });
  status.finalTo = pairs[4]!.block;
  on.now += 120_000;
  // A receipt that is null at first is asked for again.
  const late = newWorker(true, 2);
  for (const found of [0, 0, 1]) {
    expect(await late.findSomeCreators(signal)).toBe(found);
    on.now += 120_000;
  }
  expect((await recordOf(pairs[4]!.address))['creator']).toBe(pairs[4]!.creator);
  const contractaddresses = pairs.map(({ address }) => address).join();
  const query = `module=contract&action=getcontractcreation&contractaddresses=${contractaddresses}`;
  expect((await api.ask(`/api?${query}`)).json?.result).toEqual(
    pairs.map(({ address, creator, tx, block, timestamp }) => ({
      contractAddress: address,
      contractCreator: creator,
      txHash: tx,
      blockNumber: String(block),
      timestamp: String(timestamp),
      contractFactory: factory,
      creationBytecode: '',
    })),
  );
});

test('the same worker reads no creation twice, and neither does a worker after a restart', async () => {
  const before = asked.length;
  on.now += 120_000;
  for (const worker of [newWorker(), newWorker()]) expect(await worker.findSomeCreators(signal)).toBe(0);
  expect(asked.length).toBe(before);
});

test('a transaction that the node does not know is read at three checks, and the creator then stays null', async () => {
  const stranger = {
    address: hexOf('5a', 1, 40),
    tx: hexOf('99', 1, 64),
    block: 2,
    timestamp: 1_700_000_500,
  };
  await storePair(stranger);
  const worker = newWorker();
  for (const found of [0, 0, 1, 0]) {
    expect(await worker.findSomeCreators(signal)).toBe(found);
    on.now += 120_000;
  }
  expect(await recordOf(stranger.address)).toMatchObject({
    creator: null,
    factory,
    creation_tx: stranger.tx,
    creation_block: stranger.block,
  });
});

test('the recorded deployment of a verified contract is used if the node confirms it', async () => {
  const [one, other] = (await makeSmallRecords(CHAIN_ID)).slice(0, 2);
  const deployment = { deployer: accounts[0]!, transaction: factoryTx, block: 7 };
  const wrong = hexOf('5b', 2, 40);
  await db.store.store([
    { ...one!, codeHash: null, contract: { ...one!.contract, address: factory }, deployment },
    // A trace that claims that the same transaction created another contract.
    { ...other!, codeHash: null, contract: { ...other!.contract, address: wrong }, deployment },
  ]);
  on.now += 120_000;
  expect(await newWorker().findSomeCreators(signal)).toBe(2);
  const receipt = await rpc.call('eth_getTransactionReceipt', [factoryTx]);
  expect(await recordOf(factory)).toMatchObject({
    creator: accounts[2],
    factory: null,
    creation_tx: factoryTx,
    creation_block: Number(field(receipt, 'blockNumber')),
  });
  expect(await recordOf(wrong)).toMatchObject({ creator: null, creation_tx: null });
});

/** A contract that forwards its call data, after the first word, to the contract whose address is the first
 * word. */
const FORWARDER = '0x601a600c600039601a6000f3602036038060206000376000600091600060006000355af15000';
/** A contract whose constructor creates an empty contract. */
const PARENT = '0x600060006000f05060016000f3';

test.each([
  ['with', true],
  ['without', false],
])(
  'an imported contract that another contract created has a creator and a factory, %s traces',
  async (_, traces) => {
    const through = field((await send(accounts[0]!, { data: FORWARDER })).receipt, 'contractAddress') as Hex;
    const tokens = [hexOf('b0', traces ? 1 : 2, 40), hexOf('b1', 1, 40)];
    const create = FACTORY.encodeFunctionData('createPair', tokens);
    const data = `0x${factory.slice(2).padStart(64, '0')}${create.slice(2)}`;
    const called = await send(accounts[1]!, { to: through, data });
    const [event] = field(called.receipt, 'logs') as { topics: string[]; data: string }[];
    const pair = String(FACTORY.parseLog(event!)!.args['pair']).toLowerCase() as Hex;
    const made = await send(accounts[2]!, { data: PARENT });
    const parent = field(made.receipt, 'contractAddress') as Hex;
    const child = getCreateAddress({ from: parent, nonce: 1 }).toLowerCase() as Hex;
    const [one, other, third] = (await makeSmallRecords(CHAIN_ID)).slice(1);
    const record = (of: VerifiedRecord, address: Hex, transaction: Hex): VerifiedRecord => ({
      ...of,
      codeHash: null,
      contract: { ...of.contract, address },
      deployment: { deployer: null, transaction, block: null },
    });
    const stranger = hexOf('5c', traces ? 1 : 2, 40);
    await db.store.store([
      record(one!, pair, called.hash),
      record(other!, child, made.hash),
      record(third!, stranger, made.hash),
    ]);
    on.now += 120_000;
    const before = status.finalTo;
    status.finalTo = Number(await rpc.call('eth_blockNumber'));
    expect(await newWorker(traces).findSomeCreators(signal)).toBeGreaterThanOrEqual(3);
    status.finalTo = before;
    const query = `module=contract&action=getcontractcreation&contractaddresses=${pair},${child},${stranger}`;
    on.head = finalHead(on.head.number + 100);
    const { json } = await api.ask(`/api?${query}`);
    const shown = json?.result as { contractCreator: Hex; contractFactory: Hex; txHash: Hex }[];
    expect(
      shown.map(({ contractCreator, contractFactory, txHash }) => [contractCreator, contractFactory, txHash]),
    ).toEqual([
      [accounts[1], traces ? factory : through, called.hash],
      [accounts[2], parent, made.hash],
    ]);
  },
);

/** A contract that, at each call, creates a contract of one byte that logs in its constructor. */
const MAKER = '0x6016600c60003960166000f36960006000a060016000f3600052600a60166000f000';

test('a contract of an unknown factory gets its creator from a trace of its first log, once the log is final', async () => {
  const maker = field((await send(accounts[0]!, { data: MAKER })).receipt, 'contractAddress') as Hex;
  const logs: LogRow[] = [];
  const call = async (from: Hex): Promise<{ address: Hex; hash: Hex; block: number }> => {
    const { hash, receipt } = await send(from, { to: maker });
    const [event] = field(receipt, 'logs') as { address: Hex }[];
    const block = Number(field(receipt, 'blockNumber'));
    logs.push(logOf(event!.address, block, hash));
    return { address: event!.address, hash, block };
  };
  const atTip = async (): Promise<number> => {
    await insertRows(db.writer, logsTable, logs.splice(0));
    const number = Number(await rpc.call('eth_blockNumber'));
    on.head = finalHead(number);
    on.now += 120_000;
    return number;
  };
  await call(accounts[1]!);
  const before = await atTip();
  Object.assign(status, { indexed: before, finalTo: before });
  const blind = newWorker(false);
  expect(await blind.checkContracts(signal)).toBeGreaterThan(0);
  expect(await blind.findSomeCreators(signal)).toBe(0);
  const [one, other] = [await call(accounts[1]!), await call(accounts[2]!)];
  // The first log of this contract is in a transaction that created another contract.
  const quiet = hexOf('5e', 1, 40);
  logs.push(logOf(quiet, other.block, other.hash), logOf(one.address, other.block, other.hash));
  const number = await atTip();
  Object.assign(status, { indexed: number, finalTo: one.block });
  const worker = newWorker(true, 1);
  await worker.checkContracts(signal);
  // A receipt that is null at first is asked for again.
  for (const found of [0, 1]) {
    expect(await worker.findSomeCreators(signal)).toBe(found);
    on.now += 120_000;
  }
  status.finalTo = number;
  for (const found of [0, 1, 0]) {
    expect(await worker.findSomeCreators(signal)).toBe(found);
    on.now += 120_000;
  }
  const query = `module=contract&action=getcontractcreation&contractaddresses=${one.address},${quiet},${other.address}`;
  expect((await api.ask(`/api?${query}`)).json?.result).toMatchObject([
    { contractAddress: one.address, contractCreator: accounts[1], contractFactory: maker, txHash: one.hash },
    {
      contractAddress: other.address,
      contractCreator: accounts[2],
      contractFactory: maker,
      txHash: other.hash,
      blockNumber: String(other.block),
      timestamp: String(1_700_000_000 + other.block),
    },
  ]);
});

test('if the node is dead, the creator stays unknown until the next round', async () => {
  await storePair({ address: hexOf('5a', 2, 40), tx: pairs[0]!.tx, block: 2, timestamp: 1_700_000_500 });
  const away = createEndpointPool({ urls: ['http://127.0.0.1:9'], chainId: null, log, roundsMax: 1 });
  await expect(on.newWorker({ rpc: away }).findSomeCreators(signal)).rejects.toThrow();
  await away.close();
  expect(await newWorker().findSomeCreators(signal)).toBe(1);
});

test('if the node does not give the time of the creation block, no creator is stored, and the next check asks again', async () => {
  const pair = await makePair(6);
  await storePair(pair);
  status.finalTo = pair.block;
  on.head = finalHead(pair.block);
  const silent = on.newWorker({
    rpc: {
      run: (work, options) => on.node.pool.run(work, options),
      async batchOutcomes(calls, parse, options) {
        const outcomes = await on.node.pool.batchOutcomes(calls, parse, options);
        const error = new RpcError('revert', 'no header');
        return calls[0]?.method === 'eth_getBlockByNumber' ? outcomes.map(() => ({ error })) : outcomes;
      },
    },
  });
  expect(await silent.findSomeCreators(signal)).toBe(0);
  expect((await recordOf(pair.address))['creator']).toBeNull();
  on.now += 120_000;
  expect(await newWorker().findSomeCreators(signal)).toBe(1);
  const { creator, timestamp } = pair;
  expect(await recordOf(pair.address)).toMatchObject({ creator, created_at: timestamp });
});

test('the table descriptor of contract_creations lists the columns of the table', async () => {
  const rows = await askRows<{ name: string; type: string }>(
    db.writer,
    "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = 'contract_creations' ORDER BY position",
  );
  const { columns, sqlTypes } = contractCreationsTable;
  expect(rows).toEqual(columns.map((name, index) => ({ name, type: sqlTypes[index] })));
});
