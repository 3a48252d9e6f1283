/** The chains of a program from its settings: the descriptions, the URLs of the nodes and the first blocks. */
import type { ChainDescription, StartBlock } from '../domain/chainDescription';
import { toChainDescription } from './builtIn/builtInChain';
import { findBuiltInChain } from './builtIn/builtInChains';
import { pulsechainTestnet } from './builtIn/pulsechainTestnet';

/** Chains of the explorer that need no market, and the settings with the URLs of their nodes. */
export const EXPLORER_CHAINS = [
  { chain: toChainDescription(pulsechainTestnet), setting: 'RPC_URL_943' },
] as const;
/** Default start of a first run: about this long before the head. */
const DEFAULT_HISTORY_SECONDS = 86_400;
/** Time between two blocks of a chain whose description does not tell it. */
const DEFAULT_BLOCK_SECONDS = 10;

export interface FirstChain {
  /** URLs of RPC_URL or RPC_URL_<chain id>, or else of CHAIN_CONFIG. Null if neither has URLs. */
  readonly rpcUrls: readonly string[] | null;
  readonly chainId: number;
  readonly chain: ChainDescription;
  readonly startBlock: StartBlock;
}

export interface OtherChain extends Omit<FirstChain, 'chainId'> {
  /** False for a chain of the explorer, which has no market. Without URLs, this program does not ingest such a chain. */
  readonly hasMarket: boolean;
}

/** The descriptions of the chains of CHAINS, or of the only chain. */
export interface ChainsRead {
  readonly chains: readonly [first: ChainDescription, ...others: ChainDescription[]];
  /** The URLs of the settings RPC_URL_<chain id>, by chain id. */
  readonly urls: ReadonlyMap<number, readonly string[]>;
}

interface SettingsRead {
  readonly RPC_URL?: readonly string[] | undefined;
  readonly RPC_URL_943?: readonly string[] | undefined;
  readonly START_BLOCK?: StartBlock | undefined;
}

export function toChains(
  read: SettingsRead,
  { chains, urls }: ChainsRead,
): FirstChain & { readonly otherChains: readonly OtherChain[] } {
  const toMarket = (chain: ChainDescription): OtherChain => ({
    chain,
    rpcUrls: urls.get(chain.chainId) ?? urlsOfFile(chain),
    startBlock: read.START_BLOCK ?? defaultStartBlock(chain),
    hasMarket: true,
  });
  const [chain, ...others] = chains;
  const marketIds = chains.map(({ chainId }) => chainId);
  const explorerChains = EXPLORER_CHAINS.filter((each) => !marketIds.includes(each.chain.chainId));
  const { rpcUrls, startBlock } = toMarket(chain);
  return {
    ...{ chainId: chain.chainId, chain, rpcUrls: read.RPC_URL ?? rpcUrls, startBlock },
    otherChains: [
      ...others.map(toMarket),
      ...explorerChains.map(({ chain: each, setting }) => ({
        ...toMarket(each),
        rpcUrls: read[setting] ?? null,
        hasMarket: false,
      })),
    ],
  };
}

/**
 * Returns the endpoints of a CHAIN_CONFIG file, or null without any. Endpoints of built-in descriptions are
 * not used, because the operator did not choose them.
 */
function urlsOfFile({ chainId, rpcUrls: named }: ChainDescription): readonly string[] | null {
  const builtIn = findBuiltInChain(chainId)?.rpcUrls ?? [];
  return named.every((each) => builtIn.includes(each)) ? null : [...new Set(named)];
}

function defaultStartBlock({
  startBlock,
  blockSeconds = DEFAULT_BLOCK_SECONDS,
}: ChainDescription): StartBlock {
  if (startBlock !== null) return { kind: 'absolute', block: startBlock };
  return { kind: 'before_head', blocks: Math.round(DEFAULT_HISTORY_SECONDS / blockSeconds) };
}
