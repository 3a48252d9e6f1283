/**
 * The state of a pool of Balancer V3: how the events of the vault change it. The vault keeps a part of each fee outside the
 * balances, for the protocol and the creator of the pool (Vault.sol, _computeAndChargeAggregateSwapFees).
 *
 * The params of a state are: 0 if the rest is unknown, 1 if it is known, 2 in recovery mode; the part of the fee that the
 * vault keeps; the fee of the pool; then the params of a stable pool (stablePool.ts of balancerV2). 1e18 means 100 %.
 */
import type { Hex } from '../../domain/hex';
import { toFeePips } from '../../domain/swapFee';
import { fitsStable, isStable, lacksAmp } from '../balancerV2/stablePool';
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
/** The largest part of its amount by which a swap may differ from the weights: its fee and all balances are exact. */
const WEIGHTS_TOLERANCE = 1e-6;

interface V3Terms {
  /** UNKNOWN, V3_KNOWN or V3_IN_RECOVERY. */
  readonly status: bigint;
  readonly aggregateFee: bigint;
  readonly swapFee: bigint;
  /** The params of a stable pool; empty for a weighted pool, and for a stable pool without a price. */
  readonly curve: readonly bigint[];
}

export function v3PoolOfId(poolId: Hex): Hex {
  return `0x${poolId.slice(-40)}`;
}

export function idOfV3Pool(pool: Hex): Hex {
  return `0x${pool.slice(2).padStart(64, '0')}`;
}

function termsOf({ params }: Pick<ManyTokenState, 'params'>): V3Terms {
  const [status = UNKNOWN, aggregateFee = 0n, swapFee = 0n, ...curve] = params;
  return { status, aggregateFee, swapFee, curve };
}

/** The state with these terms. The same object if nothing changes. */
export function withV3Terms(state: ManyTokenState, changes: Partial<V3Terms>): ManyTokenState {
  const { status, aggregateFee, swapFee, curve } = { ...termsOf(state), ...changes };
  const params = [status, aggregateFee, swapFee, ...curve];
  const isSame = params.length === state.params.length && params.every((one, at) => one === state.params[at]);
  return isSame && swapFee === state.swapFee ? state : { ...state, params, swapFee };
}

/** Whether balances, fees and the kept part are known. */
export function isKnownV3(state: Pick<ManyTokenState, 'params'>): boolean {
  return termsOf(state).status !== UNKNOWN;
}

/** The same pool with the params of a stable pool, for the functions of stablePool.ts. */
export function toStableState<State extends Pick<ManyTokenState, 'params'>>(state: State): State {
  return { ...state, params: state.params.slice(HEAD_LENGTH) };
}

export function isStableV3(state: Pick<ManyTokenState, 'params'>): boolean {
  return isStable(toStableState(state));
}

/** Whether the node must be asked for what changes. */
export function lacksV3Books(state: ManyTokenState): boolean {
  return !isKnownV3(state) || lacksAmp(toStableState(state));
}

/** The state after an event of the pool at this time, unix seconds. The same object if nothing changed. */
export function applyVaultEvent(state: ManyTokenState, event: V3Event, timestamp: number): ManyTokenState {
  const { status, aggregateFee } = termsOf(state);
  const keptOf = (fee: bigint): bigint => (status === V3_IN_RECOVERY ? 0n : (fee * aggregateFee) / ONE);
  switch (event.kind) {
    case 'registered':
      return state;
    case 'swap': {
      const { tokenIn, tokenOut, amountIn, amountOut, feeAmount } = event;
      const moves = [amountIn - keptOf(feeAmount), -amountOut];
      const moved = moveTokens(state, [tokenIn, tokenOut], moves);
      return withDoubts(moved, isExplained(state, event, timestamp) ? 0 : DOUBTS.weights);
    }
    case 'mint':
    case 'burn': {
      const moves = event.amounts.map((amount, index) => {
        const kept = keptOf(event.fees[index] ?? 0n);
        return event.kind === 'mint' ? amount - kept : -amount - kept;
      });
      return moveTokens(state, state.tokens, moves);
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
  if (isStableV3(state)) return fitsStable({ ...toStableState(state), swapFee }, swap, timestamp, 'v3');
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
