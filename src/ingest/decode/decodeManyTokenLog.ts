/**
 * Decodes events of pools of many tokens. Any two tokens trade as one leg, and each swap becomes a row of its leg. Rows
 * of states and liquidity events name only the two tokens that represent the whole pool (see pickDefaultLeg);
 * `balances` of a state holds all tokens.
 */
import type { PoolStateRow } from '../../clickhouse/schema/tables';
import type { ChainLog } from '../../domain/block';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { toOrd } from '../../domain/ord';
import { NOT_WALKED } from '../../pricing/legState';
import { toLeg, toLegSwap, toPairState } from '../../protocols/manyTokenPool';
import type {
  LiquidityMove,
  ManyTokenProtocol,
  ManyTokenState,
  ManyTokenStep,
  ManyTokenSwap,
} from '../../protocols/manyTokenProtocol';
import { getManyTokenProtocol } from '../../protocols/registry';
import type { KnownPool, ManyTokenPool } from '../pools/poolRegistry';
import { heldKey } from '../rows/blockRows';
import { isBigMove, makerOf, type BlockWork } from './decodeContext';

/** A log with its pool before the log. */
interface PoolLog extends ManyTokenPool {
  readonly log: ChainLog;
  readonly protocol: ManyTokenProtocol;
}

/** Decodes an event of a configured factory or vault, or of the contract of a known pool. */
export function readManyTokenLog(work: BlockWork, log: ChainLog): void {
  const { registry, onMalformed } = work.context;
  const known = findPoolOf(work, log);
  if (known === undefined) return noteFee(work, log);
  const { pool, state } = known;
  const protocol = getManyTokenProtocol(pool.protocol);
  const statesOf = (address: Hex): ManyTokenState[] =>
    [registry.findManyTokenPool(address)?.state, work.earlier.get(address)].flatMap((one) => one ?? []);
  const step = protocol.readLog(state, log, work.block.logs, work.block.timestamp, statesOf);
  if (step === 'malformed') return onMalformed(log);
  if (step === 'other') return;
  const poolLog = { pool, state, log, protocol };
  if (step.after !== state) registry.setManyTokenPool({ pool, state: step.after });
  if (protocol.lacksBooks(step.after) && !protocol.lacksBooks(state)) work.facts.lacking.add(pool.address);
  work.earlier.set(pool.address, state);
  if (protocol.isVault && step.kind !== 'fee' && step.kind !== 'register') rememberHeld(work, poolLog);
  if (step.swap !== null) pushLegSwap(work, poolLog, step.swap, step.after);
  if (step.liquidity !== null) pushLiquidity(work, poolLog, step.liquidity);
  if (step.isStored) pushState(work, poolLog, step);
}

/** The fee event of a pool of a vault does not name the pool, so the pool search may find the pool later. */
function noteFee({ context }: BlockWork, log: ChainLog): void {
  for (const protocol of context.manyTokens.protocols) {
    if (protocol.idOfPool(log.address) !== null) continue;
    const swapFee = protocol.decodeSwapFee(log);
    if (swapFee !== null) context.registry.noteUnlistedFee(log.address, swapFee);
  }
}

/** Records the amounts that the vault held for the pool before the transaction. */
function rememberHeld({ facts }: BlockWork, { log, pool, state }: PoolLog): void {
  const key = heldKey({ pair: pool.address, tx_index: log.transactionIndex });
  if (facts.held.has(key)) return;
  facts.held.set(key, { vault: pool.factory, tokens: state.tokens, cash: state.balances });
}

/** Finds the pool of an event: the emitter, or the pool that its factory or vault names. */
function findPoolOf({ context, block }: BlockWork, log: ChainLog): ManyTokenPool | undefined {
  const { registry, manyTokens } = context;
  const topic = log.topics[0] ?? '0x';
  const emitter = registry.findManyTokenPool(log.address);
  if (emitter !== undefined && getManyTokenProtocol(emitter.pool.protocol).poolTopics.has(topic))
    return emitter;
  for (const protocol of manyTokens.protocols) {
    const poolId = protocol.factoryTopics.has(topic) ? protocol.idOfLog(log, block.logs) : null;
    const known = poolId === null ? undefined : registry.findManyTokenPool(protocol.poolOfId(poolId));
    if (known?.pool.factory === log.address) return known;
  }
  return undefined;
}

function placeOf(work: BlockWork, { log, pool }: PoolLog) {
  return {
    ord: toOrd(work.block.number, log.logIndex),
    timestamp: work.block.timestamp,
    pair: pool.address,
    dex: pool.dex,
    pool_type: pool.poolType,
    tx_hash: log.transactionHash,
    tx_index: log.transactionIndex,
    maker: makerOf(work, log),
  };
}

function pushLegSwap(work: BlockWork, poolLog: PoolLog, swap: ManyTokenSwap, after: ManyTokenState): void {
  const { protocol, state, log } = poolLog;
  const legSwap = toLegSwap(after, swap);
  if (legSwap === null) return;
  const { leg, first, second, token0, token1, amount0, amount1 } = legSwap;
  const priceOf = (one: ManyTokenState): number | null =>
    protocol.spotPrice(one, first, second, work.block.timestamp);
  const price = priceOf(after);
  if (isBigMove(priceOf(state), price)) work.facts.moved.add(log.transactionIndex);
  const { reserve0, reserve1 } = toPairState(after, legSwap);
  work.facts.swaps.push({
    ...placeOf(work, poolLog),
    leg,
    token0,
    token1,
    base_is_token0: work.context.baseIsToken0(token0, token1),
    sender: swap.sender,
    recipient: swap.recipient,
    amount0,
    amount1,
    reserve0,
    reserve1,
    sqrt_price_x96: 0n,
    liquidity: 0n,
    tick: 0,
    price: price ?? 0,
    fee_pips: swap.feePips,
  });
}

/**
 * Adds a liquidity row. amount0 and amount1 are amounts of the pool's token0 and token1. Amounts of its other
 * tokens go into `others`, so that pricing can value them. The pool's own share is left out: composable pools
 * mint it to the vault, and no liquidity provider owns it.
 */
function pushLiquidity(
  work: BlockWork,
  poolLog: PoolLog,
  { kind, owner, shares, amounts }: LiquidityMove,
): void {
  const { pool } = poolLog;
  const amountOf = (token: Hex): bigint => amounts.find((one) => one.token === token)?.amount ?? 0n;
  const named = new Set([pool.token0, pool.token1, pool.address]);
  work.facts.liquidity_events.push({
    ...placeOf(work, poolLog),
    ...tokensOf(pool),
    kind,
    owner,
    recipient: ZERO_ADDRESS,
    amount0: amountOf(pool.token0),
    amount1: amountOf(pool.token1),
    liquidity: shares,
    tick_lower: null,
    tick_upper: null,
    others: amounts.filter(({ token }) => !named.has(token)).map(({ token, amount }) => ({ token, amount })),
  });
}

function tokensOf({ token0, token1, baseIsToken0 }: KnownPool) {
  return { token0, token1, base_is_token0: baseIsToken0 };
}

function pushState(work: BlockWork, poolLog: PoolLog, { after, kind }: ManyTokenStep): void {
  const place = placeOf(work, poolLog);
  const values = stateColumns(poolLog.pool, after, place.timestamp);
  work.facts.pool_states.push({ ...place, ...tokensOf(poolLog.pool), kind, ...values });
}

/** The columns of a state row that say what the state is. */
export function stateColumns(
  { protocol, token0, token1 }: KnownPool,
  state: ManyTokenState,
  timestamp: number,
): Omit<PoolStateRow, keyof ReturnType<typeof placeOf> | keyof ReturnType<typeof tokensOf> | 'kind'> {
  const leg = toLeg(state.tokens.indexOf(token0), state.tokens.indexOf(token1));
  const { reserve0, reserve1 } = toPairState(state, leg);
  return {
    reserve0,
    reserve1,
    sqrt_price_x96: 0n,
    liquidity: 0n,
    tick: 0,
    doubts: state.doubts,
    price: getManyTokenProtocol(protocol).spotPrice(state, leg.first, leg.second, timestamp) ?? 0,
    balances: [...state.balances],
    params: [...state.params],
    unswapped: [],
    walked_liquidity: NOT_WALKED,
    near0: 0,
    near1: 0,
  };
}
