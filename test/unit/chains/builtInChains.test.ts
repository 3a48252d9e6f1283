import { getAddress } from 'ethers';

import { BUILT_IN_CHAINS, findBuiltInChain } from '../../../src/chains/builtInChains';
import { parseChainDescription } from '../../../src/chains/parseChainDescription';

/** PulseChain copied Ethereum's state. These tokens are worth a dollar on Ethereum and almost nothing on
 * PulseChain. */
const FORKED_STABLES = {
  DAI: '0x6B175474E89094C44Da98b954EedeAC495271d0F',
  USDC: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  USDT: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
  BUSD: '0x4Fabb145d64652a948d72533023f6E7A623C7C53',
  TUSD: '0x0000000000085d4780B73119b644AE5ecd22b376',
  FRAX: '0x853d955aCEf822Db058eb8505911ED77F175b99e',
};
const FORKED_WRAPPERS = {
  WETH: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
  WBTC: '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599',
};
/** Addresses with checksum, as in PulseChain's own lists. */
const KNOWN_369 = {
  wrappedNative: '0xA1077a294dDE1B09bB078844df40758a5D0f9a27',
  anchors: [
    ['DAI', '0xefD766cCb38EaF1dfd701853BFCe31359239F305'],
    ['USDC', '0x15D38573d2feeb82e7ad5187aB8c1D52810B1f07'],
    ['USDT', '0x0Cb6F5a34ad42ec934882A05265A7d5F59b51A2f'],
  ],
  majors: [
    '0x02DcdD04e3F455D838cd1249292C58f3B79e3C3C',
    '0xb17D901469B9208B17d916112988A3FeD19b5cA1',
    '0x2b591e99afE9f32eAA6214f7B7629768c40Eeb39',
    '0x57fde0a71132198BBeC939B98976993d8D89D225',
    '0x95B303987A60C71504D99Aa1b13B4DA07b0790ab',
    '0x2fa878Ab3F87CC1C9737Fc071108F904c0B0C95d',
    '0x0dEEd1486bc52aA0d3E6f8849cEC5adD6598A162',
    '0x9159f1D2a9f51998Fc9Ab03fbd8f265ab14A1b3B',
  ],
  burnToken: '0x95B303987A60C71504D99Aa1b13B4DA07b0790ab',
  factories: {
    pulsex_stable: '0xE3acFA6C40d53C3faf2aa62D0a715C737071511c',
    pulsex_v1: '0x1715a3E4A142d8b698131108995174F37aEBA10D',
    pulsex_v2: '0x29eA7545DEf87022BAdc76323F373EA1e707C523',
    '9mm_v2': '0x3a0Fa7884dD93f3cd234bBE2A0958Ef04b05E13b',
    '9mm_v3': '0xe50DbDC88E87a2C92984d794bcF3D1d76f619C68',
    phux: '0x7F51AC3df6A034273FB09BB29e383FCF655e473c',
    libertyswap: '0x796fcbDC956b85797EFe21145Aa97599B7FB36a6',
    switchx: '0xeF72cbCcF4A807DfA1fbecd61DdB488fF8a05fa3',
  },
};

describe.each(BUILT_IN_CHAINS)('the built-in description of $name', (chain) => {
  it('a built-in description passes the checks for a description file unchanged', () => {
    expect(parseChainDescription(JSON.stringify(chain), 'itself', chain.chainId)).toEqual(chain);
  });

  it('a built-in description has no copied Ethereum stablecoin or wrapped ETH among anchors and majors', () => {
    const forked = [...Object.values(FORKED_STABLES), ...Object.values(FORKED_WRAPPERS)].map((each) =>
      each.toLowerCase(),
    );
    const known = [...chain.anchors.map(({ address }) => address), ...chain.majors, chain.wrappedNative];
    expect(known.filter((address) => address !== null && forked.includes(address))).toEqual([]);
  });

  it('a built-in description lists no DEX, factory or token twice', () => {
    const lists = [
      chain.dexes.map(({ name }) => name),
      chain.dexes.map(({ displayName }) => displayName),
      chain.dexes.map(({ factory }) => factory),
      [...chain.anchors.map(({ address }) => address), ...chain.majors, chain.wrappedNative],
    ];
    for (const list of lists) expect(new Set(list).size).toBe(list.length);
  });

  it('a built-in description has a fee for every DEX with protocol uniswap_v2', () => {
    const silent = chain.dexes.filter(
      ({ protocol, feeBps }) => protocol === 'uniswap_v2' && feeBps === undefined,
    );
    expect(silent).toEqual([]);
  });
});

describe('the description of PulseChain has the known addresses', () => {
  const chain = findBuiltInChain(369);
  const lower = (addresses: readonly string[]) => addresses.map((each) => getAddress(each).toLowerCase());

  it('the description of PulseChain has the known addresses of tokens and factories', () => {
    expect(chain?.wrappedNative).toBe(lower([KNOWN_369.wrappedNative])[0]);
    expect(chain?.anchors).toEqual(
      KNOWN_369.anchors.map(([symbol, address = '']) => ({
        symbol,
        address: lower([address])[0],
        priceUsd: 1,
      })),
    );
    expect(chain?.majors).toEqual(lower(KNOWN_369.majors));
    expect(chain?.burn?.token).toBe(lower([KNOWN_369.burnToken])[0]);
    expect(chain?.burn?.addresses).toEqual([
      `0x${'0'.repeat(40)}`,
      `0x${'0'.repeat(36)}dead`,
      `0x${'0'.repeat(37)}369`,
    ]);
    const factories = Object.fromEntries(
      chain?.dexes.map(({ name, factory }) => [name, getAddress(factory)]) ?? [],
    );
    expect(factories).toEqual(KNOWN_369.factories);
  });

  test.each([
    ['pulsex_v1', 'uniswap_v2', 29, 0.24],
    ['pulsex_v2', 'uniswap_v2', 29, 0.24],
    ['9mm_v2', 'uniswap_v2', 25, 0.32],
    ['9mm_v3', 'pancake_v3', undefined, 0.32],
    ['libertyswap', 'uniswap_v3', undefined, undefined],
    ['phux', 'balancer_v2', undefined, undefined],
  ])(
    'the description of PulseChain has %s as %s with a fee of %p bps and a protocol share of %p',
    (name, protocol, feeBps, protocolFeeShare) => {
      const dex = chain?.dexes.find((each) => each.name === name);
      expect(dex?.protocol).toBe(protocol);
      expect(dex?.feeBps).toBe(feeBps);
      expect(dex?.protocolFeeShare).toBe(protocolFeeShare);
    },
  );

  it('the description of PulseChain is not found under another chain id', () => {
    expect(findBuiltInChain(1)).toBeNull();
  });
});
