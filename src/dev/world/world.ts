/** The contents of a development chain after its creation. */
import type { Hex } from '../../domain/hex';

/** Contents of a CHAIN_CONFIG file as JSON. */
export interface ChainConfigFile {
  readonly chainId: number;
  readonly name: string;
  readonly nativeSymbol: string;
  readonly wrappedNative: Hex;
  readonly anchors: readonly { readonly address: Hex; readonly symbol: string; readonly priceUsd: number }[];
  readonly majors: readonly Hex[];
  readonly burn: { readonly token: Hex; readonly addresses: readonly Hex[] };
  readonly treasuries: readonly { readonly address: Hex; readonly label: string }[];
  readonly confirmations: number;
  readonly startBlock: number;
  readonly rpcUrls: readonly string[];
  readonly dexes: readonly DexConfig[];
}

export interface DexConfig {
  readonly name: string;
  readonly displayName: string;
  readonly protocol: string;
  readonly factory: Hex;
  readonly feeBps?: number;
  readonly positionManager?: Hex;
  readonly startBlock: number;
}

export type TokenContract = 'WrappedNative' | 'DevToken' | 'OddToken';

export interface WorldToken {
  /** Key of the token in the plan, such as `usdc`. */
  readonly key: string;
  readonly address: Hex;
  /** Name of the contract in src/dev/contracts. */
  readonly contract: TokenContract;
  /** Decimals that the contract uses. For a token whose decimals cannot be read, the planned value. */
  readonly decimals: number;
  /** USD per whole token at the start, which is the centre of its price walk. */
  readonly priceUsd: number;
  /** Long-run standard deviation of the logarithm of the price. */
  readonly volatility: number;
}

export interface WorldPool {
  /** Index of the pool in the trader contract's list. */
  readonly index: number;
  readonly address: Hex;
  readonly dex: string;
  readonly protocol: 'uniswap_v2' | 'uniswap_v3';
  /** The pool's two tokens, as its contract orders them: token0 has the lower address. */
  readonly token0: WorldToken;
  readonly token1: WorldToken;
  readonly feePips: number;
  /** USD on each side of the pool at the start. */
  readonly sideUsd: number;
  /** Relative share of the trades that go to this pool. */
  readonly popularity: number;
}

/** The addresses of one V2 exchange. */
interface V2Exchange {
  readonly factory: Hex;
  readonly router: Hex;
}

export interface World {
  readonly chainDescription: ChainConfigFile;
  /** Unlocked accounts. The first account deployed everything. */
  readonly accounts: readonly Hex[];
  /** The trader contract, which owns a stock of tokens and most liquidity. */
  readonly trader: Hex;
  readonly multicall3: Hex;
  readonly wrappedNative: Hex;
  readonly v2: readonly V2Exchange[];
  readonly v3: { readonly factory: Hex; readonly router: Hex; readonly positionManager: Hex };
  readonly tokens: readonly WorldToken[];
  readonly pools: readonly WorldPool[];
  /** The plan of each pool in `pools`, in the same order. */
  readonly poolPlans: readonly PoolPlan[];
  /** Pools that the history opens, each at a fraction (0 to 1) of its length. */
  readonly launches: readonly Launch[];
  /** Number of accounts, after the first, that hold tokens and may use the routers. */
  readonly holders: number;
}

export interface Launch {
  readonly atFraction: number;
  readonly plan: PoolPlan;
}

/** A pool to create. */
export interface PoolPlan {
  readonly dex: string;
  readonly base: string;
  readonly quote: string;
  /** USD on each side of the pool at the start. For V3, as if the liquidity covered the whole range. */
  readonly sideUsd: number;
  readonly popularity: number;
  /** Fee in pips; V3 only. */
  readonly fee?: number;
}
