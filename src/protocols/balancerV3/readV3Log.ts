/** Applies logs of the vault of Balancer V3, and of its pools, to the states of the pools. */
import type { ChainLog } from '../../domain/block';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { toFeePips } from '../../domain/swapFee';
import { decodeBalancerEvent } from '../balancerV2/decodeBalancerEvent';
import { withRamp } from '../balancerV2/stablePool';
import { emptyManyTokenState } from '../manyTokenPool';
import type {
  LiquidityMove,
  ManyTokenCreation,
  ManyTokenState,
  ManyTokenStep,
  ManyTokenSwap,
} from '../manyTokenProtocol';
import { addressOfTopic, isAddressTopic } from '../words';
import { BUFFER_ADDED, BUFFER_TOPICS } from './bufferEvents';
import { flipAddress, readBufferCreation, readBufferLog } from './bufferPool';
import { V3_KEPT_PART_CHANGED, decodeV3Event, type V3Event } from './decodeV3Event';
import {
  applyVaultEvent,
  beforeEvents,
  idOfV3Pool,
  isRatedV3,
  toStableState,
  v3PoolOfId,
  withV3Terms,
} from './vaultState';

/** The pool in topic 1, which all events of the vault about one pool have, or the buffer of the wrapper in topic 1. */
export function idOfV3Log({ topics: [topic = '0x', pool] }: ChainLog): Hex | null {
  if (!isAddressTopic(pool)) return null;
  return BUFFER_TOPICS.has(topic) ? idOfV3Pool(flipAddress(addressOfTopic(pool))) : pool;
}

/** Null if the log is malformed. The node tells the rest at the end of the block. */
export function readV3Creation(log: ChainLog): ManyTokenCreation | null {
  if (log.topics[0] === BUFFER_ADDED) return readBufferCreation(log);
  const event = decodeV3Event(log);
  const poolId = idOfV3Log(log);
  if (poolId === null || event?.kind !== 'registered') return null;
  const { tokens, swapFee } = event;
  const empty = { ...emptyManyTokenState(poolId), tokens, balances: tokens.map(() => 0n) };
  return { state: withV3Terms(empty, { swapFee }), swapFee };
}

export function readV3Log(
  state: ManyTokenState,
  log: ChainLog,
  logs: readonly ChainLog[],
  timestamp: number,
): ManyTokenStep | 'other' | 'malformed' {
  if (log.address === v3PoolOfId(state.poolId)) return readAmp(state, log);
  if (BUFFER_TOPICS.has(log.topics[0] ?? '0x')) return readBufferLog(state, log);
  const event = decodeV3Event(log);
  if (event === null) return 'malformed';
  if ('amounts' in event && event.amounts.length !== state.tokens.length) return 'malformed';
  // The node told the kept part of the fee at the end of the block. If an event of the block changes it, it is unknown.
  const isUncertain = event.kind === 'registered' && logs.some((each) => isKeptChange(each, log));
  const before = isRatedV3(state) ? beforeLog(state, log, logs) : state;
  const start = isUncertain ? withV3Terms(before, { status: 0n }) : before;
  const after = applyVaultEvent(start, event, timestamp);
  const kind = kindOf(event);
  const isStored = kind !== 'fee' || after !== state;
  return { after, kind, isStored, swap: toSwap(event), liquidity: toLiquidity(state, event) };
}

function beforeLog(state: ManyTokenState, log: ChainLog, logs: readonly ChainLog[]): ManyTokenState {
  const { address, topics, logIndex } = log;
  const ofPool = logs.filter((each) => each.address === address && each.topics[1] === topics[1]);
  const ahead = ofPool.filter((each) => each.logIndex >= logIndex);
  const events = ahead.flatMap((each) => decodeV3Event(each) ?? []);
  return beforeEvents(state, events, ahead.length === ofPool.length);
}

function isKeptChange({ address, topics }: ChainLog, registered: ChainLog): boolean {
  const isOfPool = address === registered.address && topics[1] === registered.topics[1];
  return isOfPool && topics[0] === V3_KEPT_PART_CHANGED;
}

/** The pool's contract emits the changes of its amplification, as in Balancer V2. */
function readAmp(state: ManyTokenState, log: ChainLog): ManyTokenStep | 'other' | 'malformed' {
  const event = decodeBalancerEvent(log);
  if (event?.kind !== 'amp_changed') return 'malformed';
  const after = withV3Terms(state, { curve: withRamp(toStableState(state), event.ramp).params });
  return { after, kind: 'fee', isStored: after !== state, swap: null, liquidity: null };
}

function kindOf({ kind }: V3Event): ManyTokenStep['kind'] {
  if (kind === 'registered') return 'register';
  return kind === 'swap' || kind === 'mint' || kind === 'burn' ? kind : 'fee';
}

function toSwap(event: V3Event): ManyTokenSwap | null {
  if (event.kind !== 'swap') return null;
  const { tokenIn, tokenOut, amountIn, amountOut, swapFee } = event;
  const [sender, recipient, feePips] = [ZERO_ADDRESS, ZERO_ADDRESS, toFeePips(swapFee)];
  return { tokenIn, tokenOut, amountIn, amountOut, feePips, sender, recipient };
}

function toLiquidity({ tokens }: ManyTokenState, event: V3Event): LiquidityMove | null {
  if (event.kind !== 'mint' && event.kind !== 'burn') return null;
  const { kind, provider: owner } = event;
  const amounts = tokens.map((token, index) => ({ token, amount: event.amounts[index] ?? 0n }));
  return { kind, owner, shares: null, amounts };
}
