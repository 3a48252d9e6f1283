/**
 * What the logs of Balancer V2 change in their pools. A swap for the pool's own share is a mint, and a swap of the share
 * a burn. A pool's token list never changes after the pool is added: only managed pools change their tokens, and managed
 * pools have no price.
 */
import type { ChainLog } from '../../domain/block';
import { isHash, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { toFeePips } from '../../domain/swapFee';
import { readWords } from '../abiArrays';
import { DOUBTS } from '../../domain/pools/doubts';
import { emptyManyTokenState, withBalances, withDoubts } from '../manyTokenPool';
import type {
  LiquidityMove,
  ManyTokenCreation,
  ManyTokenState,
  ManyTokenStep,
  ManyTokenSwap,
} from '../manyTokenProtocol';
import {
  decodeBalancerEvent,
  poolOfId,
  shareMoveOf,
  SWAP_FEE_CHANGED,
  type BalanceChanged,
  type BalancerEvent,
} from './decodeBalancerEvent';
import { fitsStable, isStable } from './stablePool';
import { applyBalancerEvent, withManagers } from './weightedPool';

/** The pool id in topic 1, which all events of the vault about one pool have. */
export function idOfBalancerLog({ topics: [, poolId] }: ChainLog): Hex | null {
  return isHash(poolId) ? poolId : null;
}

/** The fee of a SwapFeePercentageChanged log, where 1e18 means 100 %. Null for another log. */
export function decodeFeeChange({ topics, data }: Pick<ChainLog, 'topics' | 'data'>): bigint | null {
  const [fee, ...rest] =
    topics[0] === SWAP_FEE_CHANGED && topics.length === 1 ? (readWords(data, 1) ?? []) : [];
  return fee === undefined || rest.length > 0 ? null : fee;
}

export function readBalancerLog(
  state: ManyTokenState,
  log: ChainLog,
  _logs: readonly ChainLog[],
  timestamp: number,
): ManyTokenStep | 'other' | 'malformed' {
  const event = decodeBalancerEvent(log);
  if (event === null) return 'malformed';
  // A contract may register several pools in the vault. Only the pool of its first registration is used.
  if (event.kind === 'pool_registered') return 'other';
  if ('poolId' in event && event.poolId !== state.poolId) return 'other';
  const moved =
    event.kind === 'tokens_registered'
      ? withManagers(state, event.assetManagers)
      : applyBalancerEvent(state, event);
  const isDoubted = swapOf(event, moved) !== null && !isExplained(state, event, timestamp);
  const after = withDoubts(moved, isDoubted ? DOUBTS.weights : 0);
  const kind = kindOf(event);
  // A doubt changes the pool's value, so a new doubt is stored. The fee is stored by its log, the params are not.
  const isChanged = after.doubts !== state.doubts || after.params !== state.params;
  const isStored = kind === 'register' ? isChanged || isStable(state) : kind !== 'fee' || isChanged;
  return { after, kind, isStored, swap: swapOf(event, after), liquidity: liquidityOf(event, state) };
}

/** Whether the formula of a stable pool explains the swap. A pool with an asset manager trades with other balances. */
function isExplained(state: ManyTokenState, event: BalancerEvent, timestamp: number): boolean {
  if (event.kind !== 'swap' || (state.doubts & DOUBTS.managed) > 0) return true;
  return fitsStable(state, event, timestamp);
}

function swapOf(event: BalancerEvent, { swapFee }: ManyTokenState): ManyTokenSwap | null {
  if (event.kind !== 'swap' || shareMoveOf(event) !== null) return null;
  const { tokenIn, tokenOut, amountIn, amountOut } = event;
  const [sender, recipient, feePips] = [ZERO_ADDRESS, ZERO_ADDRESS, toFeePips(swapFee)];
  return { tokenIn, tokenOut, amountIn, amountOut, feePips, sender, recipient };
}

const isExit = ({ deltas }: BalanceChanged): boolean => deltas.some((delta) => delta < 0n);

/** What a join or an exit moved. Null for other events. */
function liquidityOf(event: BalancerEvent, { tokens }: ManyTokenState): LiquidityMove | null {
  if (event.kind === 'balance_changed') {
    const amounts = event.tokens.map((token, index) => {
      const delta = event.deltas[index] ?? 0n;
      return { token, amount: delta < 0n ? -delta : delta };
    });
    return { kind: isExit(event) ? 'burn' : 'mint', owner: event.provider, shares: null, amounts };
  }
  const move = event.kind === 'swap' ? shareMoveOf(event) : null;
  if (move === null || !tokens.includes(move.token)) return null;
  return { kind: move.kind, owner: ZERO_ADDRESS, shares: null, amounts: [move] };
}

/** A transfer by an asset manager counts neither as a trade nor as liquidity of a provider. */
function kindOf(event: Exclude<BalancerEvent, { kind: 'pool_registered' }>): ManyTokenStep['kind'] {
  if ('pool' in event && !('poolId' in event)) return 'fee';
  if (event.kind === 'tokens_registered') return 'register';
  if (event.kind === 'swap') return shareMoveOf(event)?.kind ?? 'swap';
  if (event.kind === 'balance_managed') return 'collect';
  return isExit(event) ? 'burn' : 'mint';
}

/**
 * Tokens, fee and amplification from the registering transaction. The pool's constructor emits the fee before the
 * registration (BasePool.sol). Pools of other vaults may emit the fee later. Null if the log is malformed or
 * names no tokens.
 */
export function readRegistration(log: ChainLog, logs: readonly ChainLog[]): ManyTokenCreation | null {
  const registered = decodeBalancerEvent(log);
  if (registered?.kind !== 'pool_registered') return null;
  const { poolId } = registered;
  let tokens: readonly Hex[] | null = null;
  let managers: readonly Hex[] = [];
  let swapFee = 0n;
  let feeAfter = 0n;
  let params: readonly bigint[] = [];
  for (const other of logs) {
    if (other.transactionHash !== log.transactionHash) continue;
    if (other.address === poolOfId(poolId) && other.topics[0] === SWAP_FEE_CHANGED) {
      const fee = decodeFeeChange(other);
      if (fee === null) continue;
      feeAfter = fee;
      if (other.logIndex < log.logIndex) swapFee = fee;
    }
    const own = other.address === poolOfId(poolId) ? decodeBalancerEvent(other) : null;
    if (own?.kind === 'amp_changed') params = own.ramp;
    if (tokens !== null || other.address !== log.address || other.logIndex < log.logIndex) continue;
    const event = decodeBalancerEvent(other);
    if (event?.kind !== 'tokens_registered' || event.poolId !== poolId) continue;
    tokens = event.tokens;
    managers = event.assetManagers;
  }
  if (tokens === null) return null;
  const begun = { ...emptyManyTokenState(poolId), tokens, swapFee, params };
  const empty = withBalances(begun, { tokens: [], balances: [] });
  return { state: withManagers(empty, managers), swapFee: feeAfter };
}
