/** Tests how contract code is stored: read from a real node, read again after an upgrade, and for contracts
 * without logs. */
import { getCreateAddress, keccak256 } from 'ethers';

import { field, type DevRpc } from '../../../src/dev/node/devRpc';
import { systemClock, type Clock } from '../../../src/node/rpc/clock';
import { insertRows } from '../../../src/clickhouse/rows/inserter';
import { logsTable, type LogRow } from '../../../src/clickhouse/schema/tables';
import type { Hex } from '../../../src/domain/hex';
import { toOrd } from '../../../src/domain/ord';
import { DIAMOND_CUT, IMPLEMENTATION_SLOT, UPGRADED } from '../../../src/domain/proxies';
import { withNodeCode, type NodeCode } from '../../../src/query/contracts/nodeCode';
import { ActiveContracts } from '../../../src/contracts/activeContracts';
import type { ContractWorker } from '../../../src/contracts/contractWorker';
import { createNodeCode } from '../../../src/contracts/createNodeCode';
import type { EthCalls } from '../../../src/node/calls/askContracts';
import { contractCreationsTable } from '../../../src/contracts/findCreators';
import { askRows } from '../../support/engine/askRows';
import { openSourcesDatabase, type SourcesDatabase } from '../../support/engine/sourcesDatabase';
import { UNCACHED } from '../../support/server/uncached';
import { makeSmallRecords } from '../../support/worlds/verifiedWorld';
import {
  explorerDeps,
  startExplorer,
  type ExplorerServer,
} from '../../integration/api/explorer/explorerServer';
import { hexOf } from '../../support/worlds/worldEvents';
import { finalHead } from '../../support/worlds/finalHead';
import { logRow } from '../../support/worlds/logRow';
import { openCodeWorld, type CodeWorld } from '../../integration/contracts/codeWorld';

const CHAIN_ID = 369;
const signal = new AbortController().signal;
/** A contract that writes its call data word into the EIP-1967 slot. The last byte of its code is a
 * DELEGATECALL. */
const LATE_PROXY = `0x6027600c60003960276000f36000357f${IMPLEMENTATION_SLOT.slice(2)}5500f4`;
/** A contract with one byte of code, followed by a salt. */
const PLAIN = '0x6002600c60003960026000f300';
const wordOf = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`;

let on: CodeWorld;
let rpc: DevRpc;
let db: SourcesDatabase;
let api: ExplorerServer;
let account: Hex;
let status: CodeWorld['status'];
let salt = 0;

const send = (tx: object): Promise<unknown> => on.node.send(tx);
const deploy = (data: string): Promise<Hex> => on.node.deploy(data);
const deployPlain = (): Promise<Hex> => deploy(`${PLAIN}${(++salt).toString(16).padStart(2, '0')}`);

const logOf = (address: Hex, block: number, ...topics: readonly Hex[]): LogRow =>
  logRow({ ord: toOrd(block, 0), address, topics });

function advance(indexed: number, finalTo: number): void {
  Object.assign(status, { indexed, finalTo });
  on.head = finalHead(indexed);
  on.now += 120_000;
}

beforeAll(async () => {
  on = await openCodeWorld();
  ({ db, api, status } = on);
  ({ rpc } = on.node);
  account = on.node.accounts[0]!;
});

afterAll(() => on?.close());

const newWorker = (): ContractWorker => on.newWorker();
const recordOf = (address: Hex) => on.recordOf(address);

async function listProxies(): Promise<unknown[]> {
  const { json } = await api.ask('/api/v1/contracts?type=proxy');
  return (json!['data'] as { address: Hex }[]).map(({ address }) => address);
}

test('a contract without an implementation becomes a proxy with its first upgrade, and the upgrade is read once', async () => {
  const [proxy, target] = [await deploy(LATE_PROXY), await deployPlain()];
  advance(100, 100);
  await insertRows(db.writer, logsTable, [logOf(proxy, 90, hexOf('1a', 1, 64))]);
  const worker = newWorker();
  expect(await worker.checkContracts(signal)).toBe(1);
  expect(await recordOf(proxy)).toMatchObject({ type: 'other', proxy: null });
  // The upgrade is in a final block far below the head, so the worker finds it by its log in the final table.
  await send({ to: proxy, data: wordOf(target) });
  await insertRows(db.writer, logsTable, [logOf(proxy, 150, UPGRADED, wordOf(target))]);
  advance(1_000, 900);
  expect(await worker.checkContracts(signal)).toBe(1);
  expect(await recordOf(proxy)).toMatchObject({
    type: 'proxy',
    proxy: { kind: 'eip1967', implementation: target },
  });
  expect(await listProxies()).toEqual([proxy]);
  // The implementation is looked up too, but the upgrade is not processed again. After a restart, the worker
  // scans the upgrades again and sends no request to the node.
  on.now += 120_000;
  expect(await worker.checkContracts(signal)).toBe(1);
  on.now += 120_000;
  expect(await worker.checkContracts(signal)).toBe(0);
  expect(await newWorker().checkContracts(signal)).toBe(0);
});

test('an upgrade in a head block is read in the next round, and again when the block is final', async () => {
  const proxy = await deploy(LATE_PROXY);
  advance(2_000, 1_990);
  await insertRows(db.writer, logsTable, [logOf(proxy, 1_900, hexOf('1a', 1, 64))]);
  const active = new ActiveContracts();
  const worker = on.newWorker({ active });
  while ((await worker.checkContracts(signal)) > 0) on.now += 120_000;
  const [first, second] = [await deployPlain(), await deployPlain()];
  const implementation = async (): Promise<string | undefined> => {
    const sql = `SELECT lower(hex(argMax(implementation, version))) AS at FROM contract_codes WHERE address = unhex({proxy:String})`;
    return (await askRows<{ at: string }>(db.writer, sql, { proxy: proxy.slice(2) }))[0]?.at;
  };
  await send({ to: proxy, data: wordOf(first) });
  await db.writer.command(
    'upgrade of the head',
    `INSERT INTO logs_head (commit, chain_id, ord, timestamp, address, topic_count, topic0, data, tx_hash, tx_index)
     SELECT 7, ${CHAIN_ID}, ${toOrd(2_005, 3)}, 1, unhex({proxy:String}), 1, unhex({topic0:String}), '', '', 0`,
    { proxy: proxy.slice(2), topic0: UPGRADED.slice(2) },
  );
  Object.assign(status, { indexed: 2_006 });
  active.note(2_005, [{ address: proxy }]);
  expect(await worker.checkContracts(signal)).toBe(1);
  expect(await implementation()).toBe(first.slice(2));
  expect(await worker.checkContracts(signal)).toBe(0);
  // After a failure, the contracts of the newest blocks come from the head tables.
  active.forget();
  expect(await worker.checkContracts(signal)).toBe(1);
  // A reorg drops the branch, and the block at the same height now contains another upgrade.
  await send({ to: proxy, data: wordOf(second) });
  await insertRows(db.writer, logsTable, [logOf(proxy, 2_005, DIAMOND_CUT)]);
  advance(2_080, 2_010);
  expect(await worker.checkContracts(signal)).toBeGreaterThan(0);
  expect(await implementation()).toBe(second.slice(2));
  on.now += 120_000;
  await worker.checkContracts(signal);
  on.now += 120_000;
  expect(await worker.checkContracts(signal)).toBe(0);
});

test('a contract with the stored code is read from the node in each block with its logs, and stored when it changes', async () => {
  const [proxy, target] = [await deploy(LATE_PROXY), await deployPlain()];
  const tip = async (): Promise<number> => Number(await rpc.call('eth_blockNumber'));
  const made = await tip();
  advance(made, made);
  await insertRows(db.writer, logsTable, [logOf(proxy, made, hexOf('1a', 1, 64))]);
  const active = new ActiveContracts();
  const worker = on.newWorker({ active });
  while ((await worker.checkContracts(signal)) > 0) on.now += 120_000;
  // The first read compares the code with the one that was just stored, or after a start with the one in the database.
  for (const isRestart of [false, true, false]) {
    if (isRestart) active.forget();
    await worker.checkContracts(signal);
    active.note(made, [{ address: proxy }]);
    expect(await worker.checkContracts(signal)).toBe(0);
  }
  await send({ to: proxy, data: wordOf(target) });
  const upgraded = await tip();
  Object.assign(status, { indexed: upgraded });
  on.now += 1_000;
  active.note(upgraded, [{ address: proxy }]);
  expect(await worker.checkContracts(signal)).toBe(1);
  expect(await recordOf(proxy)).toMatchObject({ proxy: { kind: 'eip1967', implementation: target } });
});

test('contracts known only by their creation or verification get their code too', async () => {
  const [made, verified] = [await deployPlain(), await deployPlain()];
  const child = getCreateAddress({ from: made, nonce: 1 }).toLowerCase() as Hex;
  const creation = { address: made, creator: account, factory: child, tx_hash: hexOf('7d', 1, 64) };
  await insertRows(db.writer, contractCreationsTable, [
    { ...creation, block: 5, timestamp: 1_700_000_005, version: 1 },
  ]);
  const [one] = await makeSmallRecords(CHAIN_ID);
  await db.store.store([{ ...one!, codeHash: null, contract: { ...one!.contract, address: verified } }]);
  advance(3_000, 2_990);
  await newWorker().checkContracts(signal);
  for (const address of [made, verified]) {
    const code = String(await rpc.call('eth_getCode', [address, 'latest']));
    expect(await recordOf(address)).toMatchObject({ code_hash: keccak256(code), code_size: 2 });
  }
});

test('the second chain of an explorer finds its contracts in the database of the market chain', async () => {
  const second = await openSourcesDatabase();
  try {
    const address = await deployPlain();
    const receipt = await send({ data: `${PLAIN}ff` });
    const made = field(receipt, 'contractAddress') as Hex;
    const transaction = field(receipt, 'transactionHash') as Hex;
    const [one, other] = (await makeSmallRecords(CHAIN_ID)).slice(1);
    await db.store.store([
      { ...one!, codeHash: null, contract: { ...one!.contract, address } },
      {
        ...other!,
        codeHash: null,
        contract: { ...other!.contract, address: made },
        deployment: { deployer: null, transaction, block: null },
      },
    ]);
    const worker = on.newWorker({ database: second.writer });
    await worker.checkContracts(signal);
    await worker.findSomeCreators(signal);
    const listed = async (table: string): Promise<string[]> => {
      const sql = `SELECT concat('0x', lower(hex(address))) AS at FROM ${table}`;
      return (await askRows<{ at: string }>(second.writer, sql)).map(({ at }) => at);
    };
    expect(await listed('contract_codes')).toEqual(expect.arrayContaining([address, made]));
    expect(await listed('contract_creations WHERE isNotNull(creator)')).toEqual([made]);
  } finally {
    await second.close();
  }
});

describe('contracts without any logs are read from the node', () => {
  let twin: Hex;
  let unseen: Hex;
  let clone: Hex;
  let asking: ExplorerServer;
  let node: NodeCode;
  let asked = 0;
  let silent = false;
  /** The open waits for the silent node. A call of such a function ends the wait like a timeout. */
  const deadlines: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock(),
    sleep: (ms, signal) =>
      silent && ms >= 1_000
        ? new Promise((resolve) => deadlines.push(resolve))
        : systemClock().sleep(ms, signal),
  };

  beforeAll(async () => {
    twin = await deployPlain();
    unseen = await deploy(`${PLAIN}${salt.toString(16).padStart(2, '0')}`);
    clone = await deploy(
      `0x602d600c600039602d6000f3363d3d373d3d3d363d73${twin.slice(2)}5af43d82803e903d91602b57fd5bf3`,
    );
    const codeHash = keccak256(String(await rpc.call('eth_getCode', [twin, 'latest']))) as Hex;
    const one = (await makeSmallRecords(CHAIN_ID))[3]!;
    await db.store.store([{ ...one, codeHash, contract: { ...one.contract, address: twin, name: 'Twin' } }]);
    const silentRpc: EthCalls = {
      batchOutcomes(calls, parse, options) {
        asked += 1;
        if (!silent) return on.node.pool.batchOutcomes(calls, parse, options);
        return new Promise((_, reject) => options!.signal!.addEventListener('abort', reject));
      },
    };
    node = createNodeCode(silentRpc, clock);
    const nodeCodeOf = (chainId: number) => (chainId === CHAIN_ID ? node : null);
    const deps = explorerDeps(db, () => on.head, { verified: db.reader, cache: UNCACHED, nodeCodeOf });
    const contracts = withNodeCode(deps.contracts, nodeCodeOf);
    asking = await startExplorer({ ...deps, contracts }, () => on.head);
  });

  afterAll(() => asking?.close());

  const dialect = async (action: string, address: Hex) =>
    (await asking.ask(`/api?module=contract&action=${action}&address=${address}`)).json?.result;
  const nativeOf = async (path: string) => (await asking.ask(`/api/v1${path}`)).json?.['data'];

  test('contracts without logs are read from the node once, and have the sources of contracts with the same code', async () => {
    const code = String(await rpc.call('eth_getCode', [unseen, 'latest']));
    expect(await nativeOf(`/contracts/${unseen}`)).toMatchObject({
      verified: true,
      name: 'Twin',
      code_hash: keccak256(code),
      code_size: 2,
      verification: { source: 'twin', twin_of: { chain_id: CHAIN_ID, address: twin } },
    });
    expect(String(await dialect('getabi', unseen))).toMatch(/^\[/);
    expect(await dialect('getsourcecode', unseen)).toMatchObject([
      { ContractName: 'Twin', SimilarMatch: twin },
    ]);
    expect(await nativeOf(`/search?q=${unseen}`)).toMatchObject([{ type: 'contract', verified: true }]);
    expect(asked).toBe(1);
  });

  test('contracts without logs are proxies if their code or storage slots say so', async () => {
    expect(await nativeOf(`/contracts/${clone}`)).toMatchObject({
      type: 'proxy',
      proxy: { kind: 'eip1167', implementation: twin },
    });
    expect(await dialect('getsourcecode', clone)).toMatchObject([{ Proxy: '1', Implementation: twin }]);
  });

  test('contracts without logs are not found if the node has no code', async () => {
    expect((await asking.ask(`/api/v1/contracts/${account}`)).status).toBe(404);
    expect(await nativeOf(`/search?q=${account}`)).toMatchObject([{ type: 'address' }]);
    expect(await dialect('getabi', account)).toBe('Contract source code not verified');
  });

  test('a request for a contract without logs does not wait while the node is silent', async () => {
    silent = true;
    const [one, other] = [hexOf('5d', 1, 40), hexOf('5d', 2, 40)];
    expect(await dialect('getabi', one)).toBe('Contract source code not verified');
    expect(await nativeOf(`/search?q=${other}`)).toMatchObject([{ type: 'address' }]);
    // Both answers arrived before the time limit for the node.
    const late = [one, other].map((address) => expect(node.get(address)).rejects.toBeDefined());
    expect(deadlines.length).toBeGreaterThan(0);
    for (const end of deadlines) end();
    await Promise.all(late);
    silent = false;
  });
});
