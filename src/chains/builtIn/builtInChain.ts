/** The shape of a built-in chain: a chain description that names the source of each address. */
import type { ChainDescription } from '../../domain/chainDescription';
import type { Hex } from '../../domain/hex';
import type { Dex } from '../../domain/pool';

/**
 * An address with its EIP-55 checksum, and where it was read: a public repository and a path in it, or the URL of a
 * documentation page.
 */
type Sourced = readonly [address: Hex, source: string];

/** Tokens by symbol, in order of preference. */
type Tokens = Readonly<Record<string, Sourced>>;

interface BuiltInDex extends Omit<Dex, 'factory' | 'positionManager'> {
  readonly factory: Sourced;
  readonly positionManager?: Sourced;
}

type UnsourcedKeys =
  'blockSeconds' | 'chainId' | 'confirmations' | 'forkBlock' | 'name' | 'nativeSymbol' | 'rpcUrls';

export interface BuiltInChain extends Pick<ChainDescription, UnsourcedKeys> {
  readonly wrappedNative: Sourced;
  /** Each has the price of one dollar. */
  readonly anchors: Tokens;
  readonly majors: Tokens;
  readonly burn?: { readonly token: Sourced; readonly addresses: readonly Sourced[] };
  readonly bridgedTokens?: Tokens;
  readonly forkTokens?: Tokens;
  readonly dexes: readonly BuiltInDex[];
}

/** The chain description, with addresses in lower case and without sources. */
export function toChainDescription({
  burn,
  bridgedTokens,
  forkTokens,
  ...chain
}: BuiltInChain): ChainDescription {
  return {
    ...chain,
    wrappedNative: toAddress(chain.wrappedNative),
    anchors: Object.entries(chain.anchors).map(([symbol, token]) => ({
      ...{ address: toAddress(token), symbol, priceUsd: 1 },
    })),
    majors: toAddresses(chain.majors),
    burn:
      burn === undefined ? null : { token: toAddress(burn.token), addresses: burn.addresses.map(toAddress) },
    ...(bridgedTokens === undefined ? {} : { bridgedTokens: toAddresses(bridgedTokens) }),
    ...(forkTokens === undefined ? {} : { forkTokens: toAddresses(forkTokens) }),
    startBlock: null,
    dexes: chain.dexes.map(({ positionManager, ...dex }) => ({
      ...{ ...dex, factory: toAddress(dex.factory) },
      ...(positionManager === undefined ? {} : { positionManager: toAddress(positionManager) }),
    })),
  };
}

function toAddress([address]: Sourced): Hex {
  return `0x${address.slice(2).toLowerCase()}`;
}

function toAddresses(tokens: Tokens): Hex[] {
  return Object.values(tokens).map(toAddress);
}
