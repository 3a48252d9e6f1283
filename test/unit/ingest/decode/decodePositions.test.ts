import { Interface, solidityPackedKeccak256 } from 'ethers';
import { abi as managerAbi } from '@uniswap/v3-periphery/artifacts/contracts/interfaces/INonfungiblePositionManager.sol/INonfungiblePositionManager.json';

import type { ChainLog } from '../../../../src/domain/block';
import { ZERO_ADDRESS, type Hex } from '../../../../src/domain/hex';
import { EMPTY_STATE } from '../../../../src/domain/pool';
import {
  createTransferDecoder,
  type SkippedLogs,
  type TransferRows,
} from '../../../../src/ingest/decode/decodeTransfers';
import { infinityBin } from '../../../../src/protocols/infinity/infinityBin';
import { uniswapV3 } from '../../../../src/protocols/uniswapV3/uniswapV3';
import { uniswapV4 } from '../../../../src/protocols/uniswapV4/uniswapV4';
import { encode, toLog, V3, type Words } from '../../protocols/reference';

const MANAGER_ABI = new Interface(managerAbi);
const ALGEBRA_MANAGER = new Interface([
  'event IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidityDesired, uint128 actualLiquidity, uint256 amount0, uint256 amount1, address pool)',
]);
const V4 = new Interface([
  'event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt)',
]);

const hexAddress = (byte: string): Hex => `0x${byte.repeat(20)}`;
const MANAGER = hexAddress('c0');
const TOKEN = hexAddress('70');
const POOL = hexAddress('b0');
const OTHER_POOL = hexAddress('b1');
const FAKE_POOL = hexAddress('bf');
const BLOCK = { number: 77, timestamp: 1_700_000_000 };

const rules = {
  wrappedNative: null,
  positionManagers: new Set([MANAGER]),
  keepsShares: (contract: string) => contract === POOL,
  decodePoolEvent: (log: ChainLog) =>
    log.address === POOL || log.address === OTHER_POOL ? uniswapV3.decodeEvent(log) : null,
};

type LogAt = Partial<Pick<ChainLog, 'address' | 'transactionIndex' | 'logIndex'>>;

function decodeAll(
  logs: readonly [Words, LogAt][],
  decoder = createTransferDecoder(rules),
): TransferRows & { readonly skipped: SkippedLogs } {
  const rows: TransferRows = { transfers: [], position_events: [], unreadableTokens: new Set() };
  for (const [words, where] of logs) decoder.read(BLOCK, { ...toLog(words), ...where }, rows);
  return { ...rows, skipped: decoder.skipped };
}

const increase = (id: bigint, liquidity: bigint, amounts: readonly [bigint, bigint]): Words =>
  encode(MANAGER_ABI, 'IncreaseLiquidity', [id, liquidity, ...amounts]);
const mint = (
  owner: Hex,
  ticks: [number, number],
  liquidity: bigint,
  amounts: readonly [bigint, bigint],
): Words => encode(V3, 'Mint', [TOKEN, owner, ...ticks, liquidity, ...amounts]);

const SHARES = new Interface([
  'event TransferBatch(address indexed sender, address indexed from, address indexed to, uint256[] ids, uint256[] amounts)',
]);
const BINS = new Interface([
  'event Mint(bytes32 indexed id, address indexed sender, uint256[] ids, bytes32 salt, bytes32[] amounts, bytes32 compositionFeeAmount, bytes32 feeAmountToProtocol)',
]);

test('a move of shares of a pool is a transfer for each bin, and that of another contract is none', () => {
  const moved = encode(SHARES, 'TransferBatch', [
    TOKEN,
    ZERO_ADDRESS,
    TOKEN,
    [8_388_608, 8_388_610],
    [5n, 7n],
  ]);
  const { position_events, skipped } = decodeAll([
    [moved, { address: POOL }],
    [moved, { address: FAKE_POOL }],
    [encode(SHARES, 'TransferBatch', [TOKEN, ZERO_ADDRESS, TOKEN, [2 ** 24], [5n]]), { address: POOL }],
  ]);
  const row = { kind: 'transfer', manager: POOL, pair: POOL, sender: ZERO_ADDRESS, recipient: TOKEN };
  expect(position_events).toEqual([
    expect.objectContaining({ ...row, token_id: 8_388_608n, tick_lower: 8_388_608, amount0: 5n }),
    expect.objectContaining({ ...row, token_id: 8_388_610n, tick_lower: 8_388_610, amount0: 7n }),
  ]);
  expect(skipped.malformed).toBe(1);
});

test('shares of a position manager have the pool of a Mint in their transaction, and none of an earlier one', () => {
  const id: Hex = `0x${'ab'.repeat(32)}`;
  const bin = 8_388_608;
  const share = BigInt(solidityPackedKeccak256(['bytes32', 'uint256'], [id, bin]));
  const zero: Hex = `0x${'00'.repeat(32)}`;
  const minted = encode(BINS, 'Mint', [id, MANAGER, [bin], zero, [zero], zero, zero]);
  const moved = encode(SHARES, 'TransferBatch', [TOKEN, ZERO_ADDRESS, TOKEN, [share], [5n]]);
  const decoder = createTransferDecoder({
    ...rules,
    decodePoolEvent: (log) => infinityBin.decodeEvent(log, EMPTY_STATE),
  });
  const logs: [Words, LogAt][] = [
    [minted, { address: POOL, transactionIndex: 3 }],
    [moved, { address: MANAGER, transactionIndex: 3 }],
    [moved, { address: MANAGER, transactionIndex: 4 }],
  ];
  const placed = decodeAll(logs, decoder).position_events.map(({ pair, tick_lower }) => [pair, tick_lower]);
  expect(placed).toEqual([
    [`0x${'ab'.repeat(20)}`, bin],
    [ZERO_ADDRESS, 0],
  ]);
});

describe('the pool of an IncreaseLiquidity log is found by the Mint before it', () => {
  const AMOUNTS = [11n, 22n] as const;
  const added = increase(5n, 900n, AMOUNTS);
  const minted = mint(MANAGER, [-60, 120], 900n, AMOUNTS);
  const placeOf = (logs: [Words, LogAt][]): unknown[] => {
    const { position_events, skipped } = decodeAll(logs);
    const { pair, tick_lower, tick_upper } = position_events.at(-1)!;
    return [pair, tick_lower, tick_upper, skipped.unplaced];
  };

  test('the pool of an IncreaseLiquidity is the pool of the preceding Mint', () => {
    const place = placeOf([
      [minted, { address: POOL }],
      [added, { address: MANAGER }],
    ]);
    expect(place).toEqual([POOL, -60, 120, 0]);
  });

  test('an IncreaseLiquidity of Algebra counts the liquidity that its pool added', () => {
    const asked = encode(ALGEBRA_MANAGER, 'IncreaseLiquidity', [5n, 999n, 900n, ...AMOUNTS, POOL]);
    const { position_events } = decodeAll([
      [minted, { address: POOL }],
      [asked, { address: MANAGER }],
    ]);
    const placed = {
      token_id: 5n,
      kind: 'increase',
      pair: POOL,
      liquidity: 900n,
      amount0: 11n,
      amount1: 22n,
    };
    expect(position_events).toEqual([expect.objectContaining(placed)]);
  });

  test('a ModifyLiquidity of Uniswap V4 changes the position whose number is its salt, if a position manager owns it', () => {
    const id = `0x${'00'.repeat(12)}${POOL.slice(2)}`;
    const change = (owner: Hex, liquidity: bigint, salt: bigint): [Words, LogAt] => [
      encode(V4, 'ModifyLiquidity', [
        id,
        owner,
        -60,
        120,
        liquidity,
        `0x${salt.toString(16).padStart(64, '0')}`,
      ]),
      { address: POOL },
    ];
    const decodePoolEvent = (log: ChainLog) =>
      log.address === POOL ? uniswapV4.decodeEvent(log, { ...EMPTY_STATE, sqrtPriceX96: 2n ** 96n }) : null;
    const { position_events } = decodeAll(
      [
        change(MANAGER, 1_000_000n, 7n),
        change(TOKEN, 5n, 7n),
        change(MANAGER, 0n, 7n),
        change(MANAGER, -400_000n, 7n),
        [change(MANAGER, 5n, 7n)[0], { address: FAKE_POOL }],
      ],
      createTransferDecoder({ ...rules, decodePoolEvent }),
    );
    const position = { manager: MANAGER, token_id: 7n };
    expect(position_events).toEqual([
      expect.objectContaining({
        ...{ ...position, kind: 'increase', liquidity: 1_000_000n, pair: POOL },
        ...{ tick_lower: -60, tick_upper: 120, amount0: 5_982n, amount1: 2_996n },
      }),
      expect.objectContaining({ ...position, kind: 'decrease', liquidity: 400_000n, pair: ZERO_ADDRESS }),
    ]);
  });

  test('the pool of an IncreaseLiquidity is the pool of the nearest preceding Mint that fits', () => {
    const place = placeOf([
      [minted, { address: POOL }],
      [mint(MANAGER, [-600, 600], 900n, AMOUNTS), { address: OTHER_POOL }],
      [added, { address: MANAGER }],
    ]);
    expect(place).toEqual([OTHER_POOL, -600, 600, 0]);
  });

  const unfit: [string, Words, LogAt][] = [
    ['with another owner', mint(TOKEN, [-60, 120], 900n, AMOUNTS), { address: OTHER_POOL }],
    ['with another liquidity', mint(MANAGER, [-60, 120], 901n, AMOUNTS), { address: OTHER_POOL }],
    ['with other amounts', mint(MANAGER, [-60, 120], 900n, [11n, 23n]), { address: OTHER_POOL }],
    ['from a contract that is not a pool', mint(MANAGER, [-1, 1], 900n, AMOUNTS), { address: FAKE_POOL }],
  ];
  test.each(unfit)('the pool of an IncreaseLiquidity is not taken from a Mint %s', (_, words, where) => {
    const place = placeOf([
      [minted, { address: POOL }],
      [words, where],
      [added, { address: MANAGER }],
    ]);
    expect(place).toEqual([POOL, -60, 120, 0]);
    expect(
      placeOf([
        [words, where],
        [added, { address: MANAGER }],
      ]),
    ).toEqual([ZERO_ADDRESS, 0, 0, 1]);
  });

  test('the pool of an IncreaseLiquidity is not taken from a later Mint, or from a Mint of another transaction or block', () => {
    const late: [Words, LogAt][] = [
      [added, { address: MANAGER }],
      [minted, { address: POOL }],
    ];
    expect(placeOf(late)).toEqual([ZERO_ADDRESS, 0, 0, 1]);
    const apart: [Words, LogAt][] = [
      [minted, { address: POOL, transactionIndex: 1 }],
      [added, { address: MANAGER, transactionIndex: 2 }],
    ];
    expect(placeOf(apart)).toEqual([ZERO_ADDRESS, 0, 0, 1]);
    const decoder = createTransferDecoder(rules);
    decodeAll([[minted, { address: POOL }]], decoder);
    const { position_events } = decodeAll([[added, { address: MANAGER }]], decoder);
    expect(position_events[0]!.pair).toBe(ZERO_ADDRESS);
  });

  test('the pools of several positions in one transaction are right', () => {
    const other = mint(MANAGER, [0, 60], 7n, [1n, 0n]);
    const { position_events } = decodeAll([
      [minted, { address: POOL }],
      [other, { address: OTHER_POOL }],
      [increase(6n, 7n, [1n, 0n]), { address: MANAGER }],
      [added, { address: MANAGER }],
    ]);
    expect(position_events.map(({ token_id, pair }) => [token_id, pair])).toEqual([
      [6n, OTHER_POOL],
      [5n, POOL],
    ]);
  });
});
