import type { Dex } from '../../../src/domain/pool';
import { toPool } from '../../../src/protocols/protocol';
import { findProtocol, isKeptByFactory } from '../../../src/protocols/registry';
import { uniswapV2 } from '../../../src/protocols/uniswapV2/uniswapV2';
import { uniswapV3 } from '../../../src/protocols/uniswapV3/uniswapV3';

const address = (digit: string) => `0x${digit.repeat(40)}` as const;
const DEX: Dex = { name: 'some_v2', displayName: 'Some', protocol: 'uniswap_v2', factory: address('f') };
const CREATION = {
  pool: address('1'),
  token0: address('2'),
  token1: address('3'),
  feePips: null,
  tickSpacing: 0,
};

describe('the protocol registry finds decoders by name', () => {
  it('the protocol registry finds a decoder by its name in the chain description', () => {
    expect(findProtocol('uniswap_v2')).toBe(uniswapV2);
    expect(findProtocol('uniswap_v3')).toBe(uniswapV3);
    expect(findProtocol('pancake_v3')?.name).toBe('pancake_v3');
  });

  it('the protocol registry has no decoder for pools of a vault', () => {
    expect(findProtocol('balancer_v2')).toBeNull();
  });

  test.each([
    ['uniswap_v3', false],
    ['curve_stable', false],
    ['balancer_v2', true],
    ['uniswap_v4', true],
  ])('whether the factory of %s holds the tokens of its pools: %p', (name, expected) => {
    expect(isKeptByFactory(name)).toBe(expected);
  });
});

describe('the fee of a new pool comes from its event or its DEX', () => {
  test.each<[Partial<Dex>, number | null, number]>([
    [{}, null, 3_000],
    [{ feeBps: 29 }, null, 2_900],
    [{ feeBps: 0.3 }, null, 30],
    [{ feeBps: 17.5 }, null, 1_750],
    [{ feeBps: 0 }, null, 0],
    [{ feeBps: 29 }, 500, 500],
  ])('a new pool with DEX settings %p and event fee %p has a fee of %p pips', (dex, feePips, expected) => {
    const pool = toPool(uniswapV2, { ...DEX, ...dex }, { ...CREATION, feePips });
    expect(pool).toEqual({
      address: CREATION.pool,
      id: null,
      hooks: null,
      hookBits: null,
      dex: 'some_v2',
      protocol: 'uniswap_v2',
      poolType: 2,
      factory: DEX.factory,
      token0: CREATION.token0,
      token1: CREATION.token1,
      feePips: expected,
      tickSpacing: 0,
      scaleDecimals: null,
    });
  });
});
