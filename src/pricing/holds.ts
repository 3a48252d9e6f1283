/**
 * Tracks the part of a leg's price that changed without a swap. Anyone can donate tokens to a pool. The published
 * price therefore follows such a change only as fast as the 30-minute mean. It follows a swap immediately, because
 * the trader paid for the change.
 */
import type { LegState } from './leg';

/** A state of a leg within a block, and the kind of event that led to it. */
export interface LegStep {
  readonly state: LegState;
  /** `reserve_swap`: a swap in a constant product pool, which may contain a donation. `other`: no swap. */
  readonly cause: 'swap' | 'reserve_swap' | 'other';
}

/**
 * A swap of a constant product pool contains a donation if ln(reserve0 · reserve1) grows by more than this part of the
 * price move. Fees add less.
 */
const DONATION_PART = 0.1;

/**
 * Computes the part of ln(price) that came without a swap, after `steps`. `unswapped` is that part before the steps,
 * and `from` is the state before them. A swap in the opposite direction first reduces this part.
 */
export function followSteps(unswapped: number, from: LegState, steps: readonly LegStep[]): number {
  let unswappedLog = unswapped;
  let lastState = from;
  for (const step of steps) {
    // A pool that is emptied and refilled within a block continues from its last price.
    if (!(step.state.price > 0)) continue;
    if (unswappedLog === 0 && isPlainSwap(step, lastState)) {
      lastState = step.state;
      continue;
    }
    const move = Math.log(step.state.price / lastState.price);
    if (!Number.isFinite(move)) unswappedLog = 0;
    else if (step.cause === 'other') unswappedLog += move;
    else unswappedLog = takeBack(unswappedLog, move) + donatedPart(step, lastState, move);
    lastState = step.state;
  }
  return unswappedLog;
}

/** Whether a step is a swap without a donation. This test needs no logarithm, and most steps pass it. */
function isPlainSwap({ cause, state }: LegStep, stateBefore: LegState): boolean {
  return cause === 'swap' || (cause === 'reserve_swap' && state.liquidity <= stateBefore.liquidity);
}

function takeBack(unswappedLog: number, move: number): number {
  return unswappedLog > 0
    ? Math.max(0, unswappedLog + Math.min(0, move))
    : Math.min(0, unswappedLog + Math.max(0, move));
}

/** The part of a swap's price move that a donation inside the swap caused. */
function donatedPart({ cause, state }: LegStep, stateBefore: LegState, move: number): number {
  if (cause !== 'reserve_swap') return 0;
  const gain = 2 * Math.log(state.liquidity / stateBefore.liquidity);
  return gain > Math.abs(move) * DONATION_PART && Number.isFinite(gain)
    ? Math.sign(move) * Math.min(Math.abs(move), gain)
    : 0;
}
