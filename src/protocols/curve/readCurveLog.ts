/** Reads the logs of StableSwap pools and of their factories. */
import type { ChainLog } from '../../domain/block';
import { ZERO_ADDRESS, ZERO_HASH, type Hex } from '../../domain/hex';
import { toFeePips } from '../../domain/swapFee';
import { readArrays, readWords, toAddresses } from '../abiArrays';
import { emptyManyTokenState } from '../manyTokenPool';
import type {
  LiquidityMove,
  LoggedSwap,
  ManyTokenCreation,
  ManyTokenState,
  ManyTokenStep,
  ManyTokenSwap,
} from '../manyTokenProtocol';
import { isAddressTopic } from '../words';
import { CURVE_TOPICS, decodeCurveEvent, type CurveEvent } from './curveEvents';
import { lacksCurveBooks, toCurvePool, toSwapFee, withCurvePool, withUnknownBooks } from './curveParams';
import { curvePoolOfId } from './curveQuestions';
import { applyCurveEvent } from './curveState';

/** Topic of NewStableSwapPair(address indexed pool, address a, address b, address c, address LP); c is 0 for two coins. */
const NEW_PAIR: Hex = '0x48dc7a1b156fe3e70ed5ed0afcb307661905edf536f15bb5786e327ea1933532';
/** Topic of PlainPoolDeployed(address[] coins, uint256 A, uint256 fee, address deployer). It does not name the pool. */
const PLAIN_POOL: Hex = '0xd1d60d4611e4091bb2e5f699eeb79136c21ac2305ad609f3de569afc3471eecc';
/** Topic of Transfer. The constructor of a pool of StableSwap-NG sends 0 LP tokens from 0x0 to the factory. */
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const CREATIONS: ReadonlySet<Hex> = new Set([NEW_PAIR, PLAIN_POOL]);

/** The part of the protocol that reads logs. */
export const curveLogs = {
  factoryTopics: CREATIONS,
  creationTopics: CREATIONS,
  poolTopics: CURVE_TOPICS,
  idOfLog,
  poolOfId: curvePoolOfId,
  idOfPool,
  readCreation,
  readLog,
  decodeSwap,
  decodeSwapFee,
};

function idOfPool(pool: Hex): Hex {
  return `0x${pool.slice(2).padStart(64, '0')}`;
}

function idOfLog(log: ChainLog, logs: readonly ChainLog[]): Hex | null {
  const [topic, pool] = log.topics;
  if (topic === NEW_PAIR) return log.topics.length === 2 && isAddressTopic(pool) ? pool : null;
  const constructor = logs.findLast(
    (each) =>
      each.transactionHash === log.transactionHash &&
      each.logIndex < log.logIndex &&
      each.topics[0] === TRANSFER &&
      each.topics[1] === ZERO_HASH &&
      each.topics[2] === idOfPool(log.address) &&
      each.data === ZERO_HASH,
  );
  return constructor === undefined ? null : idOfPool(constructor.address);
}

/**
 * Pancake's factory can also list a pool that is older than the event. The constructor of a new pool logs its first owner in
 * the same transaction; without that log the pool is found at its next event.
 */
function readCreation(log: ChainLog, logs: readonly ChainLog[]): ManyTokenCreation | null {
  const poolId = idOfLog(log, logs);
  if (poolId === null) return null;
  const pool = curvePoolOfId(poolId);
  const isNew = logs.some(
    (each) =>
      each.address === pool && each.transactionHash === log.transactionHash && each.logIndex < log.logIndex,
  );
  const coins = log.topics[0] === NEW_PAIR ? readPairCoins(log) : readArrays(log.data, 1, 3)?.[0];
  const tokens = coins == null ? null : toAddresses(coins);
  if (!isNew || tokens === null || tokens.length < 2) return null;
  return { state: { ...emptyManyTokenState(poolId), tokens, balances: tokens.map(() => 0n) }, swapFee: 0n };
}

function readPairCoins({ data }: ChainLog): readonly bigint[] | null {
  const words = readWords(data, 4);
  return words?.length === 4 ? words.slice(0, 3).filter((coin) => coin > 0n) : null;
}

function readLog(
  state: ManyTokenState,
  log: ChainLog,
  _logs: readonly ChainLog[],
  timestamp: number,
): ManyTokenStep | 'other' | 'malformed' {
  // The creation. Its row keeps the params that no event tells.
  if (log.address !== curvePoolOfId(state.poolId))
    return { after: state, kind: 'register', isStored: true, swap: null, liquidity: null };
  const event = decodeCurveEvent(log);
  const pool = toCurvePool(state);
  if (event === null) return 'malformed';
  if (pool === null) return 'other';
  const { pool: moved, isExplained, feePips } = applyCurveEvent(pool, event, timestamp);
  const isKnown = isExplained && !lacksCurveBooks(state);
  const after = isKnown ? withCurvePool(state, moved) : withUnknownBooks(state, moved);
  const swap = toSwap(state, event, feePips ?? toFeePips(state.swapFee));
  return {
    after,
    kind: kindOf(event),
    isStored: true,
    swap,
    liquidity: toLiquidity(state, pool.supply, event),
  };
}

function kindOf({ kind }: CurveEvent): ManyTokenStep['kind'] {
  if (kind === 'exchange') return 'swap';
  if (kind === 'add') return 'mint';
  if (kind === 'remove' || kind === 'imbalance' || kind === 'remove_one') return 'burn';
  return kind === 'donate' ? 'collect' : 'fee';
}

function toSwap({ tokens }: ManyTokenState, event: CurveEvent, feePips: number): ManyTokenSwap | null {
  if (event.kind !== 'exchange') return null;
  const [tokenIn, tokenOut] = [tokens[event.soldId], tokens[event.boughtId]];
  if (tokenIn === undefined || tokenOut === undefined) return null;
  const { owner: sender, sold: amountIn, bought: amountOut } = event;
  return { tokenIn, tokenOut, amountIn, amountOut, feePips, sender, recipient: ZERO_ADDRESS };
}

function toLiquidity({ tokens }: ManyTokenState, supply: bigint, event: CurveEvent): LiquidityMove | null {
  if (event.kind === 'remove_one') {
    const { owner, shares, coin, amount } = event;
    return {
      kind: 'burn',
      owner,
      shares,
      amounts: tokens.slice(coin, coin + 1).map((token) => ({ token, amount })),
    };
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
function decodeSwapFee(log: Pick<ChainLog, 'topics' | 'data'>): bigint | null {
  const event = decodeCurveEvent(log);
  return event?.kind === 'fees' ? toSwapFee(event.fee) : null;
}
