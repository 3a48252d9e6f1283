/** Prices a token that has a vault pool whose contract trades with its owner only, and an open pool. */
import type { Hex } from '../../../../src/domain/hex';
import { toOrd } from '../../../../src/domain/ord';
import { MarketReader } from '../../../../src/ingest/price/marketBlock';
import { Pricer } from '../../../../src/pricing/pricer';
import { ANCHORS, DAI, NATIVE, poolAddress, token } from '../../../support/worlds/pools';

const ONE = 10n ** 18n;
const T = token(50);
const OPEN = poolAddress(1);
const CLOSED = poolAddress(2);
const MAKERS = [token(901), token(902), token(903)];
/** Number of blocks until the pools have the age and the makers for a trusted price. */
const BLOCKS = 160;

interface Sizes {
  /** Whole tokens on each side of the open V2 pool. */
  readonly open: number;
  /** Whole tokens on each side of the closed pool. The weights give a price of 3 DAI per token. */
  readonly closed: number;
}

/** Returns the price of token T after the last block. */
function priceWith({ open, closed }: Sizes) {
  const reader = new MarketReader(() => 18, NATIVE);
  const pricer = new Pricer({ anchors: ANCHORS, wrappedNative: NATIVE });
  const common = { token0: DAI, token1: T, tick_spacing: 0, created_block: 1 };
  const pools = [
    { ...common, address: OPEN, protocol: 'uniswap_v2', pool_type: 2, tokens: [], weights: [] },
    {
      ...common,
      ...{ address: CLOSED, protocol: 'balancer_v2', pool_type: 4 },
      ...{ tokens: [DAI, T], weights: [ONE / 4n, (3n * ONE) / 4n] },
    },
  ];
  const stateOf = (pair: Hex, size: number, number: number, index: number) => {
    const held = BigInt(size) * ONE;
    const balances = pair === CLOSED ? [held, held] : [];
    const pool_type = pair === CLOSED ? 4 : 2;
    const state = {
      pair,
      pool_type,
      timestamp: 1_700_000_000 + 10 * number,
      reserve0: held,
      reserve1: held,
      liquidity: 0n,
      price: 1,
      balances,
      params: [],
      doubts: 0,
    };
    const unwalked = { walked_liquidity: -1, near0: 0, near1: 0 };
    return { ...state, ...unwalked, ord: toOrd(number, index), kind: 'swap' as const, maker: null };
  };
  for (let number = 1; number <= BLOCKS; number += 1) {
    const moves = number % 10 === 1;
    const states = [stateOf(OPEN, open, number, 0), stateOf(CLOSED, closed, number, 2)];
    const maker = MAKERS[((number / 10) % 3) | 0]!;
    const swaps = states.map(({ pair, ord }) => ({ pair, ord: ord + 1, maker, leg: 1, amount1: ONE }));
    const block = { number, timestamp: 1_700_000_000 + 10 * number, pools: number === 1 ? pools : [] };
    pricer.apply(
      reader.toMarketBlock({ ...block, states: moves ? states : [], swaps: moves ? swaps : [] }),
      false,
    );
  }
  return pricer.priceOf(T);
}

test('a closed vault pool five times as deep as the open pool does not move the price', () => {
  const price = priceWith({ open: 175_000, closed: 900_000 });
  expect(price?.usd).toBeCloseTo(1, 9);
  expect(price?.confidence).toBeGreaterThan(0.5);
});

test('a closed vault pool sets the price only with ten times the depth of the open pool', () => {
  expect(priceWith({ open: 1_000, closed: 900_000 })?.usd).toBeCloseTo(3, 9);
});
