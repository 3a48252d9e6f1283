/** The contents of the development chain: its pools, its history and its live trader. */
import { Interface, id } from 'ethers';

import { startAnvil, type Anvil } from '../../../src/dev/node/anvil';
import { expectAllSucceeded } from '../../../src/dev/node/blockMaker';
import { buildWorld } from '../../../src/dev/world/buildWorld';
import {
  field,
  getBlockHead,
  openDevRpc,
  toNumber,
  type BlockHead,
  type DevRpc,
} from '../../../src/dev/node/devRpc';
import { listTimestamps, mineHistory, type History } from '../../../src/dev/world/history';
import { tradeLive } from '../../../src/dev/trading/liveTrader';
import { tokenByKey } from '../../../src/dev/world/openPools';
import type { World, WorldPool } from '../../../src/dev/world/world';
import { FULL_PLAN, SMALL_PLAN } from '../../../src/dev/world/worldPlan';
import { parseChainDescription } from '../../../src/chains/parseChainDescription';
import { numberToHex } from '../../../src/domain/hex';
import { createLog } from '../../../src/log';
import { eventually } from '../../support/eventually';

const log = createLog('silent', false);
const GENESIS = 1_700_000_000;
const END = GENESIS + 6 * 86_400;
const DAYS = 5;
const SEED = 7;

const V2_SWAP = id('Swap(address,uint256,uint256,uint256,uint256,address)');
const V3_SWAP = id('Swap(address,address,int256,int256,uint160,uint128,int24)');
const V2_MINT = id('Mint(address,uint256,uint256)');
const V2_BURN = id('Burn(address,uint256,uint256,address)');
const V3_MINT = id('Mint(address,address,int24,int24,uint128,uint256,uint256)');
const V3_BURN = id('Burn(address,int24,int24,uint128,uint256,uint256)');
const V3_COLLECT = id('Collect(address,address,int24,int24,uint128,uint128)');

const SWAPS: readonly string[] = [V2_SWAP, V3_SWAP];

interface ChainLog {
  readonly address: string;
  readonly topic: string;
  readonly block: number;
}

const startNode = (): Promise<Anvil> => startAnvil({ log, timestamp: GENESIS, accounts: 20 });

async function withNode<T>(work: (rpc: DevRpc) => Promise<T>): Promise<T> {
  const node = await startNode();
  const rpc = openDevRpc(node.url);
  try {
    return await work(rpc);
  } finally {
    await rpc.close();
    await node.stop();
  }
}

/** A development chain with days of history. */
async function makeHistory(rpc: DevRpc, swaps: number): Promise<History> {
  const world = await buildWorld(rpc);
  return mineHistory(rpc, world, { seed: SEED, swaps, endTimestamp: END, days: DAYS });
}

async function listLogs(rpc: DevRpc, topics: readonly string[], fromBlock = 0): Promise<ChainLog[]> {
  const filter = { fromBlock: numberToHex(fromBlock), toBlock: 'latest', topics: [topics] };
  const logs = await rpc.call('eth_getLogs', [filter]);
  if (!Array.isArray(logs)) throw new Error('eth_getLogs returned no list');
  return logs.map((entry: unknown) => ({
    address: String(field(entry, 'address')),
    topic: String(Reflect.get(Object(field(entry, 'topics')), 0)),
    block: toNumber(field(entry, 'blockNumber')),
  }));
}

/** Headers of the blocks from `from` to `to`. */
async function listHeads(rpc: DevRpc, from: number, to: number): Promise<BlockHead[]> {
  const heads: BlockHead[] = [];
  while (from + heads.length <= to) {
    const first = from + heads.length;
    const some = Array.from({ length: Math.min(50, to + 1 - first) }, (_, index) => first + index);
    heads.push(...(await Promise.all(some.map((number) => getBlockHead(rpc, number)))));
  }
  return heads;
}

/** The pool's price of token0 in USD, relative to the planned price: 1 means as planned. */
async function readPriceRatio(rpc: DevRpc, pool: WorldPool): Promise<number> {
  const isV2 = pool.protocol === 'uniswap_v2';
  const selector = id(isV2 ? 'getReserves()' : 'slot0()').slice(0, 10);
  const answer = String(await rpc.call('eth_call', [{ to: pool.address, data: selector }, 'latest']));
  const word = (index: number): number =>
    Number(BigInt(`0x${answer.slice(2 + 64 * index, 66 + 64 * index)}`));
  const raw = isV2 ? word(1) / word(0) : (word(0) / 2 ** 96) ** 2;
  const { token0, token1 } = pool;
  return (raw * 10 ** (token0.decimals - token1.decimals) * token1.priceUsd) / token0.priceUsd;
}

/**
 * The price follows two random walks, each of at most four standard deviations. Recent trades, which arbitrage has not
 * traded back yet, also move the price.
 */
function boundOf({ token0, token1 }: WorldPool): number {
  return 4.5 * (token0.volatility + token1.volatility) + 0.1;
}

describe('the development world has the planned pools and prices', () => {
  let node: Anvil;
  let rpc: DevRpc;
  let world: World;

  // The tests of this group do not change the world.
  beforeAll(async () => {
    node = await startNode();
    rpc = openDevRpc(node.url);
    world = await buildWorld(rpc);
  });

  afterAll(async () => {
    await rpc?.close();
    await node?.stop();
  });

  test('the development world has pools of two V2 exchanges and of V3 with at least three fees, all with liquidity', async () => {
    const { dexes } = world.chainDescription;
    expect(dexes.map((dex) => [dex.name, dex.protocol, dex.feeBps])).toEqual([
      ['devswap_v2', 'uniswap_v2', 30],
      ['pulsedev_v2', 'uniswap_v2', 29],
      ['devswap_v3', 'uniswap_v3', undefined],
    ]);
    const [first, second, third] = dexes.map((dex) => world.pools.filter((pool) => pool.dex === dex.name));
    expect(first!.length + second!.length).toBeGreaterThanOrEqual(20);
    const pairOf = (pool: WorldPool): string => `${pool.token0.key}/${pool.token1.key}`;
    const inBoth = first!.filter((pool) => second!.some((other) => pairOf(other) === pairOf(pool)));
    expect(inBoth.length).toBeGreaterThanOrEqual(2);
    expect(third!.length).toBeGreaterThanOrEqual(6);
    expect(new Set(third!.map((pool) => pool.feePips)).size).toBeGreaterThanOrEqual(3);
    for (const pool of world.pools) {
      expect(BigInt(pool.token0.address)).toBeLessThan(BigInt(pool.token1.address));
      // The price differs a little from the plan: wallets have traded, and a token without decimals has a reserve of
      // about 10,000 indivisible units.
      expect(Math.abs((await readPriceRatio(rpc, pool)) - 1)).toBeLessThan(0.03);
    }
  });

  test('the description of the development world is a valid CHAIN_CONFIG', async () => {
    const { chainDescription, wrappedNative, tokens } = world;
    const parsed = parseChainDescription(JSON.stringify(chainDescription), 'chain.json', 369);
    expect(parsed.wrappedNative).toBe(wrappedNative);
    expect(parsed.anchors).toHaveLength(3);
    expect(parsed.anchors.map(({ priceUsd }) => priceUsd)).toEqual([1, 1, 1]);
    const decimals = new Set(tokens.map((token) => token.decimals));
    for (const wanted of [0, 2, 6, 8, 9, 18, 24, 30]) expect(decimals).toContain(wanted);
  });

  test('the development world answers a multicall in which only broken tokens fail', async () => {
    const { tokens, multicall3 } = world;
    const multicall = new Interface([
      'function aggregate3((address,bool,bytes)[]) returns ((bool success, bytes returnData)[])',
    ]);
    const chosen = ['usdc', 'no_symbol', 'maker', 'empty', 'nameless'].map((key) => tokenByKey(tokens, key));
    const calls = chosen.map((token) => [token.address, true, id('symbol()').slice(0, 10)]);
    const data = multicall.encodeFunctionData('aggregate3', [calls]);
    const answer = String(await rpc.call('eth_call', [{ to: multicall3, data }, 'latest']));
    const [results] = multicall.decodeFunctionResult('aggregate3', answer);
    const outcomes = results.map(({ success, returnData }: { success: boolean; returnData: string }) => [
      success,
      (returnData.length - 2) / 2,
    ]);
    expect(outcomes.map(([success]: [boolean, number]) => success)).toEqual([true, false, true, true, false]);
    expect(outcomes[2]).toEqual([true, 32]);
    expect(outcomes[3]).toEqual([true, 64]);
  });
});

describe('the development history has past trades of every kind', () => {
  test('the development history ends now, is sparser in the past, has every kind of event, creates pools and keeps prices in bounds', async () => {
    await withNode(async (rpc) => {
      const history = await makeHistory(rpc, 1_800);
      const head = await getBlockHead(rpc);
      expect(head.timestamp).toBe(END);
      const heads = await listHeads(rpc, head.number - history.blocks + 1, head.number);
      const times = heads.map(({ timestamp }) => timestamp);
      expect(times).toEqual(listTimestamps(END, DAYS));
      expect(times.every((time, index) => index === 0 || time > times[index - 1]!)).toBe(true);
      expect(END - times[0]!).toBeGreaterThan((DAYS - 0.5) * 86_400);
      expect(times.filter((time) => time > END - 3_600)).toHaveLength(240);

      const logs = await listLogs(rpc, [...SWAPS, V2_MINT, V2_BURN, V3_MINT, V3_BURN, V3_COLLECT]);
      const count = (topic: string): number => logs.filter((entry) => entry.topic === topic).length;
      // Some planned swaps are too small to return anything.
      expect(count(V2_SWAP) + count(V3_SWAP)).toBeGreaterThan(0.95 * history.swaps);
      for (const topic of [V3_SWAP, V2_MINT, V2_BURN, V3_MINT, V3_BURN, V3_COLLECT]) {
        expect(count(topic)).toBeGreaterThan(0);
      }
      const known = new Set<string>(history.world.pools.map((pool) => pool.address));
      expect(logs.filter((entry) => !known.has(entry.address))).toEqual([]);

      const hot = new Set<string>(history.world.pools.slice(0, 3).map((pool) => pool.address));
      const timeOf = new Map(heads.map(({ number, timestamp }) => [number, timestamp]));
      const busy = logs.filter((entry) => SWAPS.includes(entry.topic) && hot.has(entry.address));
      const minutes = new Set(busy.map((entry) => Math.floor((timeOf.get(entry.block) ?? 0) / 60)));
      const lastHour = Array.from({ length: 59 }, (_, index) => Math.floor(END / 60) - 59 + index);
      expect(lastHour.filter((minute) => !minutes.has(minute))).toEqual([]);

      const { pools } = history.world;
      expect(pools).toHaveLength(FULL_PLAN.pools.length + FULL_PLAN.launches.length);
      for (const pool of pools) {
        expect(Math.abs(Math.log(await readPriceRatio(rpc, pool)))).toBeLessThan(boundOf(pool));
      }
    });
  });

  test('the development history is the same for the same seed and end time, and differs for another seed', async () => {
    const headOf = (seed: number): Promise<string> => {
      return withNode(async (rpc) => {
        const world = await buildWorld(rpc, SMALL_PLAN);
        await mineHistory(rpc, world, { seed, swaps: 400, endTimestamp: END, days: 0.02 });
        return (await getBlockHead(rpc)).hash;
      });
    };
    const [first, again, other] = [await headOf(1), await headOf(1), await headOf(2)];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test('writing the development history stops when it is aborted', async () => {
    await withNode(async (rpc) => {
      const world = await buildWorld(rpc, SMALL_PLAN);
      const stop = new AbortController();
      const options = { seed: 1, swaps: 5_000, endTimestamp: END, days: DAYS, signal: stop.signal };
      const mining = mineHistory(rpc, world, { ...options, onProgress: (done) => done > 50 && stop.abort() });
      await expect(mining).rejects.toThrow(/abort/i);
    });
  });
});

/** Trades without pauses between blocks. `reorgMs` is the shortest and longest time between reorgs. */
const tradeFast = (rpc: DevRpc, world: World, signal: AbortSignal, reorgMs: readonly [number, number]) =>
  tradeLive(rpc, world, { seed: SEED, signal, log, blockMs: 0, reorgMs });

describe('the live trader keeps trading on the development chain', () => {
  test('the live trader mines blocks with swaps, and its reorgs replace blocks that it had mined', async () => {
    await withNode(async (rpc) => {
      const world = await buildWorld(rpc, SMALL_PLAN);
      const stop = new AbortController();
      const fast = { blockMs: 20, reorgMs: [150, 250] as const, tradesPerBlock: 5 };
      const trading = tradeLive(rpc, world, { seed: SEED, signal: stop.signal, log, ...fast });
      const seen = new Map<number, Set<string>>();
      const look = async (): Promise<number> => {
        const head = await getBlockHead(rpc);
        for (let number = Math.max(1, head.number - 6); number <= head.number; number++) {
          const block = await getBlockHead(rpc, number).catch(() => null);
          if (block === null) continue;
          seen.set(number, (seen.get(number) ?? new Set()).add(block.hash));
        }
        return [...seen.values()].filter((hashes) => hashes.size > 1).length;
      };
      await eventually(look, (replaced) => replaced >= 4);
      stop.abort();
      const summary = await trading;
      expect(summary.reorgs).toBeGreaterThan(0);
      expect(summary.swaps).toBeGreaterThan(summary.blocks);
      expect((await listLogs(rpc, SWAPS)).length).toBeGreaterThan(0);
      expect(toNumber(await rpc.call('eth_blockNumber'))).toBeGreaterThan(10);
    });
  });

  test('reorgs of the live trader keep the blocks from before it started', async () => {
    await withNode(async (rpc) => {
      const world = await buildWorld(rpc, SMALL_PLAN);
      const stop = new AbortController();
      const start = await getBlockHead(rpc);
      // A reorg comes before each block, also before the first.
      const trading = tradeFast(rpc, world, stop.signal, [0, 0]);
      await eventually(
        () => getBlockHead(rpc),
        ({ number }) => number >= start.number + 5,
      );
      stop.abort();
      expect((await trading).reorgs).toBeGreaterThan(0);
      expect((await getBlockHead(rpc, start.number)).hash).toBe(start.hash);
    });
  });

  test('the live trader runs for hundreds of blocks with reorgs, without failed transactions and with prices in bounds', async () => {
    await withNode(async (rpc) => {
      const world = await buildWorld(rpc, SMALL_PLAN);
      const stop = new AbortController();
      const start = (await getBlockHead(rpc)).number;
      const trading = tradeFast(rpc, world, stop.signal, [150, 250]);
      await eventually(
        async () => toNumber(await rpc.call('eth_blockNumber')),
        (number) => number >= start + 200,
      );
      stop.abort();
      const { blocks, reorgs } = await trading;
      expect(blocks).toBeGreaterThanOrEqual(200);
      expect(reorgs).toBeGreaterThan(0);
      const head = await getBlockHead(rpc);
      for (let number = start + 1; number <= head.number; number += 7) await expectAllSucceeded(rpc, number);
      for (const pool of world.pools) {
        expect(Math.abs(Math.log(await readPriceRatio(rpc, pool)))).toBeLessThan(boundOf(pool));
      }
    });
  });
});
