/**
 * Shares of bins in pools of PancakeSwap Infinity, and the fees that hooks set for pools, through the whole program: contracts
 * on a node, ingest, API. The amounts of a position must be what a withdrawal pays.
 */
import type { Hex } from '../../../src/domain/hex';
import {
  BIN_MANAGER,
  deployBinPositions,
  middleBin,
  type BinPositions,
} from '../../support/infinity/binMarket';
import {
  deployInfinity,
  type InfinityMarket,
  type InfinityPool,
} from '../../support/infinity/infinityMarket';
import { inOrder, type MarketToken } from '../../support/protocols/poolMarket';
import { getPair, openPoolWorld, type PoolWorld } from '../../support/protocols/poolWorld';
import { expectPaid, listPositions } from '../../support/protocols/positions';
import { waitForBlock, type Program } from '../../support/server/program';
import { DYNAMIC_FEE, NATIVE } from '../../support/uniswapV4/v4Market';

/** Owners of shares, who have no tokens. The last one gets some of the first one. */
const OWNERS = ['a1', 'a2', 'a3'].map((byte): Hex => `0x${byte.repeat(20)}`) as [Hex, Hex, Hex];
const STEP = 25;

let world: PoolWorld;
let market: InfinityMarket;
let positions: BinPositions;
let program: Program;
/** Tokens, the native coin, and a pool whose hook chooses the fee. */
let pools: readonly [InfinityPool, InfinityPool, InfinityPool];

beforeAll(async () => {
  world = await openPoolWorld('infinity-bins', () => ({
    ...{ usd: market.tokens[0]!, native: market.tokens[1]! },
    dexes: [
      { name: 'bins', protocol: 'infinity_bin', factory: market.manager, positionManager: positions.address },
    ],
  }));
  market = await deployInfinity(world.anvil.rpc, [6, 18, 8], BIN_MANAGER, (codeOf) =>
    codeOf('BinPoolManager'),
  );
  positions = await deployBinPositions(world.anvil.rpc, market);
  const [six, eighteen, eight] = market.tokens as [MarketToken, MarketToken, MarketToken];
  pools = [
    open(six, eighteen, 3_000),
    open(NATIVE, six, 2_500),
    open(eight, eighteen, DYNAMIC_FEE, market.hooks.fee),
  ];
  await market.mine();
  for (const pool of pools) for (const owner of OWNERS.slice(0, 2)) await add(pool, owner);
  for (const isFirst of [true, false, true]) await trade(isFirst);
  program = await world.start(0);
});

afterAll(async () => {
  await program?.end('SIGTERM');
  await world?.stop();
});

function open(a: MarketToken, b: MarketToken, fee: number, hook?: Hex): InfinityPool {
  return market.createPool(a, b, fee, STEP, BigInt(middleBin(...inOrder(a, b), STEP)), hook);
}

/** The bins of the positions. */
const binsOf = ({ token0, token1 }: InfinityPool): number[] =>
  Array.from({ length: 21 }, (_, index) => middleBin(token0, token1, STEP) - 10 + index);

/** About 1,000 tokens in each bin. */
async function add(pool: InfinityPool, owner: Hex): Promise<void> {
  const [active = 0n] = await market.read(pool, 'getSlot0');
  const bins = binsOf(pool);
  const part = ({ decimals }: MarketToken): bigint => (10n ** BigInt(decimals) * 3_001n) / 3n;
  const amounts = bins.map((id) => [
    id < Number(active) ? 0n : part(pool.token0),
    id > Number(active) ? 0n : part(pool.token1),
  ]);
  positions.add(pool, bins, amounts, owner);
  await market.mine();
}

/** A trade across several bins of each pool. */
async function trade(isToken0In: boolean): Promise<number> {
  for (const pool of pools) {
    const { decimals } = isToken0In ? pool.token0 : pool.token1;
    market.act(pool, 'swap', [isToken0In, -(6_000n * 10n ** BigInt(decimals))]);
  }
  return market.mine();
}

async function expectShares(from: Program, pool: InfinityPool, owner: Hex, bins: readonly number[]) {
  const [position, ...others] = await listPositions(from, owner, pool.address);
  expect(others).toEqual([]);
  const shares = await positions.readShares(pool, owner, bins);
  const [active] = await market.read(pool, 'getSlot0');
  expect(position).toMatchObject({
    ...{ id: `${pool.address}-${owner}`, pool_type: 7, tick_lower: bins[0], tick_upper: bins.at(-1) },
    ...{ in_range: bins.includes(Number(active)) },
    lp_balance_raw: String(shares.reduce((all, one) => all + one, 0n)),
  });
  expectPaid(position!.tokens, pool, await positions.askPaid(pool, owner, bins));
}

test('shares of bins are one position for each pool and owner, with what a withdrawal pays', async () => {
  for (const pool of pools) {
    const bins = binsOf(pool);
    for (const owner of OWNERS.slice(0, 2)) await expectShares(program, pool, owner, bins);
    const sent = bins.slice(8, 13);
    const shares = await positions.readShares(pool, OWNERS[0], sent);
    positions.send(pool, OWNERS[0], OWNERS[2], sent, shares.reduce((a, b) => (a < b ? a : b)) / 3n);
    await positions.remove(pool, OWNERS[1], bins);
    await waitForBlock(program.url, await market.mine());
    await expectShares(program, pool, OWNERS[0], bins);
    await expectShares(program, pool, OWNERS[2], sent);
    expect(await listPositions(program, OWNERS[1], pool.address)).toEqual([]);
  }
});

test('the fee of a pool is the one that its hook has set for good, and not the one of a single swap', async () => {
  const [, , hooked] = pools;
  expect((await getPair(program, hooked)).fee_bps).toBeNull();
  market.setHookFee(1_200, true);
  await market.mine();
  market.setHookFee(700, false);
  await market.mine();
  await waitForBlock(program.url, await trade(false));
  expect((await getPair(program, hooked)).fee_bps).toBe(12);
});

test('a program that begins later has the shares in bins that it saw a deposit into', async () => {
  const late = await world.start(await market.mine());
  try {
    for (const pool of pools) await add(pool, OWNERS[0]);
    const head = await trade(true);
    await waitForBlock(late.url, head);
    for (const pool of pools) await expectShares(late, pool, OWNERS[0], binsOf(pool));
  } finally {
    await late.end('SIGTERM');
  }
});
