/** Protocol fees of V3 pools: the packings of slot0 and the values of SetFeeProtocol, by the contracts' sources. */
import { AbiCoder, Interface } from 'ethers';

import type { Hex } from '../../../src/domain/hex';
import { decodeSetFeeProtocol, decodeSlot0Shares } from '../../../src/protocols/uniswapV3/feeProtocol';

const UNISWAP = new Interface(['event SetFeeProtocol(uint8 old0, uint8 old1, uint8 new0, uint8 new1)']);
const PANCAKE = new Interface(['event SetFeeProtocol(uint32 old0, uint32 old1, uint32 new0, uint32 new1)']);

function change(abi: Interface, values: readonly number[]) {
  const { topics, data } = abi.encodeEventLog('SetFeeProtocol', values);
  return decodeSetFeeProtocol({ topics: topics as Hex[], data: data as Hex });
}

const slot0 = (packed: number | bigint, price = 1n << 96n) =>
  decodeSlot0Shares(
    AbiCoder.defaultAbiCoder().encode(
      ['uint160', 'int24', 'uint16', 'uint16', 'uint16', 'uint256', 'bool'],
      [price, -5, 1, 2, 3, packed, true],
    ) as Hex,
  );

test('a part of Uniswap is 1/N of the fee, and a part of PancakeSwap is ten-thousandths of it', () => {
  expect(change(UNISWAP, [0, 0, 4, 10])).toEqual({
    before: { share0: 0, share1: 0 },
    after: { share0: 1 / 4, share1: 1 / 10 },
  });
  expect(change(PANCAKE, [3_300, 3_200, 4_000, 0])).toEqual({
    before: { share0: 0.33, share1: 0.32 },
    after: { share0: 0.4, share1: 0 },
  });
});

test('values that no contract of the protocol allows are unknown, and malformed logs are refused', () => {
  expect(change(UNISWAP, [3, 4, 11, 4])).toEqual({ before: null, after: null });
  expect(change(PANCAKE, [10_001, 0, 10_000, 0])).toEqual({ before: null, after: { share0: 1, share1: 0 } });
  const { topics, data } = UNISWAP.encodeEventLog('SetFeeProtocol', [0, 0, 4, 4]);
  const log = { topics: topics as Hex[], data: data as Hex };
  expect(decodeSetFeeProtocol({ ...log, data: `${log.data}00` })).toBeNull();
  expect(decodeSetFeeProtocol({ ...log, data: `${log.data}${'00'.repeat(32)}` })).toBeNull();
  expect(decodeSetFeeProtocol({ ...log, topics: [...log.topics, ...log.topics] })).toBeNull();
  expect(decodeSetFeeProtocol({ ...log, topics: [`0x${'1'.repeat(64)}`] })).toBeNull();
});

test.each<[string, number, readonly [number, number] | null]>([
  // The defaults of PancakeV3Pool.initialize by fee tier.
  ['3200:3200', 209_718_400, [0.32, 0.32]],
  ['3300:3300', 216_272_100, [0.33, 0.33]],
  ['3400:3400', 222_825_800, [0.34, 0.34]],
  ['0:1000 of PancakeSwap', 1_000 << 16, [0, 0.1]],
  ['nothing', 0, [0, 0]],
  ['4 for token0 and 6 for token1 of Uniswap', 4 + (6 << 4), [1 / 4, 1 / 6]],
  ['0 for token0 and 10 for token1 of Uniswap', 10 << 4, [0, 1 / 10]],
  ['a number out of range of Uniswap', 3 + (4 << 4), null],
  ['a number out of range of PancakeSwap', 10_001, null],
])('slot0 holds %s', (_, packed, parts) => {
  const shares = parts === null ? null : { share0: parts[0], share1: parts[1] };
  expect(slot0(packed)).toEqual({ isReady: true, shares });
});

test('a pool without a first price is not ready, and an answer of another length is no slot0', () => {
  expect(slot0(0, 0n)?.isReady).toBe(false);
  expect(slot0(1n << 255n)?.shares).toBeNull();
  expect(decodeSlot0Shares('0x')).toBeNull();
  expect(decodeSlot0Shares(`0x${'0'.repeat(64)}`)).toBeNull();
});
