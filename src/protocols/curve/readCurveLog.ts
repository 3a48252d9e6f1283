/** Reads the logs of StableSwap pools, of their factories and registries. */
import type { ChainLog } from '../../domain/block';
import { addressOfWord, ZERO_HASH, type Hex } from '../../domain/hex';
import { toFeePips } from '../../domain/swapFee';
import { readArrays, readWords } from '../abiArrays';
import { emptyManyTokenState } from '../manyTokenPool';
import type {
  LiquidityMove,
  LoggedSwap,
  ManyTokenCreation,
  ManyTokenState,
  ManyTokenStep,
} from '../manyTokenProtocol';
import { isAddressTopic } from '../words';
import { CURVE_TOPICS, decodeCurveEvent, type CurveEvent } from './curveEvents';
import { curveIdOfPool, kindOfEvent, toCoins, toCurveSwap, toSwapFee } from './curveFamily';
import { cachesBasePrice, namesByInt, type CurvePool } from './curvePool';
import { lacksCurveBooks, toCurvePool, withCurvePool, withUnknownBooks } from './curveParams';
import { explainCurveEvent, rewindEvents } from './curveState';
import {
  findPaidCoin,
  readLentExchange,
  readMetaExchange,
  TRANSFER,
  virtualPricesOf,
  withBaseRate,
} from './metaPool';

/** Topic of NewStableSwapPair(address indexed pool, address a, address b, address c, address LP); c is 0 for two coins. */
const NEW_PAIR: Hex = '0x48dc7a1b156fe3e70ed5ed0afcb307661905edf536f15bb5786e327ea1933532';
/** Topic of PlainPoolDeployed(address[] coins, uint256 A, uint256 fee, address deployer). It does not name the pool. */
const PLAIN_POOL: Hex = '0xd1d60d4611e4091bb2e5f699eeb79136c21ac2305ad609f3de569afc3471eecc';
/** Topic of PlainPoolDeployed(address[4] coins, uint256 A, uint256 fee, address deployer) of the factory of 2021. */
const PLAIN_POOL_2021: Hex = '0x5b4a28c940282b5bf183df6a046b8119cf6edeb62859f75e835eb7ba834cce8d';
/** Topic of PoolAdded(address indexed pool, bytes rate_method_id) of a registry. The pool may be much older. */
const POOL_ADDED: Hex = '0xe485c16479ab7092c0b3fc4649843c06be7f072194675261590c84473ab0aea9';

const CREATIONS: ReadonlySet<Hex> = new Set([NEW_PAIR, PLAIN_POOL, PLAIN_POOL_2021, POOL_ADDED]);

/** The part of the protocol that reads logs. */
export const curveLogs = {
  factoryTopics: CREATIONS,
  creationTopics: CREATIONS,
  poolTopics: CURVE_TOPICS,
  idOfLog,
  readCreation,
  readLog,
  decodeSwap,
};

function idOfLog(log: ChainLog, logs: readonly ChainLog[]): Hex | null {
  const [topic, pool] = log.topics;
  if (topic === NEW_PAIR || topic === POOL_ADDED)
    return log.topics.length === 2 && isAddressTopic(pool) ? pool : null;
  // A new pool sends 0 LP tokens from 0x0 to its factory. A pool of the factory of 2021 sends them to itself.
  const constructor = logs.findLast(
    (each) =>
      each.transactionHash === log.transactionHash &&
      each.logIndex < log.logIndex &&
      each.topics[0] === TRANSFER &&
      each.topics[1] === ZERO_HASH &&
      each.topics[2] === curveIdOfPool(topic === PLAIN_POOL ? log.address : each.address) &&
      each.data === ZERO_HASH,
  );
  return constructor === undefined ? null : curveIdOfPool(constructor.address);
}

/**
 * Pancake's factory can also list a pool that is older than the event. The constructor of a new pool logs its first owner in
 * the same transaction; without that log the pool is found at its next event, like all pools of a registry.
 */
function readCreation(log: ChainLog, logs: readonly ChainLog[]): ManyTokenCreation | null {
  const poolId = idOfLog(log, logs);
  if (poolId === null) return null;
  const pool = addressOfWord(poolId);
  const isNew = logs.some(
    (each) =>
      each.address === pool && each.transactionHash === log.transactionHash && each.logIndex < log.logIndex,
  );
  const coins = readCoins(log);
  const tokens = coins == null ? null : toCoins(coins);
  if (!isNew || tokens === null || tokens.length < 2) return null;
  return { state: { ...emptyManyTokenState(poolId), tokens, balances: tokens.map(() => 0n) }, swapFee: 0n };
}

/** The coins in a creation event. A list of a fixed size ends with zeros. */
function readCoins({ topics: [topic], data }: ChainLog): readonly bigint[] | null {
  if (topic === PLAIN_POOL) return readArrays(data, 1, 3)?.[0] ?? null;
  const [coins, size] = topic === NEW_PAIR ? [3, 4] : [4, 7];
  const words = topic === POOL_ADDED ? null : readWords(data, size);
  return words?.length === size ? words.slice(0, coins).filter((coin) => coin > 0n) : null;
}

function readLog(
  state: ManyTokenState,
  log: ChainLog,
  logs: readonly ChainLog[],
  timestamp: number,
  statesOf: (pool: Hex) => readonly ManyTokenState[],
): ManyTokenStep | 'other' | 'malformed' {
  // The creation. Its row keeps the params that no event tells.
  if (log.address !== addressOfWord(state.poolId))
    return { after: state, kind: 'register', isStored: true, swap: null, liquidity: null };
  const pool = toCurvePool(state);
  if (pool === null) return 'other';
  const named = decodeCurveEvent(log, pool.kind === 'pancake');
  if (named === null) return 'malformed';
  const isUnderlying = named.kind === 'exchange_underlying';
  // Such a swap between two coins of the base pool only passes through the meta pool.
  if (isUnderlying && named.soldId > 0 && named.boughtId > 0 && pool.base !== null) return 'other';
  const event = withLogs(state, pool, named, log, logs);
  const basePrices = basePricesOf(pool, statesOf, timestamp);
  // The event of the base pool comes first, but the meta pool swaps at the price before it.
  const tried = isUnderlying ? basePrices?.toReversed() : basePrices;
  const begun = pool.asksBalances ? rewind(state, pool, log, logs, timestamp) : pool;
  const step = explainCurveEvent(begun, event, timestamp, tried ?? null);
  const { isExplained, feePips } = step;
  const wasKnown = !lacksCurveBooks(state);
  const asksBalances = pool.asksBalances || (wasKnown && !isExplained && mayDrift(pool));
  const moved = { ...withBaseRate(step.pool, basePrices?.[0]), asksBalances };
  const isKnown = isExplained && wasKnown;
  const after = isKnown ? withCurvePool(state, moved) : withUnknownBooks(state, moved);
  const swap = toCurveSwap(state, event, feePips ?? toFeePips(state.swapFee));
  return {
    after,
    kind: kindOfEvent(event),
    isStored: true,
    swap,
    liquidity: toLiquidity(state, pool.supply, event),
  };
}

/** The possible virtual prices of the base pool. Null if the rates of the pool do not follow from them. */
function basePricesOf(
  pool: CurvePool,
  statesOf: (pool: Hex) => readonly ManyTokenState[],
  timestamp: number,
): readonly bigint[] | null {
  if (pool.base === null || cachesBasePrice(pool)) return null;
  return virtualPricesOf(statesOf(pool.base), timestamp);
}

/**
 * Whether an event that does not follow can mean that the contract counts what it holds. An NG pool names the coins that
 * rebase, and the oldest contracts store their balances.
 */
function mayDrift(pool: CurvePool): boolean {
  return pool.kind !== 'pancake' && pool.kind !== 'ng' && pool.base === null && !namesByInt(pool);
}

/**
 * The pool before the log. The node told its balances at the end of the block, and the events of the pool lead to them. Later
 * logs of the block follow from the first one.
 */
function rewind(
  state: ManyTokenState,
  pool: CurvePool,
  log: ChainLog,
  logs: readonly ChainLog[],
  timestamp: number,
): CurvePool {
  const own = logs.filter(({ address }) => address === log.address);
  if (own.some(({ logIndex, topics: [topic = '0x'] }) => logIndex < log.logIndex && CURVE_TOPICS.has(topic)))
    return pool;
  const events = own.flatMap((each) => {
    const event = decodeCurveEvent(each, false);
    return event === null ? [] : [withLogs(state, pool, event, each, logs)];
  });
  return rewindEvents(pool, events, timestamp);
}

/** The event with what only other logs of its transaction tell. */
function withLogs(
  { tokens, doubts }: ManyTokenState,
  pool: CurvePool,
  event: CurveEvent,
  log: ChainLog,
  logs: readonly ChainLog[],
): CurveEvent {
  if (event.kind === 'remove_one' && event.coin === null)
    return { ...event, coin: findPaidCoin(tokens, event.amount, log, logs) };
  if (event.kind !== 'exchange_underlying') return event;
  if (pool.lentUnits.length > 0) return readLentExchange(tokens, pool, event, log, logs) ?? event;
  // Lending tokens of Aave are worth one lent token each.
  if (pool.base === null) return doubts === 0 ? { ...event, kind: 'exchange' } : event;
  return readMetaExchange(tokens, event, log, logs) ?? event;
}

function toLiquidity({ tokens }: ManyTokenState, supply: bigint, event: CurveEvent): LiquidityMove | null {
  if (event.kind === 'remove_one') {
    const { owner, shares, coin, amount } = event;
    const token = tokens[coin ?? -1];
    return { kind: 'burn', owner, shares, amounts: token === undefined ? [] : [{ token, amount }] };
  }
  if (event.kind !== 'add' && event.kind !== 'remove' && event.kind !== 'imbalance') return null;
  const { owner, amounts } = event;
  const shares = event.supply > supply ? event.supply - supply : supply - event.supply;
  return {
    kind: event.kind === 'add' ? 'mint' : 'burn',
    owner,
    shares,
    amounts: tokens.map((token, index) => ({ token, amount: amounts[index] ?? 0n })),
  };
}

function decodeSwap(log: ChainLog): LoggedSwap | null {
  const event = decodeCurveEvent(log);
  if (event?.kind !== 'exchange') return null;
  const { soldId: tokenIn, boughtId: tokenOut, sold: amountIn, bought: amountOut } = event;
  return { pool: log.address, tokenIn, tokenOut, amountIn, amountOut };
}

/** The fee that an event of a pool sets, where 1e18 means 100 %. */
export function decodeCurveFee(log: Pick<ChainLog, 'topics' | 'data'>): bigint | null {
  const event = decodeCurveEvent(log);
  return event?.kind === 'fees' ? toSwapFee(event.fee) : null;
}
