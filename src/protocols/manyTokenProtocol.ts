/**
 * The interface of a protocol whose pools have two or more tokens. Its events come from the pools, or from a vault that
 * holds the tokens of all pools.
 */
import type { ChainLog } from '../domain/block';
import type { ContractCall } from '../domain/contractCall';
import type { Hex } from '../domain/hex';
import type { PoolType } from '../domain/pools/poolShape';
import type { ProtocolTraits } from './protocol';

/** The state of a pool of n tokens. A leg names its tokens by their index in `tokens`. */
export interface ManyTokenState {
  /** Id by which a vault names the pool. A pool without an id has its address, padded to 32 bytes. */
  readonly poolId: Hex;
  /** Tokens in chain order. */
  readonly tokens: readonly Hex[];
  /**
   * Raw units that the pool trades with, one number per token. A vault's managed balances are left out. Empty until the
   * tokens are registered, or if unknown. A swap does not change an unknown balance.
   */
  readonly balances: readonly bigint[];
  /** Weights in units where 1e18 means 1, one per token. Null if they are unknown, or if the pool is not weighted. */
  readonly weights: readonly bigint[] | null;
  /** Fee in units where 1e18 means 100 %. 0n means unknown. */
  readonly swapFee: bigint;
  /** Bits of DOUBTS. A doubt about a pool is never removed. */
  readonly doubts: number;
  /**
   * Numbers that the prices of this protocol need beside balances and weights, such as amplification and rates of a
   * stable pool. The protocol defines their order. Stored with each state. Empty if there are none, or if unknown.
   */
  readonly params: readonly bigint[];
}

/** The parts of a state that the store keeps with each state, and the time of the state in unix seconds. */
export interface StoredManyTokenState extends Pick<ManyTokenState, 'balances' | 'doubts' | 'params'> {
  /** Empty if the pool has no weights. */
  readonly weights: readonly bigint[];
  readonly timestamp: number;
}

/** A swap of two tokens, in raw units: into the pool and out of it. */
export interface ManyTokenSwap {
  readonly tokenIn: Hex;
  readonly tokenOut: Hex;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly feePips: number;
  /** The zero address if the event does not name them. */
  readonly sender: Hex;
  readonly recipient: Hex;
}

/** A swap as far as its log alone tells it. A log names tokens by address, or by their index in the list of the pool. */
export interface LoggedSwap extends Pick<ManyTokenSwap, 'amountIn' | 'amountOut'> {
  readonly pool: Hex;
  readonly tokenIn: Hex | number;
  readonly tokenOut: Hex | number;
}

/** Tokens that went into a pool (mint) or out of it (burn), as absolute raw amounts. */
export interface LiquidityMove {
  readonly kind: 'mint' | 'burn';
  /** The provider. The zero address if the event does not name one. */
  readonly owner: Hex;
  /** LP tokens of the move. Null if unknown. */
  readonly shares: bigint | null;
  readonly amounts: readonly { readonly token: Hex; readonly amount: bigint }[];
}

/** What a log changes in a pool of many tokens. */
export interface ManyTokenStep {
  readonly after: ManyTokenState;
  /** Kind of the state's row. `register`: the pool is created or gets tokens; `collect`: neither trade nor liquidity. */
  readonly kind: 'swap' | 'mint' | 'burn' | 'collect' | 'fee' | 'register';
  /** Whether the state gets a row. Without a row, a restart loses the changes of balances, doubts and params. */
  readonly isStored: boolean;
  readonly swap: ManyTokenSwap | null;
  readonly liquidity: LiquidityMove | null;
}

/** A pool at its creation, before the answers to `factCalls`. */
export interface ManyTokenCreation {
  /** The first state; its balances are 0. */
  readonly state: ManyTokenState;
  /** Fee at the end of the creating transaction, in units where 1e18 means 100 %. */
  readonly swapFee: bigint;
}

/** The state of two tokens of a pool in whole tokens, as LegState of src/pricing/leg.ts. */
interface TwoTokenState {
  readonly price: number;
  readonly liquidity: number;
  readonly reserve0: number;
  readonly reserve1: number;
}

/**
 * A protocol of pools of two or more tokens. A factory or a vault creates the pools. Events come from the pools
 * themselves, or from the vault, which names the pool by an id. Functions get the whole logs of a block as `logs`,
 * because some events need others of their transaction. `timestamp` is the time of a state in unix seconds.
 */
export interface ManyTokenProtocol extends ProtocolTraits, ManyTokenQuestions {
  readonly hasManyTokens: true;
  /**
   * Whether the `factory` of the DEX is a vault. It holds the tokens of all pools and transfers only the net amounts of a
   * transaction, and anyone can write the contract of a pool.
   */
  readonly isVault: boolean;
  /** topic0 of the events of the factory or vault about one pool. They include `creationTopics`. */
  readonly factoryTopics: ReadonlySet<Hex>;
  readonly creationTopics: ReadonlySet<Hex>;
  /** topic0 of the events that a pool's own contract emits. */
  readonly poolTopics: ReadonlySet<Hex>;
  /** The id of the pool that an event of the factory or vault is about. Null if malformed. */
  idOfLog(log: ChainLog, logs: readonly ChainLog[]): Hex | null;
  /** The address of the pool with this id. */
  poolOfId(poolId: Hex): Hex;
  /** The id of the pool with this address. Null if only the vault knows it: events of the pool then name no pool. */
  idOfPool(pool: Hex): Hex | null;
  /** The pool that a creation event describes. Null if malformed, or if the pool has no tokens yet. */
  readCreation(log: ChainLog, logs: readonly ChainLog[]): ManyTokenCreation | null;
  /**
   * What an event changes in its pool. `other`: nothing, because it concerns another pool, or no state. Never throws.
   * `statesOf` has the states of another known pool: the newest, then the one before the pool's last log of this block.
   */
  readLog(
    state: ManyTokenState,
    log: ChainLog,
    logs: readonly ChainLog[],
    timestamp: number,
    statesOf: (pool: Hex) => readonly ManyTokenState[],
  ): ManyTokenStep | 'other' | 'malformed';
  /** The swap of a log, for `verify --proof`. Null for another event. */
  decodeSwap(log: ChainLog): LoggedSwap | null;
  /** The fee that an event of a pool's contract sets, where 1e18 means 100 %. Null for another event. */
  decodeSwapFee(log: Pick<ChainLog, 'topics' | 'data'>): bigint | null;
  /** The state with the missing parts, and the doubts, of another state of the same pool. */
  fillState(state: ManyTokenState, other: ManyTokenState): ManyTokenState;
  /** A state from its stored parts. Parts that cannot be true are removed. */
  restoreState(state: ManyTokenState): ManyTokenState;
  /** The token of the shares of a pool with these terms (LP token). Absent or null if it is the pool's own contract. */
  shareToken?(terms: Pick<StoredManyTokenState, 'params'>): Hex | null;
  /**
   * Whether a pool with these terms exchanges tokens by events that are no trades (kind `collect`). Their makers then count
   * as those of trades. Absent if there are no such pools.
   */
  exchangesWithoutSwap?(terms: Pick<StoredManyTokenState, 'params'>): boolean;
  /** Whether the price of a pool with these terms can be computed. Its balances may still be 0. */
  isFollowed(terms: Pick<StoredManyTokenState, 'weights' | 'doubts' | 'params'>): boolean;
  /** Marginal price of token i, raw token j per raw token i: a finite float64 > 0, or null without a price. */
  spotPrice(state: ManyTokenState, i: number, j: number, timestamp: number): number | null;
  /** Raw token j that the pool pays out for raw `amountIn` of token i. Null if unknown. */
  quote(state: ManyTokenState, i: number, j: number, amountIn: bigint, timestamp: number): bigint | null;
  /**
   * Price and reserves of tokens i and j, and the liquidity of the constant product pool with the same depth near the
   * price. The price is 0 if there is none. The same stored state gives the same bits in every process.
   */
  legState(
    state: StoredManyTokenState,
    i: number,
    j: number,
    decimals: readonly [decimalsI: number, decimalsJ: number],
  ): TwoTokenState;
}

/** What the node is asked about pools of many tokens. An answer is null if the call has no usable answer. */
interface ManyTokenQuestions {
  /** Calls about a pool whose creation was not seen. Any contract can claim to be a pool: the factory must confirm. */
  tokenCalls(factory: Hex, poolId: Hex): readonly ContractCall[];
  /** The tokens by the answers to `tokenCalls`. Null if the factory does not know the pool. */
  readTokens(answers: readonly (Hex | null)[]): readonly Hex[] | null;
  /** Calls for what never changes after the creation. */
  factCalls(factory: Hex, state: ManyTokenState): readonly ContractCall[];
  /** The state with the answers to `factCalls`. Null if the pool is of no type of this protocol, or of no pool of `factory`. */
  withFacts(
    state: ManyTokenState,
    answers: readonly (Hex | null)[],
    factory: Hex,
  ): { readonly state: ManyTokenState; readonly poolType: PoolType } | null;
  /** Calls for what changes: balances, fee and params. */
  bookCalls(factory: Hex, state: ManyTokenState): readonly ContractCall[];
  /**
   * The state with those of its parts that were missing, by the answers to `bookCalls`. `isCreation`: the answers are from
   * the end of the block that creates the pool, so the balances may include events that come later in the block.
   */
  withBooks(state: ManyTokenState, answers: readonly (Hex | null)[], isCreation: boolean): ManyTokenState;
  /** Whether a part is missing for which `bookCalls` asks. */
  lacksBooks(state: ManyTokenState): boolean;
  /**
   * Calls for what changes without an event, such as rates of tokens. They are made at the end of each block with an event of
   * the pool, or of its factory or vault about it. `withRates` applies the answers before the events. Absent if each change
   * has an event.
   */
  rateCalls?(factory: Hex, state: ManyTokenState): readonly ContractCall[];
  withRates?(state: ManyTokenState, answers: readonly (Hex | null)[]): ManyTokenState;
  /** Whether `bookCalls` are made at the creation too, at the end of its block, because no event tells the params. */
  readonly readsBooksAtCreation: boolean;
  /** The call for the fee of a pool whose fee event does not make it known. Null if each event makes the pool known. */
  feeCall(pool: Hex): ContractCall | null;
  /** The fee by the answer to `feeCall`. */
  readFee(answer: Hex | null): bigint | null;
}
