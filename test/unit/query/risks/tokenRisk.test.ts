/** Tests flags and taxes of tokens, which follow from measurements of the ingester and from the chain description. */
import { ZERO_ADDRESS } from '../../../../src/domain/hex';
import { lpSharesOf, meanShare } from '../../../../src/query/risks/lpShares';
import {
  taxOf,
  warningsOfShare,
  warningsOfToken,
  type RiskRules,
} from '../../../../src/query/risks/tokenRisk';
import type { TokenTraits } from '../../../../src/query/risks/tokenTraits';
import type { WatchedHolder } from '../../../../src/domain/chainDescription';

const TOKEN = { address: `0x${'ab'.repeat(20)}`, symbol: 'HEX', name: 'Hex', decimals: 8 } as const;
const PLAIN: TokenTraits = {
  token: TOKEN.address,
  buys: 40,
  buy_tax: 0,
  sells: 40,
  sell_tax: 0,
  buyers: 30,
  sellers: 12,
  sale_fails: null,
  mintable: false,
  pausable: false,
  bridged: false,
  forked: null,
  kept_at_zero: 0n,
};
const codes = (traits: TokenTraits | null, rules: RiskRules = {}, names: object = {}): string[] =>
  warningsOfToken({ ...TOKEN, ...names }, traits, rules).map(({ code }) => code);

test('a token that was not measured, and one without findings, have no flag', () => {
  expect(codes(null)).toEqual([]);
  expect(codes(PLAIN)).toEqual([]);
});

test.each([
  [
    'four measured buys tell no tax of buys',
    { buys: 4, buy_tax: 0.1, sells: 9, sell_tax: 0.02 },
    { buy: null, sell: 2 },
  ],
  [
    'five measured swaps of each side',
    { buys: 5, buy_tax: 0.05, sells: 5, sell_tax: 0.1 },
    { buy: 5, sell: 10 },
  ],
  ['rounding of the token is no tax', { buy_tax: 0.00005, sell_tax: 0 }, { buy: 0, sell: 0 }],
  ['too few of both sides', { buys: 4, sells: 0 }, null],
])('the tax and its flag are right for the case: %s', (_, traits, tax) => {
  const measured = { ...PLAIN, ...traits };
  expect(taxOf(measured)).toEqual(tax);
  expect(codes(measured).includes('fee_on_transfer')).toBe(
    tax !== null && (tax.buy ?? 0) + (tax.sell ?? 0) > 0,
  );
});

test.each([
  ['20 buyers and no seller', { buyers: 20, sellers: 0 }, true],
  ['a simulated sale that fails', { buyers: 20, sellers: 0, sale_fails: true }, true],
  ['a simulated sale that works', { buyers: 20, sellers: 0, sale_fails: false }, false],
  ['19 buyers', { buyers: 19, sellers: 0, sale_fails: true }, false],
  ['one seller of 90 buyers, and other sales fail', { buyers: 90, sellers: 1, sale_fails: true }, true],
  ['one seller, and no simulation', { buyers: 90, sellers: 1, sale_fails: null }, false],
  ['one seller, and other sales work', { buyers: 90, sellers: 1, sale_fails: false }, false],
  ['more than 5 % sellers', { buyers: 39, sellers: 2, sale_fails: true }, false],
])('the flag honeypot is right for the case: %s', (_, traits, isOne) => {
  expect(codes({ ...PLAIN, ...traits }).includes('honeypot')).toBe(isOne);
});

test.each([
  ['Visit swap-bonus.com to claim', true],
  ['www.gift.example', true],
  ['t.me/freecoins', true],
  ['$1000 AirDrop', true],
  ['Reclaimed Metals', false],
  ['Proclaim', false],
  ['Wrapped Pulse', false],
  ['Version 1.5 token', false],
  ['Maker.Dao', false],
  ['yearn.finance', false],
  ['Curve.fi DAI/USDC/USDT', false],
  ['claim at yearn-bonus.finance', true],
])('the flag spam is right for the name: %s', (name, isSpam) => {
  expect(codes(null, {}, { name }).includes('spam')).toBe(isSpam);
});

test('bridged and copied tokens follow the chain description, or their code', () => {
  expect(codes(null, { bridgedTokens: [TOKEN.address] })).toEqual(['bridged']);
  expect(codes({ ...PLAIN, bridged: true })).toEqual(['bridged']);
  expect(codes(null, { forkTokens: [TOKEN.address] })).toEqual(['state_fork']);
  expect(codes({ ...PLAIN, forked: true })).toEqual(['state_fork']);
  expect(codes({ ...PLAIN, mintable: true, pausable: true })).toEqual(['mintable', 'pausable']);
});

test('LP tokens at burn addresses and in lockers are locked, and LP tokens of the creator are a risk', () => {
  const address = (digit: string) => `0x${digit.repeat(40)}` as const;
  const watched: WatchedHolder[] = [
    { address: address('1'), label: 'Burn address', kind: 'burn', tokens: null },
    { address: address('2'), label: 'Locker', kind: 'locker', tokens: null },
    { address: address('3'), label: 'Team', kind: 'treasury', tokens: null },
  ];
  const held = new Map([
    [address('1'), 100n],
    [address('2'), 200n],
    [address('3'), 300n],
    [address('4'), 250n],
  ] as const);
  const holding = { holders: 4, supply: 1_000n, watched: held, largest: [], addresses: 4 };
  const pool = { pool_type: 2, created_block: 5, ownShares: 0n } as const;
  const shares = lpSharesOf(pool, { holding, partial: false }, watched, address('4'));
  expect(shares).toEqual({ lockedPercent: 30, creatorPercent: 25 });
  expect(lpSharesOf({ ...pool, pool_type: 3 }, { holding, partial: false }, watched, null)).toEqual({
    lockedPercent: null,
    creatorPercent: null,
  });
  expect(lpSharesOf(pool, { holding, partial: false }, watched, null).creatorPercent).toBeNull();
  // LP tokens that the pool minted to itself belong to nobody.
  expect(
    lpSharesOf({ ...pool, ownShares: 500n }, { holding, partial: false }, watched, address('4')),
  ).toEqual({
    lockedPercent: 60,
    creatorPercent: 50,
  });
  // The pool is older than the first indexed block, so the node tells the balances, also of the zero address.
  const told = { total: 1_000n, watched: new Map([...held, [ZERO_ADDRESS, 50n]]) };
  const older = { ...pool, created_block: null };
  expect(lpSharesOf(older, { holding: null, partial: true, told }, watched, address('4'))).toEqual({
    lockedPercent: 35,
    creatorPercent: 25,
  });
  expect(lpSharesOf(older, { holding: null, partial: true, told: null }, watched, address('4'))).toEqual({
    lockedPercent: null,
    creatorPercent: null,
  });
  expect(warningsOfShare(25)[0]).toMatchObject({ code: 'lp_held_by_creator' });
  expect(warningsOfShare(25)[0]!.message).toContain('25 %');
  expect([warningsOfShare(0.5), warningsOfShare(null)]).toEqual([[], []]);
});

test('the share of LP tokens that are locked, or held by the creator, is the mean over all pools weighted by liquidity', () => {
  const pools = [
    { percent: 100, liquidityUsd: 1_000 },
    { percent: 0, liquidityUsd: 3_000 },
    { percent: null, liquidityUsd: 9_000 },
  ];
  expect(meanShare(pools)).toBe(25);
  expect(meanShare(pools.map((pool) => ({ ...pool, liquidityUsd: 0 })))).toBe(50);
  expect(meanShare([])).toBeNull();
});
