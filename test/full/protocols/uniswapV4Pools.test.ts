/**
 * Uniswap V4 and the CL pools of PancakeSwap Infinity through the whole program: the real PoolManager of Uniswap, or a manager
 * with the events of Infinity, on a node, ingest, API, stream. Answers must equal what the contract says, also after a restart.
 */
import type { Hex } from '../../../src/domain/hex';
import type { Portfolio } from '../../../src/wire/portfolio';
import { deployInfinityCl } from '../../support/infinity/clMarket';
import { expectPaid } from '../../support/protocols/positions';
import { getData, off, openPoolWorld, type PoolWorld } from '../../support/protocols/poolWorld';
import { waitForBlock, type Program } from '../../support/server/program';
import {
  deployV4,
  DYNAMIC_FEE,
  NATIVE,
  V4_HARDFORK,
  type PositionMarket,
  type V4Pool,
  type V4Token,
} from '../../support/uniswapV4/v4Market';

const Q96 = 2n ** 96n;
/** The positions of the position manager: the index of the pool, and whether the range is below the price. */
const POSITIONS = [
  [0, false],
  [0, true],
  [1, false],
  [2, false],
] as const;
/** An address to which positions are paid. */
const PAYEE: Hex = `0x${'9a'.repeat(20)}`;

type Deploy = (rpc: PoolWorld['anvil']['rpc'], decimals: readonly number[]) => Promise<PositionMarket>;

let world: PoolWorld;
let market: PositionMarket;
let program: Program;
/** The native coin in USD, a token in USD with a fee by its hook, and a token in native coins whose hook takes a part. */
let pools: readonly [V4Pool, V4Pool, V4Pool];
let usd: V4Token;
let wrapped: V4Token;
let head: number;

async function open(deploy: Deploy): Promise<void> {
  world = await openPoolWorld('v4', describeMarket, [], V4_HARDFORK);
  market = await deploy(world.anvil.rpc, [6, 18, 18]);
  const [six, token, other] = market.tokens as [V4Token, V4Token, V4Token];
  [usd, wrapped] = [six, other];
  // One native coin costs 4 USD, and so does one token. The token in native coins costs 1.
  const tokenPrice = token.address < six.address ? (2n * Q96) / 10n ** 6n : (Q96 * 10n ** 6n) / 2n;
  pools = [
    market.createPool(NATIVE, six, 3_000, 60, (2n * Q96) / 10n ** 6n),
    market.createPool(token, six, DYNAMIC_FEE, 60, tokenPrice, market.hooks.fee),
    market.createPool(NATIVE, token, 3_000, 60, Q96, market.hooks.delta),
  ];
  await market.mine();
  // About 100,000 native coins or tokens on each side; the sides of USD are smaller by 10^6.
  market.modify(pools[0], -887_220, 887_220, 2n * 10n ** 15n);
  market.modify(pools[1], -887_220, 887_220, 2n * 10n ** 17n);
  market.modify(pools[2], -887_220, 887_220, 10n ** 20n);
  for (const [pool, below] of POSITIONS) {
    const tick = await tickOf(pools[pool]);
    const upper = below ? tick - 600 : tick + 60_000;
    market.mintPosition(pools[pool], tick - 6_000, upper, 10n ** 15n);
  }
  market.setHookFee(2_500);
  await market.mine();
  await trade(1n);
  await world.grow();
  for (let round = 2n; round < 6n; round += 1n) await trade(round);
  program = await world.start(0);
}

async function close(): Promise<void> {
  await program?.end('SIGTERM');
  await world?.stop();
}

/** The highest tick below the price at which positions may end. */
async function tickOf(pool: V4Pool): Promise<number> {
  return Math.floor((await market.readState(pool)).tick / 60) * 60;
}

async function trade(round: bigint): Promise<void> {
  const isFirst = round % 2n === 0n;
  for (const pool of pools) {
    const { decimals } = isFirst ? pool.token0 : pool.token1;
    market.swap(pool, isFirst, -(round * 10n ** BigInt(decimals)) / 7n);
  }
  head = await market.mine(300);
}

function describeMarket() {
  const { protocol, manager: factory, positions: positionManager } = market;
  return { usd, native: wrapped, dexes: [{ name: 'singleton', protocol, factory, positionManager }] };
}

const get = <T>(path: string, from = program): Promise<T> => getData(from, path);

interface Pair {
  readonly address: string;
  readonly price: string | null;
  readonly price_usd: string | null;
  readonly sqrt_price_x96: string;
  readonly liquidity_raw: string;
  readonly tick: number;
  readonly fee_bps: number | null;
  readonly liquidity_usd: number;
  readonly reserve0_raw: string;
  readonly reserve1_raw: string;
  readonly flags: readonly string[];
}

interface Swap {
  readonly pair_address: string;
  readonly amount_usd: number | null;
  readonly fee_usd: number | null;
  readonly price: string | null;
}

const pairOf = ({ id }: V4Pool) => get<Pair>(`/pairs/${id}`);
const swapsOf = ({ id }: V4Pool) => get<Swap[]>(`/activity?pair=${id}&event_type=swap`);

/** Compares the pairs with the contract. */
async function compare(): Promise<void> {
  for (const pool of pools) {
    const pair = await pairOf(pool);
    const { sqrtPriceX96, tick, liquidity } = await market.readState(pool);
    expect(pair).toMatchObject({
      ...{ address: pool.id, sqrt_price_x96: String(sqrtPriceX96), liquidity_raw: String(liquidity), tick },
    });
    if (pool === pools[2]) {
      expect(pair.price).toBeNull();
      expect(pair.flags).toContain('price_not_followed');
      continue;
    }
    const raw = (Number(sqrtPriceX96) / 2 ** 96) ** 2 * 10 ** (pool.token0.decimals - pool.token1.decimals);
    const expected = pool.token1 === usd ? raw : 1 / raw;
    expect(off(pair.price, expected)).toBeLessThan(1e-9);
    expect(off(pair.price_usd, expected)).toBeLessThan(1e-9);
    expect(pair.liquidity_usd).toBeGreaterThan(1_000);
  }
}

/** Takes liquidity and all fees out of a position. Resolves to what the payee got. */
async function pay(pool: V4Pool, id: number, liquidity: bigint): Promise<bigint[]> {
  const tokens = [pool.token0, pool.token1];
  const read = () => Promise.all(tokens.map((token) => market.readBalance(token, PAYEE)));
  const before = await read();
  market.takePosition(pool, BigInt(id), liquidity, PAYEE);
  head = await market.mine();
  return (await read()).map((amount, index) => amount - before[index]!);
}

const MARKETS: readonly (readonly [name: string, deploy: Deploy])[] = [
  ['Uniswap V4', deployV4],
  ['PancakeSwap Infinity', deployInfinityCl],
];

describe.each(MARKETS)('pools of %s', (_, deploy) => {
  beforeAll(() => open(deploy));
  afterAll(close);

  test('pools have the price and the liquidity of the contract', compare);

  test('each swap has the fee that the contract charged, and a pool whose hook sets the fee has none of its own', async () => {
    expect((await pairOf(pools[0])).fee_bps).toBe(30);
    expect((await pairOf(pools[1])).fee_bps).toBeNull();
    for (const [pool, pips] of [[pools[0], 3_000] as const, [pools[1], 2_500] as const]) {
      const swaps = (await swapsOf(pool)).filter(({ amount_usd }) => amount_usd !== null);
      expect(swaps.length).toBeGreaterThan(1);
      for (const { amount_usd, fee_usd } of swaps)
        expect(off(fee_usd, (amount_usd! * pips) / 1e6)).toBeLessThan(1e-6);
    }
  });

  test('the native coin has the symbol of the chain and the price of the wrapped coin, which no pool holds', async () => {
    const coin = await get<{ symbol: string; decimals: number; price_usd: string }>(
      `/tokens/${NATIVE.address}`,
    );
    expect(coin).toMatchObject({ symbol: 'T18', decimals: 18 });
    expect(off(coin.price_usd, Number((await pairOf(pools[0])).price_usd))).toBeLessThan(1e-12);
    const overview = await get<{ native_price_usd: string }>('/overview');
    expect(overview.native_price_usd).toBe(coin.price_usd);
    const bars = await get<{ close: number }[]>(`/pairs/${pools[0].id}/ticks?timeframe=5m`);
    expect(off(bars.at(-1)!.close, Number(coin.price_usd))).toBeLessThan(1e-9);
  });

  test('a search finds a pool by its id', async () => {
    const hits = await get<{ type: string; address: string }[]>(`/search?q=${pools[0].id}`);
    expect(hits).toEqual([expect.objectContaining({ type: 'pair', address: pools[0].id })]);
  });

  test('the page of a pool has its id as address, and a picture', async () => {
    const { id } = pools[0];
    const page = await (await fetch(`${program.url}/pair/${id}`)).text();
    expect(page).toContain(`/preview/pair/${id}.png`);
    expect((await fetch(`${program.url}/preview/pair/${id}.png`)).status).toBe(200);
  });

  test('a restart goes on with the same states, and the stream names pools by their ids', async () => {
    await program.end('SIGTERM');
    program = await world.start(0);
    const stop = new AbortController();
    const stream = await fetch(`${program.url}/api/v1/activity/stream?pair=${pools[0].id}`, {
      signal: stop.signal,
    });
    await trade(6n);
    await waitForBlock(program.url, head);
    await compare();
    let text = '';
    for await (const part of stream.body!) {
      text += Buffer.from(part as Uint8Array).toString();
      if (text.includes('event: swap')) break;
    }
    stop.abort();
    expect(text).toContain(`"pair_address":"${pools[0].id}"`);
  });

  test('the amounts of a position are what its owner is paid', async () => {
    const { positions } = await get<Portfolio>(`/portfolio/${market.owner}`);
    for (const [index, [at, below]] of POSITIONS.entries()) {
      const pool = pools[at];
      const position = positions.find(({ position_id }) => position_id === String(index + 1))!;
      expect(position).toMatchObject({ pair_address: pool.id, in_range: !below });
      const { tokens, unclaimed, lp_balance_raw } = position;
      if (!below) expect(unclaimed!.some(({ amount }) => Number(amount) > 0)).toBe(true);
      // Fees alone, then the liquidity.
      expectPaid(unclaimed, pool, await pay(pool, index + 1, 0n));
      expectPaid(tokens, pool, await pay(pool, index + 1, BigInt(lp_balance_raw)));
    }
    await waitForBlock(program.url, head);
    expect((await get<Portfolio>(`/portfolio/${market.owner}`)).positions).toEqual([]);
  });

  test('an older pool becomes known at its first event, if the manager or its position manager knows the pool', async () => {
    const stranger = market.createPool(pools[1].token0, pools[1].token1, 500, 10, 2n ** 96n);
    await market.mine();
    market.modify(stranger, -100, 100, 10n ** 6n);
    head = await market.mine();
    const late = await world.start(head);
    try {
      market.swap(stranger, true, -1_000n);
      await trade(7n);
      for (const from of [program, late]) await waitForBlock(from.url, head);
      const listed = (await get<{ address: string }[]>('/pairs', late)).map(({ address }) => address);
      expect(listed).toEqual(expect.arrayContaining(pools.map(({ id }) => id)));
      // The manager of Infinity knows all pools.
      const knowsAll = market.protocol === 'infinity_cl';
      if (!knowsAll) await expect(get(`/pairs/${stranger.id}`, late)).rejects.toThrow('404');
      for (const { id } of knowsAll ? [...pools, stranger] : pools) {
        const [whole, part] = [await get<Pair>(`/pairs/${id}`), await get<Pair>(`/pairs/${id}`, late)];
        const { sqrt_price_x96, liquidity_raw, tick, flags } = whole;
        expect(part).toMatchObject({ sqrt_price_x96, liquidity_raw, tick });
        expect(part.flags.includes('price_not_followed')).toBe(flags.includes('price_not_followed'));
        // A swap across several ticks rounds at each of them.
        for (const side of ['reserve0_raw', 'reserve1_raw'] as const)
          expect(Math.abs(Number(BigInt(part[side]) - BigInt(whole[side])))).toBeLessThan(100);
      }
    } finally {
      await late.end('SIGTERM');
    }
  });
});
