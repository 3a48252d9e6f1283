/** The events of Solidly, Slipstream and Algebra pools of the simulated chain. Encodes logs by hand. */
import type { Hex } from '../../../src/domain/hex';
import type { Random } from '../../support/random';
import type { FamilyPool } from './simFamilyPool';
import { dataOf, digest, topicOf, type Draft } from '../../support/plainLogs';

const TOPIC = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  sync: '0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a',
  firstSwap: '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
  secondSwap: '0xb3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b',
  firstBurn: '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496',
  secondBurn: '0x5d624aa9c148153ab3446c1b154f660ee7701e549fe9b62dab7171b1c80e6fa2',
  pairMint: '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f',
  feesPaid: '0x112c256902bf554b6ed882d2936687aaeb4225e8cd5b51303c90ca6cf43a8602',
  swap: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
  swapWithFees: '0x121cb44ee54098b1a04743c487e7460d8dd429b27f88b1f4d4767396e1a59f79',
  swapFee: '0x9443903d84c9719611bd4bba871daaf18a3950d00d5d78b1a2fa701f76df54ff',
  fee: '0x598b9f043c813aa6be3426ca60d1c65d17256312890be5118dab55b0775ebe2a',
  twoFees: '0x8a89de70856bccec096661388f305b9a75f5f65cb0d8a0e1e803c39dabedb57f',
  mint: '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde',
  burn: '0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c',
  burnWithFee: '0x932214d4a69c27c086643126ed97c32681da179064c678836c173f99bd13ca01',
  collect: '0x70935338e69775456a85ddef226c395fb668b63fa0115f5f20610b388e6ca9c0',
  collectFees: '0x205860e66845f2bbc0966bfab80db9bf93fca93862ea2b9fcf6945748352b4a3',
  flash: '0xbdbdb71d7860376ba52b25a5028beea23581364a40522f6bcfb86bb1f2dca633',
} as const satisfies Record<string, Hex>;

const VAULT: Hex = `0x${'fa'.repeat(20)}`;
const Q96 = 1n << 96n;
const PIPS = 1_000_000n;
const LARGEST_LIQUIDITY = (1n << 128n) - 1n;

interface Moved {
  readonly drafts: Draft[];
  readonly after: FamilyPool;
}

/** A random event of the pool, and the pool after the event. */
export function familyEvent(random: Random, pool: FamilyPool): Moved {
  const traderTopic = topicOf(digest(`trader ${random.int(0, 5)}`, 20));
  if (random.chance(0.08)) return { drafts: [oddity(random, pool, traderTopic)], after: pool };
  if (pool.family === 'solidly1' || pool.family === 'solidly2')
    return solidlyEvent(random, pool, traderTopic);
  return rangeEvent(random, pool, traderTopic);
}

/** Logs that the ingester must skip: malformed events of the pool, and events of other families. */
function oddity(random: Random, { address }: FamilyPool, traderTopic: Hex): Draft {
  const draft = (topics: readonly Hex[], ...values: bigint[]): Draft => ({
    address,
    topics,
    data: dataOf(...values),
  });
  return random.pick<Draft>([
    draft([TOPIC.sync], 5n, 7n, 9n),
    draft([TOPIC.secondSwap, traderTopic], 5n, 0n, 0n, 7n),
    draft([TOPIC.swapWithFees, traderTopic, traderTopic], 5n, -7n, 1n << 90n, 1n, 0n, 1n << 24n, 0n),
    draft([TOPIC.swap, traderTopic, traderTopic], 5n, -7n, 1n << 160n, 1n, 0n),
    draft([TOPIC.fee]),
    draft([TOPIC.collectFees, topicOf(1n << 200n)], 1n, 1n),
    draft([TOPIC.feesPaid, traderTopic], 3n, 4n),
  ]);
}

function solidlyEvent(random: Random, pool: FamilyPool, traderTopic: Hex): Moved {
  const { address, family, reserves } = pool;
  const isFirst = family === 'solidly1';
  const draft = (topics: readonly Hex[], ...values: bigint[]): Draft => ({
    address,
    topics,
    data: dataOf(...values),
  });
  const move = (delta0: bigint, delta1: bigint, draft: Draft): Moved => {
    const after = [reserves[0] + delta0, reserves[1] + delta1] as const;
    const sync: Draft = { address, topics: [TOPIC.sync], data: dataOf(...after) };
    return { drafts: [sync, draft], after: { ...pool, reserves: after } };
  };
  const partOf = (reserve: bigint): bigint => (reserve * BigInt(random.int(0, 800))) / 1_000n;
  if (reserves[0] === 0n || reserves[1] === 0n || random.chance(0.12)) {
    const [a, b] = [random.big(90), random.big(90)];
    return move(a, b, draft([TOPIC.pairMint, traderTopic], a, b));
  }
  if (random.chance(0.1)) {
    const [a, b] = [partOf(reserves[0]), partOf(reserves[1])];
    const topic = isFirst ? TOPIC.firstBurn : TOPIC.secondBurn;
    return move(-a, -b, draft([topic, traderTopic, topicOf(digest('payee', 20))], a, b));
  }
  const zeroForOne = random.chance(0.5);
  const amountIn = random.big(80);
  const amountOut = partOf(reserves[zeroForOne ? 1 : 0]);
  const fee = (amountIn * BigInt(random.pick([1, 5, 30, 100, 420]))) / 10_000n;
  const amounts = zeroForOne ? [amountIn, 0n, 0n, amountOut] : [0n, amountIn, amountOut, 0n];
  const topic = isFirst ? TOPIC.firstSwap : TOPIC.secondSwap;
  const swap = draft([topic, traderTopic, topicOf(digest('payee', 20))], ...amounts);
  // Sometimes a swap has no Sync event, and therefore no price.
  if (random.chance(0.05)) return { drafts: [swap], after: pool };
  const paid = draft([TOPIC.feesPaid, traderTopic], ...(zeroForOne ? [fee, 0n] : [0n, fee]));
  const kept = amountIn - fee;
  const moved = zeroForOne ? move(kept, -amountOut, swap) : move(-amountOut, kept, swap);
  return { ...moved, drafts: [paid, ...moved.drafts] };
}

function rangeEvent(random: Random, pool: FamilyPool, traderTopic: Hex): Moved {
  const { family } = pool;
  if (family === 'algebra' && random.chance(0.15)) return { drafts: [feeChange(random, pool)], after: pool };
  if (random.chance(0.2)) return changeLiquidity(random, pool, traderTopic);
  if (random.chance(0.12)) return { drafts: payOut(random, pool, traderTopic), after: pool };
  return swapRange(random, pool, traderTopic);
}

function feeChange(random: Random, { address, hasTwoFees }: FamilyPool): Draft {
  const fee = (): bigint => BigInt(random.pick([100, 450, 3_000, 65_535]));
  return hasTwoFees
    ? { address, topics: [TOPIC.twoFees], data: dataOf(fee(), fee()) }
    : { address, topics: [TOPIC.fee], data: dataOf(fee()) };
}

/** The Transfers that a pool of Algebra causes: its balances follow them. Other pools need none. */
function transfers(
  { address, family, token0, token1 }: FamilyPool,
  amounts: readonly [bigint, bigint],
  holder: Hex,
): Draft[] {
  if (family !== 'algebra') return [];
  return [token0, token1].flatMap((token, index) => {
    const amount = amounts[index]!;
    const [from, to] = amount > 0n ? [holder, topicOf(address)] : [topicOf(address), holder];
    const size = amount > 0n ? amount : -amount;
    return size === 0n ? [] : [{ address: token, topics: [TOPIC.transfer, from, to], data: dataOf(size) }];
  });
}

function changeLiquidity(random: Random, pool: FamilyPool, traderTopic: Hex): Moved {
  const { address, family, tick } = pool;
  const lower = random.pick([-600, 60 * Math.floor(tick / 60)]);
  const upper = lower + 60 * random.int(1, 20);
  const bounds = [topicOf(BigInt(lower)), topicOf(BigInt(upper))];
  const [amount0, amount1] = [random.big(90), random.big(90)];
  const isMint = pool.liquidity === 0n || random.chance(0.6);
  const liquidity = isMint ? random.big(100) : (pool.liquidity * BigInt(random.int(1, 900))) / 1_000n;
  const isActive = tick >= lower && tick < upper;
  const sum = pool.liquidity + (isActive ? (isMint ? liquidity : -liquidity) : 0n);
  const after = { ...pool, liquidity: sum > LARGEST_LIQUIDITY ? LARGEST_LIQUIDITY : sum };
  if (isMint) {
    const body = dataOf(digest('sender', 20), liquidity, amount0, amount1);
    const draft = { address, topics: [TOPIC.mint, traderTopic, ...bounds], data: body };
    return { drafts: [...transfers(pool, [amount0, amount1], traderTopic), draft], after };
  }
  const hasFee = family === 'algebra' && pool.layout === 'own fees';
  const topics = [hasFee ? TOPIC.burnWithFee : TOPIC.burn, traderTopic, ...bounds];
  const body = dataOf(liquidity, amount0, amount1, ...(hasFee ? [25n] : []));
  return { drafts: [{ address, topics, data: body }], after };
}

/** Tokens leave the pool, or a flash loan pays its fee. */
function payOut(random: Random, pool: FamilyPool, traderTopic: Hex): Draft[] {
  const { address, family } = pool;
  const [amount0, amount1] = [random.big(60), random.big(60)];
  const out = transfers(pool, [-amount0, -amount1], traderTopic);
  if (family === 'slipstream' && random.chance(0.4))
    return [{ address, topics: [TOPIC.collectFees, traderTopic], data: dataOf(amount0, amount1) }];
  if (random.chance(0.3))
    return [
      ...transfers(pool, [amount0, amount1], traderTopic),
      { address, topics: [TOPIC.flash, traderTopic, traderTopic], data: dataOf(9n, 9n, amount0, amount1) },
      // A Transfer without an event of the pool in the rest of the transaction is a donation.
      ...(random.chance(0.3) ? transfers(pool, [5n, 7n], traderTopic) : []),
    ];
  const topics = [TOPIC.collect, traderTopic, topicOf(-600n), topicOf(600n)];
  return [...out, { address, topics, data: dataOf(digest('payee', 20), amount0, amount1) }];
}

function swapRange(random: Random, pool: FamilyPool, traderTopic: Hex): Moved {
  const { address, family, layout } = pool;
  const { amounts, ...place } = random.chance(0.6) ? swapInside(random, pool) : swapAway(random);
  const words = [...amounts, place.sqrtPrice, place.liquidity, BigInt(place.tick)];
  const topics = [TOPIC.swap, traderTopic, traderTopic] as const;
  const after = { ...pool, ...place };
  if (family !== 'algebra') return { drafts: [{ address, topics, data: dataOf(...words) }], after };
  const ownFees = [BigInt(random.pick([0, 0, 700])), BigInt(random.pick([0, 0, 40]))];
  const paid = transfers(pool, amounts, traderTopic);
  // A pool pays the community without an event of its own.
  if (random.chance(0.3)) paid.push(...transfers(pool, [-random.big(20), 0n], topicOf(VAULT)));
  if (layout === 'own fees') {
    const withFees = [TOPIC.swapWithFees, traderTopic, traderTopic];
    return { drafts: [...paid, { address, topics: withFees, data: dataOf(...words, ...ownFees) }], after };
  }
  const before: Draft = { address, topics: [TOPIC.swapFee, traderTopic], data: dataOf(...ownFees) };
  return {
    drafts: [
      ...(layout === 'fee event' ? [before] : []),
      ...paid,
      { address, topics, data: dataOf(...words) },
    ],
    after,
  };
}

type Swapped = Pick<FamilyPool, 'sqrtPrice' | 'liquidity' | 'tick'> & {
  readonly amounts: readonly [bigint, bigint];
};

/** A swap whose amounts follow from the move of the price, as in the range of one tick. */
function swapInside(random: Random, { sqrtPrice: start, liquidity, tick, feePips }: FamilyPool): Swapped {
  const step = (start * BigInt(random.int(1, 4_000))) / 10_000_000n + 1n;
  if (liquidity === 0n || start <= step) return swapAway(random);
  const zeroForOne = random.chance(0.5);
  const end = zeroForOne ? start - step : start + step;
  const [first, second] = [(liquidity * step * Q96) / (start * end) + 1n, (liquidity * step) / Q96 + 1n];
  const [moved, out] = zeroForOne ? [first, second] : [second, first];
  const fee = BigInt(feePips > 100_000 ? 3_000 : feePips);
  const paid = moved + (moved * fee) / (PIPS - fee) + 1n;
  const amounts = zeroForOne ? ([paid, -out] as const) : ([-out, paid] as const);
  return { amounts, sqrtPrice: end, liquidity, tick };
}

function swapAway(random: Random): Swapped {
  const [a, b] = [random.big(100), random.big(100)];
  return {
    amounts: random.chance(0.5) ? [a, -b] : [-a, b],
    sqrtPrice: random.big(150),
    liquidity: random.big(110),
    tick: random.int(-700, 700),
  };
}
