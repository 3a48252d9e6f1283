import { Interface } from 'ethers';

import type { Hex } from '../../../src/domain/hex';
import { decodeCryptoEvent } from '../../../src/protocols/curveCrypto/cryptoEvents';
import { curveCrypto } from '../../../src/protocols/curveCrypto/curveCrypto';
import { encode, toLog } from './reference';

const OWNER = `0x${'4'.repeat(40)}`;
const owned = { owner: OWNER };
const RAMP = [1, 2, 3, 4, 5, 6];

test.each([
  [
    'TokenExchange(address OWNER, uint256, uint256, uint256, uint256, uint256, uint256)',
    [OWNER, 2, 5, 0, 4, 1, 9],
    { kind: 'exchange', soldId: 2, sold: 5n, boughtId: 0, bought: 4n, fee: 1n, priceScale: 9n, ...owned },
  ],
  [
    'TokenExchange(address OWNER, uint256, uint256, uint256, uint256, uint256, uint256)',
    [OWNER, 3, 5, 0, 4, 1, 9],
    null,
  ],
  [
    'TokenExchange(address OWNER, uint256, uint256, uint256, uint256, uint256, uint256)',
    [OWNER, 1, 5, 1, 4, 1, 9],
    null,
  ],
  [
    'AddLiquidity(address OWNER, uint256[2], uint256, uint256, uint256)',
    [OWNER, [5, 6], 1, 11, 9],
    { kind: 'add', amounts: [5n, 6n], fee: 1n, supply: 11n, priceScale: 9n, ...owned },
  ],
  [
    'AddLiquidity(address OWNER, uint256[3], uint256, uint256, uint256)',
    [OWNER, [5, 6, 7], 1, 11, 9],
    { kind: 'add', amounts: [5n, 6n, 7n], fee: 1n, supply: 11n, priceScale: 9n, ...owned },
  ],
  [
    'RemoveLiquidity(address OWNER, uint256[2], uint256)',
    [OWNER, [5, 6], 9],
    { kind: 'remove', amounts: [5n, 6n], supply: 9n, ...owned },
  ],
  [
    'RemoveLiquidity(address OWNER, uint256[3], uint256)',
    [OWNER, [5, 6, 7], 9],
    { kind: 'remove', amounts: [5n, 6n, 7n], supply: 9n, ...owned },
  ],
  [
    'RemoveLiquidityOne(address OWNER, uint256, uint256, uint256, uint256, uint256)',
    [OWNER, 5, 1, 4, 3, 9],
    { kind: 'remove_one', shares: 5n, token: 1, amount: 4n, priceScale: 9n, ...owned },
  ],
  [
    'RemoveLiquidityImbalance(address OWNER, uint256, uint256[2], uint256, uint256)',
    [OWNER, 5, [6, 7], 3, 9],
    { kind: 'imbalance', shares: 5n, amounts: [6n, 7n], priceScale: 9n, ...owned },
  ],
  [
    'TokenExchange(address OWNER, uint256, uint256, uint256, uint256)',
    [OWNER, 2, 5, 0, 4],
    { kind: 'exchange', soldId: 2, sold: 5n, boughtId: 0, bought: 4n, fee: null, priceScale: null, ...owned },
  ],
  [
    'AddLiquidity(address OWNER, uint256[2], uint256, uint256)',
    [OWNER, [5, 6], 1, 11],
    { kind: 'add', amounts: [5n, 6n], fee: 1n, supply: 11n, priceScale: null, ...owned },
  ],
  [
    'AddLiquidity(address OWNER, uint256[3], uint256, uint256)',
    [OWNER, [5, 6, 7], 1, 11],
    { kind: 'add', amounts: [5n, 6n, 7n], fee: 1n, supply: 11n, priceScale: null, ...owned },
  ],
  [
    'RemoveLiquidityOne(address OWNER, uint256, uint256, uint256)',
    [OWNER, 5, 1, 4],
    { kind: 'remove_one', shares: 5n, token: 1, amount: 4n, priceScale: null, ...owned },
  ],
  [
    'NewParameters(uint256, uint256, uint256, uint256, uint256, uint256, uint256)',
    [
      5_000_000_000,
      3_000_000,
      30_000_000,
      500_000_000_000_000n,
      2_000_000_000_000n,
      490_000_000_000_000n,
      600,
    ],
    { kind: 'fees', midFee: 3_000_000n, outFee: 30_000_000n, feeGamma: 500_000_000_000_000n },
  ],
  ['ClaimAdminFee(address OWNER, uint256)', [OWNER, 5], { kind: 'claim', amounts: [], minted: 5n }],
  [
    'ClaimAdminFee(address OWNER, uint256[2])',
    [OWNER, [5, 6]],
    { kind: 'claim', amounts: [5n, 6n], minted: 0n },
  ],
  [
    'ClaimAdminFee(address OWNER, uint256[3])',
    [OWNER, [5, 6, 7]],
    { kind: 'claim', amounts: [5n, 6n, 7n], minted: 0n },
  ],
  ['Donation(address OWNER, uint256[2])', [OWNER, [5, 6]], { kind: 'donate' }],
  [
    'NewParameters(uint256, uint256, uint256, uint256, uint256, uint256)',
    RAMP,
    { kind: 'fees', midFee: 1n, outFee: 2n, feeGamma: 3n },
  ],
  [
    'NewParameters(uint256, uint256, uint256, uint256, uint256, uint256, uint256)',
    [...RAMP, 7],
    { kind: 'fees', midFee: 1n, outFee: 2n, feeGamma: 3n },
  ],
  [
    'RampAgamma(uint256, uint256, uint256, uint256, uint256, uint256)',
    RAMP,
    { kind: 'ramp', fromAmp: 1n, toAmp: 2n, fromGamma: 3n, toGamma: 4n, fromTime: 5n, toTime: 6n },
  ],
  [
    'StopRampA(uint256, uint256, uint256)',
    [1, 2, 3],
    { kind: 'ramp', fromAmp: 1n, toAmp: 1n, fromGamma: 2n, toGamma: 2n, fromTime: 3n, toTime: 3n },
  ],
] as const)(
  '%s is decoded as its ABI says, with an indexed address or without (%#)',
  (signature, values, decoded) => {
    const name = signature.slice(0, signature.indexOf('('));
    for (const owner of ['indexed', '']) {
      const abi = new Interface([`event ${signature.replace('OWNER', owner)}`]);
      const { topics, data } = encode(abi, name, values);
      const log = { topics: topics as Hex[], data: data as Hex };
      expect(decodeCryptoEvent(log)).toEqual(decoded);
      expect(decodeCryptoEvent({ ...log, data: `${log.data}${'0'.repeat(64)}` })).toBeNull();
      expect(decodeCryptoEvent({ ...log, topics: [...log.topics, ...log.topics] })).toBeNull();
    }
  },
);

const [POOL, COIN, NEXT] = ['1', '2', '3'].map((digit): Hex => `0x${digit.repeat(40)}`) as [Hex, Hex, Hex];
const FACTORY = new Interface([
  'event TwocryptoPoolDeployed(address pool, string name, string symbol, address[2] coins, address math, bytes32 salt, uint256[2] precisions, uint256 A, uint256 fees, uint256 rebalancing, uint256 prices, address deployer)',
  'event TricryptoPoolDeployed(address pool, string name, string symbol, address weth, address[3] coins, address math, bytes32 salt, uint256 precisions, uint256 A, uint256 fees, uint256 rebalancing, uint256 prices, address deployer)',
]);
const ZERO = `0x${'0'.repeat(64)}`;

test.each([
  ['TwocryptoPoolDeployed', [], [COIN, NEXT], [1, 1]],
  ['TricryptoPoolDeployed', [OWNER], [COIN, NEXT, OWNER], 1],
] as const)('%s names the pool and its tokens', (name, weth, coins, precisions) => {
  const title = 'A name of sixty-four bytes, which is the longest one of a factory';
  const values = [
    POOL,
    title.slice(0, 64),
    'S'.repeat(32),
    ...weth,
    coins,
    OWNER,
    ZERO,
    precisions,
    0,
    0,
    0,
    0,
    OWNER,
  ];
  const log = toLog(encode(FACTORY, name, values));
  expect(curveCrypto.readCreation(log)).toMatchObject({
    state: { poolId: `0x${POOL.slice(2).padStart(64, '0')}`, tokens: coins },
  });
  expect(curveCrypto.readCreation({ ...log, data: log.data.slice(0, 130) as Hex })).toBeNull();
});
