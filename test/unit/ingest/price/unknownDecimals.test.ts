/** Tokens with unknown decimals: decimals() reverts, answers nothing, or exceeds 77. */
import { AbiCoder } from 'ethers';

import type { Hex } from '../../../../src/domain/hex';
import { MarketReader } from '../../../../src/ingest/price/marketBlock';
import { decimalsOf } from '../../../../src/ingest/pools/tokenMetadata';
import { Pricer } from '../../../../src/pricing/pricer';
import { ANCHORS, DAI, NATIVE, token } from '../../../support/worlds/pools';

const word = (value: bigint): Hex => AbiCoder.defaultAbiCoder().encode(['uint256'], [value]) as Hex;
const PAIR: Hex = `0x${'ab'.repeat(20)}`;
const T = token(50);
const ONE = 10n ** 18n;

/** USD price of token T after a block with one pool of 10^6 T and 10^6 DAI, depending on T's answer to
 * decimals(). */
function priceWith(answer: Hex | null): number | undefined {
  const decimals = decimalsOf(answer);
  const reader = new MarketReader((address) => (address === T ? decimals : 18), NATIVE);
  const pricer = new Pricer({ anchors: ANCHORS, wrappedNative: NATIVE });
  const [token0, token1] = T < DAI ? [T, DAI] : [DAI, T];
  const named = { address: PAIR, protocol: 'uniswap_v2', pool_type: 2 };
  const pool = { ...named, token0, token1, tokens: [], weights: [], tick_spacing: 0, created_block: 35 };
  const reserves = { pair: PAIR, pool_type: 2, reserve0: 10n ** 6n * ONE, reserve1: 10n ** 6n * ONE };
  const unwalked = { walked_liquidity: -1, near0: 0, near1: 0 };
  const made = {
    ord: 1,
    timestamp: 1_000,
    kind: 'sync' as const,
    maker: null,
    liquidity: 0n,
    price: 1,
    balances: [],
    params: [],
    doubts: 0,
  };
  const state = { ...reserves, ...made, ...unwalked };
  const block = { number: 35, timestamp: 1_000, pools: [pool], states: [state], swaps: [] };
  pricer.apply(reader.toMarketBlock(block), false);
  return pricer.priceOf(T)?.usd;
}

test('a token with 18 decimals is priced by its pool', () => {
  expect(priceWith(word(18n))).toBe(1);
});

test.each([
  ['reverts', null],
  ['answers nothing', '0x' as Hex],
  ['answers 78', word(78n)],
  ['answers 255', word(255n)],
  ['answers 2^256 - 1', word(2n ** 256n - 1n)],
])('a token whose decimals() %s has no price', (_, answer) => {
  expect(priceWith(answer)).toBeUndefined();
});
