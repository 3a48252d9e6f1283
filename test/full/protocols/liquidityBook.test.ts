/**
 * Liquidity Book pools of both versions on a real node, with random trades across bins, deposits, withdrawals, flash loans
 * and changes of fees. After each block, our price, reserves, amounts and fees must equal the contracts and the tokens that
 * moved.
 */
import { findBuiltInChain } from '../../../src/chains/builtIn/builtInChains';
import type { PoolState } from '../../../src/domain/pool';
import { readBinParams } from '../../../src/domain/pools/binMoves';
import type { DecodeContext } from '../../../src/ingest/decode/decodeContext';
import type { BlockFacts, SwapFact } from '../../../src/ingest/rows/blockRows';
import { createDecodeContext } from '../../../src/ingest/session/runIngest';
import { newIngestStatus } from '../../../src/ingest/session/status';
import { createLog } from '../../../src/log';
import { BinMap } from '../../../src/protocols/ticks/binMap';
import { liquidityBook } from '../../../src/protocols/liquidityBook/liquidityBook';
import {
  BOOK_PAIR,
  BOOK_TRADER,
  depthOfBins,
  deployBook,
  readBoth,
  type BookMarket,
  type BookPool,
} from '../../support/liquidityBook/bookMarket';
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';
import { decodeNewest } from '../../support/protocols/decodeFrom';
import { balancesOf, readBigInt } from '../../support/protocols/poolMarket';
import { recordOracle } from '../../support/protocols/protocolTable';
import { Random } from '../../support/random';

const SEED = 9;
const ROUNDS = 145;
const BIN_STEPS = [1, 10, 25, 100, 50] as const;
/** Bins with liquidity on each side of the active one at the start. */
const BINS = 40;
const TOKENS_PER_BIN = 1_000n;
const MASK = (1n << 128n) - 1n;

let anvil: TestAnvil;
let market: BookMarket;
let context: DecodeContext;
const pools: BookPool[] = [];
/** The tokens that the pool holds for the protocol, by pool. */
/** The bins of each pool by the rows of its states. */
const bins = new Map<string, BinMap>();
const forProtocol = new Map<string, readonly [bigint, bigint]>();

beforeAll(async () => {
  anvil = await startTestAnvil();
  market = await deployBook(anvil.rpc, [0, 6, 8, 18, 30]);
  const dexes = market.factories.map((factory, index) => ({
    name: `book_${index}`,
    displayName: 'Book',
    protocol: 'liquidity_book',
    factory,
  }));
  context = createDecodeContext({
    chain: { ...findBuiltInChain(369)!, dexes },
    status: newIngestStatus(),
    log: createLog('silent', false),
  });
  const { tokens } = market;
  for (const [index, a] of tokens.entries()) {
    const b = tokens[(index + 1) % tokens.length]!;
    const pool = await market.createPair(index % 2 === 0, a, b, BIN_STEPS[index]!);
    pools.push(pool);
    bins.set(pool.address, new BinMap(pool.binStep));
    await decodeNewest(context, anvil.rpc);
  }
  for (const pool of pools) {
    const id = Number(await readBigInt(anvil.rpc, BOOK_PAIR, pool.address, 'getActiveId'));
    mint(pool, id, id - BINS, id + BINS, 1_000n);
    expect(liquidityBook.spotPrice(stateOf(pool), context.registry.findPool(pool.address)!)).toBeNull();
  }
  await market.mine();
  await decodeBins();
  // Both orders of the addresses.
  const isSorted = pools.map(({ token0, token1 }) => token0.address < token1.address);
  expect(new Set(isSorted).size).toBe(2);
});

afterAll(async () => {
  await anvil?.stop();
});

const stateOf = ({ address }: BookPool): PoolState => context.registry.stateOf(address);

/** Decodes the newest block, and adds what it changes in bins. */
async function decodeBins(): Promise<BlockFacts> {
  const facts = await decodeNewest(context, anvil.rpc);
  for (const { pair, params } of facts.pool_states)
    for (const move of readBinParams(params)) bins.get(pair)!.add(move);
  return facts;
}

const raw = ({ decimals }: { readonly decimals: number }): bigint => 10n ** BigInt(decimals);

/** Puts thousandths of TOKENS_PER_BIN into each bin: tokenY below the active one, tokenX above it, both into it. */
function mint(pool: BookPool, active: number, from: number, to: number, thousandths: bigint): void {
  const ids = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const partOf = (token: { readonly decimals: number }): bigint =>
    (TOKENS_PER_BIN * raw(token) * thousandths) / 1_000n;
  const amounts = ids.map((id) => [
    id < active ? 0n : partOf(pool.token0),
    // An uneven deposit into the active bin pays a fee for its composition.
    id > active ? 0n : partOf(pool.token1) / (id === active ? 3n : 1n),
  ]);
  market.add(market.trader, BOOK_TRADER, 'mint', [pool.address, ids, amounts]);
}

/** One random action of a pool in the next block. Returns whether it is a swap. */
async function act(pool: BookPool, random: Random): Promise<boolean> {
  const active = Number(await readBigInt(anvil.rpc, BOOK_PAIR, pool.address, 'getActiveId'));
  const { reserve0, reserve1 } = stateOf(pool);
  const action = random.next();
  if (action < 0.78) {
    const [whole0, whole1] = [Number(reserve0 / raw(pool.token0)), Number(reserve1 / raw(pool.token1))];
    const swapForY = random.chance(whole0 < whole1 ? 0.7 : 0.3);
    // From a part of a bin to several bins.
    const thousandths = BigInt(Math.round(10 ** (1 + 2.7 * random.next())));
    const amount = (TOKENS_PER_BIN * raw(swapForY ? pool.token0 : pool.token1) * thousandths) / 1_000n;
    market.add(market.trader, BOOK_TRADER, 'swap', [pool.address, swapForY, amount]);
    return true;
  }
  if (action < 0.87) mint(pool, active, active - random.int(0, 30), active + random.int(0, 30), 100n);
  else if (action < 0.92) {
    const ids = Array.from({ length: 9 }, (_, index) => active - 4 + index);
    const part = random.int(100_000_000, 300_000_000);
    market.add(market.trader, BOOK_TRADER, 'burn', [pool.address, ids, part]);
  } else if (action < 0.95)
    market.add(market.trader, BOOK_TRADER, 'flash', [pool.address, [reserve0 / 3n, reserve1 / 4n]]);
  else if (action < 0.97) market.add(pool.address, BOOK_PAIR, 'collectProtocolFees', []);
  else {
    const fees = [
      random.int(1_000, 9_000),
      30,
      600,
      5_000,
      random.int(0, 60_000),
      random.int(0, 2_500),
      350_000,
    ];
    market.add(pool.address, BOOK_PAIR, 'setStaticFeeParameters', fees);
  }
  return false;
}

/** The Swap logs of a block as ethers reads them, in order. */
async function listSwapLogs(block: number) {
  const at = `0x${block.toString(16)}`;
  const topics = [BOOK_PAIR.getEvent('Swap')!.topicHash];
  const logs = (await anvil.rpc.call('eth_getLogs', [{ fromBlock: at, toBlock: at, topics }])) as {
    address: string;
    topics: string[];
    data: string;
  }[];
  return logs.map(({ address, ...log }) => {
    const { amountsIn, amountsOut, totalFees, protocolFees, id } = BOOK_PAIR.parseLog(log)!
      .args as unknown as Record<string, string>;
    const both = (packed: string | undefined): [bigint, bigint] => [
      BigInt(packed!) & MASK,
      BigInt(packed!) >> 128n,
    ];
    return {
      address,
      id: Number(id),
      stayed: both(amountsIn),
      out: both(amountsOut),
      fees: both(totalFees),
      protocol: both(protocolFees),
    };
  });
}

function checkSwaps(swaps: readonly SwapFact[], logs: Awaited<ReturnType<typeof listSwapLogs>>): void {
  expect(swaps).toHaveLength(logs.length);
  for (const [index, swap] of swaps.entries()) {
    const { address, id, stayed, out, fees, protocol } = logs[index]!;
    expect([swap.pair, swap.tick, swap.pool_type]).toEqual([address, id, 7]);
    expect(swap.amount0).toBe(stayed[0] + protocol[0] - out[0]);
    expect(swap.amount1).toBe(stayed[1] + protocol[1] - out[1]);
    const paid = stayed[0] + stayed[1] + protocol[0] + protocol[1];
    expect(swap.fee_pips).toBe(Math.round(Number(((fees[0] + fees[1]) * 10n ** 18n) / paid) / 1e12));
  }
}

/** Largest relative difference of a price. */
let worst = 0;

/** Compares the price of the active bin, and the limit of the contract's quote where amounts are large. Returns whether it did. */
async function checkPrice(pool: BookPool): Promise<boolean> {
  const { tick } = stateOf(pool);
  const price = liquidityBook.spotPrice(stateOf(pool), context.registry.findPool(pool.address)!);
  if (tick === 0) {
    expect(price).toBeNull();
    return false;
  }
  expect(BigInt(tick)).toBe(await readBigInt(anvil.rpc, BOOK_PAIR, pool.address, 'getActiveId'));
  const own =
    Number(await readBigInt(anvil.rpc, BOOK_PAIR, pool.address, 'getPriceFromId', [tick])) / 2 ** 128;
  worst = Math.max(worst, Math.abs(price! / own - 1));
  const [, y] = await readBoth(anvil.rpc, pool, 'getBin', [tick]);
  const amountIn = BigInt(Math.floor(Number(y) / 3 / own));
  if (y < 10n ** 12n || amountIn < 10n ** 12n) return false;
  const data = BOOK_PAIR.encodeFunctionData('getSwapOut', [amountIn, true]);
  const answer = String(await anvil.rpc.call('eth_call', [{ to: pool.address, data }, 'latest']));
  const [, out, fee] = BOOK_PAIR.decodeFunctionResult('getSwapOut', answer) as unknown as bigint[];
  worst = Math.max(worst, Math.abs(price! / (Number(out) / Number(amountIn - fee!)) - 1));
  return true;
}

test('prices, reserves, amounts and fees equal the contracts over random trades', async () => {
  const random = new Random(SEED);
  const counts = { trades: 0, logs: 0, quotes: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const trading = new Set<string>();
    for (const pool of pools) if (await act(pool, random)) trading.add(pool.address);
    const before = await Promise.all(pools.map((pool) => balancesOf(anvil.rpc, pool)));
    const block = await market.mine(random.pick([5, 40, 200, 900]));
    const { swaps } = await decodeBins();
    const logs = await listSwapLogs(block);
    checkSwaps(swaps, logs);
    counts.logs += swaps.length;
    for (const [index, pool] of pools.entries()) {
      const balances = await balancesOf(anvil.rpc, pool);
      const { reserve0, reserve1 } = stateOf(pool);
      expect([reserve0, reserve1]).toEqual(await readBoth(anvil.rpc, pool, 'getReserves'));
      if (await checkPrice(pool)) counts.quotes += 1;
      const kept = [balances[0] - reserve0, balances[1] - reserve1] as const;
      if (trading.has(pool.address)) {
        counts.trades += 1;
        const own = swaps.filter(({ pair }) => pair === pool.address);
        const sum = (values: readonly bigint[]): bigint => values.reduce((all, one) => all + one, 0n);
        expect(sum(own.map(({ amount0 }) => amount0))).toBe(balances[0] - before[index]![0]);
        expect(sum(own.map(({ amount1 }) => amount1))).toBe(balances[1] - before[index]![1]);
        const [last0, last1] = forProtocol.get(pool.address) ?? [0n, 0n];
        const fees = logs.filter(({ address }) => address === pool.address).map(({ protocol }) => protocol);
        expect(kept).toEqual([last0 + sum(fees.map(([x]) => x)), last1 + sum(fees.map(([, y]) => y))]);
      }
      forProtocol.set(pool.address, kept);
    }
  }
  for (const pool of pools) {
    const { price, ...expected } = await depthOfBins(anvil.rpc, pool);
    const walked = bins.get(pool.address)!.walk({ tick: stateOf(pool).tick, price })!;
    expect(walked.near0 * walked.near1).toBeGreaterThan(0);
    for (const name of ['liquidity', 'near0', 'near1'] as const)
      expect(Math.abs(walked[name] - expected[name])).toBeLessThanOrEqual(1e-12 * expected[name]);
  }
  expect(counts.logs).toBeGreaterThan(700);
  expect(counts.quotes).toBeGreaterThan(100);
  recordOracle({
    protocol: 'liquidity_book',
    oracle: 'own contracts by the published formulas, `getPriceFromId` and `getSwapOut`',
    trades: counts.trades,
    deviation: worst,
  });
});
