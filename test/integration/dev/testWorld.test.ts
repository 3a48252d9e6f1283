/** Tests the test node itself: actions emit their events, blocks have their times, reorgs replace blocks. */
import { id } from 'ethers';

import { field } from '../../../src/dev/node/devRpc';
import { numberToHex } from '../../../src/domain/hex';
import { deployTestWorld, startTestAnvil, type TestAnvil, type TestWorld } from '../../support/node/anvil';
import { TEST_POOLS } from '../../support/worlds/testWorldPlan';

const EVENTS: Readonly<Record<string, string>> = {
  [id('Swap(address,uint256,uint256,uint256,uint256,address)')]: 'swapV2',
  [id('Sync(uint112,uint112)')]: 'sync',
  [id('Mint(address,uint256,uint256)')]: 'mintV2',
  [id('Burn(address,uint256,uint256,address)')]: 'burnV2',
  [id('Swap(address,address,int256,int256,uint160,uint128,int24)')]: 'swapV3',
  [id('Mint(address,address,int24,int24,uint128,uint256,uint256)')]: 'mintV3',
  [id('Burn(address,int24,int24,uint128,uint256,uint256)')]: 'burnV3',
  [id('Collect(address,address,int24,int24,uint128,uint128)')]: 'collectV3',
  [id('Flash(address,address,uint256,uint256,uint256,uint256)')]: 'flashV3',
};

let anvil: TestAnvil;
let world: TestWorld;
beforeAll(async () => {
  anvil = await startTestAnvil();
  world = await deployTestWorld(anvil);
});
afterAll(() => anvil.stop());

/** Names of the pool events of a block, in order. */
async function listEvents(block: number, pool: string): Promise<string[]> {
  const filter = { fromBlock: numberToHex(block), toBlock: numberToHex(block), address: pool };
  const logs = await anvil.rpc.call('eth_getLogs', [filter]);
  if (!Array.isArray(logs)) throw new Error('eth_getLogs returned no list');
  return logs.flatMap((log: unknown) => EVENTS[String(Reflect.get(Object(field(log, 'topics')), 0))] ?? []);
}

test('every action on a V2 pair emits its events', async () => {
  const pool = world.pool(TEST_POOLS.wplsDai29);
  const [user] = world.users;
  const before = await world.readReserves(pool);
  const part = { amount0: before.reserve0 / 10_000n, amount1: before.reserve1 / 10_000n };
  const run = async (transaction: Parameters<TestWorld['mineBlock']>[1]): Promise<string[]> => {
    return listEvents((await world.mineBlock(undefined, transaction)).number, pool.address);
  };
  expect(await run([world.swapV2(pool, { zeroForOne: true, amountIn: part.amount0 })])).toEqual([
    'sync',
    'swapV2',
  ]);
  expect((await world.readReserves(pool)).reserve0).toBe(before.reserve0 + part.amount0);
  expect(await run([world.swapV2(pool, { zeroForOne: false, amountIn: part.amount1 })])).toEqual([
    'sync',
    'swapV2',
  ]);
  expect(await run([world.mintV2(pool, part)])).toEqual(['sync', 'mintV2']);
  const liquidity = await world.balanceOf(pool, user!);
  expect(liquidity).toBeGreaterThan(0n);
  expect(await run([world.burnV2(pool, { liquidity })])).toEqual(['sync', 'burnV2']);
  expect(await world.balanceOf(pool, user!)).toBe(0n);
  expect(await run([world.flashSwapV2(pool, { amount0: part.amount0, amount1: 0n })])).toEqual([
    'sync',
    'swapV2',
  ]);
  const donation = world.transfer(pool.token0, { to: pool.address, amount: 1_000n });
  expect(await run([donation, world.syncV2(pool)])).toEqual(['sync']);
});

test('every action on a V3 pool emits its events, and a position can be opened and closed', async () => {
  const pool = world.pool(TEST_POOLS.wethUsdcV3);
  const { tick, liquidity } = await world.readSlot0(pool);
  const middle = Math.floor(tick / 10) * 10;
  // About a hundred dollars on each side.
  const isWethFirst = pool.token0.key === 'weth';
  const [weth, usdc] = [4n * 10n ** 16n, 100_000_000n];
  const [amount0, amount1] = isWethFirst ? [weth, usdc] : [usdc, weth];
  const range = { tickLower: middle - 100, tickUpper: middle + 100 };
  const minted = await world.mineBlock(undefined, [world.mintV3(pool, { ...range, amount0, amount1 })]);
  expect(await listEvents(minted.number, pool.address)).toEqual(['mintV3']);
  const added = (await world.readSlot0(pool)).liquidity - liquidity;
  expect(added).toBeGreaterThan(0n);
  const [positionId] = await world.listMintedPositions(minted.number);
  const events = async (transaction: Parameters<TestWorld['mineBlock']>[1]): Promise<string[]> => {
    return listEvents((await world.mineBlock(undefined, transaction)).number, pool.address);
  };
  expect(await events([world.swapV3(pool, { zeroForOne: true, amountIn: amount0 })])).toEqual(['swapV3']);
  expect(await events([world.swapV3(pool, { zeroForOne: false, amountIn: amount1 })])).toEqual(['swapV3']);
  expect(await events([world.flashV3(pool, { amount0, amount1: 0n })])).toEqual(['flashV3']);
  const id = positionId!;
  expect(await events([world.burnV3({ positionId: id, liquidity: added })])).toEqual(['burnV3']);
  expect(await events([world.collectV3({ positionId: id })])).toEqual(['collectV3']);
  expect((await world.readSlot0(pool)).liquidity).toBe(liquidity);
});

test('tokens with 0 and 30 decimals and a taxed token can be swapped in both directions', async () => {
  for (const index of [TEST_POOLS.wholeWpls, TEST_POOLS.deepWpls, TEST_POOLS.taxedWpls]) {
    const pool = world.pool(index);
    const { reserve0, reserve1 } = await world.readReserves(pool);
    const there = world.swapV2(pool, { zeroForOne: true, amountIn: reserve0 / 1_000n });
    const back = world.swapV2(pool, { zeroForOne: false, amountIn: reserve1 / 1_000n });
    const { number } = await world.mineBlock(undefined, [there, back]);
    expect(await listEvents(number, pool.address)).toEqual(['sync', 'swapV2', 'sync', 'swapV2']);
  }
});

test('a block has the timestamp that the test sets', async () => {
  const head = await world.mineBlock();
  const next = await world.mineBlock(head.timestamp + 12_345);
  expect([next.number, next.timestamp]).toEqual([head.number + 1, head.timestamp + 12_345]);
});

test('a failing transaction is an error', async () => {
  const pool = world.pool(TEST_POOLS.wplsUsdc);
  const tooMuch = world.swapV2(pool, { zeroForOne: true, amountIn: 2n ** 200n });
  await expect(world.mineBlock(undefined, [tooMuch])).rejects.toThrow(/failed/);
});

test('a reorg replaces blocks by fewer, as many or more blocks at the same timestamps', async () => {
  const pool = world.pool(TEST_POOLS.wplsUsdc);
  const swap = (amountIn: bigint) => [world.swapV2(pool, { zeroForOne: true, amountIn })];
  for (const length of [2, 3, 5]) {
    const fork = await world.mineBlock();
    const old = [];
    for (let i = 0; i < 3; i++) old.push(await world.mineBlock(undefined, swap(10n ** 24n + BigInt(i))));
    const plans = Array.from({ length }, (_, i) => ({ transactions: swap(3n * 10n ** 24n + BigInt(i)) }));
    const heads = await world.reorg(3, plans);
    expect(heads.map((head) => head.number)).toEqual(plans.map((_, i) => fork.number + 1 + i));
    expect(heads[0]?.parentHash).toBe(fork.hash);
    expect(heads[0]?.timestamp).toBe(old[0]?.timestamp);
    expect(heads.map((head) => head.hash)).not.toContain(old[0]?.hash);
  }
});

test('a rollback shortens the chain, and mining continues from there', async () => {
  const fork = await world.mineBlock();
  await world.mineBlock(undefined, [world.syncV2(world.pool(TEST_POOLS.wplsUsdc))]);
  await world.mineBlock();
  expect(await world.rollback(2)).toEqual(fork);
  const next = await world.mineBlock(undefined, [world.syncV2(world.pool(TEST_POOLS.wplsUsdc))]);
  expect(next.parentHash).toBe(fork.hash);
});

test('equal steps make equal chains', async () => {
  const build = async (): Promise<string> => {
    const node = await startTestAnvil();
    try {
      const second = await deployTestWorld(node);
      const swap = second.swapV2(second.pool(TEST_POOLS.wplsUsdc), {
        zeroForOne: true,
        amountIn: 10n ** 24n,
      });
      return (await second.mineBlock(undefined, [swap, second.syncV2(second.pool(TEST_POOLS.wplsUsdc))]))
        .hash;
    } finally {
      await node.stop();
    }
  };
  expect(await build()).toBe(await build());
});
