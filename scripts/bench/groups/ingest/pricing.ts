/**
 * Measures the cost of prices as the number of pools grows. Compares the time per block for many pools with the time
 * for a tenth of the pools. Also measures how long undoing blocks takes.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import type { Hex } from '../../../../src/domain/hex';
import { BORN_BEFORE, EPOCH_BLOCKS } from '../../../../src/pricing/epoch';
import { makeLeg, type Leg, type LegState } from '../../../../src/pricing/leg';
import type { MarketBlock } from '../../../../src/pricing/priceBlock';
import { Pricer } from '../../../../src/pricing/pricer';
import { median, type Figure } from '../../figure';

const POOLS = 100_000;
/** One pool in eight is live: it moved within 30 days. */
const POOLS_PER_LIVE_POOL = 8;
const MOVES_PER_BLOCK = 60;
/** Number of epochs. The first one is not measured. */
const EPOCHS = 12;
const BLOCKS = EPOCHS * EPOCH_BLOCKS;
/** The first pools of the market connect the anchors with the native token. */
const ANCHOR_POOLS = 10;
/** Blocks are undone after each 30 measured blocks. */
const UNDONE_EVERY_BLOCKS = 30;
/** Blocks whose changes the pricer keeps, as for blocks of a chain that are not final. */
const KEPT_BLOCKS = 64;
/** Number of blocks that are undone and applied again. */
const UNDONE_BLOCKS = 20;
const FIRST_BLOCK = 32_000;
const FIRST_TIME = 1_700_000_000;
const BLOCK_SECONDS = 10;
const DAY = 86_400;
const NATIVE: Hex = `0xbb${'0'.repeat(38)}`;
const NATIVE_USD = 5e-5;

const addressOf = (kind: string, number: number): Hex => `0x${kind}${number.toString(16).padStart(38, '0')}`;
const ANCHORS = [0, 1, 2, 3, 4].map((n) => ({ address: addressOf('aa', n), priceUsd: 1 }));

interface Market {
  readonly legs: readonly Leg[];
  readonly states: LegState[];
}

/** Random numbers in [0, 1), the same in each run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixedState = Math.imul(state ^ (state >>> 15), 1 | state);
    mixedState = (mixedState + Math.imul(mixedState ^ (mixedState >>> 7), 61 | mixedState)) ^ mixedState;
    return ((mixedState ^ (mixedState >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Makes the pools. The first pools connect the anchors with the native token. Three in five of the other pools hold
 * the native token, a few hold an anchor, and the rest hold two other tokens.
 */
function makeMarket(pools: number, random: () => number): Market {
  const prices = Array.from({ length: pools * 0.6 }, () => Math.exp(random() * 20 - 15));
  const market: Market = { legs: [], states: [] };
  const legs: Leg[] = [];
  for (let poolIndex = 0; poolIndex < pools; poolIndex += 1) {
    const [tokenIndex, otherTokenIndex] = [
      Math.floor(random() * prices.length),
      Math.floor(random() ** 6 * prices.length),
    ];
    const chance = random();
    const anchor = ANCHORS[poolIndex % ANCHORS.length]?.address ?? NATIVE;
    const firstToken = poolIndex < ANCHOR_POOLS ? anchor : addressOf('01', tokenIndex);
    const holdsNative =
      poolIndex < ANCHOR_POOLS || chance < 0.7 || (chance >= 0.8 && otherTokenIndex === tokenIndex);
    const secondToken = holdsNative ? NATIVE : chance < 0.8 ? anchor : addressOf('01', otherTokenIndex);
    const usdOf = (token: Hex): number =>
      token === NATIVE
        ? NATIVE_USD
        : token.startsWith('0xaa')
          ? 1
          : (prices[token === firstToken ? tokenIndex : otherTokenIndex] ?? 1);
    const [token0, token1] = firstToken < secondToken ? [firstToken, secondToken] : [secondToken, firstToken];
    legs.push(makeLeg(addressOf('ee', poolIndex), 1, token0, token1));
    const reserve0 = (poolIndex < ANCHOR_POOLS ? 1e6 : Math.exp(random() * 12)) / usdOf(token0);
    const price = (usdOf(token0) / usdOf(token1)) * Math.exp((random() - 0.5) / 50);
    market.states.push({
      price,
      liquidity: reserve0 * Math.sqrt(price),
      reserve0,
      reserve1: reserve0 * price,
    });
  }
  return { ...market, legs };
}

/**
 * Makes the moves of a block. A few live pools have most of the trades, and the price of the native token moves in each
 * block.
 */
function makeBlocks({ legs, states }: Market, random: () => number): MarketBlock[] {
  const liveLegs = Math.floor(legs.length / POOLS_PER_LIVE_POOL);
  return Array.from({ length: BLOCKS }, (_, block) => {
    const moves = new Map<string, MarketBlock['moves'][number]>();
    const volumes = new Map<string, number>();
    for (let move = 0; move < MOVES_PER_BLOCK; move += 1) {
      // The first move is in a pool of an anchor. The others are in live pools, whose popularity falls like 1/rank.
      const legIndex =
        move === 0 ? Math.floor(random() * ANCHOR_POOLS) : Math.floor(liveLegs ** random()) - 1;
      const [leg, stateBefore] = [legs[legIndex], states[legIndex]];
      if (leg === undefined || stateBefore === undefined) continue;
      const factor = Math.exp((random() - 0.5) / 100);
      const [reserve0, reserve1] = [
        stateBefore.reserve0 / Math.sqrt(factor),
        stateBefore.reserve1 * Math.sqrt(factor),
      ];
      const state = { ...stateBefore, price: stateBefore.price * factor, reserve0, reserve1 };
      states[legIndex] = state;
      moves.set(leg.key, { key: leg.key, steps: [{ state, cause: 'reserve_swap' }] });
      volumes.set(leg.key, state.reserve1 / 100);
    }
    const traded = [...volumes].map(([key, amount]) => ({ key, amount, makers: [NATIVE] }));
    const number = FIRST_BLOCK + block;
    const timestamp = FIRST_TIME + (block + 1) * BLOCK_SECONDS;
    return { number, timestamp, legs: [], moves: [...moves.values()], traded };
  });
}

interface Run {
  /** Milliseconds per block, mean over epochs. */
  readonly blockMs: number;
  /** Milliseconds for undoing blocks, median. */
  readonly rewindMs: number;
  /** Bytes of the heap per pool: legs, states and records of the pricer. */
  readonly bytesPerPool: number;
}

function run(pools: number): Run {
  const heapBefore = heapBytes();
  const random = seeded(pools);
  const market = makeMarket(pools, random);
  const pricer = new Pricer({ anchors: ANCHORS, wrappedNative: NATIVE });
  const livePools = pools / POOLS_PER_LIVE_POOL;
  const records = market.legs.map((leg, legIndex) => {
    const state = market.states[legIndex];
    const movedAt = FIRST_TIME - Math.floor(legIndex < livePools ? random() * 20 * DAY : 40 * DAY);
    if (state === undefined) throw new RangeError('a leg has no state');
    const { liquidity: depthLiquidity, price } = state;
    return {
      leg,
      state,
      depthLiquidity,
      meanLog: Math.log(price),
      traded: 0,
      at: movedAt,
      movedAt,
      depthWeight: 1,
      unswapped: 0,
      makers: [],
      bornBlock: BORN_BEFORE,
    };
  });
  const entries = market.legs.map((leg) => ({ leg, older: false }));
  pricer.load({ number: FIRST_BLOCK - 1, timestamp: FIRST_TIME }, entries, records);
  const bytesPerPool = (heapBytes() - heapBefore) / pools;
  const blocks = makeBlocks(market, random);
  // The first epoch is not measured, because it finds the routes of all tokens. Later blocks show the cost of a growing
  // chain.
  for (const block of blocks.slice(0, EPOCH_BLOCKS)) pricer.apply(block, false);
  const rewindTimesMs: number[] = [];
  let forwardMs = 0;
  blocks.slice(EPOCH_BLOCKS).forEach((block, blockIndex) => {
    const startedAt = performance.now();
    pricer.apply(block, true);
    forwardMs += performance.now() - startedAt;
    pricer.finalise(block.number - KEPT_BLOCKS);
    if ((blockIndex + 1) % UNDONE_EVERY_BLOCKS !== 0) return;
    const rewindStartedAt = performance.now();
    pricer.rewindTo(block.number - UNDONE_BLOCKS);
    rewindTimesMs.push(performance.now() - rewindStartedAt);
    const end = EPOCH_BLOCKS + blockIndex + 1;
    for (const rewoundBlock of blocks.slice(end - UNDONE_BLOCKS, end)) pricer.apply(rewoundBlock, true);
  });
  return { blockMs: forwardMs / (BLOCKS - EPOCH_BLOCKS), rewindMs: median(rewindTimesMs), bytesPerPool };
}

/** Bytes of the heap after a garbage collection. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed;
}

/** Runs in one process, without a store. */
export function benchPricing(): Figure[] {
  const fewPools = run(POOLS / 10);
  const manyPools = run(POOLS);
  const figureName = (measured: string): string =>
    `${measured}, ${POOLS} pools, ${POOLS / POOLS_PER_LIVE_POOL} of them live`;
  const undonePricingMs = UNDONE_BLOCKS * manyPools.blockMs;
  return [
    {
      name: figureName('pricing one block, mean'),
      value: manyPools.blockMs,
      unit: 'ms',
      limitName: `the same with ${POOLS / 10} pools`,
      limit: fewPools.blockMs,
      ratio: manyPools.blockMs / fewPools.blockMs,
      target: '<= 15x',
      ok: manyPools.blockMs <= 15 * fewPools.blockMs,
    },
    {
      name: figureName(`undoing ${UNDONE_BLOCKS} blocks`),
      value: manyPools.rewindMs,
      unit: 'ms',
      limitName: 'pricing the same number of blocks',
      limit: undonePricingMs,
      ratio: manyPools.rewindMs / undonePricingMs,
      target: '<= 1x',
      ok: manyPools.rewindMs <= undonePricingMs,
    },
    {
      name: `heap of the prices per pool, ${POOLS} pools`,
      value: manyPools.bytesPerPool,
      unit: 'B',
      limitName: `the same with ${POOLS / 10} pools`,
      limit: fewPools.bytesPerPool,
      ratio: manyPools.bytesPerPool / fewPools.bytesPerPool,
      target: 'printed',
      ok: true,
    },
  ];
}
