/**
 * The shape of a chain description: everything that the program must know about its chain. The parser is in
 * `src/chains/`.
 */
import { ZERO_ADDRESS, type Hex } from './hex';
import type { Dex } from './pool';

/** A token with a given USD price, identified by address and never by symbol. */
export interface Anchor {
  readonly address: Hex;
  readonly symbol: string;
  /** USD per whole token, > 0. */
  readonly priceUsd: number;
}

/** The burn token of /overview. A Transfer to one of the addresses is a burn; the zero address is allowed. */
export interface Burn {
  readonly token: Hex;
  readonly addresses: readonly Hex[];
}

/** An address that holds tokens which are not in circulation. */
interface HeldApart {
  readonly address: Hex;
  /** Name of the address for people. */
  readonly label: string;
  /** The tokens whose balances at this address are not in circulation; absent means every token. */
  readonly tokens?: readonly Hex[];
}

export interface ChainDescription {
  readonly chainId: number;
  readonly name: string;
  readonly nativeSymbol: string;
  /** The wrapped native token. If it is null, there are no native prices. */
  readonly wrappedNative: Hex | null;
  /** Anchors in order of preference. The order also decides which token of a pool is the quote token. */
  readonly anchors: readonly Anchor[];
  /** Well-known tokens. As quote tokens they rank after the anchors and the wrapped native token, in this
   * order. */
  readonly majors: readonly Hex[];
  /** The burn token; null if the chain has none. */
  readonly burn: Burn | null;
  /** Addresses of teams and treasuries. Their balances are not in circulation. */
  readonly treasuries?: readonly HeldApart[];
  /**
   * Contracts that lock tokens and LP tokens. Their balances are not in circulation. LP tokens that they hold
   * count as locked.
   */
  readonly lockers?: readonly HeldApart[];
  /** Tokens that a bridge issues for tokens of other chains. */
  readonly bridgedTokens?: readonly Hex[];
  /** The last block that the chain shares with the chain whose state it copied. Absent for a chain of its own. */
  readonly forkBlock?: number;
  /** Tokens that exist on this chain only because it copied the state of another chain. */
  readonly forkTokens?: readonly Hex[];
  /** Mean time between two blocks, > 0. Absent means 10. */
  readonly blockSeconds?: number;
  /** Depth at which a block is final, if the node has no `finalized` tag. */
  readonly confirmations: number;
  /** First block to ingest; null means START_BLOCK or its default. */
  readonly startBlock: number | null;
  /**
   * Public endpoints. Without RPC_URL, the endpoints of a CHAIN_CONFIG are used. The endpoints of built-in chains are
   * only documentation.
   */
  readonly rpcUrls: readonly string[];
  /** URL of the chain's logo. */
  readonly logo?: string;
  readonly dexes: readonly Dex[];
}

/** The name of a chain in paths of the API: in lower case with hyphens. Empty if the name has no letters or digits. */
export function chainSlug({ name }: Pick<ChainDescription, 'name'>): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** First block of the first start: a block number, or a number of blocks before the head. */
export type StartBlock =
  | { readonly kind: 'absolute'; readonly block: number }
  | { readonly kind: 'before_head'; readonly blocks: number };

/** Burn addresses of a chain whose description names none. */
const USUAL_BURN_ADDRESSES: readonly Hex[] = [ZERO_ADDRESS, '0x000000000000000000000000000000000000dead'];

type WatchedKind = 'burn' | 'treasury' | 'locker';

export interface WatchedHolder {
  readonly address: Hex;
  readonly label: string;
  readonly kind: WatchedKind;
  /** The tokens whose balances at this address are not in circulation; null means every token. */
  readonly tokens: readonly Hex[] | null;
}

/** The part of a chain description that decides which balances are not in circulation. */
export type SupplyRules = Pick<ChainDescription, 'burn' | 'treasuries' | 'lockers'>;

/**
 * Lists one entry per address, in the order burn addresses, treasuries, lockers. The zero address is left
 * out, because the supply computed from the logs already excludes tokens sent there.
 */
export function listWatched({ burn, treasuries = [], lockers = [] }: SupplyRules): WatchedHolder[] {
  const watchedByAddress = new Map<Hex, WatchedHolder>();
  const addHolder = (kind: WatchedKind, { address, label, tokens }: Omit<WatchedHolder, 'kind'>): void => {
    if (address !== ZERO_ADDRESS && !watchedByAddress.has(address))
      watchedByAddress.set(address, { address, label, kind, tokens });
  };
  for (const address of burn?.addresses ?? USUAL_BURN_ADDRESSES)
    addHolder('burn', { address, label: 'Burn address', tokens: null });
  for (const { address, label, tokens } of treasuries)
    addHolder('treasury', { address, label, tokens: tokens ?? null });
  for (const { address, label, tokens } of lockers)
    addHolder('locker', { address, label, tokens: tokens ?? null });
  return [...watchedByAddress.values()];
}
