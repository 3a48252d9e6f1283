/**
 * Adds to the simulated chain: bursts of swaps, rare V3 events, amounts at the limits of their types, huge blocks and
 * more malformed logs. Encodes logs by hand.
 */
import type { Hex } from '../../../src/domain/hex';
import type { Random } from '../../support/random';
import { bloomOf } from '../fleet/blockJson';
import type { Wilderness } from './simChain';
import { dataOf, digest, topicOf, type Draft } from '../../support/plainLogs';

const TOPIC = {
  v2Swap: '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
  v2Sync: '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  v3Swap: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
  pancakeSwap: '0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83',
  initialize: '0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95',
  v3Burn: '0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c',
  collect: '0x70935338e69775456a85ddef226c395fb668b63fa0115f5f20610b388e6ca9c0',
  flash: '0xbdbdb71d7860376ba52b25a5028beea23581364a40522f6bcfb86bb1f2dca633',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
} as const satisfies Record<string, Hex>;

const LARGEST_RESERVE = (1n << 112n) - 1n;
const LARGEST_LIQUIDITY = (1n << 128n) - 1n;
/** Constants of TickMath.sol. */
const LOWEST_ROOT = 4_295_128_739n;
const HIGHEST_ROOT = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341n;
const TICK_MAX = 887_272n;
/** Smallest number of logs of a crowded transaction. */
const CROWD_MIN = 40;
/** Largest amount in a log. Sums of thousands of such amounts still fit 256 bits. */
const LARGEST_AMOUNT = (1n << 240n) - 1n;

type Pool = Parameters<Wilderness['drafts']>[0][number];

export interface WildSize {
  readonly emptyChance: number;
  readonly transactionsMax: number;
  /** Probability that a transaction is crowded: it has up to `logsMax` logs. */
  readonly bigChance: number;
  readonly logsMax: number;
}

/** Draw what some seeds do not have: logs that belong to no transaction, lending pools, and a stable pool of the vault. */
interface FurtherRandoms {
  readonly blockRandom: Random | null;
  readonly rateRandom: Random | null;
  readonly stableRandom: Random | null;
}

const NOTHING_FURTHER: FurtherRandoms = { blockRandom: null, rateRandom: null, stableRandom: null };

export function createWilderness(
  random: Random,
  size: WildSize,
  { blockRandom, rateRandom, stableRandom }: FurtherRandoms = NOTHING_FURTHER,
): Wilderness {
  return {
    rateRandom,
    stableRandom,
    ...(blockRandom !== null && {
      blockDrafts: (pools, otherDrafts) => blockDrafts(blockRandom, pools, otherDrafts),
    }),
    spacings: [0, 0, 1, 3, 10, 10, 10, 12, 59, 60, 400, 3_600],
    emptyChance: size.emptyChance,
    transactionsMax: size.transactionsMax,
    drafts(pools) {
      if (random.chance(size.bigChance)) return crowdedLogs(random, pools, size.logsMax);
      const newestPool = pools.at(-1);
      const drafts: Draft[] = [];
      // The newest pool was often created in the same block.
      if (newestPool !== undefined && random.chance(0.2)) drafts.push(...tradeOf(random, newestPool));
      if (random.chance(0.12)) {
        const pool = random.pick(pools);
        for (let i = random.int(2, 6); i > 0; i -= 1) drafts.push(...tradeOf(random, pool));
      }
      if (random.chance(0.1)) drafts.push(impostor(random, random.pick(pools).address));
      return drafts;
    },
    secondToken: (id) => (random.chance(0.25) ? newToken(id) : null),
  };
}

/**
 * Logs of the block that belong to no transaction. A node that leaves them out must be found by the bloom, so there are
 * none if they would not change the bloom.
 */
function blockDrafts(random: Random, pools: readonly Pool[], otherDrafts: readonly Draft[]): Draft[] {
  if (!random.chance(0.4)) return [];
  const trades = Array.from({ length: random.int(0, 2) }, () => tradeOf(random, random.pick(pools))).flat();
  const drafts = [...trades, systemLog(random)];
  return bloomOf(otherDrafts) === bloomOf([...otherDrafts, ...drafts]) ? [] : drafts;
}

function systemLog(random: Random): Draft {
  return { address: digest(`system ${random.next()}`, 20), topics: [topicOf(random.big(255))], data: '0x' };
}

/** Address of a token that starts with 0xff, so that it sorts after the first token of any pair. */
function newToken(id: string): Hex {
  return `0xff${digest(`newborn ${id}`, 19).slice(2)}`;
}

function crowdedLogs(random: Random, pools: readonly Pool[], logsMax: number): Draft[] {
  // The logarithm of the number is uniform, so that large crowds are rare.
  const count = Math.round(CROWD_MIN * (logsMax / CROWD_MIN) ** random.next());
  const drafts: Draft[] = [];
  while (drafts.length < count) {
    if (random.chance(0.5)) drafts.push(...tradeOf(random, random.pick(pools)));
    else {
      const [from, to] = [0, 1].map(() => topicOf(digest(`holder ${random.int(0, 7)}`, 20)));
      const token = digest(`token ${random.int(0, 11)}`, 20);
      drafts.push({ address: token, topics: [TOPIC.transfer, from!, to!], data: dataOf(random.big(100)) });
    }
  }
  return drafts;
}

function tradeOf(random: Random, { address, kind }: Pool): Draft[] {
  const traderTopic = topicOf(digest(`trader ${random.int(0, 5)}`, 20));
  if (kind === 'v2') return pairTrade(random, address, traderTopic);
  return kind === 'v3' ? [concentratedEvent(random, address, traderTopic)] : [];
}

function pairTrade(random: Random, address: Hex, traderTopic: Hex): Draft[] {
  const reserve = (): bigint => random.pick([0n, 1n, LARGEST_RESERVE, random.big(112), random.big(112)]);
  const amount = (): bigint => random.pick([0n, 1n, LARGEST_RESERVE, random.big(112)]);
  const sync: Draft = { address, topics: [TOPIC.v2Sync], data: dataOf(reserve(), reserve()) };
  const amounts = dataOf(amount(), amount(), amount(), amount());
  const swap: Draft = { address, topics: [TOPIC.v2Swap, traderTopic, traderTopic], data: amounts };
  // Some trades are a Sync without a swap, or two swaps after one Sync, as happens when a token calls the pair back.
  return random.pick([[sync, swap], [sync, swap], [sync], [sync, swap, swap]]);
}

function concentratedEvent(random: Random, address: Hex, traderTopic: Hex): Draft {
  const sign = random.pick([1n, -1n]);
  const amount = (): bigint => random.pick([0n, 1n, random.big(100), random.big(200), LARGEST_AMOUNT]);
  const sqrtPrice = random.pick([LOWEST_ROOT, HIGHEST_ROOT - 1n, random.big(159), random.big(120)]);
  const liquidity = random.pick([0n, 1n, LARGEST_LIQUIDITY, random.big(110)]);
  const tick = random.pick([TICK_MAX, -TICK_MAX, 0n, BigInt(random.int(-200_000, 200_000))]);
  const [lower, upper] = [topicOf(-TICK_MAX), topicOf(tick === -TICK_MAX ? 60n : tick)];
  const swap = dataOf(sign * amount(), -sign * amount(), sqrtPrice, liquidity, tick);
  return random.pick<Draft>([
    { address, topics: [TOPIC.v3Swap, traderTopic, traderTopic], data: swap },
    { address, topics: [TOPIC.v3Swap, traderTopic, traderTopic], data: swap },
    {
      address,
      topics: [TOPIC.pancakeSwap, traderTopic, traderTopic],
      data: dataOf(sign * amount(), -sign * amount(), sqrtPrice, liquidity, tick, 3n, LARGEST_LIQUIDITY),
    },
    { address, topics: [TOPIC.initialize], data: dataOf(sqrtPrice, tick) },
    {
      address,
      topics: [TOPIC.v3Burn, traderTopic, lower, upper],
      data: dataOf(liquidity, random.big(100), random.big(100)),
    },
    {
      address,
      topics: [TOPIC.collect, traderTopic, lower, upper],
      data: dataOf(digest('payee', 20), random.big(100), random.big(100)),
    },
    {
      address,
      topics: [TOPIC.flash, traderTopic, traderTopic],
      data: dataOf(random.big(100), random.big(100), random.big(60), random.big(60)),
    },
  ]);
}

/** Logs of a pool that are not valid events: too long, out of range, with dirty addresses, or anonymous with data. */
function impostor(random: Random, address: Hex): Draft {
  const traderTopic = topicOf(digest('trader 1', 20));
  const dirtyTopic = topicOf(1n << 200n);
  return random.pick<Draft>([
    { address, topics: [TOPIC.v2Sync], data: dataOf(1n << 112n, 5n) },
    { address, topics: [TOPIC.v2Sync], data: dataOf(5n, 7n, 9n) },
    { address, topics: [TOPIC.v2Sync, traderTopic], data: dataOf(5n, 7n) },
    { address, topics: [TOPIC.v2Swap, dirtyTopic, traderTopic], data: dataOf(5n, 0n, 0n, 7n) },
    { address, topics: [TOPIC.v2Swap, traderTopic, traderTopic], data: dataOf(-1n, 0n, 0n, 7n) },
    { address, topics: [TOPIC.v3Swap, traderTopic, traderTopic], data: dataOf(5n, -7n, 1n << 160n, 1n, 0n) },
    {
      address,
      topics: [TOPIC.v3Swap, traderTopic, traderTopic],
      data: dataOf(5n, -7n, 1n << 90n, 1n, 1n << 23n),
    },
    {
      address,
      topics: [TOPIC.v3Burn, traderTopic, topicOf(1n << 24n), topicOf(60n)],
      data: dataOf(5n, 1n, 1n),
    },
    { address, topics: [], data: dataOf(random.big(200)) },
    { address, topics: [digest('some other event', 32)], data: '0x01' },
  ]);
}
