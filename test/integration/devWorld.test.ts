/** The development chain itself: its world, its history, its live trader, and what it leaves behind. */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { id } from 'ethers';

import { startAnvil } from '../../scripts/dev/anvil';
import { buildWorld } from '../../scripts/dev/buildWorld';
import { startDevChain } from '../../scripts/dev/devChain';
import { field, getBlockHead, openDevRpc, toNumber, type BlockHead, type DevRpc } from '../../scripts/dev/devRpc';
import { mineHistory } from '../../scripts/dev/history';
import { tradeLive } from '../../scripts/dev/liveTrader';
import type { World } from '../../scripts/dev/world';
import { createLog } from '../../src/log';

const log = createLog('silent', false);
const GENESIS = 1_700_000_000;
const END = GENESIS + 6 * 86_400;
const SEED = 7;

const V2_SWAP = id('Swap(address,uint256,uint256,uint256,uint256,address)');
const V3_SWAP = id('Swap(address,address,int256,int256,uint160,uint128,int24)');
const V2_MINT = id('Mint(address,uint256,uint256)');
const V2_BURN = id('Burn(address,uint256,uint256,address)');
const V3_MINT = id('Mint(address,address,int24,int24,uint128,uint256,uint256)');
const V3_BURN = id('Burn(address,int24,int24,uint128,uint256,uint256)');
const V3_COLLECT = id('Collect(address,address,int24,int24,uint128,uint128)');

interface ChainLog {
  readonly address: string;
  readonly topic: string;
  readonly block: number;
}

async function withNode<T>(work: (rpc: DevRpc) => Promise<T>): Promise<T> {
  const node = await startAnvil({ log, timestamp: GENESIS, accounts: 20 });
  const rpc = openDevRpc(node.url);
  try {
    return await work(rpc);
  } finally {
    await rpc.close();
    await node.stop();
  }
}

async function listLogs(rpc: DevRpc, topics: readonly string[]): Promise<ChainLog[]> {
  const filter = { fromBlock: '0x0', toBlock: 'latest', topics: [topics] };
  const logs = await rpc.call('eth_getLogs', [filter]);
  if (!Array.isArray(logs)) throw new Error('no logs');
  return logs.map((entry: unknown) => ({
    address: String(field(entry, 'address')),
    topic: String(Reflect.get(Object(field(entry, 'topics')), 0)),
    block: toNumber(field(entry, 'blockNumber')),
  }));
}

/** Heads of the blocks from..to. */
async function listHeads(rpc: DevRpc, from: number, to: number): Promise<BlockHead[]> {
  const heads: BlockHead[] = [];
  for (let number = from; number <= to; number++) heads.push(await getBlockHead(rpc, number));
  return heads;
}

describe('the world and its history', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'candlehouse-world-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function makeHistory(rpc: DevRpc, swaps: number): Promise<World> {
    const world = await buildWorld(rpc, { log });
    await mineHistory(rpc, world, { seed: SEED, swaps, endTimestamp: END, days: 5 });
    return world;
  }

  test('has real pools of two V2 exchanges with 30 and 29 bps and of V3 in three tiers, all with liquidity', async () => {
    await withNode(async (rpc) => {
      const world = await buildWorld(rpc, { log });
      const { dexes } = world.chainDescription;
      expect(dexes.map((dex) => [dex.protocol, dex.feeBps])).toEqual([
        ['uniswap_v2', 30],
        ['uniswap_v2', 29],
        ['uniswap_v3', undefined],
      ]);
      const byDex = (name: string) => world.pools.filter((pool) => pool.dex === name);
      const [first, second, third] = dexes.map((dex) => byDex(dex.name));
      expect((first?.length ?? 0) + (second?.length ?? 0)).toBeGreaterThanOrEqual(20);
      expect(second?.length).toBeGreaterThan(2);
      expect(third?.length).toBeGreaterThanOrEqual(6);
      expect(new Set(third?.map((pool) => pool.feePips)).size).toBeGreaterThanOrEqual(3);
      for (const pool of world.pools) {
        expect(BigInt(pool.token0.address)).toBeLessThan(BigInt(pool.token1.address));
        const selector = id(pool.protocol === 'uniswap_v2' ? 'getReserves()' : 'liquidity()').slice(0, 10);
        const answer = String(await rpc.call('eth_call', [{ to: pool.address, data: selector }, 'latest']));
        expect(BigInt(answer.slice(0, 66))).toBeGreaterThan(0n);
      }
    });
  });
});
