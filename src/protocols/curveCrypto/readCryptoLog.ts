/** Reads the logs of CryptoSwap pools, of their factories and registries. */
import type { ChainLog } from '../../domain/block';
import { addressOfWord, type Hex } from '../../domain/hex';
import { toFeePips } from '../../domain/swapFee';
import { readWords, toAddresses } from '../abiArrays';
import { curveIdOfPool, kindOfEvent, toCurveSwap, toSwapFee } from '../curve/curveFamily';
import { emptyManyTokenState } from '../manyTokenPool';
import type {
  LiquidityMove,
  LoggedSwap,
  ManyTokenCreation,
  ManyTokenState,
  ManyTokenStep,
} from '../manyTokenProtocol';
import { CRYPTO_TOPICS, decodeCryptoEvent, type CryptoEvent } from './cryptoEvents';
import { lacksCurve, toCryptoPool, withCryptoPool, withUnknownCurve } from './cryptoParams';
import { isAddressTopic } from '../words';
import { applyCryptoEvent } from './cryptoState';
import { readLegacyLog } from './legacyLogs';

/**
 * Topics of TwocryptoPoolDeployed(pool, name, symbol, coins, …) and TricryptoPoolDeployed(pool, name, symbol, weth, coins, …),
 * with the places of the coins.
 */
const COINS: ReadonlyMap<Hex, readonly [from: number, to: number]> = new Map([
  ['0x8152a3037e3dc54154ad0d2cadb1cf7e1d1b9e2b625faa3dfb4fe03d609102ca', [3, 5]],
  ['0xa307f5d0802489baddec443058a63ce115756de9020e2b07d3e2cd2f21269e2a', [4, 7]],
] as const);
/** Fixed words, and a name and a symbol of up to 64 and 32 bytes. */
const CREATION_WORDS_MAX = 20;
/** Topic of PoolAdded(address indexed pool) of a registry. The pool may be much older. */
const POOL_ADDED: Hex = '0x73cca62ab1b520c9715bf4e6c71e3e518c754e7148f65102f43289a7df0efea6';
const CREATIONS: ReadonlySet<Hex> = new Set([...COINS.keys(), POOL_ADDED]);

/** The part of the protocol that reads logs. */
export const cryptoLogs = {
  factoryTopics: CREATIONS,
  creationTopics: CREATIONS,
  poolTopics: CRYPTO_TOPICS,
  idOfLog,
  readCreation,
  readLog,
  decodeSwap,
};

function idOfLog({ topics: [topic, added], data }: ChainLog): Hex | null {
  if (topic === POOL_ADDED) return isAddressTopic(added) ? added : null;
  const [pool] = toAddresses(readWords(data, CREATION_WORDS_MAX)?.slice(0, 1) ?? []) ?? [];
  return pool === undefined ? null : curveIdOfPool(pool);
}

function readCreation(log: ChainLog): ManyTokenCreation | null {
  const poolId = idOfLog(log);
  const places = COINS.get(log.topics[0] ?? '0x');
  const tokens = toAddresses(readWords(log.data, CREATION_WORDS_MAX)?.slice(...(places ?? [0, 0])) ?? []);
  if (poolId === null || places === undefined || tokens?.length !== places[1] - places[0]) return null;
  return { state: { ...emptyManyTokenState(poolId), tokens, balances: tokens.map(() => 0n) }, swapFee: 0n };
}

function readLog(
  state: ManyTokenState,
  log: ChainLog,
  logs: readonly ChainLog[],
  timestamp: number,
): ManyTokenStep | 'other' | 'malformed' {
  // The creation. Its row keeps the params that no event tells.
  if (log.address !== addressOfWord(state.poolId))
    return { after: state, kind: 'register', isStored: true, swap: null, liquidity: null };
  const event = decodeCryptoEvent(log);
  const pool = toCryptoPool(state);
  if (event === null) return 'malformed';
  if (pool === null) return 'other';
  const { legacy } = pool;
  const step =
    legacy === null
      ? applyCryptoEvent(pool, event, timestamp)
      : readLegacyLog(pool, legacy, log, logs, timestamp);
  if (step === null) return 'other';
  const { pool: moved, isExplained, feePips } = step;
  const isKnown = isExplained && (state.doubts > 0 || !lacksCurve(pool));
  const after = isKnown ? withCryptoPool(state, moved) : withUnknownCurve(state, moved);
  const swap = toCurveSwap(state, event, feePips ?? toFeePips(state.swapFee));
  return {
    after,
    kind: kindOfEvent(event),
    isStored: true,
    swap,
    liquidity: toLiquidity(state, pool.supply, event),
  };
}

function toLiquidity({ tokens }: ManyTokenState, supply: bigint, event: CryptoEvent): LiquidityMove | null {
  switch (event.kind) {
    case 'remove_one': {
      const { owner, shares, token: index, amount } = event;
      const amounts = tokens.slice(index, index + 1).map((token) => ({ token, amount }));
      return { kind: 'burn', owner, shares, amounts };
    }
    case 'add':
    case 'remove':
    case 'imbalance': {
      const amounts = tokens.map((token, index) => ({ token, amount: event.amounts[index] ?? 0n }));
      const isMint = event.kind === 'add';
      const change =
        event.kind === 'imbalance' ? event.shares : isMint ? event.supply - supply : supply - event.supply;
      return {
        kind: isMint ? 'mint' : 'burn',
        owner: event.owner,
        shares: change > 0n ? change : 0n,
        amounts,
      };
    }
    default:
      return null;
  }
}

function decodeSwap(log: ChainLog): LoggedSwap | null {
  const event = decodeCryptoEvent(log);
  if (event?.kind !== 'exchange') return null;
  const { soldId: tokenIn, boughtId: tokenOut, sold: amountIn, bought: amountOut } = event;
  return { pool: log.address, tokenIn, tokenOut, amountIn, amountOut };
}

/** The fee that an event of a pool sets, where 1e18 means 100 %. */
export function decodeCryptoFee(log: Pick<ChainLog, 'topics' | 'data'>): bigint | null {
  const event = decodeCryptoEvent(log);
  return event?.kind === 'fees' ? toSwapFee(event.midFee) : null;
}
