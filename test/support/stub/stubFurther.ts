/**
 * Pools of the newest families on the stub chain, as those of stubFamilies.ts: CryptoSwap, Balancer V3, both managers of
 * PancakeSwap Infinity, and bonding curves. Each trade opens its pool and empties it again, where the price depends on that.
 */
import { id } from 'ethers';

import type { Hex } from '../../../src/domain/hex';
import { cryptoExchange, scaled, solveD, type CryptoBooks } from '../oracle/cryptoContract';
import { v3Out, V3_REGISTERED, type V3Books } from '../oracle/oracleBalancerV3';
import { arrayData, dataOf, topicOf } from '../plainLogs';
import type { StubLog } from './stubLogs';

export const STUB_CRYPTO_FACTORY: Hex = `0x${'ad'.repeat(20)}`;
export const STUB_V3_VAULT: Hex = `0x${'ae'.repeat(20)}`;
export const STUB_INFINITY_CL: Hex = `0x${'af'.repeat(20)}`;
export const STUB_INFINITY_BIN: Hex = `0x${'b1'.repeat(20)}`;
export const STUB_BONDING_FACTORY: Hex = `0x${'b2'.repeat(20)}`;

export const FURTHER_KINDS = ['crypto', 'v3vault', 'infinity', 'bins', 'bonding'] as const;

export interface FurtherPool {
  readonly kind: (typeof FURTHER_KINDS)[number];
  readonly address: Hex;
  readonly token0: Hex;
  readonly token1: Hex;
}

const topic = (signature: string): Hex => id(signature) as Hex;
const TOPIC = {
  transfer: topic('Transfer(address,address,uint256)'),
  cryptoCreated: topic(
    'TwocryptoPoolDeployed(address,string,string,address[2],address,bytes32,uint256[2],uint256,uint256,uint256,uint256,address)',
  ),
  cryptoAdd: topic('AddLiquidity(address,uint256[2],uint256,uint256,uint256)'),
  cryptoSwap: topic('TokenExchange(address,uint256,uint256,uint256,uint256,uint256,uint256)'),
  cryptoRemove: topic('RemoveLiquidity(address,uint256[2],uint256)'),
  v3Swap: topic('Swap(address,address,address,uint256,uint256,uint256,uint256)'),
  v3Add: topic('LiquidityAdded(address,address,uint8,uint256,uint256[],uint256[])'),
  v3Remove: topic('LiquidityRemoved(address,address,uint8,uint256,uint256[],uint256[])'),
  clCreated: topic('Initialize(bytes32,address,address,address,uint24,bytes32,uint160,int24)'),
  clSwap: topic('Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24,uint16)'),
  binCreated: topic('Initialize(bytes32,address,address,address,uint24,bytes32,uint24)'),
  binSwap: topic('Swap(bytes32,address,int128,int128,uint24,uint24,uint16)'),
  bondingCreated: topic('PairCreated(address,address,address,uint256)'),
  bondingMint: topic('Mint(uint256,uint256)'),
  bondingSwap: topic('Swap(uint256,uint256,uint256,uint256)'),
};

/** Events of /activity. The end of a bonding curve is one too: see `isCurveEnd`. */
export const FURTHER_ACTIVITY: readonly Hex[] = [
  ...[TOPIC.cryptoAdd, TOPIC.cryptoSwap, TOPIC.cryptoRemove, TOPIC.v3Swap, TOPIC.v3Add, TOPIC.v3Remove],
  ...[TOPIC.clSwap, TOPIC.binSwap, TOPIC.bondingMint, TOPIC.bondingSwap],
];

const ONE = 10n ** 18n;
const ZERO: Hex = `0x${'0'.repeat(40)}`;
/** What a provider puts into each side of a pool before a trade. */
const FILLED = [10n ** 12n, 11n * 10n ** 11n] as const;
/** A spacing of 25 and no permissions of a hook. */
const PARAMETERS = 25n << 16n;
const MIDDLE_BIN = 2n ** 23n;
/** The first virtual reserves of a curve. */
const VIRTUAL = [10n ** 27n, 10n ** 24n] as const;
/** The account that gets what a curve has at its end. */
const HEIR = topicOf(`0x${'be'.repeat(20)}`);

/** A pool of CryptoSwap, empty. Its tokens have no decimals. */
export const STUB_CRYPTO_BOOKS: CryptoBooks = {
  kind: 'two',
  ramp: {
    from: { amp: 400_000n, gamma: 145_000_000_000_000n },
    to: { amp: 400_000n, gamma: 145_000_000_000_000n },
    begin: 0n,
    end: 0n,
  },
  midFee: 26_000_000n,
  outFee: 45_000_000n,
  feeGamma: 230_000_000_000_000n,
  supply: 0n,
  d: 0n,
  precisions: [ONE, ONE],
  priceScale: [ONE],
  balances: [0n, 0n],
};

/** A weighted pool of Balancer V3, empty. */
export const STUB_V3_BOOKS: V3Books = {
  weights: [(6n * ONE) / 10n, (4n * ONE) / 10n],
  amp: 0n,
  factors: [ONE, ONE],
  swapFee: ONE / 100n,
  keptPart: ONE / 2n,
  isRecovering: false,
  balances: [0n, 0n],
};

export function isFurther(pool: { readonly kind: string }): pool is FurtherPool {
  return FURTHER_KINDS.some((kind) => kind === pool.kind);
}

/** The id of a pool of Infinity ends with its key. */
export const stubInfinityId = (key: string): Hex => `0x${'d5'.repeat(12)}${key.slice(2)}`;

/** Whether the log is the Transfer that ends a bonding curve: that of the token that the curve sold. */
export function isCurveEnd({ address, topics }: Pick<StubLog, 'address' | 'topics'>): boolean {
  return topics[2] === HEIR && address.startsWith('0x01');
}

function log(address: Hex, topics: readonly Hex[], ...values: (bigint | Hex)[]): StubLog {
  return { address, topics, data: dataOf(...values) };
}

const zeros = (length: number): bigint[] => Array.from({ length }, () => 0n);

export function furtherCreation({ kind, address, token0, token1 }: FurtherPool): StubLog[] {
  const tokens = [topicOf(token0), topicOf(token1)];
  switch (kind) {
    case 'crypto': {
      // Two texts without letters end the data, whose head has 14 words.
      const data = [address, 448n, 480n, token0, token1, ...zeros(9), 0n, 0n];
      return [log(STUB_CRYPTO_FACTORY, [TOPIC.cryptoCreated], ...data)];
    }
    case 'v3vault': {
      const topics = [V3_REGISTERED as Hex, topicOf(address), topicOf(1n)];
      const head = [672n, STUB_V3_BOOKS.swapFee, ...zeros(19)];
      const list = [token0, ...zeros(3), token1, ...zeros(3)];
      return [log(STUB_V3_VAULT, topics, ...head, 2n, ...list)];
    }
    case 'infinity': {
      const topics = [TOPIC.clCreated, stubInfinityId(address), ...tokens];
      return [log(STUB_INFINITY_CL, topics, ZERO, 3_000n, PARAMETERS, 1n << 96n, 0n)];
    }
    case 'bins': {
      const topics = [TOPIC.binCreated, stubInfinityId(address), ...tokens];
      return [log(STUB_INFINITY_BIN, topics, ZERO, 3_000n, PARAMETERS, MIDDLE_BIN)];
    }
    case 'bonding':
      return [log(STUB_BONDING_FACTORY, [TOPIC.bondingCreated, ...tokens], address, 1n)];
  }
}

/** The logs of one trade. `draw` draws whole numbers below its argument. */
export function furtherTrade(
  draw: (below: number) => bigint,
  pool: FurtherPool,
  trader: Hex,
  timestamp: number,
): StubLog[] {
  const [sold, bought] = [draw(2 ** 36) + 1n, draw(2 ** 36) + 1n];
  const name = stubInfinityId(pool.address);
  switch (pool.kind) {
    case 'crypto':
      return cryptoTrade(pool.address, trader, sold, timestamp);
    case 'v3vault':
      return vaultTrade(pool, trader, sold);
    case 'infinity': {
      const root = (1n << 96n) + draw(2 ** 50) * (1n << 40n);
      const words = [-sold, bought, root, 1n << 70n, 12n, 3_000n, 100n];
      return [log(STUB_INFINITY_CL, [TOPIC.clSwap, name, trader], ...words)];
    }
    case 'bins': {
      const words = [-sold, bought, MIDDLE_BIN + draw(200) - 100n, 3_000n, 100n];
      return [log(STUB_INFINITY_BIN, [TOPIC.binSwap, name, trader], ...words)];
    }
    case 'bonding':
      return bondingTrade(pool, trader, VIRTUAL[1] / (draw(1_000) + 10n));
  }
}

function cryptoTrade(address: Hex, trader: Hex, sold: bigint, timestamp: number): StubLog[] {
  const [shape, supply, scale] = [STUB_CRYPTO_BOOKS.ramp.to, ONE, ONE];
  const even = { ...STUB_CRYPTO_BOOKS, balances: FILLED, supply };
  const filled = { ...even, d: solveD(shape, scaled(even)) };
  const { bought, fee } = cryptoExchange(filled, 0, 1, sold, timestamp)!;
  const own = (name: Hex, ...values: bigint[]): StubLog => log(address, [name, trader], ...values);
  return [
    own(TOPIC.cryptoAdd, ...FILLED, 0n, supply, scale),
    own(TOPIC.cryptoSwap, 0n, sold, 1n, bought, fee, scale),
    own(TOPIC.cryptoRemove, FILLED[0] + sold, FILLED[1] - bought, 0n),
  ];
}

function vaultTrade({ address, token0, token1 }: FurtherPool, trader: Hex, sold: bigint): StubLog[] {
  const { swapFee, keptPart } = STUB_V3_BOOKS;
  const bought = v3Out({ ...STUB_V3_BOOKS, balances: FILLED }, 0, 1, sold, swapFee);
  const taken = (sold * swapFee) / ONE + 1n;
  const left = [FILLED[0] + sold - (taken * keptPart) / ONE, FILLED[1] - bought];
  const change = (name: Hex, amounts: readonly bigint[]): StubLog => ({
    address: STUB_V3_VAULT,
    topics: [name, topicOf(address), trader, topicOf(0n)],
    data: dataOf(ONE, 96n, 192n, 2n, ...amounts, 2n, 0n, 0n),
  });
  const topics = [TOPIC.v3Swap, topicOf(address), topicOf(token0), topicOf(token1)];
  return [
    change(TOPIC.v3Add, FILLED),
    log(STUB_V3_VAULT, topics, sold, bought, swapFee, taken),
    change(TOPIC.v3Remove, left),
  ];
}

/**
 * A curve that ended can begin again, because nothing but its liquidity tells that it ended. What the trader buys never enters
 * the curve: the transactions of the stub chain may divide a trade and lose Transfers, and a curve without balance would end.
 */
function bondingTrade({ address, token0, token1 }: FurtherPool, trader: Hex, paid: bigint): StubLog[] {
  const out = (VIRTUAL[0] * paid) / (VIRTUAL[1] + paid);
  const transfer = (token: Hex, from: Hex, to: Hex, amount: bigint): StubLog =>
    log(token, [TOPIC.transfer, from, to], amount);
  const self = topicOf(address);
  return [
    transfer(token0, trader, self, VIRTUAL[0] - out),
    log(address, [TOPIC.bondingMint], ...VIRTUAL),
    transfer(token1, trader, self, paid),
    log(address, [TOPIC.bondingSwap], 0n, out, paid, 0n),
    transfer(token1, self, HEIR, paid),
    transfer(token0, self, HEIR, VIRTUAL[0]),
  ];
}

/** The answers to calls, by address and call data. At the end of each block, all balances are 0. */
export function furtherAnswers({ kind, address, token0, token1 }: FurtherPool): [string, Hex][] {
  const call = (to: Hex, name: string, answer: Hex, ...values: (Hex | bigint)[]): [string, Hex] => [
    `${to} ${id(name).slice(0, 10)}${dataOf(...values).slice(2)}`,
    answer,
  ];
  if (kind === 'crypto') {
    const { ramp, midFee, outFee, feeGamma } = STUB_CRYPTO_BOOKS;
    const packed = (ramp.to.amp << 128n) | ramp.to.gamma;
    const values: readonly (readonly [string, bigint])[] = [
      ['initial_A_gamma()', packed],
      ['future_A_gamma()', packed],
      ['initial_A_gamma_time()', 0n],
      ['future_A_gamma_time()', 0n],
      ['mid_fee()', midFee],
      ['out_fee()', outFee],
      ['fee_gamma()', feeGamma],
      ['totalSupply()', 0n],
      ['D()', 0n],
      ['price_scale()', ONE],
      ['last_timestamp()', 0n],
    ];
    return [
      call(STUB_CRYPTO_FACTORY, 'get_coins(address)', dataOf(token0, token1), address),
      call(address, 'precisions()', dataOf(ONE, ONE)),
      ...values.map(([name, value]) => call(address, name, dataOf(value))),
      ...[0n, 1n].map((index) => call(address, 'balances(uint256)', dataOf(0n), index)),
    ];
  }
  if (kind === 'v3vault') {
    const { weights, factors, swapFee, keptPart } = STUB_V3_BOOKS;
    const ofVault = (name: string, answer: Hex) => call(STUB_V3_VAULT, `${name}(address)`, answer, address);
    const info = [128n, 224n, 448n, 544n, 2n, token0, token1, 2n, ...zeros(6), 2n, 0n, 0n, 2n, 0n, 0n];
    return [
      ofVault('getPoolTokens', arrayData([[token0, token1]])),
      ofVault('getPoolTokenInfo', dataOf(...info)),
      ofVault('getPoolTokenRates', arrayData([factors, [ONE, ONE]])),
      ofVault('getHooksConfig', dataOf(...zeros(12))),
      ofVault('getPoolConfig', dataOf(...zeros(4), swapFee, keptPart, ...zeros(7))),
      call(address, 'getNormalizedWeights()', arrayData([weights])),
    ];
  }
  return kind === 'bonding' ? [call(STUB_BONDING_FACTORY, 'sellTax()', dataOf(1n))] : [];
}
