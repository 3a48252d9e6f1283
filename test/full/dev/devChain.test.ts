/** Tests the development chain of `npm start`: from an empty folder to moving prices, and a clean removal. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { id, Wallet } from 'ethers';

import { startDevChain } from '../../../src/dev/devChain';
import { field, getBlockHead, openDevRpc, toNumber } from '../../../src/dev/node/devRpc';
import { parseChainDescription } from '../../../src/chains/parseChainDescription';
import { numberToHex } from '../../../src/domain/hex';
import { createLog } from '../../../src/log';
import { listChildNodes, listLeftovers, type ChildNode } from '../../support/node/childNodes';
import { eventually, until } from '../../support/eventually';

const log = createLog('silent', false);
/** A short history of two hours makes the start faster. */
const SHORT = { seed: 5, swaps: 500, days: 1 / 12 };
const SWAP_V2 = id('Swap(address,uint256,uint256,uint256,uint256,address)');

let dataDir: string;

function expectNothingLeft(nodes: readonly ChildNode[]): void {
  expect(listLeftovers(nodes)).toEqual([]);
  expect(readdirSync(dataDir)).toEqual([]);
}

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'candlehouse-dev-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test('the development chain writes its description, trades after its history, and leaves no process or file', async () => {
  const begun = Math.floor(Date.now() / 1_000);
  const chain = await startDevChain({ dataDir, log, ...SHORT });
  const rpc = openDevRpc(chain.url);
  const nodes = listChildNodes();
  try {
    expect(dirname(chain.chainConfigPath)).toBe(join(dataDir, chain.id));
    const text = readFileSync(chain.chainConfigPath, 'utf8');
    expect(parseChainDescription(text, chain.chainConfigPath, 369).dexes).toHaveLength(3);
    expect(chain.hotPairs.length).toBeGreaterThan(0);
    const head = await getBlockHead(rpc);
    // The history ends where the start begins, within its last seconds.
    expect(head.timestamp).toBeGreaterThan(begun - 60);
    expect(head.timestamp).toBeLessThan(Date.now() / 1_000 + 60);
    await eventually(
      () => getBlockHead(rpc),
      ({ number }) => number >= head.number + 2,
    );
    const filter = { fromBlock: numberToHex(head.number + 1), toBlock: 'latest', topics: [SWAP_V2] };
    expect(await rpc.call('eth_getLogs', [filter])).not.toEqual([]);
  } finally {
    await rpc.close();
    await chain.stop();
  }
  expect(nodes).toHaveLength(1);
  expectNothingLeft(nodes);
  await chain.stop();
});

test('transactions of a user stay in the chain through its reorgs, and CHAIN_ID and CHAIN_CONFIG describe this chain', async () => {
  const chain = await startDevChain({
    dataDir,
    log,
    ...SHORT,
    chainId: 8_453,
    overrides: { name: 'Our own chain', chainId: 1, rpcUrls: [] },
    live: { blockMs: 100, tradesPerBlock: 2, reorgMs: [150, 300] },
  });
  const rpc = openDevRpc(chain.url);
  try {
    const text = readFileSync(chain.chainConfigPath, 'utf8');
    expect(parseChainDescription(text, chain.chainConfigPath, 8_453)).toMatchObject({
      name: 'Our own chain',
      chainId: 8_453,
      rpcUrls: [chain.url],
    });
    // The first account of the node's well-known mnemonic.
    const user = new Wallet('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80');
    const first = toNumber(await rpc.call('eth_getTransactionCount', [user.address, 'latest']));
    const sent: string[] = [];
    const blocksOf = new Map<string, Set<string>>();
    const moved = (): number => [...blocksOf.values()].filter(({ size }) => size > 1).length;
    const sendAndLook = async (): Promise<number> => {
      if (sent.length < 40) {
        const raw = await user.signTransaction({
          to: '0x000000000000000000000000000000000000dEaD',
          value: 1n,
          nonce: first + sent.length,
          gasLimit: 21_000,
          gasPrice: 5_000_000_000n,
          chainId: 8_453,
        });
        sent.push(String(await rpc.call('eth_sendRawTransaction', [raw])));
      }
      for (const hash of sent.slice(-20)) {
        const block = field(await rpc.call('eth_getTransactionReceipt', [hash]), 'blockHash');
        if (typeof block === 'string') blocksOf.set(hash, (blocksOf.get(hash) ?? new Set()).add(block));
      }
      return moved();
    };
    await eventually(sendAndLook, (count) => count >= 2);
    const isMined = async (hash: string): Promise<boolean> =>
      (await rpc.call('eth_getTransactionReceipt', [hash])) !== null;
    // A reorg takes the newest transactions out of the chain for a moment, so one look may miss them.
    await eventually(
      () => Promise.all(sent.map(isMined)),
      (mined) => mined.every(Boolean),
    );
  } finally {
    await rpc.close();
    await chain.stop();
  }
});

test('two development chains can run in parallel, and each start makes a new chain', async () => {
  const chains = [
    await startDevChain({ dataDir, log, ...SHORT }),
    await startDevChain({ dataDir, log, ...SHORT }),
  ];
  expect(readdirSync(dataDir).sort()).toEqual(chains.map((chain) => chain.id).sort());
  expect(new Set(chains.map((chain) => chain.url)).size).toBe(2);
  const nodes = listChildNodes();
  await Promise.all(chains.map((chain) => chain.stop()));
  expectNothingLeft(nodes);
});

test('an aborted start leaves no process and no file', async () => {
  const stop = new AbortController();
  const start = startDevChain({ dataDir, log, signal: stop.signal, swaps: 100_000 });
  const failed = expect(start).rejects.toThrow(/abort/i);
  await until(() => listChildNodes().length > 0);
  const nodes = listChildNodes();
  await delay(1_000);
  stop.abort();
  await failed;
  expectNothingLeft(nodes);
});

test('a later start deletes the data of a chain whose process has ended', async () => {
  const orphan = join(dataDir, 'dev-00000001');
  mkdirSync(orphan);
  const owner = { owner: { pid: process.pid, startedAt: 'before' }, engine: null };
  writeFileSync(join(orphan, 'owner.json'), JSON.stringify(owner));
  const chain = await startDevChain({ dataDir, log, ...SHORT });
  expect(readdirSync(dataDir)).toEqual([chain.id]);
  await chain.stop();
});
