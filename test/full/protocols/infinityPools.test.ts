/**
 * The CL pools of PancakeSwap Infinity through the whole program: a manager on a node, ingest, API, stream.
 * Answers must equal what the contract says, also after a restart.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { deployInfinityCl } from '../../support/infinity/clMarket';
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';
import { startProgram, waitForBlock, type Program } from '../../support/server/program';
import {
  DYNAMIC_FEE,
  NATIVE,
  V4_HARDFORK,
  type V4Market,
  type V4Pool,
  type V4Token,
} from '../../support/uniswapV4/v4Market';

/** Blocks until the price of a token may rest on a new pool. */
const GROWN_BLOCKS = 140;
const Q96 = 2n ** 96n;

let folder: string;
let anvil: TestAnvil;
let market: V4Market;
let program: Program;
/** The native coin in USD, a token in USD with a fee by its hook, and a token in native coins whose hook takes a part. */
let pools: readonly [V4Pool, V4Pool, V4Pool];
let usd: V4Token;
let wrapped: V4Token;
let head: number;

async function open(deploy: typeof deployInfinityCl): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'candlehouse-v4-'));
  anvil = await startTestAnvil([], V4_HARDFORK);
  market = await deploy(anvil.rpc, [6, 18, 18]);
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
  market.setHookFee(2_500);
  await market.mine();
  await trade(1n);
  await anvil.rpc.call('anvil_mine', [`0x${GROWN_BLOCKS.toString(16)}`, '0xa']);
  for (let round = 2n; round < 6n; round += 1n) await trade(round);
  program = await start(0);
}

async function close(): Promise<void> {
  await program?.end('SIGTERM');
  await anvil?.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function trade(round: bigint): Promise<void> {
  const isFirst = round % 2n === 0n;
  for (const pool of pools) {
    const { decimals } = isFirst ? pool.token0 : pool.token1;
    market.swap(pool, isFirst, -(round * 10n ** BigInt(decimals)) / 7n);
  }
  head = await market.mine(300);
}

async function start(startBlock: number): Promise<Program> {
  const description = join(folder, 'chain.json');
  const dex = { name: 'singleton', displayName: 'Singleton', protocol: market.protocol };
  const chain = {
    ...{ chainId: 369, name: 'V4 test', nativeSymbol: 'COIN', wrappedNative: wrapped.address, majors: [] },
    anchors: [{ address: usd.address, symbol: 'T6', priceUsd: 1 }],
    ...{ confirmations: 10, startBlock: 0, rpcUrls: [], dexes: [{ ...dex, factory: market.manager }] },
  };
  writeFileSync(description, JSON.stringify(chain));
  const started = await startProgram('all', {
    RPC_URL: anvil.wsUrl,
    CHAIN_CONFIG: description,
    START_BLOCK: String(startBlock),
    FINALITY_DEPTH: '10',
    DATA_DIR: join(folder, `data-${startBlock}`),
    RATE_LIMIT_PER_MINUTE: '0',
  });
  await waitForBlock(started.url, head);
  return started;
}

async function get<T>(path: string, from = program): Promise<T> {
  const answer = await fetch(`${from.url}/api/v1${path}`);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { data: T }).data;
}

interface Pair {
  readonly address: string;
  readonly price: string | null;
  readonly price_usd: string | null;
  readonly sqrt_price_x96: string;
  readonly liquidity_raw: string;
  readonly tick: number;
  readonly liquidity_usd: number;
  readonly reserve0_raw: string;
  readonly flags: readonly string[];
}

interface Swap {
  readonly pair_address: string;
  readonly amount_usd: number | null;
  readonly fee_usd: number | null;
  readonly price: string | null;
}

const off = (a: string | number | null, b: number): number => Math.abs(Number(a) / b - 1);
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

describe('pools of PancakeSwap Infinity with ticks', () => {
  beforeAll(() => open(deployInfinityCl));
  afterAll(close);

  test('pools have the price and the liquidity of the contract', compare);

  test('each swap has the fee that the contract charged', async () => {
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
    expect(coin).toMatchObject({ symbol: 'COIN', decimals: 18 });
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
    program = await start(0);
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

  test('pools that are older than the start block are not listed, because their balances are unknown', async () => {
    const late = await start(head);
    try {
      await trade(7n);
      await waitForBlock(late.url, head);
      expect(await get('/pairs', late)).toEqual([]);
    } finally {
      await late.end('SIGTERM');
    }
  });
});
