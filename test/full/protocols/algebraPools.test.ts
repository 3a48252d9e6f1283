/**
 * Algebra pools of V1 and Integral through the whole program: real contracts on a node, ingest, API. Answers must equal
 * what the contracts say, for pools seen from their creation and for older ones, also after a restart.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readContract } from '../../../src/dev/abi';
import {
  ALGEBRA_NODE,
  ALGEBRA_POOL,
  ALGEBRA_TOKEN,
  ALGEBRA_TRADER,
  deployAlgebra,
  type AlgebraMarket,
  type AlgebraPool,
} from '../../support/algebra/algebraMarket';
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';
import { startProgram, waitForBlock, type Program } from '../../support/server/program';

/** Blocks until the price of a token may rest on a new pool. */
const GROWN_BLOCKS = 140;
const VERSIONS = ['v1', '1.1', '1.2.2'] as const;
const LIMITS = [4295128740n, 1461446703485210103287273052203988822378723970341n] as const;

let folder: string;
let anvil: TestAnvil;
let market: AlgebraMarket;
let program: Program;
let pools: AlgebraPool[];
let head: number;
/** Fees that the contracts charged, in pips, by pool, oldest swap first. V1 chooses its fees itself. */
const charged = new Map<AlgebraPool, number[]>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'candlehouse-algebra-'));
  anvil = await startTestAnvil(ALGEBRA_NODE);
  market = await deployAlgebra(anvil.rpc, [6, 18]);
  const [usd, native] = market.tokens;
  // 1 native = 4 USD.
  const isUsdFirst = usd!.address < native!.address;
  const price = isUsdFirst ? (2n ** 96n * 10n ** 6n) / 2n : (2n ** 96n * 2n) / 10n ** 6n;
  pools = [];
  for (const version of VERSIONS) pools.push(await market.createPool(version, usd!, native!, price));
  const [v1, dynamic, overriding] = pools as [AlgebraPool, AlgebraPool, AlgebraPool];
  for (const pool of pools) {
    market.add(market.trader, ALGEBRA_TRADER, 'mint', [pool.address, -840_000, 840_000, 10n ** 18n]);
    market.setCommunityFee(pool, 200);
  }
  await market.mine();
  market.setFees(dynamic, 2_500, 0, 0);
  market.setFees(overriding, 100, 0, 0);
  await trade([v1, 0], [dynamic, 2_500], [overriding, 100]);
  market.setFees(overriding, 0, 5_000, 400);
  // After 8 hours, Integral pays out the fees that wait for the community and the plugin.
  await trade([v1, 0], [dynamic, 2_500], [overriding, 5_400]);
  market.setFees(overriding, 700, 0, 0);
  await trade([v1, 0], [dynamic, 2_500], [overriding, 700]);
  await anvil.rpc.call('anvil_mine', [`0x${GROWN_BLOCKS.toString(16)}`, '0xa']);
  await trade([v1, 0], [dynamic, 2_500], [overriding, 700]);
  head = Number(await anvil.rpc.call('eth_blockNumber'));
  program = await start(0);
});

afterAll(async () => {
  await program?.end('SIGTERM');
  await anvil?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function trade(...fees: readonly (readonly [AlgebraPool, number])[]): Promise<void> {
  for (const [index, [pool, fee]] of fees.entries()) {
    const zeroForOne = (index + (charged.get(pool)?.length ?? 0)) % 2 === 0;
    const amount = 1_000n * 10n ** BigInt((zeroForOne ? pool.token0 : pool.token1).decimals);
    const values = [pool.address, zeroForOne, amount, LIMITS[zeroForOne ? 0 : 1]];
    market.add(market.trader, ALGEBRA_TRADER, 'swap', values);
    charged.set(pool, [...(charged.get(pool) ?? []), fee]);
  }
  await market.mine(30_000);
  const v1 = pools[0]!;
  charged.get(v1)!.splice(-1, 1, await lastFee(v1));
}

/** The fee of the pool in globalState(). */
async function lastFee({ address }: AlgebraPool): Promise<number> {
  const data = ALGEBRA_POOL.encodeFunctionData('globalState');
  const answer = String(await anvil.rpc.call('eth_call', [{ to: address, data }, 'latest']));
  return Number(`0x${answer.slice(2 + 2 * 64, 2 + 3 * 64)}`);
}

async function start(startBlock: number): Promise<Program> {
  const dexes = VERSIONS.map((version) => ({
    name: `algebra_${version.replaceAll('.', '_')}`,
    displayName: version,
    protocol: 'algebra',
    factory: market.factories.get(version),
  }));
  const [usd, native] = market.tokens;
  const description = join(folder, 'chain.json');
  const chain = {
    chainId: 369,
    name: 'Algebra test',
    nativeSymbol: 'T18',
    wrappedNative: native!.address,
    anchors: [{ address: usd!.address, symbol: 'T6', priceUsd: 1 }],
    majors: [],
    confirmations: 10,
    startBlock: 0,
    rpcUrls: [],
    dexes,
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
  readonly pool_type: number;
  readonly fee_bps: number;
  readonly price: string | null;
  readonly base_token: { readonly address: string };
  readonly liquidity_usd: number;
  readonly reserve0_raw: string;
  readonly reserve1_raw: string;
}

interface Swap {
  readonly price: string | null;
  readonly amount_usd: number | null;
  readonly fee_usd: number | null;
}

const off = (a: string | number | null, b: number): number => Math.abs(Number(a) / b - 1);
const pairOf = ({ address }: AlgebraPool, from = program) => get<Pair>(`/pairs/${address}`, from);
const swapsOf = ({ address }: AlgebraPool) => get<Swap[]>(`/activity?pair=${address}&event_type=swap`);

/** The contract's price in whole tokens, quote per base as the pair has them. */
async function expectedPrice({ address, token0, token1 }: AlgebraPool, base: string): Promise<number> {
  const root = Number(await readContract(anvil.rpc, ALGEBRA_POOL, address, 'globalState')) / 2 ** 96;
  const price = root * root * 10 ** (token0.decimals - token1.decimals);
  return base === token0.address ? price : 1 / price;
}

test('pools have the price, the balances and the newest fee of their contracts', async () => {
  for (const pool of pools) {
    const pair = await pairOf(pool);
    expect(pair.pool_type).toBe(3);
    expect(off(pair.price, await expectedPrice(pool, pair.base_token.address))).toBeLessThan(1e-9);
    expect([pool.version, pair.fee_bps]).toEqual([pool.version, charged.get(pool)!.at(-1)! / 100]);
    const balances = [pool.token0, pool.token1].map(({ address }) =>
      readContract(anvil.rpc, ALGEBRA_TOKEN, address, 'balanceOf', [pool.address]),
    );
    expect([pair.reserve0_raw, pair.reserve1_raw]).toEqual((await Promise.all(balances)).map(String));
  }
});

test('each swap has the fee that its contract charged', async () => {
  for (const pool of pools) {
    const swaps = (await swapsOf(pool)).reverse();
    const fees = charged.get(pool)!;
    expect(swaps).toHaveLength(fees.length);
    // The first swaps are older than the price of the native token, so they have no value in USD.
    const valued = swaps.flatMap(({ amount_usd, fee_usd }, index) =>
      amount_usd === null || amount_usd === 0 ? [] : [{ amount_usd, fee_usd, pips: fees[index]! }],
    );
    expect(valued.length).toBeGreaterThan(1);
    for (const { amount_usd, fee_usd, pips } of valued)
      expect(off(fee_usd, (amount_usd * pips) / 1e6)).toBeLessThan(1e-6);
  }
});

test('bars close at the price of the contract, and TVL is the value of its balances', async () => {
  const usd = market.tokens[0]!;
  for (const pool of pools) {
    const pair = await pairOf(pool);
    const [newest] = await swapsOf(pool);
    const bars = await get<{ close: string }[]>(`/pairs/${pool.address}/ticks?timeframe=1m&currency=quote`);
    expect(off(bars.at(-1)!.close, Number(pair.price))).toBeLessThan(1e-9);
    expect(newest!.price).toBe(pair.price);
    const usdHeld = Number(pool.token0.address === usd.address ? pair.reserve0_raw : pair.reserve1_raw) / 1e6;
    expect(pair.liquidity_usd).toBeGreaterThan(1.9 * usdHeld);
    expect(pair.liquidity_usd).toBeLessThan(2.1 * usdHeld);
  }
});

test('pools that are older than the start block have the same facts, also after a restart', async () => {
  const facts = async (from: Program) =>
    Promise.all(
      pools.map(async (pool) => {
        const { price, fee_bps, reserve0_raw, reserve1_raw } = await pairOf(pool, from);
        return { price, fee_bps, reserve0_raw, reserve1_raw };
      }),
    );
  const whole = await facts(program);
  const late = await start(head);
  try {
    expect(await facts(late)).toEqual(whole);
  } finally {
    await late.end('SIGTERM');
  }
  await program.end('SIGTERM');
  program = await start(0);
  const dynamic = pools[1]!;
  await trade([pools[0]!, 0], [dynamic, 2_500], [pools[2]!, 700]);
  await waitForBlock(program.url, Number(await anvil.rpc.call('eth_blockNumber')));
  for (const pool of pools) {
    const [newest] = await swapsOf(pool);
    const pips = charged.get(pool)!.at(-1)!;
    expect(off(newest!.fee_usd, (newest!.amount_usd! * pips) / 1e6)).toBeLessThan(1e-6);
  }
});
