import { getAddress } from 'ethers';

import { toChainDescription, type BuiltInChain } from '../../../src/chains/builtIn/builtInChain';
import { BUILT_IN_CHAINS, findBuiltInChain, SOURCED_CHAINS } from '../../../src/chains/builtIn/builtInChains';
import { parseChainDescription } from '../../../src/chains/parseChainDescription';
import type { ChainDescription } from '../../../src/domain/chainDescription';
import type { Hex } from '../../../src/domain/hex';

/** A repository and a path in it, or a page. */
const SOURCE = /^(?:[\w.-]+\/[\w.-]+ [\w./-]+|https:\/\/\S+)$/;

/** Every address of the chain with its source, and every address that has none. */
function listSourced(value: unknown): (readonly [address: string, source: unknown])[] {
  if (typeof value === 'string') return value.startsWith('0x') ? [[value, undefined]] : [];
  if (typeof value !== 'object' || value === null) return [];
  const [address, source]: unknown[] = Object.values(value);
  const isSourced = Array.isArray(value) && typeof address === 'string' && address.startsWith('0x');
  return isSourced ? [[address, source]] : Object.values(value).flatMap(listSourced);
}

const tokensOf = (chain: ChainDescription): (Hex | null)[] => [
  ...[...chain.anchors.map(({ address }) => address), ...chain.majors, chain.wrappedNative],
];

function listRepeated(items: readonly unknown[]): unknown[] {
  return items.filter((item, index) => items.indexOf(item) !== index);
}

/** What is wrong with a built-in chain. */
function faultsOf(sourced: BuiltInChain): unknown[] {
  const chain = toChainDescription(sourced);
  const addresses = listSourced(sourced);
  const ethereum = findBuiltInChain(1)!;
  return [
    ...addresses.filter(([, source]) => !SOURCE.test(String(source))),
    ...addresses.filter(([address]) => getAddress(address.toLowerCase()) !== address),
    ...listRepeated(tokensOf(chain)),
    ...(['name', 'displayName', 'factory'] as const).flatMap((key) =>
      listRepeated(chain.dexes.map((dex) => dex[key])),
    ),
    ...listRepeated(chain.dexes.flatMap(({ positionManager }) => positionManager ?? [])),
    ...chain.dexes.filter(({ protocol, feeBps }) => protocol === 'uniswap_v2' && feeBps === undefined),
    // The copies of Ethereum's tokens are almost worthless.
    ...(chain.forkBlock === undefined
      ? []
      : tokensOf(chain).filter((each) => tokensOf(ethereum).includes(each))),
  ];
}

describe.each(SOURCED_CHAINS)('the built-in description of $name', (chain) => {
  it('each address has a source and a right checksum, and none stands there twice', () => {
    expect(faultsOf(chain)).toEqual([]);
  });

  it('a built-in description passes the checks for a description file unchanged', () => {
    const built = findBuiltInChain(chain.chainId);
    expect(parseChainDescription(JSON.stringify(built), 'itself', chain.chainId)).toEqual(built);
  });
});

const [pulsechain] = SOURCED_CHAINS;
const [DEX, ...DEXES] = pulsechain!.dexes;
const [FACTORY, PULSEX] = DEX!.factory;
const withDex = (spoilt: object): BuiltInChain => ({
  ...pulsechain!,
  dexes: [{ ...DEX!, ...spoilt }, ...DEXES],
});

test.each<[string, BuiltInChain]>([
  ['an address without a source', withDex({ factory: [FACTORY] })],
  ['an empty source', withDex({ factory: [FACTORY, ''] })],
  ['a source without a path', withDex({ factory: [FACTORY, 'hexikani/pulsechain-docs'] })],
  ['an address in lower case', withDex({ factory: [FACTORY.toLowerCase(), PULSEX] })],
  ['a wrong checksum', withDex({ factory: [FACTORY.replace('E4A', 'e4A'), PULSEX] })],
  ['the factory of another DEX', withDex({ factory: DEXES[0]!.factory })],
  ['the name of another DEX', withDex({ name: DEXES[0]!.name })],
  ['no fee for Uniswap V2', withDex({ feeBps: undefined })],
  [
    'an anchor twice',
    { ...pulsechain!, majors: { ...pulsechain!.majors, USD: pulsechain!.anchors['DAI']! } },
  ],
  ['a copied anchor', { ...pulsechain!, anchors: { DAI: pulsechain!.forkTokens!['DAI']! } }],
])('%s in a built-in chain is refused', (_name, chain) => {
  expect(faultsOf(chain)).not.toEqual([]);
});

test('a factory of an unknown protocol is refused', () => {
  const chain = toChainDescription(withDex({ protocol: 'uniswap_v1' }));
  expect(() => parseChainDescription(JSON.stringify(chain), 'itself', 369)).toThrow(
    /dexes\.0\.protocol: got/,
  );
});

test('the built-in chains have different ids and names', () => {
  expect(listRepeated(BUILT_IN_CHAINS.flatMap(({ chainId, name }) => [chainId, name]))).toEqual([]);
  expect(findBuiltInChain(5)).toBeNull();
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
    const dex = findBuiltInChain(369)?.dexes.find((each) => each.name === name);
    expect(dex?.protocol).toBe(protocol);
    expect(dex?.feeBps).toBe(feeBps);
    expect(dex?.protocolFeeShare).toBe(protocolFeeShare);
  },
);
