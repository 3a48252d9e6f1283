/**
 * The state of a pool of Balancer V3: how the events of the vault change it. The vault keeps a part of each fee outside the
 * balances, for the protocol and the creator of the pool (Vault.sol, _computeAndChargeAggregateSwapFees).
 *
 * The params of a state are: a status; the part of the fee that the vault keeps; the fee of the pool; the balances that the
 * node told; the params of a stable pool (stablePool.ts of balancerV2), or the rate of a buffer (bufferPool.ts). 1e18 means
 * 100 %. The status is 0 if the rest is unknown, 1 if it is known, 2 in recovery mode, 3 for a buffer; plus 4 times a value of
 * RATED, plus 16 times the number of told balances.
 */
import { clampAmount, UINT256_MAX } from '../../domain/amounts';
import type { Hex } from '../../domain/hex';
import { toFeePips } from '../../domain/swapFee';
import { explainsStable, fitsStable, isStable, lacksTerms } from '../balancerV2/stablePool';
import { termsDoubt } from '../balancerV2/vaultDoubts';
import { fitsWeights } from '../balancerV2/weightedMath';
import { ONE } from '../balancerV2/weightedPool';
import { DOUBTS } from '../../domain/pools/doubts';
import { moveTokens, withDoubts } from '../manyTokenPool';
import type { ManyTokenState } from '../manyTokenProtocol';
import type { V3Event } from './decodeV3Event';

const HEAD_LENGTH = 3;
const UNKNOWN = 0n;
export const V3_KNOWN = 1n;
export const V3_IN_RECOVERY = 2n;
export const V3_BUFFER = 3n;
/**
 * Whether something moves the pool without an event: rates of a stable pool, or fees on yield. `certain` or `doubtful`: the last
 * swap followed from what the node told, or not. `untold`: the node had no answer for this block.
 */
const RATED = { no: 0n, certain: 1n, doubtful: 2n, untold: 3n } as const;
/** The largest part of its amount by which a swap may differ from the weights: its fee and all balances are exact. */
const WEIGHTS_TOLERANCE = 1e-6;

interface V3Terms {
  /** UNKNOWN, V3_KNOWN, V3_IN_RECOVERY or V3_BUFFER. */
  readonly status: bigint;
  readonly aggregateFee: bigint;
  readonly swapFee: bigint;
  /** A value of RATED. */
  readonly rated: bigint;
  /** The balances at the end of the block, from the answers of the node until an event of the vault uses them. */
  readonly told: readonly bigint[];
  /** The params of a stable pool, or the rate of a buffer; empty for a weighted pool, and for a pool without a price. */
  readonly curve: readonly bigint[];
}

export function v3PoolOfId(poolId: Hex): Hex {
  return `0x${poolId.slice(-40)}`;
}

export function idOfV3Pool(pool: Hex): Hex {
  return `0x${pool.slice(2).padStart(64, '0')}`;
}

function termsOf({ params }: Pick<ManyTokenState, 'params'>): V3Terms {
  const [head = UNKNOWN, aggregateFee = 0n, swapFee = 0n] = params;
  const curveAt = HEAD_LENGTH + Number(head >> 4n);
  const [told, curve] = [params.slice(HEAD_LENGTH, curveAt), params.slice(curveAt)];
  return { status: head & 3n, rated: (head >> 2n) & 3n, aggregateFee, swapFee, told, curve };
}

/** Returns the state with these terms, or the same object if nothing changes. */
export function withV3Terms(state: ManyTokenState, changes: Partial<V3Terms>): ManyTokenState {
  const { status, aggregateFee, swapFee, rated, told, curve } = { ...termsOf(state), ...changes };
  const head = status | (rated << 2n) | (BigInt(told.length) << 4n);
  const params = [head, aggregateFee, swapFee, ...told, ...curve];
  const isSame = params.length === state.params.length && params.every((one, at) => one === state.params[at]);
  return isSame && swapFee === state.swapFee ? state : { ...state, params, swapFee };
}

/** Whether balances, fees and the kept part are known. */
export function isKnownV3(state: Pick<ManyTokenState, 'params'>): boolean {
  return termsOf(state).status !== UNKNOWN;
}

/** Whether the state is that of a buffer of the vault, which is no pool. */
export function isBufferV3(state: Pick<ManyTokenState, 'params'>): boolean {
  return termsOf(state).status === V3_BUFFER;
}

/** Whether the last swap followed from what the node told, or needs no answer of the node. */
export function isCertainV3(state: Pick<ManyTokenState, 'params'>): boolean {
  const { rated, told, curve } = termsOf(state);
  return rated <= RATED.certain && (told.length === 0 || curve.length > 0);
}

/** Whether the node is asked for rates and balances in each block with an event of the pool. */
export function isRatedV3(state: Pick<ManyTokenState, 'params'>): boolean {
  return termsOf(state).rated !== RATED.no;
}

/** Returns the pool with these answers of the node about the end of the block. `answers` is null if the node gave none. */
export function withTold(
  state: ManyTokenState,
  answers: { readonly balances: readonly bigint[]; readonly curve: readonly bigint[] } | null,
): ManyTokenState {
  if (answers === null) return withV3Terms(state, { rated: RATED.untold, told: [] });
  const { rated } = termsOf(state);
  const { balances: told, curve } = answers;
  return withV3Terms(state, { rated: rated === RATED.untold ? RATED.doubtful : rated, told, curve });
}

/**
 * The state before the first of these events: all events of the vault about the pool in this block from there on. Its balances
 * are those at the end of the block without the moves of the events. So a fee on yield, which no event tells, counts as taken
 * before. The swaps of a stable pool show whether it was. A weighted pool has no price before the last event of such a block.
 * `isFirst`: the block has no earlier event.
 */
export function beforeEvents(
  state: ManyTokenState,
  events: readonly V3Event[],
  isFirst: boolean,
): ManyTokenState {
  const { told, curve } = termsOf(state);
  if (told.length === 0) return state;
  let terms = state;
  const balances = [...told];
  for (const event of events) {
    movesOf(terms, event).forEach((move, index) => {
      balances[index] = (balances[index] ?? 0n) - move;
    });
    if (event.kind !== 'swap') terms = applyVaultEvent(terms, event, 0);
  }
  const before = balances.map((balance) => clampAmount(balance, UINT256_MAX));
  const isCut = !isFirst || before.some((balance, index) => balance < (state.balances[index] ?? 0n));
  const isOpen = isCut && events.length > 1 && curve.length === 0;
  return { ...withV3Terms(state, { told: isOpen ? told : [] }), balances: before };
}

/** The same pool with the params of a stable pool, for the functions of stablePool.ts. */
export function toStableState<State extends Pick<ManyTokenState, 'params'>>(state: State): State {
  return { ...state, params: termsOf(state).curve };
}

export function isStableV3(state: Pick<ManyTokenState, 'params'>): boolean {
  return isStable(toStableState(state));
}

/** Whether the node must be asked for what changes. */
export function lacksV3Books(state: ManyTokenState): boolean {
  return !isKnownV3(state) || lacksTerms(toStableState(state));
}

/** The state after an event of the pool at this time, unix seconds. The same object if nothing changed. */
export function applyVaultEvent(state: ManyTokenState, event: V3Event, timestamp: number): ManyTokenState {
  const moved = moveTokens(state, state.tokens, movesOf(state, event));
  const { status, rated } = termsOf(state);
  switch (event.kind) {
    case 'registered':
    case 'mint':
    case 'burn':
      return moved;
    case 'swap': {
      const isFit = isExplained(state, event, timestamp);
      if (rated === RATED.no) return withDoubts(moved, isFit ? 0 : DOUBTS.weights);
      if (rated === RATED.untold) return moved;
      return withV3Terms(moved, { rated: isFit ? RATED.certain : RATED.doubtful });
    }
    case 'swap_fee':
      return withDoubts(withV3Terms(state, { swapFee: event.fee }), termsDoubt([], toFeePips(event.fee)));
    case 'aggregate_fee':
      return withV3Terms(state, { aggregateFee: event.fee });
    case 'recovery':
      return status === UNKNOWN
        ? state
        : withV3Terms(state, { status: event.isOn ? V3_IN_RECOVERY : V3_KNOWN });
  }
}

/** What an event adds to the balance of each token. */
function movesOf(state: ManyTokenState, event: V3Event): readonly bigint[] {
  const { status, aggregateFee } = termsOf(state);
  const keptOf = (fee: bigint): bigint => (status === V3_IN_RECOVERY ? 0n : (fee * aggregateFee) / ONE);
  if (event.kind === 'swap') {
    const { tokenIn, tokenOut, amountIn, amountOut, feeAmount } = event;
    const [paid, out] = [state.tokens.indexOf(tokenIn), state.tokens.indexOf(tokenOut)];
    return state.tokens.map(
      (_token, index) =>
        (index === paid ? amountIn - keptOf(feeAmount) : 0n) - (index === out ? amountOut : 0n),
    );
  }
  if (!('amounts' in event)) return [];
  return event.amounts.map(
    (amount, index) => (event.kind === 'mint' ? amount : -amount) - keptOf(event.fees[index] ?? 0n),
  );
}

/**
 * Whether the formula of the pool explains the swap. Anyone may register a contract that answers as a weighted or a stable
 * pool. True if the state does not tell.
 */
function isExplained(
  state: ManyTokenState,
  swap: Extract<V3Event, { kind: 'swap' }>,
  timestamp: number,
): boolean {
  if (!isKnownV3(state) || (state.doubts & DOUBTS.unfollowed) > 0) return true;
  const { tokenIn, tokenOut, amountIn, amountOut, swapFee } = swap;
  const charged = { ...toStableState(state), swapFee };
  if (isStable(charged) && isRatedV3(state)) return explainsStable(charged, swap, timestamp);
  if (isStable(charged)) return fitsStable(charged, swap, timestamp, 'v3');
  const { tokens, balances, weights } = state;
  const [into, out] = [tokens.indexOf(tokenIn), tokens.indexOf(tokenOut)];
  const [balanceIn, balanceOut] = [balances[into], balances[out]];
  const [weightIn, weightOut] = [weights?.[into], weights?.[out]];
  if (balanceIn === undefined || balanceOut === undefined) return true;
  if (weightIn === undefined || weightOut === undefined) return true;
  const feePips = Number(swapFee) / 1e12;
  const terms = { balanceIn, balanceOut, weightIn, weightOut, amountIn, amountOut, feePips };
  return fitsWeights(terms, WEIGHTS_TOLERANCE);
}
