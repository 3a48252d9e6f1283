/**
 * Measures the cost of prices as the number of pools grows. Compares the time per block for many pools with the time
 * for a tenth of the pools. Also measures how long undoing blocks takes.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import type { Hex } from '../../../../src/domain/hex';
import { BORN_BEFORE } from '../../../../src/pricing/epoch';
import { makeLeg, type Leg, type LegState } from '../../../../src/pricing/leg';
import type { MarketBlock } from '../../../../src/pricing/priceBlock';
import { Pricer } from '../../../../src/pricing/pricer';
import { median, type Figure } from '../../figure';

const POOLS = 100_000;
/** One pool in eight is live: it moved within 30 days. */
const LIVE = 8;
const MOVES_PER_BLOCK = 60;
const EPOCHS = 12;
const BLOCKS = EPOCHS * 32;
/** Number of blocks that are undone and applied again. */
const TAKEN_BACK = 20;
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
    const [tokenIndex, other] = [
      Math.floor(random() * prices.length),
      Math.floor(random() ** 6 * prices.length),
    ];
    const kind = random();
    const anchor = ANCHORS[poolIndex % ANCHORS.length]?.address ?? NATIVE;
    const firstToken = poolIndex < 10 ? anchor : addressOf('01', tokenIndex);
    const toNative = poolIndex < 10 || kind < 0.7 || (kind >= 0.8 && other === tokenIndex);
    const secondToken = toNative ? NATIVE : kind < 0.8 ? anchor : addressOf('01', other);
    const usdOf = (token: Hex): number =>
      token === NATIVE
        ? NATIVE_USD
        : token.startsWith('0xaa')
          ? 1
          : (prices[token === firstToken ? tokenIndex : other] ?? 1);
    const [token0, token1] = firstToken < secondToken ? [firstToken, secondToken] : [secondToken, firstToken];
    legs.push(makeLeg(addressOf('ee', poolIndex), 1, token0, token1));
    const reserve0 = (poolIndex < 10 ? 1e6 : Math.exp(random() * 12)) / usdOf(token0);
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
  const liveLegs = Math.floor(legs.length / LIVE);
  return Array.from({ length: BLOCKS }, (_, block) => {
    const moves = new Map<string, MarketBlock['moves'][number]>();
    const volumes = new Map<string, number>();
    for (let move = 0; move < MOVES_PER_BLOCK; move += 1) {
      const legIndex = move === 0 ? Math.floor(random() * 10) : Math.floor(liveLegs ** random()) - 1;
      const [leg, before] = [legs[legIndex], states[legIndex]];
      if (leg === undefined || before === undefined) continue;
      const factor = Math.exp((random() - 0.5) / 100);
      const [reserve0, reserve1] = [before.reserve0 / Math.sqrt(factor), before.reserve1 * Math.sqrt(factor)];
      const state = { ...before, price: before.price * factor, reserve0, reserve1 };
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
  readonly block: number;
  /** Milliseconds for undoing blocks, median. */
  readonly rewindMs: number;
  /** Bytes of the heap per pool: legs, states and records of the pricer. */
  readonly bytes: number;
}

function run(pools: number): Run {
  const heapBefore = heapBytes();
  const random = seeded(pools);
  const market = makeMarket(pools, random);
  const pricer = new Pricer({ anchors: ANCHORS, wrappedNative: NATIVE });
  const livePools = pools / LIVE;
  const records = market.legs.map((leg, legIndex) => {
    const [state] = market.states.slice(legIndex, legIndex + 1);
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
  const bytes = (heapBytes() - heapBefore) / pools;
  const blocks = makeBlocks(market, random);
  // The first epoch is not measured, because it finds the routes of all tokens. Later blocks show the cost of a growing
  // chain.
  for (const block of blocks.slice(0, 32)) pricer.apply(block, false);
  const rewindTimesMs: number[] = [];
  let forwardMs = 0;
  blocks.slice(32).forEach((block, blockIndex) => {
    const startedAt = performance.now();
    pricer.apply(block, true);
    forwardMs += performance.now() - startedAt;
    pricer.finalise(block.number - 64);
    if (blockIndex % 30 !== 29) return;
    const backAt = performance.now();
    pricer.rewindTo(block.number - TAKEN_BACK);
    rewindTimesMs.push(performance.now() - backAt);
    for (const rewoundBlock of blocks.slice(32 + blockIndex + 1 - TAKEN_BACK, 32 + blockIndex + 1))
      pricer.apply(rewoundBlock, true);
  });
  return { block: forwardMs / (BLOCKS - 32), rewindMs: median(rewindTimesMs), bytes };
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
    `${measured}, ${POOLS} pools, ${POOLS / LIVE} of them live`;
  const forwardMs = TAKEN_BACK * manyPools.block;
  return [
    {
      name: figureName('pricing one block, mean'),
      value: manyPools.block,
      unit: 'ms',
      limitName: `the same with ${POOLS / 10} pools`,
      limit: fewPools.block,
      ratio: manyPools.block / fewPools.block,
      target: '<= 15x',
      ok: manyPools.block <= 15 * fewPools.block,
    },
    {
      name: figureName(`undoing ${TAKEN_BACK} blocks`),
      value: manyPools.rewindMs,
      unit: 'ms',
      limitName: 'pricing the same number of blocks',
      limit: forwardMs,
      ratio: manyPools.rewindMs / forwardMs,
      target: '<= 1x',
      ok: manyPools.rewindMs <= forwardMs,
    },
    {
      name: `heap of the prices per pool, ${POOLS} pools`,
      value: manyPools.bytes,
      unit: 'B',
      limitName: `the same with ${POOLS / 10} pools`,
      limit: fewPools.bytes,
      ratio: manyPools.bytes / fewPools.bytes,
      target: 'printed',
      ok: true,
    },
  ];
}
