/** Reads the logs of CryptoSwap-NG pools and of their factories. */
import type { ChainLog } from '../../domain/block';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { readWords, toAddresses } from '../abiArrays';
import { emptyManyTokenState } from '../manyTokenPool';
import type {
  LiquidityMove,
  LoggedSwap,
  ManyTokenCreation,
  ManyTokenState,
  ManyTokenStep,
  ManyTokenSwap,
} from '../manyTokenProtocol';
import { CRYPTO_TOPICS, decodeCryptoEvent, type CryptoEvent } from './cryptoEvents';
import {
  lacksCryptoBooks,
  toCryptoPool,
  toCryptoSwapFee,
  withCryptoPool,
  withUnknownCurve,
} from './cryptoParams';
import { cryptoPoolOfId } from './cryptoQuestions';
import { applyCryptoEvent } from './cryptoState';

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
const CREATIONS: ReadonlySet<Hex> = new Set(COINS.keys());

/** The part of the protocol that reads logs. */
export const cryptoLogs = {
  factoryTopics: CREATIONS,
  creationTopics: CREATIONS,
  poolTopics: CRYPTO_TOPICS,
  idOfLog,
  poolOfId: cryptoPoolOfId,
  idOfPool,
  readCreation,
  readLog,
  decodeSwap,
  decodeSwapFee,
};

function idOfPool(pool: Hex): Hex {
  return `0x${pool.slice(2).padStart(64, '0')}`;
}

function idOfLog({ data }: ChainLog): Hex | null {
  const [pool] = toAddresses(readWords(data, CREATION_WORDS_MAX)?.slice(0, 1) ?? []) ?? [];
  return pool === undefined ? null : idOfPool(pool);
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
  _logs: readonly ChainLog[],
  timestamp: number,
): ManyTokenStep | 'other' | 'malformed' {
  // The creation. Its row keeps the params that no event tells.
  if (log.address !== cryptoPoolOfId(state.poolId))
    return { after: state, kind: 'register', isStored: true, swap: null, liquidity: null };
  const event = decodeCryptoEvent(log);
  const pool = toCryptoPool(state);
  if (event === null) return 'malformed';
  if (pool === null) return 'other';
  const { pool: moved, isExplained, feePips } = applyCryptoEvent(pool, event, timestamp);
  const isKnown = isExplained && !lacksCryptoBooks(state);
  const after = isKnown ? withCryptoPool(state, moved) : withUnknownCurve(state, moved);
  const swap = toSwap(state, event, feePips ?? 0);
  return {
    after,
    kind: kindOf(event),
    isStored: true,
    swap,
    liquidity: toLiquidity(state, pool.supply, event),
  };
}

function kindOf({ kind }: CryptoEvent): ManyTokenStep['kind'] {
  if (kind === 'exchange') return 'swap';
  if (kind === 'add') return 'mint';
  if (kind === 'remove' || kind === 'imbalance' || kind === 'remove_one') return 'burn';
  return kind === 'claim' || kind === 'donate' ? 'collect' : 'fee';
}

function toSwap({ tokens }: ManyTokenState, event: CryptoEvent, feePips: number): ManyTokenSwap | null {
  if (event.kind !== 'exchange') return null;
  const [tokenIn, tokenOut] = [tokens[event.soldId], tokens[event.boughtId]];
  if (tokenIn === undefined || tokenOut === undefined) return null;
  const { owner: sender, sold: amountIn, bought: amountOut } = event;
  return { tokenIn, tokenOut, amountIn, amountOut, feePips, sender, recipient: ZERO_ADDRESS };
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
function decodeSwapFee(log: Pick<ChainLog, 'topics' | 'data'>): bigint | null {
  const event = decodeCryptoEvent(log);
  return event?.kind === 'fees' ? toCryptoSwapFee(event.midFee) : null;
}
