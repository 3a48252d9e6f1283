/**
 * Pools of further protocols on the stub chain: their creation, their trades, and what their contracts answer. A trade first
 * sets the state on which its price depends: it fills a pool and empties it again, or sets its curve. So it fits any branch.
 */
import { id } from 'ethers';

import type { Hex } from '../../../src/domain/hex';
import { arrayData, dataOf, topicOf } from '../plainLogs';
import { exchange, termsAt, toXp, type CurveBooks } from '../oracle/curveContract';
import { contractD, contractY } from '../oracle/stableSwap';
import {
  FURTHER_ACTIVITY,
  FURTHER_KINDS,
  furtherAnswers,
  furtherCreation,
  furtherTrade,
  isFurther,
  type FurtherPool,
} from './stubFurther';
import type { StubLog } from './stubLogs';

export const STUB_CAMELOT_FACTORY: Hex = `0x${'a8'.repeat(20)}`;
export const STUB_BOOK_FACTORY: Hex = `0x${'a9'.repeat(20)}`;
export const STUB_V4_MANAGER: Hex = `0x${'aa'.repeat(20)}`;
export const STUB_CURVE_FACTORY: Hex = `0x${'ab'.repeat(20)}`;
export const STUB_VAULT: Hex = `0x${'ac'.repeat(20)}`;

const FIRST_KINDS = ['camelot', 'book', 'v4', 'curve', 'vault'] as const;
export const FAMILY_KINDS = [...FIRST_KINDS, ...FURTHER_KINDS] as const;

/** A pool of the stub chain. Its tokens have no decimals. */
export type StubPool =
  FurtherPool | (Omit<FurtherPool, 'kind'> & { readonly kind: (typeof FIRST_KINDS)[number] });

const topic = (signature: string): Hex => id(signature) as Hex;
const TOPIC = {
  pairCreated: topic('PairCreated(address,address,address,uint256)'),
  sync: topic('Sync(uint112,uint112)'),
  swap: topic('Swap(address,uint256,uint256,uint256,uint256,address)'),
  camelotFees: topic('FeePercentUpdated(uint16,uint16)'),
  camelotCurve: topic('SetStableSwap(bool,bool)'),
  bookCreated: topic('LBPairCreated(address,address,uint256,address,uint256)'),
  bookSwap: topic('Swap(address,address,uint24,bytes32,bytes32,uint24,bytes32,bytes32)'),
  v4Initialize: topic('Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)'),
  v4Swap: topic('Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)'),
  curveCreated: topic('NewStableSwapPair(address,address,address,address,address)'),
  curveAdd: topic('AddLiquidity(address,uint256[2],uint256[2],uint256,uint256)'),
  curveSwap: topic('TokenExchange(address,uint256,uint256,uint256,uint256)'),
  curveRemove: topic('RemoveLiquidity(address,uint256[2],uint256[2],uint256)'),
  owner: topic('OwnershipTransferred(address,address)'),
  vaultPool: topic('PoolRegistered(bytes32,address,uint8)'),
  vaultTokens: topic('TokensRegistered(bytes32,address[],address[])'),
  vaultFee: topic('SwapFeePercentageChanged(uint256)'),
  vaultAmp: topic('AmpUpdateStopped(uint256)'),
  vaultSwap: topic('Swap(bytes32,address,address,uint256,uint256)'),
  vaultChange: topic('PoolBalanceChanged(bytes32,address,address[],int256[],uint256[])'),
};

/** Events of /activity. */
export const FAMILY_ACTIVITY: readonly Hex[] = [
  ...[TOPIC.bookSwap, TOPIC.v4Swap, TOPIC.curveAdd, TOPIC.curveSwap, TOPIC.curveRemove],
  ...[TOPIC.vaultSwap, TOPIC.vaultChange],
  ...FURTHER_ACTIVITY,
];

/** With 18 decimals, a token without decimals counts 10^18 times, and Curve's rates have 18 more digits. */
const RATE = 10n ** 36n;
const ONE = 10n ** 18n;
/** What a provider puts into each side of a pool before a trade. */
const FILLED = 10n ** 12n;
const CURVE_FEE = 4_000_000n;
const CURVE_AMP = 100n;
const VAULT_FEE = ONE / 1_000n;
export const STUB_VAULT_AMP = 200_000n;
const VAULT_TERMS = { ann: 2n * STUB_VAULT_AMP, unit: 1_000n, dividesEach: true };
const ZERO: Hex = `0x${'0'.repeat(40)}`;
const BIN_STEP = 25n;
const MIDDLE_BIN = 2n ** 23n;
const V4_LIQUIDITY = 1n << 70n;

/** The id of a pool of Uniswap V4 ends with its key. */
export const stubV4Id = (key: string): Hex => `0x${'d4'.repeat(12)}${key.slice(2)}`;
const vaultId = (pool: Hex): Hex => `${pool}0002${'0'.repeat(20)}`;
const shareOf = (pool: Hex): Hex => `0x5a${pool.slice(4)}`;

/** A pool of the curve, empty. */
export const STUB_CURVE_BOOKS: CurveBooks = {
  kind: 'pancake',
  base: null,
  isKilled: false,
  ramp: [CURVE_AMP, CURVE_AMP, 0n, 0n],
  fee: CURVE_FEE,
  adminFee: 5_000_000_000n,
  offpeg: 0n,
  supply: 0n,
  rates: [RATE, RATE],
  balances: [0n, 0n],
};

/** The logs that create the pool, all in one transaction. */
export function familyCreation(pool: StubPool): StubLog[] {
  if (isFurther(pool)) return furtherCreation(pool);
  const { kind, address, token0, token1 } = pool;
  const tokens = [topicOf(token0), topicOf(token1)];
  switch (kind) {
    case 'camelot':
      return [log(STUB_CAMELOT_FACTORY, [TOPIC.pairCreated, ...tokens], address, 1n)];
    case 'book':
      return [log(STUB_BOOK_FACTORY, [TOPIC.bookCreated, ...tokens, topicOf(BIN_STEP)], address, 1n)];
    case 'v4': {
      const topics = [TOPIC.v4Initialize, stubV4Id(address), ...tokens];
      return [log(STUB_V4_MANAGER, topics, 3_000n, 60n, ZERO, 1n << 96n, 0n)];
    }
    case 'curve': {
      const topics = [TOPIC.curveCreated, topicOf(address)];
      return [
        log(address, [TOPIC.owner, topicOf(0n), topicOf(STUB_CURVE_FACTORY)]),
        log(STUB_CURVE_FACTORY, topics, token0, token1, ZERO, shareOf(address)),
      ];
    }
    case 'vault': {
      const topics = [TOPIC.vaultTokens, vaultId(address)];
      const data = arrayData([
        [token0, token1],
        [0n, 0n],
      ]);
      return [
        log(address, [TOPIC.vaultFee], VAULT_FEE),
        log(address, [TOPIC.vaultAmp], STUB_VAULT_AMP),
        log(STUB_VAULT, [TOPIC.vaultPool, vaultId(address), topicOf(address)], 2n),
        { address: STUB_VAULT, topics, data },
      ];
    }
  }
}

/** The logs of one trade. `random` draws numbers from 0 to 1. */
export function familyTrade(random: () => number, pool: StubPool, trader: Hex, timestamp: number): StubLog[] {
  const draw = (below: number): bigint => BigInt(Math.floor(random() * below));
  if (isFurther(pool)) return furtherTrade(draw, pool, trader, timestamp);
  const { address } = pool;
  const [amountIn, amountOut] = [draw(2 ** 40) + 1n, draw(2 ** 40) + 1n];
  switch (pool.kind) {
    case 'camelot':
      return [
        log(address, [TOPIC.camelotFees], draw(1_999) + 1n, draw(1_999) + 1n),
        log(address, [TOPIC.camelotCurve], 0n, draw(2)),
        log(address, [TOPIC.sync], 10n ** 24n + amountIn, 10n ** 23n + amountOut),
        log(address, [TOPIC.swap, trader, trader], amountIn, 0n, 0n, amountOut),
      ];
    case 'book': {
      const bin = MIDDLE_BIN + draw(200) - 100n;
      const fee = amountIn / 400n;
      const words = [bin, amountIn, amountOut << 128n, draw(1_000), fee, fee / 4n];
      return [log(address, [TOPIC.bookSwap, trader, trader], ...words)];
    }
    case 'v4': {
      const sqrtPrice = (1n << 96n) + draw(2 ** 50) * (1n << 40n);
      const words = [-amountIn, amountOut, sqrtPrice, V4_LIQUIDITY, 12n, 3_000n];
      return [log(STUB_V4_MANAGER, [TOPIC.v4Swap, stubV4Id(address), trader], ...words)];
    }
    case 'curve':
      return curveTrade(address, trader, draw(2 ** 36) + 1n, draw(2) === 0n, timestamp);
    case 'vault':
      return vaultTrade(pool, trader, draw(2 ** 36) + 1n, draw(2) === 0n);
  }
}

function curveTrade(
  address: Hex,
  trader: Hex,
  sold: bigint,
  isToken0In: boolean,
  timestamp: number,
): StubLog[] {
  const filled = { ...STUB_CURVE_BOOKS, supply: FILLED, balances: [FILLED, FILLED] };
  const [i, j] = isToken0In ? [0, 1] : [1, 0];
  const { out, adminFee } = exchange(filled, i, j, sold, timestamp)!;
  const left = filled.balances.map((balance, index) =>
    index === i ? balance + sold : balance - out - adminFee,
  );
  const d = contractD(toXp(filled, filled.balances), termsAt(filled, timestamp));
  const own = (name: Hex, ...values: bigint[]): StubLog => log(address, [name, trader], ...values);
  return [
    own(TOPIC.curveAdd, FILLED, FILLED, 0n, 0n, d, FILLED),
    own(TOPIC.curveSwap, BigInt(i), sold, BigInt(j), out),
    own(TOPIC.curveRemove, ...left, 0n, 0n, 0n),
  ];
}

function vaultTrade(
  { address, token0, token1 }: StubPool,
  trader: Hex,
  sold: bigint,
  isToken0In: boolean,
): StubLog[] {
  const x = FILLED * ONE;
  const paid = (sold - (sold * VAULT_FEE) / ONE) * ONE;
  const y = contractY([x + paid], VAULT_TERMS, contractD([x, x], VAULT_TERMS));
  const out = (x - y - 1n) / ONE;
  const [tokenIn, tokenOut] = isToken0In ? [token0, token1] : [token1, token0];
  const left = [FILLED + (isToken0In ? sold : -out), FILLED + (isToken0In ? -out : sold)];
  const poolId = vaultId(address);
  const change = (amounts: readonly bigint[]): StubLog => ({
    address: STUB_VAULT,
    topics: [TOPIC.vaultChange, poolId, trader],
    data: arrayData([[token0, token1], amounts, [0n, 0n]]),
  });
  return [
    change([FILLED, FILLED]),
    log(STUB_VAULT, [TOPIC.vaultSwap, poolId, topicOf(tokenIn), topicOf(tokenOut)], sold, out),
    change(left.map((amount) => -amount)),
  ];
}

/** The answers to calls, by address and call data. At the end of each block, all balances are 0. */
export function familyAnswers(pool: StubPool): [string, Hex][] {
  if (isFurther(pool)) return furtherAnswers(pool);
  const { kind, address, token0, token1 } = pool;
  const call = (to: Hex, name: string, answer: Hex, ...values: (Hex | bigint)[]): [string, Hex] => [
    `${to} ${id(name).slice(0, 10)}${dataOf(...values).slice(2)}`,
    answer,
  ];
  if (kind === 'camelot')
    return [0, 1].map((index) => call(address, `precisionMultiplier${index}()`, dataOf(1n)));
  if (kind === 'vault')
    return [
      call(address, 'getScalingFactors()', arrayData([[RATE, RATE]])),
      call(address, 'getRateProviders()', arrayData([[0n, 0n]])),
      call(address, 'getAmplificationParameter()', dataOf(STUB_VAULT_AMP, 0n, 1_000n)),
      call(address, 'getSwapFeePercentage()', dataOf(VAULT_FEE)),
    ];
  if (kind !== 'curve') return [];
  const { ramp, fee, adminFee } = STUB_CURVE_BOOKS;
  const settings: readonly (readonly [string, bigint])[] = [
    ['initial_A()', ramp[0]],
    ['future_A()', ramp[1]],
    ['initial_A_time()', 0n],
    ['future_A_time()', 0n],
    ['fee()', fee],
    ['admin_fee()', adminFee],
    ['is_killed()', 0n],
  ];
  return [
    call(STUB_CURVE_FACTORY, INFO, dataOf(address), token0, token1, ZERO),
    call(address, 'token()', dataOf(shareOf(address))),
    call(shareOf(address), 'totalSupply()', dataOf(0n)),
    ...settings.map(([name, value]) => call(address, name, dataOf(value))),
    ...[0n, 1n].map((index) => call(address, 'RATES(uint256)', dataOf(RATE), index)),
    ...[0n, 1n].map((index) => call(address, 'balances(uint256)', dataOf(0n), index)),
  ];
}

const INFO = 'stableSwapPairInfo(address,address,address)';

function log(address: Hex, topics: readonly Hex[], ...values: (bigint | Hex)[]): StubLog {
  return { address, topics, data: values.length === 0 ? '0x' : dataOf(...values) };
}
