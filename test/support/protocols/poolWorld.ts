/** The program on a local node with pools of one family of protocols, and the answers that the tests compare. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { getBlockHead } from '../../../src/dev/node/devRpc';
import type { Hex } from '../../../src/domain/hex';
import { eventually } from '../eventually';
import { startTestAnvil, type TestAnvil } from '../node/anvil';
import { startProgram, waitForBlock, type Program } from '../server/program';
import type { MarketToken } from './poolMarket';

/** Blocks until the price of a token may rest on a new pool. */
const GROWN_BLOCKS = 140;

/** A DEX of the chain description. */
interface WorldDex {
  readonly name: string;
  readonly protocol: string;
  readonly factory: Hex;
  readonly positionManager?: Hex;
}

export interface PairAnswer {
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
  readonly reserve0_raw: string;
  readonly reserve1_raw: string;
  readonly total_supply: string | null;
  readonly balances: readonly { readonly address: string; readonly balance_raw: string }[];
}

interface SwapAnswer {
  readonly pool_type: number;
  readonly amount0: string;
  readonly amount1: string;
  readonly price: string | null;
  readonly amount_usd: number | null;
  readonly fee_usd: number | null;
}

export interface PoolWorld {
  readonly anvil: TestAnvil;
  /** Mines blocks until the prices of tokens may rest on the pools that exist. */
  grow(): Promise<void>;
  /** Starts the program at this block. Resolves when it has read the newest block. */
  start(startBlock: number): Promise<Program>;
  /** Ends the node and removes all files. */
  stop(): Promise<void>;
}

/** `usd` is the anchor of prices. The DEXes and tokens are those at the start of the program. */
export async function openPoolWorld(
  name: string,
  market: () => { usd: MarketToken; native: MarketToken; dexes: readonly WorldDex[] },
  nodeArguments: readonly string[] = [],
  hardfork = 'shanghai',
): Promise<PoolWorld> {
  const folder = mkdtempSync(join(tmpdir(), `candlehouse-${name}-`));
  const anvil = await startTestAnvil(nodeArguments, hardfork);
  return {
    anvil,
    async grow() {
      // The second number is the time between two blocks: 10 seconds.
      await anvil.rpc.call('anvil_mine', [`0x${GROWN_BLOCKS.toString(16)}`, '0xa']);
    },
    async start(startBlock) {
      const { usd, native, dexes } = market();
      const description = join(folder, 'chain.json');
      const chain = {
        chainId: 369,
        name: `Test of ${name}`,
        nativeSymbol: `T${native.decimals}`,
        wrappedNative: native.address,
        anchors: [{ address: usd.address, symbol: `T${usd.decimals}`, priceUsd: 1 }],
        majors: [],
        confirmations: 10,
        startBlock: 0,
        rpcUrls: [],
        dexes: dexes.map((dex) => ({ ...dex, displayName: dex.name })),
      };
      writeFileSync(description, JSON.stringify(chain));
      const program = await startProgram('all', {
        RPC_URL: anvil.wsUrl,
        CHAIN_CONFIG: description,
        START_BLOCK: String(startBlock),
        FINALITY_DEPTH: '10',
        DATA_DIR: join(folder, `data-${startBlock}`),
        RATE_LIMIT_PER_MINUTE: '0',
      });
      await waitForBlock(program.url, (await getBlockHead(anvil.rpc)).number);
      return program;
    },
    async stop() {
      await anvil.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Starts another program at this block, which is after the creation of most pools. Waits until the program lists this number
 * of pools, and calls `expectAll` with it. `mine` adds a block.
 */
export async function expectFromLate(
  world: PoolWorld,
  startBlock: number,
  count: number,
  mine: () => Promise<unknown>,
  expectAll: (program: Program) => Promise<void>,
): Promise<void> {
  const late = await world.start(startBlock);
  const listPairs = async (): Promise<unknown[]> => {
    await mine();
    return getData(late, '/pairs');
  };
  try {
    await eventually(listPairs, ({ length }) => length === count);
    await expectAll(late);
  } finally {
    await late.end('SIGTERM');
  }
}

/** The last bar of a pool closes at its price. */
export async function expectBarsClose(program: Program, pool: { readonly address: Hex }): Promise<void> {
  const path = `/pairs/${pool.address}/ticks?timeframe=1m&currency=quote`;
  const bars = await getData<{ close: string }[]>(program, path);
  const { price } = await getPair(program, pool);
  expect(off(bars.at(-1)!.close, Number(price))).toBeLessThan(1e-9);
}

/** `data` of an answer. */
export async function getData<T>(program: Program, path: string): Promise<T> {
  const answer = await fetch(`${program.url}/api/v1${path}`);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { data: T }).data;
}

export const getPair = (program: Program, { address }: { readonly address: Hex }): Promise<PairAnswer> =>
  getData(program, `/pairs/${address}`);

/** The swaps of a pool, newest first. */
export const listSwaps = (program: Program, { address }: { readonly address: Hex }): Promise<SwapAnswer[]> =>
  getData(program, `/activity?pair=${address}&event_type=swap`);

/** The kinds of the liquidity events of a pool, newest first. */
export async function listMoves(program: Program, { address }: { readonly address: Hex }): Promise<string[]> {
  const all = await getData<{ event_type: string }[]>(program, `/activity?pair=${address}`);
  return all.map(({ event_type }) => event_type).filter((kind) => kind !== 'swap');
}

/** What a restart must not change. */
export function readFigures(program: Program, pools: readonly { readonly address: Hex }[]) {
  return Promise.all(
    pools.map(async (pool) => {
      const { price, fee_bps, balances, liquidity_usd, volume_24h_usd } = await getPair(program, pool);
      return { price, fee_bps, balances, liquidity_usd, volume_24h_usd };
    }),
  );
}

/** The price of a pair is that of the contract, in whole tokens. `priceOf`: raw token j per raw token i. */
export async function expectPrice(
  program: Program,
  pool: { readonly address: Hex; readonly tokens: readonly MarketToken[] },
  priceOf: (indexes: readonly [i: number, j: number]) => Promise<number>,
): Promise<PairAnswer> {
  const pair = await getPair(program, pool);
  const indexOf = ({ address }: { readonly address: string }): number =>
    pool.tokens.findIndex((token) => token.address === address);
  const [i, j] = [indexOf(pair.base_token), indexOf(pair.quote_token)];
  const expected = (await priceOf([i, j])) * 10 ** (pool.tokens[i]!.decimals - pool.tokens[j]!.decimals);
  expect(off(pair.price, expected)).toBeLessThan(1e-9);
  return pair;
}

/** Volume and fees of a pair are the sums over its swaps, and its bars close at this distance from the price. */
export async function expectTotals(
  program: Program,
  pair: PairAnswer,
  swaps: readonly SwapAnswer[],
  distance: number,
): Promise<void> {
  const path = `/pairs/${pair.address}/ticks?timeframe=1m&currency=quote`;
  const bars = await getData<{ close: string }[]>(program, path);
  expect(off(bars.at(-1)!.close, Number(pair.price))).toBeLessThan(distance);
  expect(off(pair.volume_24h_usd, sum(swaps.map(({ amount_usd }) => amount_usd)))).toBeLessThan(1e-6);
  expect(off(pair.fees.h24, sum(swaps.map(({ fee_usd }) => fee_usd)))).toBeLessThan(1e-6);
}

export const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((all, one) => all + (one ?? 0), 0);

/** The relative difference of two numbers. */
export const off = (a: string | number | null, b: number): number => Math.abs(Number(a) / b - 1);
