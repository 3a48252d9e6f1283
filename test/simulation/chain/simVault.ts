/** The vault of the simulated chain: pools of two to four tokens, their events, and their answers to calls. */
import type { Hex } from '../../../src/domain/hex';
import type { Random } from '../../support/random';
import { arrayData, dataOf, digest, topicOf, type Draft } from '../../support/plainLogs';
import {
  AMP_UNIT,
  ampChange,
  ampFrom,
  answerProviders,
  answerScales,
  followedScales,
  isScaled,
  logsFirstAmp,
  stableOut,
  usualAmount,
} from './simStable';

export const VAULT: Hex = `0x${'ba'.repeat(20)}`;
const ONE = 10n ** 18n;
const MANAGER: Hex = `0x${'a5'.repeat(20)}`;
/**
 * Each swap of a weighted pool draws a number from 0 to 900. Below this limit, the swap pays a random amount instead
 * of the amount by the weights.
 */
const RANDOM_AMOUNTS_OF_900 = 12;

const TOPIC = {
  poolRegistered: '0x3c13bc30b8e878c53fd2a36b679409c073afd75950be43d8858768e956fbc20e',
  tokensRegistered: '0xf5847d3f2197b16cdcd2098ec95d0905cd1abdaf415f07bb7cef2bba8ac5dec4',
  swap: '0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b',
  balanceChanged: '0xe5ce249087ce04f05a957192435400fd97868dba0e6a4b4c049abf8af80dae78',
  balanceManaged: '0x6edcaf6241105b4c94c2efdbf3a6b12458eb3d07be3a0e81d24b13c44045fe7a',
  feeChanged: '0xa9ba3ffe0b6c366b81232caab38605a0699ad5398d6cce76f91ee809e322dafc',
} as const satisfies Record<string, Hex>;

const SELECTOR = {
  getNormalizedWeights: '0xf89f27ed',
  getSwapFeePercentage: '0x55c67628',
  getAmplificationParameter: '0x6daccffa',
  getGradualWeightUpdateParams: '0x7beed220',
  getPoolTokens: '0xf94d4668',
  getPoolTokenInfo: '0xb05f8e48',
  getScalingFactors: '0x1dd746ea',
  getRateProviders: '0x238a2d59',
} as const;

/** Kinds of pools: `plain` is weighted, `moving` is weighted with changing weights, `other` is neither
 * weighted nor stable. */
type Nature = 'plain' | 'moving' | 'stable' | 'other';
const NATURES: readonly Nature[] = ['plain', 'plain', 'plain', 'plain', 'moving', 'stable', 'other'];

export interface SimVaultPool {
  readonly address: Hex;
  readonly kind: 'vault';
  readonly poolId: Hex;
  readonly nature: Nature;
  readonly tokens: readonly Hex[];
  /** The answer of getNormalizedWeights; may be empty. */
  readonly weights: readonly bigint[];
  /** Raw balances that the vault holds, without managed balances. */
  readonly balances: readonly bigint[];
  readonly managed: readonly bigint[];
  /** Whether the pool was created with an asset manager, or a manager has changed a balance since. */
  readonly isManaged: boolean;
  readonly fee: bigint;
  /** Amplification of a stable pool, times AMP_UNIT. */
  readonly amp: bigint;
}

/** Probability that a transaction has an event of the stable pool whose price is known. */
const STABLE_CHANCE = 0.5;

/** The amplification of each new stable pool. */
const FIRST_AMP = 200n * AMP_UNIT;

const randomFee = (random: Random): bigint => 10n ** 12n + random.big(56);

export function createVaultPool(
  random: Random,
  address: Hex,
  simToken: (index: number) => Hex,
  nature: Nature = random.pick(NATURES),
): { drafts: Draft[]; pool: SimVaultPool } {
  const chosenTokens = new Set<Hex>();
  // Composable stable pools hold their own token.
  if (nature === 'stable') chosenTokens.add(address);
  for (const count = chosenTokens.size + random.int(2, 4); chosenTokens.size < count;)
    chosenTokens.add(simToken(random.int(0, 11)));
  const tokens = [...chosenTokens].sort();
  const poolId: Hex = `${address}0001${digest(address, 10).slice(2)}`;
  const fee = randomFee(random);
  const balances = tokens.map(() => 0n);
  // Whether the pool has an asset manager follows from its address. The other random values of the seed stay as they
  // were before simulated pools had managers.
  const hasManager = isDigitZeroOrEight(address, 2);
  const pool: SimVaultPool = {
    address,
    kind: 'vault',
    poolId,
    nature,
    tokens,
    weights: randomWeights(random, tokens.length),
    balances,
    managed: balances,
    isManaged: hasManager,
    fee,
    amp: FIRST_AMP,
  };
  const managers = tokens.map(() => (hasManager ? MANAGER : 0n));
  // The logs have the order in which BasePool's constructor emits them. In some pools, the constructor changes the
  // fee again at its end: if the last hex digit is 0, 3, 6 or 9.
  const isFeeSetTwice = Number(address.at(-1)) % 3 === 0;
  const drafts: Draft[] = [
    feeChange(address, isFeeSetTwice ? fee + 10n ** 16n : fee),
    ...(logsFirstAmp(pool) ? [ampChange(address, pool.amp)] : []),
    registration(poolId, address),
    { address: VAULT, topics: [TOPIC.tokensRegistered, poolId], data: arrayData([tokens, managers]) },
    ...(isFeeSetTwice ? [feeChange(address, fee)] : []),
  ];
  return { drafts, pool };
}

/** Random weights that add up to exactly 1. Some weights are often equal. */
export function randomWeights(random: Random, count: number): bigint[] {
  const parts = Array.from({ length: count }, () => BigInt(random.pick([1, 1, 2, 5, 20])));
  const sum = parts.reduce((total, part) => total + part, 0n);
  const weights = parts.map((part) => (part * ONE) / sum);
  const missingWeight = ONE - weights.reduce((total, weight) => total + weight, 0n);
  return weights.map((weight, index) => (index === 0 ? weight + missingWeight : weight));
}

function feeChange(address: Hex, fee: bigint): Draft {
  return { address, topics: [TOPIC.feeChanged], data: dataOf(fee) };
}

function registration(poolId: Hex, address: Hex): Draft {
  return { address: VAULT, topics: [TOPIC.poolRegistered, poolId, topicOf(address)], data: dataOf(1n) };
}

/** A random event of the pool, and the pool after the event. */
export function vaultEvent(random: Random, pool: SimVaultPool): { drafts: Draft[]; after: SimVaultPool } {
  const { address, poolId, tokens, balances } = pool;
  if (random.chance(0.08)) {
    const fee = randomFee(random);
    if (pool.nature === 'stable' && fee % 2n === 0n) {
      const amp = ampFrom(fee);
      return { drafts: [ampChange(address, amp)], after: { ...pool, amp } };
    }
    return { drafts: [feeChange(address, fee)], after: { ...pool, fee } };
  }
  const traderTopic = topicOf(digest(`trader ${random.int(0, 5)}`, 20));
  const isFollowedStable = followedScales(pool) !== null;
  const partOfBalance = (index: number): bigint => (balances[index]! * BigInt(random.int(0, 900))) / 1000n;
  if (random.chance(0.06)) {
    const index = random.int(0, tokens.length - 1);
    const [cash, managed] = [-partOfBalance(index), random.big(60)];
    // Of the pools without a manager, one in eight gets the log of an unregistered manager. The others get a join.
    if (!pool.isManaged && !isDigitZeroOrEight(address, 3)) {
      const added = isFollowedStable ? usualAmount(tokens[index]!, managed) : managed;
      const deltas = tokens.map((_, tokenIndex) => (tokenIndex === index ? added : 0n));
      return changeBalances(pool, traderTopic, deltas, noFees(tokens));
    }
    const topics = [TOPIC.balanceManaged, poolId, traderTopic, topicOf(tokens[index]!)];
    const after = changeCash(pool, (tokenIndex) => (tokenIndex === index ? cash : 0n));
    const managedBalances = pool.managed.map((managedBalance, tokenIndex) =>
      tokenIndex === index ? managedBalance + managed : managedBalance,
    );
    return {
      drafts: [{ address: VAULT, topics, data: dataOf(cash, managed) }],
      // The pool counts as managed from now on, because forks of the vault may let an unregistered manager change a
      // balance.
      after: { ...after, managed: managedBalances, isManaged: true },
    };
  }
  if (balances.every((balance) => balance === 0n) || random.chance(0.15)) {
    const isExit = random.chance(0.4);
    const drawnDeltas = tokens.map((_, index) => (isExit ? -partOfBalance(index) : random.big(100)));
    const deltas = isFollowedStable ? usualDeltas(pool, drawnDeltas) : drawnDeltas;
    const fees = tokens.map((_, index) =>
      random.chance(0.3) ? (balances[index]! + deltas[index]!) / 50n : 0n,
    );
    return changeBalances(pool, traderTopic, deltas, fees);
  }
  const indexIn = random.int(0, tokens.length - 1);
  const indexOut = (indexIn + random.int(1, tokens.length - 1)) % tokens.length;
  const [drawnIn, drawn] = [random.big(100), random.int(0, 900)];
  const movesShare = [indexIn, indexOut].some((index) => tokens[index] === address);
  const isFull = tokens.every((token, index) => token === address || balances[index]! > 0n);
  const isStableTrade = isFollowedStable && !movesShare && isFull;
  const usualIn = isStableTrade
    ? 1n + balances[indexIn]! / 1_000n + (drawnIn % (balances[indexIn]! / 3n + 1n))
    : usualAmount(tokens[indexIn]!, drawnIn);
  const amountIn = isFollowedStable ? usualIn : drawnIn;
  const isRandomAmount = drawn < RANDOM_AMOUNTS_OF_900 || !(pool.nature === 'plain' || isStableTrade);
  const payOut = isStableTrade ? stableOut : fairOut;
  const amountOut = isRandomAmount
    ? (balances[indexOut]! * BigInt(drawn)) / (isFollowedStable ? 10_000n : 1_000n)
    : payOut(pool, indexIn, indexOut, amountIn);
  const topics = [TOPIC.swap, poolId, topicOf(tokens[indexIn]!), topicOf(tokens[indexOut]!)];
  return {
    drafts: [{ address: VAULT, topics, data: dataOf(amountIn, amountOut) }],
    after: changeCash(pool, (tokenIndex) =>
      tokenIndex === indexIn ? amountIn : tokenIndex === indexOut ? -amountOut : 0n,
    ),
  };
}

/**
 * Logs of a stable pool of two tokens whose price is known, for one transaction. `pools` has this pool, or none before its
 * creation. Few other pools are stable and have a price. A pool of more tokens has more legs, which slow down each block.
 */
export function stableLogs(
  random: Random,
  pools: SimVaultPool[],
  id: string,
  simToken: (index: number) => Hex,
): Draft[] {
  const [known] = pools;
  if (known === undefined) {
    let [count, made] = [0, createVaultPool(random, digest(`stable ${id}`, 20), simToken, 'stable')];
    while (made.pool.isManaged || made.pool.tokens.length > 3 || followedScales(made.pool) === null)
      made = createVaultPool(random, digest(`stable ${id} ${(count += 1)}`, 20), simToken, 'stable');
    pools.push(made.pool);
    return made.drafts;
  }
  if (!random.chance(STABLE_CHANCE)) return [];
  const { drafts, after } = vaultEvent(random, known);
  pools[0] = after;
  return drafts;
}

/** A stable pool pays the same part of each balance to a leaving provider, and gets usual amounts. */
function usualDeltas({ tokens, balances }: SimVaultPool, drawn: readonly bigint[]): bigint[] {
  const [first, balance] = [drawn[0]!, balances[0]!];
  return tokens.map((token, index) => {
    if (first > 0n || balance === 0n) return usualAmount(token, drawn[index]!);
    return (balances[index]! * first) / balance;
  });
}

/**
 * Whether the hex digit at this place, counted from the end of the address, is 0 or 8. True for one address in eight.
 */
function isDigitZeroOrEight(address: Hex, digitIndex: number): boolean {
  return Number(`0x${address.at(-digitIndex)}`) % 8 === 0;
}

const noFees = (tokens: readonly Hex[]): bigint[] => tokens.map(() => 0n);

/** Makes the event of a join or an exit. */
function changeBalances(
  pool: SimVaultPool,
  traderTopic: Hex,
  deltas: readonly bigint[],
  fees: readonly bigint[],
): { drafts: Draft[]; after: SimVaultPool } {
  const topics = [TOPIC.balanceChanged, pool.poolId, traderTopic];
  return {
    drafts: [{ address: VAULT, topics, data: arrayData([pool.tokens, deltas, fees]) }],
    after: changeCash(pool, (tokenIndex) => deltas[tokenIndex]! - fees[tokenIndex]!),
  };
}

/** The amount out by the pool's weights, in float precision. */
function fairOut(
  { balances, weights, fee }: SimVaultPool,
  indexIn: number,
  indexOut: number,
  amountIn: bigint,
): bigint {
  const amountAfterFee = Number(amountIn) * (1 - Number(fee) / 1e18);
  const remainingShare =
    (Number(balances[indexIn]) / (Number(balances[indexIn]) + amountAfterFee)) **
    (Number(weights[indexIn]) / Number(weights[indexOut]));
  const amountOut =
    amountIn === 0n ? 0n : BigInt(Math.floor(Number(balances[indexOut]) * (1 - remainingShare)));
  return amountOut > balances[indexOut]! ? balances[indexOut]! : amountOut;
}

function changeCash(pool: SimVaultPool, delta: (index: number) => bigint): SimVaultPool {
  return { ...pool, balances: pool.balances.map((balance, index) => balance + delta(index)) };
}

/**
 * Makes logs that the ingester must skip: logs from another emitter, with another pool id, malformed logs, or a second
 * registration.
 */
export function vaultOddity(random: Random, pool: SimVaultPool): Draft {
  const stranger = digest(`stranger ${random.int(0, 9)}`, 20);
  const secondPoolId: Hex = `${pool.address}0001${'9'.repeat(20)}`;
  const swapOf = (poolId: Hex): readonly Hex[] => [
    TOPIC.swap,
    poolId,
    topicOf(pool.tokens[0]!),
    topicOf(pool.tokens[1]!),
  ];
  return random.pick<Draft>([
    { address: stranger, topics: swapOf(pool.poolId), data: dataOf(7n, 9n) },
    { address: VAULT, topics: swapOf(`${stranger}${'1'.repeat(24)}`), data: dataOf(7n, 9n) },
    { address: VAULT, topics: swapOf(pool.poolId), data: dataOf(7n) },
    { address: VAULT, topics: [TOPIC.swap, pool.poolId], data: dataOf(7n, 9n) },
    registration(secondPoolId, pool.address),
    { address: VAULT, topics: swapOf(secondPoolId), data: dataOf(7n, 9n) },
    feeChange(stranger, 5n * 10n ** 15n),
    { address: pool.address, topics: [TOPIC.feeChanged], data: '0x' },
    { address: pool.address, topics: swapOf(pool.poolId), data: dataOf(7n, 9n) },
  ]);
}

/** What the oracle must know of the pool; null if the product must not list the pool. */
export function listingOf(pool: SimVaultPool) {
  const { nature, weights } = pool;
  if (nature === 'other') return null;
  return {
    type: nature === 'stable' ? 5 : 4,
    weights: nature === 'plain' ? weights : [],
    scales: followedScales(pool),
    isScaled: isScaled(pool),
    firstAmp: FIRST_AMP,
  };
}

/** Answers of the pool's contract by selector; null if the call reverts. */
export function answerOfPool(pool: SimVaultPool, selector: string): Hex | null {
  const isWeighted = pool.nature === 'plain' || pool.nature === 'moving';
  switch (selector) {
    case SELECTOR.getNormalizedWeights:
      return isWeighted ? arrayData([pool.weights]) : null;
    case SELECTOR.getSwapFeePercentage:
      return dataOf(pool.fee);
    case SELECTOR.getAmplificationParameter:
      return pool.nature === 'stable' ? dataOf(pool.amp, 0n, AMP_UNIT) : null;
    case SELECTOR.getScalingFactors:
      return answerScales(pool);
    case SELECTOR.getRateProviders:
      return answerProviders(pool);
    case SELECTOR.getGradualWeightUpdateParams:
      return pool.nature === 'moving' ? arrayData([pool.weights], 1n, 2n) : null;
    default:
      return null;
  }
}

/** The vault's answer to getPoolTokens and getPoolTokenInfo; null if the call reverts. */
export function answerOfVault(pool: SimVaultPool, callData: Hex): Hex | null {
  const { tokens, balances, managed, isManaged } = pool;
  if (callData.startsWith(SELECTOR.getPoolTokens))
    return arrayData([tokens, balances.map((cash, i) => cash + managed[i]!)], 1n);
  const tokenIndex = tokens.findIndex((token) => callData.endsWith(token.slice(2)));
  if (!callData.startsWith(SELECTOR.getPoolTokenInfo) || tokenIndex === -1) return null;
  return dataOf(balances[tokenIndex]!, managed[tokenIndex]!, 1n, isManaged ? MANAGER : 0n);
}

/** Whether this call to the vault asks about the pool. */
export function asksAbout(pool: SimVaultPool, callData: Hex): boolean {
  return callData.slice(10, 74) === pool.poolId.slice(2);
}
