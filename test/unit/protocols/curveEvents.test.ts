import { Interface } from 'ethers';

import type { Hex } from '../../../src/domain/hex';
import { decodeCurveEvent } from '../../../src/protocols/curve/curveEvents';
import { encode } from './reference';

const ABI = new Interface([
  'event TokenExchange(address indexed buyer, uint256 soldId, uint256 sold, uint256 boughtId, uint256 bought)',
  'event AddLiquidity(address indexed provider, uint256[2] amounts, uint256[2] fees, uint256 d, uint256 supply)',
  'event RemoveLiquidity(address indexed provider, uint256[3] amounts, uint256[3] fees, uint256 supply)',
  'event RemoveLiquidityOne(address indexed provider, uint256 index, uint256 shares, uint256 amount)',
  'event NewFee(uint256 fee, uint256 adminFee)',
  'event RampA(uint256 oldA, uint256 newA, uint256 start, uint256 end)',
  'event StopRampA(uint256 A, uint256 time)',
  'event DonateAdminFees()',
  'event Kill()',
]);
const ABI_NG = new Interface([
  'event TokenExchange(address indexed buyer, int128 soldId, uint256 sold, int128 boughtId, uint256 bought)',
  'event AddLiquidity(address indexed provider, uint256[] amounts, uint256[] fees, uint256 d, uint256 supply)',
  'event RemoveLiquidity(address indexed provider, uint256[] amounts, uint256[] fees, uint256 supply)',
  'event RemoveLiquidityOne(address indexed provider, int128 id, uint256 shares, uint256 amount, uint256 supply)',
  'event RemoveLiquidityImbalance(address indexed provider, uint256[] amounts, uint256[] fees, uint256 d, uint256 supply)',
  'event ApplyNewFee(uint256 fee, uint256 offpeg)',
]);
const ABI_OLD = new Interface([
  'event AddLiquidity(address indexed provider, uint256[4] amounts, uint256[4] fees, uint256 d, uint256 supply)',
  'event RemoveLiquidity(address indexed provider, uint256[4] amounts, uint256[4] fees, uint256 supply)',
  'event RemoveLiquidityImbalance(address indexed provider, uint256[4] amounts, uint256[4] fees, uint256 d, uint256 supply)',
  'event RemoveLiquidityOne(address indexed provider, uint256 shares, uint256 amount)',
  'event TokenExchangeUnderlying(address indexed buyer, int128 soldId, uint256 sold, int128 boughtId, uint256 bought)',
  'event ApplyNewFee(uint256 fee)',
  'event NewFee(uint256 fee, uint256 adminFee, uint256 offpeg)',
]);
const OWNER = `0x${'4'.repeat(40)}`;
const owned = { owner: OWNER };

test.each([
  [
    ABI,
    'TokenExchange',
    [OWNER, 1, 5, 0, 4],
    { kind: 'exchange', soldId: 1, sold: 5n, boughtId: 0, bought: 4n, ...owned },
  ],
  [
    ABI_NG,
    'TokenExchange',
    [OWNER, 0, 5, 7, 4],
    { kind: 'exchange', soldId: 0, sold: 5n, boughtId: 7, bought: 4n, ...owned },
  ],
  [ABI_NG, 'TokenExchange', [OWNER, 0, 5, -1, 4], null],
  [ABI, 'TokenExchange', [OWNER, 0, 5, 0, 4], null],
  [
    ABI,
    'AddLiquidity',
    [OWNER, [5, 6], [1, 2], 11, 9],
    { kind: 'add', amounts: [5n, 6n], fees: [1n, 2n], invariant: 11n, supply: 9n, ...owned },
  ],
  [
    ABI_NG,
    'AddLiquidity',
    [OWNER, [5, 6], [], 11, 9],
    { kind: 'add', amounts: [5n, 6n], fees: [], invariant: 11n, supply: 9n, ...owned },
  ],
  [ABI_NG, 'AddLiquidity', [OWNER, [5, 6], [1], 11, 9], null],
  [
    ABI,
    'RemoveLiquidity',
    [OWNER, [5, 6, 7], [0, 0, 0], 9],
    { kind: 'remove', amounts: [5n, 6n, 7n], fees: [0n, 0n, 0n], invariant: 0n, supply: 9n, ...owned },
  ],
  [
    ABI_NG,
    'RemoveLiquidity',
    [OWNER, [5, 6], [], 9],
    { kind: 'remove', amounts: [5n, 6n], fees: [], invariant: 0n, supply: 9n, ...owned },
  ],
  [
    ABI_NG,
    'RemoveLiquidityImbalance',
    [OWNER, [5, 6], [1, 2], 11, 9],
    { kind: 'imbalance', amounts: [5n, 6n], fees: [1n, 2n], invariant: 11n, supply: 9n, ...owned },
  ],
  [
    ABI,
    'RemoveLiquidityOne',
    [OWNER, 2, 5, 4],
    { kind: 'remove_one', coin: 2, shares: 5n, amount: 4n, ...owned },
  ],
  [
    ABI_NG,
    'RemoveLiquidityOne',
    [OWNER, 2, 5, 4, 9],
    { kind: 'remove_one', coin: 2, shares: 5n, amount: 4n, ...owned },
  ],
  [
    ABI_OLD,
    'AddLiquidity',
    [OWNER, [5, 6, 7, 8], [1, 2, 3, 4], 11, 9],
    { kind: 'add', amounts: [5n, 6n, 7n, 8n], fees: [1n, 2n, 3n, 4n], invariant: 11n, supply: 9n, ...owned },
  ],
  [
    ABI_OLD,
    'RemoveLiquidity',
    [OWNER, [5, 6, 7, 8], [0, 0, 0, 0], 9],
    {
      kind: 'remove',
      amounts: [5n, 6n, 7n, 8n],
      fees: [0n, 0n, 0n, 0n],
      invariant: 0n,
      supply: 9n,
      ...owned,
    },
  ],
  [
    ABI_OLD,
    'RemoveLiquidityImbalance',
    [OWNER, [5, 6, 7, 8], [1, 2, 3, 4], 11, 9],
    {
      kind: 'imbalance',
      amounts: [5n, 6n, 7n, 8n],
      fees: [1n, 2n, 3n, 4n],
      invariant: 11n,
      supply: 9n,
      ...owned,
    },
  ],
  [
    ABI_OLD,
    'RemoveLiquidityOne',
    [OWNER, 5, 4],
    { kind: 'remove_one', coin: null, shares: 5n, amount: 4n, ...owned },
  ],
  [
    ABI_OLD,
    'TokenExchangeUnderlying',
    [OWNER, 0, 5, 3, 4],
    { kind: 'exchange_underlying', soldId: 0, sold: 5n, boughtId: 3, bought: 4n, ...owned },
  ],
  [ABI_OLD, 'ApplyNewFee', [3], { kind: 'fees', fee: 3n }],
  [ABI_OLD, 'NewFee', [3, 4, 5], { kind: 'fees', fee: 3n, adminFee: 4n, offpeg: 5n }],
  [ABI, 'NewFee', [3, 4], { kind: 'fees', fee: 3n, adminFee: 4n }],
  [ABI_NG, 'ApplyNewFee', [3, 4], { kind: 'fees', fee: 3n, offpeg: 4n }],
  [ABI, 'RampA', [1, 2, 3, 4], { kind: 'ramp', fromAmp: 1n, toAmp: 2n, fromTime: 3n, toTime: 4n }],
  [ABI, 'StopRampA', [1, 2], { kind: 'ramp', fromAmp: 1n, toAmp: 1n, fromTime: 2n, toTime: 2n }],
  [ABI, 'DonateAdminFees', [], { kind: 'donate' }],
  [ABI, 'Kill', [], { kind: 'kill', isKilled: true }],
] as const)('a log is decoded as its ABI says (%#)', (abi, name, values, decoded) => {
  const { topics, data } = encode(abi, name, values);
  const log = { topics: topics as Hex[], data: data as Hex };
  expect(decodeCurveEvent(log)).toEqual(decoded);
  expect(decodeCurveEvent({ ...log, data: `${log.data}00` as Hex })).toBeNull();
  expect(decodeCurveEvent({ ...log, topics: [...log.topics, log.topics[0]!] })).toBeNull();
});

test('RemoveLiquidityOne of the factory of 2021 has the topic of that of Pancake, but names no coin', () => {
  const { topics, data } = encode(ABI, 'RemoveLiquidityOne', [OWNER, 2, 5, 4]);
  expect(decodeCurveEvent({ topics: topics as Hex[], data: data as Hex }, false)).toEqual({
    kind: 'remove_one',
    coin: null,
    shares: 2n,
    amount: 5n,
    ...owned,
  });
});
