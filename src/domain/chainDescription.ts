/** What a deployment must know of its chain: the shape of a chain description. Its parser stands in `src/chains/`. */
import type { Hex } from './hex';
import type { Dex } from './pool';

/** A token whose USD price is taken as given, by address and never by symbol. */
export interface Anchor {
  readonly address: Hex;
  readonly symbol: string;
  /** USD, > 0. */
  readonly priceUsd: number;
}

/** The burn token of /overview: a Transfer of it into one of the addresses is a burn (the zero address may be one). */
export interface Burn {
  readonly token: Hex;
  readonly addresses: readonly Hex[];
}

export interface ChainDescription {
  readonly chainId: number;
  readonly name: string;
  readonly nativeSymbol: string;
  /** Null where none is known: then nothing has a native price. */
  readonly wrappedNative: Hex | null;
  /** In order of preference, which also decides the quote side of a pool. */
  readonly anchors: readonly Anchor[];
  /** Well-known tokens in order of preference as a quote side, after the anchors and the wrapped native token. */
  readonly majors: readonly Hex[];
  /** Null where the chain has no burn token worth showing. */
  readonly burn: Burn | null;
  /** Blocks after which a block is final where the node has no `finalized` tag. */
  readonly confirmations: number;
  /** First block to ingest; null leaves it to START_BLOCK and its default. */
  readonly startBlock: number | null;
  /** Public endpoints. Those that a CHAIN_CONFIG names are used without RPC_URL, the built-in ones are documentation. */
  readonly rpcUrls: readonly string[];
  /** URL of a picture. */
  readonly logo?: string;
  readonly dexes: readonly Dex[];
}

/** First block of the first start: a number, or so many blocks before the head. */
export type StartBlock =
  | { readonly kind: 'absolute'; readonly block: number }
  | { readonly kind: 'before_head'; readonly blocks: number };
