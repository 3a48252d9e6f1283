/** The built-in chain descriptions, held against the published facts of PulseChain. */
import { getAddress } from 'ethers';

import { BUILT_IN_CHAINS, findBuiltInChain } from '../../../src/chains/builtInChains';
import { parseChainDescription } from '../../../src/chains/parseChainDescription';
import { pulsechain } from '../../../src/chains/pulsechain';
import { pulsechainTestnet } from '../../../src/chains/pulsechainTestnet';

/** Ethereum's stable coins and wrappers: copied by the fork, without their backing. */
const FORKED_ETHEREUM_TOKENS: Readonly<Record<string, string>> = {
  DAI: '0x6B175474E89094C44Da98b954EedeAC495271d0F',
  USDT: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
  USDC: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  WETH: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
  WBTC: '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599',
  BUSD: '0x4Fabb145d64652a948d72533023f6E7A623C7C53',
  TUSD: '0x0000000000085d4780B73119b644AE5ecd22b376',
  FRAX: '0x853d955aCEf822Db058eb8505911ED77F175b99e',
  LUSD: '0x5f98805A4E8be255a32880FDeC7F6728C6568bA0',
};

test.each(BUILT_IN_CHAINS.map((chain) => [chain.chainId, chain] as const))(
  'the description of chain %i passes its own parser unchanged',
  (chainId, chain) => {
    expect(parseChainDescription(JSON.stringify(chain), 'built-in', chainId)).toEqual(chain);
    expect(findBuiltInChain(chainId)).toBe(chain);
  },
);

test('no forked Ethereum token is an anchor, a major or the wrapped native token', () => {
  const forked = Object.values(FORKED_ETHEREUM_TOKENS).map((address) => getAddress(address).toLowerCase());
  for (const chain of BUILT_IN_CHAINS) {
    const trusted = [...chain.anchors.map(({ address }) => address), ...chain.majors, chain.wrappedNative];
    expect(trusted.filter((address) => address !== null && forked.includes(address))).toEqual([]);
  }
});

test('the anchors of PulseChain are the three bridged stable coins, DAI first, at a dollar', () => {
  expect(
    pulsechain.anchors.map(({ address, symbol, priceUsd }) => [getAddress(address), symbol, priceUsd]),
  ).toEqual([
    ['0xefD766cCb38EaF1dfd701853BFCe31359239F305', 'DAI', 1],
    ['0x15D38573d2feeb82e7ad5187aB8c1D52810B1f07', 'USDC', 1],
    ['0x0Cb6F5a34ad42ec934882A05265A7d5F59b51A2f', 'USDT', 1],
  ]);
  expect(getAddress(pulsechain.wrappedNative!)).toBe('0xA1077a294dDE1B09bB078844df40758a5D0f9a27');
});

test('the DEXes of PulseChain have their published factories, protocols and fees', () => {
  const rows = pulsechain.dexes.map((dex) => [dex.name, dex.protocol, getAddress(dex.factory), dex.feeBps]);
  expect(rows).toEqual([
    ['pulsex_v1', 'uniswap_v2', '0x1715a3E4A142d8b698131108995174F37aEBA10D', 29],
    ['pulsex_v2', 'uniswap_v2', '0x29eA7545DEf87022BAdc76323F373EA1e707C523', 29],
    ['9mm_v2', 'uniswap_v2', '0x3a0Fa7884dD93f3cd234bBE2A0958Ef04b05E13b', 25],
    ['9mm_v3', 'pancake_v3', '0xe50DbDC88E87a2C92984d794bcF3D1d76f619C68', undefined],
    ['phux', 'balancer_v2', '0x7F51AC3df6A034273FB09BB29e383FCF655e473c', undefined],
    ['libertyswap', 'uniswap_v3', '0x796fcbDC956b85797EFe21145Aa97599B7FB36a6', undefined],
  ]);
});

test('PLSX burns to the zero address and to 0x…dEaD both count', () => {
  expect(getAddress(pulsechain.burn!.token)).toBe('0x95B303987A60C71504D99Aa1b13B4DA07b0790ab');
  expect(pulsechain.burn!.addresses.map((address) => getAddress(address))).toEqual([
    '0x0000000000000000000000000000000000000000',
    '0x000000000000000000000000000000000000dEaD',
  ]);
});

test('the testnet has its PHUX vault and claims nothing that is not known', () => {
  expect(pulsechainTestnet.dexes.map(({ factory }) => getAddress(factory))).toEqual([
    '0x4A75321aD6D04BA13c8F6625d9f096c07c7912f1',
  ]);
  expect(pulsechainTestnet).toMatchObject({ wrappedNative: null, anchors: [], majors: [], burn: null });
});

test('a chain that is not built in has no description', () => {
  expect(findBuiltInChain(1)).toBeNull();
});
