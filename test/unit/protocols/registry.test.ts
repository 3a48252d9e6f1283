import { id } from 'ethers';

import { findBuiltInChain } from '../../../src/chains/builtInChains';
import type { Dex } from '../../../src/domain/pool';
import { toPool } from '../../../src/protocols/protocol';
import { dexTopics, findProtocol, protocolOf } from '../../../src/protocols/registry';
import { uniswapV2 } from '../../../src/protocols/uniswapV2';
import { uniswapV3 } from '../../../src/protocols/uniswapV3';

const address = (digit: string) => `0x${digit.repeat(40)}` as const;
const DEX: Dex = { name: 'some_v2', displayName: 'Some', protocol: 'uniswap_v2', factory: address('f') };
const CREATION = {
  pool: address('1'),
  token0: address('2'),
  token1: address('3'),
  feePips: null,
  tickSpacing: 0,
};

describe('the protocol registry', () => {
  it('finds a decoder by its name in the chain description', () => {
    expect(protocolOf('uniswap_v2')).toBe(uniswapV2);
    expect(findProtocol('uniswap_v3')).toBe(uniswapV3);
    expect(findProtocol('pancake_v3')?.name).toBe('pancake_v3');
  });

  it('contains exactly the topics of the described DEXes', () => {
    const { creationTopics, eventTopics } = dexTopics([DEX]);
    expect([...creationTopics]).toEqual([id('PairCreated(address,address,address,uint256)')]);
    const signatures = [
      'Swap(address,uint256,uint256,uint256,uint256,address)',
      'Sync(uint112,uint112)',
      'Mint(address,uint256,uint256)',
      'Burn(address,uint256,uint256,address)',
    ];
    expect([...eventTopics].sort()).toEqual(signatures.map((signature) => id(signature)).sort());
    expect(dexTopics([]).eventTopics.size).toBe(0);
  });

  it('includes the events of a vault and its pools if a vault is described', () => {
    const { creationTopics, eventTopics } = dexTopics([{ ...DEX, protocol: 'balancer_v2' }]);
    expect([...creationTopics]).toEqual([id('PoolRegistered(bytes32,address,uint8)')]);
    expect(eventTopics).toContain(id('Swap(bytes32,address,address,uint256,uint256)'));
    expect(eventTopics).toContain(id('PoolBalanceChanged(bytes32,address,address[],int256[],uint256[])'));
    expect(eventTopics).toContain(id('SwapFeePercentageChanged(uint256)'));
    expect(findProtocol('balancer_v2')).toBeNull();
  });

  it('includes both Swap layouts if a V3 DEX is described, because forks mix them', () => {
    const { eventTopics } = dexTopics(findBuiltInChain(369)?.dexes ?? []);
    expect(eventTopics).toContain(id('Swap(address,address,int256,int256,uint160,uint128,int24)'));
    expect(eventTopics).toContain(
      id('Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)'),
    );
  });
});

describe('the fee of a new pool', () => {
  test.each<[Partial<Dex>, number | null, number]>([
    [{}, null, 3_000],
    [{ feeBps: 29 }, null, 2_900],
    [{ feeBps: 0.3 }, null, 30],
    [{ feeBps: 17.5 }, null, 1_750],
    [{ feeBps: 0 }, null, 0],
    [{ feeBps: 29 }, 500, 500],
  ])('with DEX settings %p and event fee %p is %p pips', (dex, feePips, expected) => {
    const pool = toPool(uniswapV2, { ...DEX, ...dex }, { ...CREATION, feePips });
    expect(pool).toEqual({
      address: CREATION.pool,
      dex: 'some_v2',
      protocol: 'uniswap_v2',
      poolType: 2,
      factory: DEX.factory,
      token0: CREATION.token0,
      token1: CREATION.token1,
      feePips: expected,
      tickSpacing: 0,
    });
  });
});
