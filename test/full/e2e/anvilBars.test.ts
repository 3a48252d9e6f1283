/**
 * The whole program over a real node: real contracts trade, and the chain is reorganised. Bars of every pair
 * and timeframe, pool states and the stream must equal values computed from eth_getLogs and the answers of
 * the contracts.
 */
import { numberToHex, type Hex } from '../../../src/domain/hex';
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import { oracleSwaps } from '../../support/oracle/oracle';
import { Random } from '../../support/random';
import type { TestAnvil, TestWorld } from '../../support/node/anvil';
import { waitForBlock, type Program } from '../../support/server/program';
import { findWrongBars } from '../../support/oracle/wrongBars';
import { EventFollower } from '../../support/server/eventFollower';
import { eventually } from '../../support/eventually';
import { startWorldProgram, type WorldProgram } from '../../support/server/worldProgram';

const SEED = Number(process.env['ANVIL_SEED'] ?? 5);
const ROUNDS = 24;

let on: WorldProgram;
let anvil: TestAnvil;
let world: TestWorld;
let program: Program;
let firstBlock: number;
let events: EventFollower;
let time = 1_700_000_500;

beforeAll(async () => {
  on = await startWorldProgram();
  ({ anvil, world, program } = on);
  firstBlock = await headNumber();
  await waitForBlock(program.url, firstBlock);
  const url = `${program.url}/api/v1/activity/stream`;
  events = new EventFollower(() => url, new Random(SEED), `${firstBlock}-1048575`, Infinity);
  events.begin();
});

afterAll(async () => {
  await events?.stop();
  await on?.close();
});

async function headNumber(): Promise<number> {
  return Number(await anvil.rpc.call('eth_blockNumber', []));
}

/** Reads all canonical blocks with their logs through eth_getLogs. */
async function readChain(): Promise<ChainBlock[]> {
  const head = await headNumber();
  const logs = (await anvil.rpc.call('eth_getLogs', [
    { fromBlock: '0x0', toBlock: numberToHex(head) },
  ])) as Record<string, Hex>[];
  const blocks: ChainBlock[] = [];
  for (let number = 0; number <= head; number += 1) {
    const header = (await anvil.rpc.call('eth_getBlockByNumber', [numberToHex(number), false])) as Record<
      string,
      Hex
    >;
    const own = logs.filter((log) => Number(log['blockNumber']) === number);
    blocks.push({
      number,
      hash: header['hash']!,
      parentHash: header['parentHash']!,
      timestamp: Number(header['timestamp']),
      baseFeePerGas: null,
      transactionCount: 0,
      transactions: [],
      logs: own.map((log) => ({ ...(log as unknown as ChainLog), logIndex: Number(log['logIndex']) })),
    });
  }
  return blocks;
}

/** One to three random swaps in pools with deep reserves. */
async function randomTrades(random: Random) {
  const pools = world.pools.filter((pool) => pool.protocol === 'uniswap_v2');
  const transactions = [];
  for (let count = random.int(1, 3); count > 0; count -= 1) {
    const zeroForOne = random.chance(0.5);
    if (random.chance(0.3)) {
      const pool = random.pick(world.pools.filter((item) => item.protocol === 'uniswap_v3'));
      const held = await world.balanceOf(zeroForOne ? pool.token0 : pool.token1, pool.address);
      transactions.push(world.swapV3(pool, { zeroForOne, amountIn: held / BigInt(random.int(200, 5_000)) }));
      continue;
    }
    const pool = random.pick(pools);
    const { reserve0, reserve1 } = await world.readReserves(pool);
    const amountIn = (zeroForOne ? reserve0 : reserve1) / BigInt(random.int(50, 900));
    transactions.push(world.swapV2(pool, { zeroForOne, amountIn }));
  }
  return transactions;
}

async function compareAll(): Promise<string[]> {
  const blocks = await readChain();
  const head = blocks.at(-1)!;
  await waitForHash(head.hash);
  const factories = new Set(world.chainDescription.dexes.map((dex) => dex.factory.toLowerCase()));
  const swaps = oracleSwaps(blocks, factories);
  return findWrongBars(program.url, swaps, (address) => {
    const pool = world.pools.find((item) => item.address === address)!;
    const { token0, token1 } = pool;
    const ranked = [
      ...world.chainDescription.anchors.map((anchor) => anchor.address),
      world.chainDescription.wrappedNative,
      ...(world.chainDescription.majors ?? []),
    ];
    const rank = (token: Hex): number => {
      const at = ranked.map((item) => String(item).toLowerCase()).indexOf(token);
      return at === -1 ? Infinity : at;
    };
    return {
      decimals0: token0.decimals,
      decimals1: token1.decimals,
      baseIsToken0: rank(token1.address) <= rank(token0.address),
    };
  });
}

async function waitForHash(hash: string): Promise<void> {
  const read = async (): Promise<string | null> => {
    if (program.hasEnded()) throw new Error(program.lastWords());
    const response = await fetch(`${program.url}/healthz`);
    await response.arrayBuffer();
    return response.headers.get('x-indexed-block-hash');
  };
  await eventually(read, (shown) => shown === hash);
}

test('after trades and reorgs every bar, pool state and streamed event is correct for the chain', async () => {
  const random = new Random(SEED);
  for (let round = 0; round < ROUNDS; round += 1) {
    time += random.pick([5, 20, 61, 400, 4_000]);
    const trades = await randomTrades(random);
    if (round > 3 && random.chance(0.35)) {
      const depth = random.int(1, 4);
      // A reorg replaces blocks with new ones on an older parent, but block times must still rise.
      const blocks = Array.from({ length: random.int(1, depth + 2) }, (_, index) => ({
        timestamp: time + index * 10,
        transactions: index === 0 ? trades.slice(0, 1) : [],
      }));
      await world.reorg(depth, blocks);
      time += blocks.length * 10;
    } else {
      await world.mineBlock(time, trades);
    }
    if (round % 8 === 7) expect(await compareAll()).toEqual([]);
  }
  expect(await compareAll()).toEqual([]);
});

test('the state of a pool equals the answer of its contract', async () => {
  for (const pool of world.pools) {
    const answer = await fetch(`${program.url}/api/v1/pairs/${pool.address}`);
    const { data } = (await answer.json()) as { data: Record<string, unknown> };
    if (pool.protocol === 'uniswap_v2') {
      const { reserve0, reserve1 } = await world.readReserves(pool);
      expect([data['reserve0_raw'], data['reserve1_raw']]).toEqual([
        reserve0.toString(),
        reserve1.toString(),
      ]);
    } else {
      const { sqrtPriceX96, tick, liquidity } = await world.readSlot0(pool);
      expect([data['sqrt_price_x96'], data['tick'], data['liquidity_raw']]).toEqual([
        sqrtPriceX96.toString(),
        tick,
        liquidity.toString(),
      ]);
      const balances = [
        await world.balanceOf(pool.token0, pool.address),
        await world.balanceOf(pool.token1, pool.address),
      ];
      expect([data['reserve0_raw'], data['reserve1_raw']]).toEqual(balances.map(String));
    }
  }
});

test('streamed events, with reorgs applied, equal the events of /activity', async () => {
  const listed: string[] = [];
  let cursor: string | null = null;
  do {
    const page: string = cursor === null ? '' : `&cursor=${cursor}`;
    const answer = await fetch(`${program.url}/api/v1/activity?limit=100${page}`);
    const body = (await answer.json()) as {
      data: { id: string; tx_hash: string }[];
      meta: { next_cursor: string | null };
    };
    listed.push(
      ...body.data
        .filter((item) => Number(item.id.split('-')[0]) > firstBlock)
        .map((item) => `${item.id} ${item.tx_hash}`),
    );
    cursor = body.meta.next_cursor;
  } while (cursor !== null);
  listed.reverse();
  await eventually(
    () => events.net(),
    (net) => net.length === listed.length && net.at(-1) === listed.at(-1),
  );
  expect([events.net(), events.faults]).toEqual([listed, []]);
  expect(events.reorgs).toBeGreaterThan(0);
});
