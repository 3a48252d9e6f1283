/**
 * CryptoSwap pools through the whole program: real contracts on a node, ingest, API. Answers must equal what the contracts
 * say, for pools seen from their creation, for older ones, and after a restart.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { formatUnits } from '../../../src/domain/amounts';
import {
  deployCrypto,
  quotedCryptoPrice,
  readCrypto,
  readCryptoBalances,
  type CryptoMarket,
  type CryptoMarketPool,
  type CryptoToken,
} from '../../support/curveCrypto/cryptoMarket';
import { eventually } from '../../support/eventually';
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';
import { startProgram, waitForBlock, type Program } from '../../support/server/program';

/** Blocks until the price of a token may rest on a new pool. */
const GROWN_BLOCKS = '0x8c';
const UNIT = 10n ** 18n;
const USD_PRICES = [1n, 3_000n, 60_000n];

let folder: string;
let anvil: TestAnvil;
let market: CryptoMarket;
let program: Program;
let tokens: readonly CryptoToken[];
let three: CryptoMarketPool;
let two: CryptoMarketPool;
/** A contract of 2025, whose balances change once without an event. */
let late: CryptoMarketPool;
let head: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'candlehouse-crypto-'));
  anvil = await startTestAnvil();
  market = await deployCrypto(anvil.rpc, [6, 18, 8]);
  ({ tokens } = market);
  const create = (kind: 0 | 1 | 2, places: number[], ann: bigint, gamma: bigint): Promise<CryptoMarketPool> =>
    market.createPool({
      kind,
      tokens: places.map((place) => tokens[place]!),
      ann,
      gamma,
      fees: [5_000_000n, 45_000_000n, 5_000_000_000_000_000n],
      rebalancing: [10n ** 9n, 10n ** 14n, 60n],
      prices: places.slice(1).map((place) => USD_PRICES[place]! * UNIT),
    });
  three = await create(0, [0, 2, 1], 540_000n, 80_500_000_000_000n);
  two = await create(1, [0, 1], 20_000_000n, 1_000_000_000_000_000n);
  late = await create(2, [0, 2], 400_000n, 145_000_000_000_000n);
  for (const pool of pools())
    market.add(pool, 'add_liquidity', [pool.tokens.map((token) => worth(token, 900_000n))]);
  await market.mine();
  tradeAll(9_000n);
  await market.mine();
  market.add(three, 'ramp', [600_000n, 100_000_000_000_000n, 100]);
  market.add(three, 'remove_liquidity_one_coin', [10n ** 18n, 1]);
  market.add(two, 'setFees', [6_000_000n, 45_000_000n, 5_000_000_000_000_000n]);
  market.add(late, 'remove_liquidity_fixed_out', [10n ** 18n, 0, 100_000_000]);
  await market.mine();
  tradeAll(7_000n);
  for (const pool of [three, two]) market.add(pool, 'remove_liquidity', [10n ** 18n]);
  await market.mine();
  market.add(late, 'disturb', [1]);
  await market.mine();
  tradeAll(500n);
  await market.mine();
  await anvil.rpc.call('anvil_mine', [GROWN_BLOCKS, '0xa']);
  tradeAll(600n);
  await market.mine();
  await anvil.rpc.call('anvil_mine', ['0x5', '0xa']);
  tradeAll(500n);
  head = await market.mine();
  program = await start('whole', 0);
});

afterAll(async () => {
  await program?.end('SIGTERM');
  await anvil?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const pools = (): CryptoMarketPool[] => [three, two, late];

/** So many USD of a token, raw, at its first price. */
function worth({ address, decimals }: CryptoToken, usd: bigint): bigint {
  const price = USD_PRICES[tokens.findIndex((token) => token.address === address)]!;
  return (usd * 10n ** BigInt(decimals)) / price;
}

/** Sells this many USD to each pool for each other token, and half as much of the other token for USD. */
function tradeAll(usd: bigint): void {
  for (const pool of pools())
    for (const [j, token] of pool.tokens.entries()) {
      if (j === 0) continue;
      market.add(pool, 'exchange', [0, j, worth(pool.tokens[0]!, usd)]);
      market.add(pool, 'exchange', [j, 0, worth(token, usd) / 2n]);
    }
}

async function start(name: string, startBlock: number): Promise<Program> {
  const description = join(folder, 'chain.json');
  const chain = {
    chainId: 369,
    name: 'CryptoSwap test',
    nativeSymbol: 'T18',
    wrappedNative: tokens[1]!.address,
    anchors: [{ address: tokens[0]!.address, symbol: 'T6', priceUsd: 1 }],
    majors: [],
    confirmations: 10,
    startBlock: 0,
    rpcUrls: [],
    dexes: market.factories.map((factory, index) => ({
      name: index === 0 ? 'two' : 'three',
      displayName: 'Crypto',
      protocol: 'curve_crypto',
      factory,
    })),
  };
  writeFileSync(description, JSON.stringify(chain));
  const started = await startProgram('all', {
    RPC_URL: anvil.wsUrl,
    CHAIN_CONFIG: description,
    START_BLOCK: String(startBlock),
    FINALITY_DEPTH: '10',
    DATA_DIR: join(folder, name),
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
  readonly pool_type: number;
  readonly fee_bps: number;
  readonly price: string | null;
  readonly flags: readonly string[];
  readonly base_token: { readonly address: string };
  readonly quote_token: { readonly address: string };
  readonly liquidity_usd: number;
  readonly volume_24h_usd: number;
  readonly fees: { readonly h24: number };
  readonly total_supply: string | null;
  readonly balances: readonly { readonly address: string; readonly balance_raw: string }[];
}

interface Swap {
  readonly price: string | null;
  readonly amount_usd: number | null;
  readonly fee_usd: number | null;
}

const off = (a: string | number | null, b: number): number => Math.abs(Number(a) / b - 1);
const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((all, one) => all + (one ?? 0), 0);

/** The price of the pair is that of the contract's own curve, in whole tokens, quote per base. */
async function checkPool(pool: CryptoMarketPool, from = program): Promise<Pair> {
  const pair = await get<Pair>(`/pairs/${pool.address}`, from);
  const indexOf = (address: string): number => pool.tokens.findIndex((token) => token.address === address);
  const [i, j] = [indexOf(pair.base_token.address), indexOf(pair.quote_token.address)];
  const perRaw = await quotedCryptoPrice(anvil.rpc, pool, [i, j]);
  const expected = perRaw * 10 ** (pool.tokens[i]!.decimals - pool.tokens[j]!.decimals);
  expect(off(pair.price, expected)).toBeLessThan(1e-9);
  return pair;
}

test.each([
  ['pool of three tokens', () => three, 5],
  ['pool of two tokens', () => two, 6],
  ['pool of a contract of 2025', () => late, 5],
] as const)(
  'a %s has the price and the balances of its contract, its type and its fee',
  async (_, poolOf, fee) => {
    const pool = poolOf();
    const pair = await checkPool(pool);
    expect(pair).toMatchObject({
      pool_type: 6,
      fee_bps: fee,
      flags: expect.not.arrayContaining(['price_not_followed']),
      total_supply: formatUnits(await readCrypto(anvil.rpc, pool, 'totalSupply'), 18),
    });
    const balances = await readCryptoBalances(anvil.rpc, pool);
    const own = pool.tokens.map(
      ({ address }) => pair.balances.find((one) => one.address === address)!.balance_raw,
    );
    expect(own).toEqual(balances.map(String));
    expect(pair.liquidity_usd).toBeGreaterThan(500_000);
    for (const { address } of pool.tokens) {
      const { price_usd } = await get<{ price_usd: string }>(`/tokens/${address}`);
      const first = USD_PRICES[tokens.findIndex((token) => token.address === address)]!;
      expect(off(price_usd, Number(first))).toBeLessThan(0.1);
      const audit = await get<{ price_usd: string }>(`/tokens/${address}/audit`);
      // The audit multiplies the prices of the hops without rounding.
      expect(off(audit.price_usd, Number(price_usd))).toBeLessThan(1e-15);
    }
  },
);

test('each swap has the fee that the pool took, and bars close at the price', async () => {
  for (const pool of pools()) {
    const pair = await get<Pair>(`/pairs/${pool.address}`);
    const swaps = await get<Swap[]>(`/activity?pair=${pool.address}&event_type=swap`);
    expect(swaps).toHaveLength(pool === three ? 20 : 10);
    for (const { amount_usd, fee_usd } of swaps) {
      const part = fee_usd! / amount_usd!;
      expect(part > 0.0004 && part < 0.005).toBe(true);
    }
    // Both swaps of the block after the change without an event have no price. The swaps of the next block have one.
    expect(swaps.filter(({ price }) => price === null)).toHaveLength(pool === late ? 2 : 0);
    const bars = await get<{ close: string }[]>(`/pairs/${pool.address}/ticks?timeframe=1m&currency=quote`);
    // The last swap of the pool of three tokens may be on another leg than that of the pair.
    expect(off(bars.at(-1)!.close, Number(pair.price))).toBeLessThan(pool === three ? 1e-3 : 1e-9);
    expect(off(pair.volume_24h_usd, sum(swaps.map(({ amount_usd }) => amount_usd)))).toBeLessThan(1e-6);
    expect(off(pair.fees.h24, sum(swaps.map(({ fee_usd }) => fee_usd)))).toBeLessThan(1e-6);
  }
});

test('deposits and withdrawals are listed', async () => {
  const kinds = async ({ address }: CryptoMarketPool): Promise<string[]> => {
    const all = await get<{ event_type: string }[]>(`/activity?pair=${address}`);
    return all.map(({ event_type }) => event_type).filter((kind) => kind !== 'swap');
  };
  expect(await kinds(three)).toEqual(['burn', 'burn', 'mint']);
  expect(await kinds(two)).toEqual(['burn', 'mint']);
  expect(await kinds(late)).toEqual(['burn', 'mint']);
});

test('after a restart, answers are the same and prices go on', async () => {
  const read = () =>
    Promise.all(
      pools().map(async ({ address }) => {
        const { price, fee_bps, balances, liquidity_usd, volume_24h_usd } = await get<Pair>(
          `/pairs/${address}`,
        );
        return { price, fee_bps, balances, liquidity_usd, volume_24h_usd };
      }),
    );
  const before = await read();
  await program.end('SIGTERM');
  program = await start('whole', 0);
  expect(await read()).toEqual(before);
  tradeAll(400n);
  head = await market.mine();
  await waitForBlock(program.url, head);
  for (const pool of pools()) await checkPool(pool);
});

test('older pools have the same prices, fees and types', async () => {
  const newer = await start('newer', head - 3);
  try {
    await eventually(
      async () => {
        tradeAll(100n);
        head = await market.mine();
        return (await get<Pair[]>('/pairs', newer)).length;
      },
      (count) => count === 3,
    );
    await waitForBlock(program.url, head);
    await waitForBlock(newer.url, head);
    for (const pool of pools()) {
      const [{ pool_type, fee_bps, price }, part] = [await checkPool(pool), await checkPool(pool, newer)];
      expect(part).toMatchObject({ pool_type, fee_bps });
      expect(off(part.price, Number(price))).toBeLessThan(1e-12);
    }
  } finally {
    await newer.end('SIGTERM');
  }
});
