/**
 * The interface of a DEX protocol: topics, decoders written by hand, the effect of an event on a pool's state, and
 * the marginal price of a state. Each family of protocols has a folder. The ingester stores the rows.
 */
import type { ChainLog } from '../domain/block';
import type { ContractCall } from '../domain/contractCall';
import type { Hex } from '../domain/hex';
import type { Dex, Pool, PoolState } from '../domain/pool';
import type { BinMove } from '../domain/pools/binMoves';
import type { PoolType } from '../domain/pools/poolShape';
import type { BinQuestions } from './ticks/binQuestions';
import type { OwedQuestions } from './ticks/positionManager';
import type { TickQuestions } from './ticks/tickQuestions';

/** A swap. Amounts are changes of the pool's balances in raw units, positive into the pool. V2: net amount
 * per token (in − out). */
export interface SwapEvent {
  readonly kind: 'swap';
  readonly sender: Hex;
  readonly recipient: Hex;
  readonly amount0: bigint;
  readonly amount1: bigint;
  /** V3: the state of the pool that the event contains; null for V2. */
  readonly after: { readonly sqrtPriceX96: bigint; readonly liquidity: bigint; readonly tick: number } | null;
  /** Fees of this swap alone, if the event has them. */
  readonly ownFees?: OwnFees;
  /** Parts of the amounts that the pool keeps for the protocol, outside its reserves. */
  readonly protocolFees?: readonly [fee0: bigint, fee1: bigint];
  /** Changes of bins. Absent for pools without bins; the same in the events of liquidity and loans. */
  readonly bins?: readonly BinMove[];
}

/** Fees of a single swap, in pips. An override of 0 means the fee of the pool. The plugin's fee is added. */
interface OwnFees {
  readonly overridePips: number;
  readonly pluginPips: number;
}

/** Algebra SwapFee: the fees of the next swap of the pool. */
export interface SwapFeeEvent extends OwnFees {
  readonly kind: 'swap_fee';
}

/** Algebra Fee: the pool's fees of swaps that pay in token0 and in token1, in pips. */
export interface FeeEvent {
  readonly kind: 'fee';
  readonly fee0Pips: number;
  readonly fee1Pips: number;
}

/** Camelot SetStableSwap: the pool changes between the curves x·y = k and x³y + y³x = k. */
export interface CurveSwitchEvent {
  readonly kind: 'curve';
  readonly isStable: boolean;
}

export interface MintEvent {
  readonly kind: 'mint';
  /** V3: the owner that the event names; V2: the sender. */
  readonly owner: Hex;
  readonly amount0: bigint;
  readonly amount1: bigint;
  /** V3: liquidity added. V2: null, because the LP tokens are in a separate Transfer, which the ingester
   * finds. */
  readonly liquidity: bigint | null;
  readonly tickLower: number | null;
  readonly tickUpper: number | null;
  /** The first price and liquidity of a pool, if the event sets them. */
  readonly after?: SwapEvent['after'];
  readonly bins?: readonly BinMove[];
  /** Uniswap V4: the salt of the position. A position manager uses the number of its NFT. */
  readonly salt?: bigint;
}

export interface BurnEvent {
  readonly kind: 'burn';
  /** V3: the owner that the event names; V2: the recipient (`to`). */
  readonly owner: Hex;
  readonly amount0: bigint;
  readonly amount1: bigint;
  readonly liquidity: bigint | null;
  readonly tickLower: number | null;
  readonly tickUpper: number | null;
  readonly bins?: readonly BinMove[];
  /** As in MintEvent. */
  readonly salt?: bigint;
}

/** V2 Sync: the reserves are the whole state of the pool. */
export interface SyncEvent {
  readonly kind: 'sync';
  readonly reserve0: bigint;
  readonly reserve1: bigint;
}

/** V3 Initialize: the first price. */
export interface InitializeEvent {
  readonly kind: 'initialize';
  readonly sqrtPriceX96: bigint;
  readonly tick: number;
}

/** V3 Collect: tokens that a burn released leave the pool. */
export interface CollectEvent {
  readonly kind: 'collect';
  readonly owner: Hex;
  readonly recipient: Hex;
  readonly amount0: bigint;
  readonly amount1: bigint;
  readonly tickLower: number;
  readonly tickUpper: number;
}

/** V3 CollectProtocol: protocol fees leave the pool. */
export interface CollectProtocolEvent {
  readonly kind: 'collect_protocol';
  readonly owner: Hex;
  readonly recipient: Hex;
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/** V3 Flash: `paid` is the amount paid beyond the loan, positive into the pool. */
export interface FlashEvent {
  readonly kind: 'flash';
  readonly owner: Hex;
  readonly recipient: Hex;
  readonly amount0: bigint;
  readonly amount1: bigint;
  readonly bins?: readonly BinMove[];
}

export type PoolEvent =
  | SwapEvent
  | MintEvent
  | BurnEvent
  | SyncEvent
  | InitializeEvent
  | CollectEvent
  | CollectProtocolEvent
  | FlashEvent
  | FeeEvent
  | SwapFeeEvent
  | CurveSwitchEvent;

/** The content of a factory's creation event. */
export interface PoolCreation {
  readonly pool: Hex;
  /** As in Pool. */
  readonly id?: Hex;
  readonly hooks?: Hex | null;
  readonly hookBits?: number | null;
  readonly token0: Hex;
  readonly token1: Hex;
  /** Fee in pips; null if the DEX has one fixed fee (V2). */
  readonly feePips: number | null;
  readonly tickSpacing: number;
  /** Type of the pool, if the protocol has several. */
  readonly poolType?: PoolType;
  /** As in Pool. */
  readonly scaleDecimals?: Pool['scaleDecimals'];
}

/** What the rest of the program must know about every protocol. */
export interface ProtocolTraits {
  /** Name in the chain description and in the table pools. */
  readonly name: string;
  /** Types of its pools. The first type is that of a DEX without pools. */
  readonly poolTypes: readonly [PoolType, ...PoolType[]];
  /** topic0 of the logs that are read again later, and are therefore kept at any age. */
  readonly keptTopics: readonly Hex[];
  /**
   * Whether a pool's first mint sends LP tokens to the zero address, where nobody can use them. They count in the supply.
   */
  readonly locksSharesAtZero: boolean;
  /** Whether a pool pays the protocol by minting LP tokens with the next mint or burn. */
  readonly mintsProtocolShares: boolean;
  /** The protocol's part of the swap fee where each pool has its own. Null if the DEX has one part for all pools. */
  readonly feeSplit: FeeSplit | null;
  /** Events of a pool that change its fee. Null if no event does. */
  readonly feeChange: FeeChange | null;
}

/** Parts of the fees that are paid in token0 and in token1, 0 to 1. */
export interface ProtocolShares {
  readonly share0: number;
  readonly share1: number;
}

/** The parts before and after a change. A part is null if its values are out of range. */
export interface SharesChange {
  readonly before: ProtocolShares | null;
  readonly after: ProtocolShares | null;
}

/** The parts in a pool's slot0(). `isReady` is false for a pool without a first price, which has no parts yet. */
export interface FirstShares {
  readonly isReady: boolean;
  readonly shares: ProtocolShares | null;
}

interface SplitPart {
  /** The part applies to swaps above this position (`ord`), up to the next part. */
  readonly fromOrd: number;
  /** Null if unknown. */
  readonly shares: ProtocolShares | null;
}

/** The protocol's parts of a pool's fees over time, oldest first; the first part starts at 0. */
export type ProtocolSplit = readonly SplitPart[];

/** The fees of swaps that pay in token0 and in token1, in pips. */
export type SwapFees = readonly [fee0: number, fee1: number];

interface FeeChange {
  readonly topics: readonly Hex[];
  /** The fees after the event. Null for another topic or a malformed layout. */
  readonly decodeFees: (log: Pick<ChainLog, 'topics' | 'data'>) => SwapFees | null;
}

interface FeeSplit {
  /** Decodes an event that changes the parts. Null for another topic or a malformed layout. */
  decodeChange(log: Pick<ChainLog, 'topics' | 'data'>): SharesChange | null;
  /** Decodes an answer of slot0(). Null for an answer of another layout. */
  decodeSlot0(answer: Hex): FirstShares | null;
}

/** The part of a pool that determines its prices. */
export type PoolTerms = Pick<
  Pool,
  'poolType' | 'token0' | 'token1' | 'feePips' | 'tickSpacing' | 'scaleDecimals' | 'hooks' | 'hookBits'
>;

/** A protocol of pools of two tokens. Each pool is a contract that emits its own events, unless there is `poolOf`. */
export interface Protocol extends ProtocolTraits, PoolQuestions {
  readonly hasManyTokens: false;
  /** topic0 of the events with which the factory creates a pool. */
  readonly creationTopics: ReadonlySet<Hex>;
  /** topic0 of each event that this protocol's decoder reads. */
  readonly eventTopics: ReadonlySet<Hex>;
  /**
   * Whether a `sync` event with the reserves comes before each swap, mint and burn of the same transaction. Only `sync`
   * and `curve` then make a state row, and a swap without a `sync` has no price.
   */
  readonly hasSync: boolean;
  /** Whether only a Transfer of the pool's own token tells the LP tokens of a mint or burn. */
  readonly hasShareTransfers: boolean;
  /**
   * Whether the balances of a pool are the sum of the Transfers of its tokens, because its events leave payments out.
   * `applyEvent` then leaves the balances as they are.
   */
  readonly hasTokenTransfers: boolean;
  /**
   * Decodes the creation event of a pool. Null if the log has the event's topic but a malformed layout; the
   * caller counts such logs.
   */
  decodeCreation(log: ChainLog): PoolCreation | null;
  /**
   * The key of the pool that an event of the factory concerns, where the factory emits the events of all pools. Absent
   * if each pool is a contract.
   */
  poolOf?(log: Pick<ChainLog, 'topics'>): Hex;
  /**
   * Decodes an event of a pool. `state` is the state before the event, where the amounts depend on it. Null for an
   * unknown topic or a malformed layout. Never throws.
   */
  decodeEvent(log: ChainLog, state: PoolState): PoolEvent | null;
  /**
   * The event that a Transfer of a token of the pool is, given the net amounts that moved into the pool since the state.
   * Absent without `hasTokenTransfers`, and if no Transfer is an event.
   */
  readTransfer?(state: PoolState, moved0: bigint, moved1: bigint): PoolEvent | null;
  /** The state after the event. The same object if nothing changed. Balances never become negative. */
  applyEvent(state: PoolState, event: PoolEvent): PoolState;
  /** Marginal price as raw token1 per raw token0: a finite float64 > 0, or null if the pool has no price. */
  spotPrice(state: PoolState, pool: PoolTerms): number | null;
  /**
   * Fee of a swap in pips (1e6 = 100 %). `before` is the state before the swap, and before its sync; null if it is
   * unknown.
   */
  swapFeePips(pool: PoolTerms, swap: SwapEvent, before: PoolState | null, after: PoolState): number;
  /**
   * The amount that the contract pays out for `amountIn`, raw, to the last unit. Null if the state does not tell: the
   * swap would leave the range of the active liquidity, or the pool is empty.
   */
  quote(pool: PoolTerms, state: PoolState, amountIn: bigint, isToken0In: boolean): bigint | null;
  /** What is asked about a pool whose creation was not seen, where there is `poolOf`. Absent if nobody can be asked. */
  readonly idQuestions?: IdQuestions;
  /** What is asked about the ticks of a pool. Absent if it answers `v3TickQuestions`, or has no ticks. */
  readonly tickQuestions?: TickQuestions;
  /** What is asked about the bins of a pool. Absent if its pools have none. */
  readonly binQuestions?: BinQuestions;
  /** What is asked about the positions of NFTs. Absent if their manager answers `collectQuestions`, or has no NFTs. */
  readonly owedQuestions?: OwedQuestions;
}

/** What the node is asked about pools. All but the details concern pools whose creation event is not stored. */
export interface PoolQuestions {
  /** Functions of a pool without arguments, such as `token0()`. */
  readonly factCalls: readonly string[];
  /** The creation that the answers by function describe. Null if the contract is no pool of this protocol. */
  readFacts(pool: Hex, answers: ReadonlyMap<string, Hex | null>): PoolCreation | null;
  /** Calls of the factory. The answer to one of them names a real pool; any contract can claim to be a pool. */
  confirmCalls(factory: Hex, creation: PoolCreation): readonly ContractCall[];
  /** Calls for what the creation event does not tell, at any age of the pool. Empty if it tells all. */
  detailCalls(factory: Hex, creation: PoolCreation): readonly ContractCall[];
  /** The creation with the answers to `detailCalls`. An answer of null leaves its detail unknown. */
  readDetails(creation: PoolCreation, answers: readonly (Hex | null)[]): PoolCreation;
  /** Calls whose answers `readState` reads. */
  stateCalls(creation: PoolCreation): readonly ContractCall[];
  /** The state by the answers. Null if a part is unknown. */
  readState(answers: readonly (Hex | null)[]): PoolState | null;
  /** Further calls that `readLastMove` needs beside the answers to `stateCalls`. */
  lastMoveCalls(pool: Hex, stateAnswers: readonly (Hex | null)[]): readonly ContractCall[];
  /** Time of the pool's last move, unix seconds, modulo 2^32. Null if unknown. */
  readLastMove(stateAnswers: readonly (Hex | null)[], answers: readonly (Hex | null)[]): bigint | null;
  /** Whether the factory lists all pools by allPairsLength() and allPairs(uint256). */
  readonly listsPools: boolean;
}

/** What the node is asked about pools without a contract, of which only an id is known. */
export interface IdQuestions {
  /** The call that describes the pool of this id. Null if the DEX has no contract that knows its pools. */
  describeCall(dex: Pick<Dex, 'factory' | 'positionManager'>, id: Hex): ContractCall | null;
  /** The creation by the answer. Null if the answer is not that of this id. */
  readCreation(id: Hex, answer: Hex | null): PoolCreation | null;
  /** Further calls about the state, by the answers to all calls before, in their order. Empty when there are no more. */
  stateCalls(factory: Hex, creation: PoolCreation, answers: readonly (Hex | null)[]): readonly ContractCall[];
  /** The state by the answers to all calls. Null if a part is unknown. */
  readState(creation: PoolCreation, answers: readonly (Hex | null)[]): PoolState | null;
}

/** Builds a pool from its creation event and its DEX. */
export function toPool(protocol: Protocol, dex: Dex, creation: PoolCreation): Pool {
  return {
    address: creation.pool,
    id: creation.id ?? null,
    hooks: creation.hooks ?? null,
    hookBits: creation.hookBits ?? null,
    dex: dex.name,
    protocol: protocol.name,
    poolType: creation.poolType ?? protocol.poolTypes[0],
    factory: dex.factory,
    token0: creation.token0,
    token1: creation.token1,
    feePips: creation.feePips ?? Math.round((dex.feeBps ?? 30) * 100),
    tickSpacing: creation.tickSpacing,
    scaleDecimals: creation.scaleDecimals ?? null,
  };
}
