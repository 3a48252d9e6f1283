/** What both protocols of Curve share, StableSwap and CryptoSwap. Each pool is a contract that emits its own events. */
import { wholeTokens } from '../../domain/amounts';
import { addressOfWord, numberToHex, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { NATIVE_COIN } from '../../domain/pools/nativeCoin';
import type { POOL_CRYPTO, POOL_STABLE } from '../../domain/pools/poolShape';
import { scalePrice } from '../../domain/prices';
import { toFeePips } from '../../domain/swapFee';
import { toAddresses } from '../abiArrays';
import { withDoubts } from '../manyTokenPool';
import type { ManyTokenProtocol, ManyTokenState, ManyTokenStep, ManyTokenSwap } from '../manyTokenProtocol';

/** The fee of a state has 18 digits, the fee of the contracts 10. */
const SWAP_FEE_UNIT = 10n ** 8n;

/** The fee of a state by the fee of a contract. */
export function toSwapFee(fee: bigint): bigint {
  return fee * SWAP_FEE_UNIT;
}

export function curveIdOfPool(pool: Hex): Hex {
  return `0x${pool.slice(2).padStart(64, '0')}`;
}

/** The address in a param. */
export function wordToAddress(word: bigint): Hex {
  return `0x${numberToHex(word).slice(2).padStart(40, '0')}`;
}

/** The word that stands for the native coin in a list of coins. */
const NATIVE_WORD = BigInt('0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee');

/** The coins of a list. Null if a word is no address. */
export function toCoins(words: readonly bigint[]): readonly Hex[] | null {
  return toAddresses(words.map((word) => (word === NATIVE_WORD ? BigInt(NATIVE_COIN) : word)));
}

/** A TokenExchange names coins by their ids. */
interface Exchange {
  readonly kind: 'exchange';
  readonly owner: Hex;
  readonly soldId: number;
  readonly sold: bigint;
  readonly boughtId: number;
  readonly bought: bigint;
}

/** Kinds of state rows by the kinds of events. Other events change the parameters of a pool. */
const KINDS: Readonly<Record<string, ManyTokenStep['kind']>> = {
  exchange: 'swap',
  add: 'mint',
  remove: 'burn',
  remove_one: 'burn',
  imbalance: 'burn',
  claim: 'collect',
  donate: 'collect',
  exchange_underlying: 'collect',
};

export function kindOfEvent({ kind }: { readonly kind: string }): ManyTokenStep['kind'] {
  return KINDS[kind] ?? 'fee';
}

/** The swap of an event. Null for another event, or if it names a coin that the pool does not have. */
export function toCurveSwap(
  { tokens }: ManyTokenState,
  event: Exchange | { readonly kind: Exclude<string, 'exchange'> },
  feePips: number,
): ManyTokenSwap | null {
  if (!('soldId' in event) || event.kind !== 'exchange') return null;
  const [tokenIn, tokenOut] = [tokens[event.soldId], tokens[event.boughtId]];
  if (tokenIn === undefined || tokenOut === undefined) return null;
  const { owner: sender, sold: amountIn, bought: amountOut } = event;
  return { tokenIn, tokenOut, amountIn, amountOut, feePips, sender, recipient: ZERO_ADDRESS };
}

type Priced = Pick<ManyTokenState, 'params' | 'balances' | 'doubts'>;

/** What the mathematics of one protocol answer about its pools. */
interface CurveMaths<Pool> {
  readonly poolType: typeof POOL_STABLE | typeof POOL_CRYPTO;
  readonly feeTopics: readonly Hex[];
  /** The pool of a state. Null if its facts are unknown. */
  readonly toPool: (state: Pick<ManyTokenState, 'params' | 'balances'>) => Pool | null;
  /** The fee of a pool as its contract counts it. */
  readonly feeOf: (pool: Pool) => bigint;
  readonly lacksBooks: (state: Priced) => boolean;
  readonly decodeSwapFee: ManyTokenProtocol['decodeSwapFee'];
  readonly priceOf: (pool: Pool, i: number, j: number, timestamp: number) => number | null;
  readonly getDy: (pool: Pool, i: number, j: number, amountIn: bigint, timestamp: number) => bigint | null;
  /** Raw units. */
  readonly liquidityOf: (pool: Pool, i: number, j: number, timestamp: number) => number;
}

/** The members of a protocol that follow from its mathematics. */
export function curveTraits<Pool extends Pick<ManyTokenState, 'balances'>>(maths: CurveMaths<Pool>) {
  const { poolType, feeTopics, toPool, feeOf, lacksBooks, decodeSwapFee } = maths;
  const pricedPool = (state: Priced): Pool | null => (state.doubts > 0 ? null : toPool(state));
  const spotPrice = (state: Priced, i: number, j: number, timestamp: number): number | null => {
    const pool = pricedPool(state);
    return pool === null ? null : maths.priceOf(pool, i, j, timestamp);
  };
  return {
    hasManyTokens: true,
    isVault: false,
    poolTypes: [poolType],
    keptTopics: feeTopics,
    locksSharesAtZero: false,
    mintsProtocolShares: false,
    feeSplit: null,
    feeChange: {
      topics: feeTopics,
      decodeFees: (log) => {
        const fee = decodeSwapFee(log);
        return fee === null ? null : [toFeePips(fee), toFeePips(fee)];
      },
    },
    poolOfId: addressOfWord,
    idOfPool: curveIdOfPool,
    decodeSwapFee,
    lacksBooks,
    readsBooksAtCreation: true,
    // Each event makes its pool known.
    feeCall: () => null,
    readFee: () => null,
    fillState: (state, other) => {
      const filled = lacksBooks(state) ? { ...other, poolId: state.poolId, doubts: state.doubts } : state;
      return withDoubts(filled, other.doubts);
    },
    restoreState: (state) => {
      const pool = toPool(state);
      return pool === null ? { ...state, params: [] } : { ...state, swapFee: toSwapFee(feeOf(pool)) };
    },
    isFollowed: ({ doubts, params }) => doubts === 0 && params.length > 0,
    spotPrice,
    quote: (state, i, j, amountIn, timestamp) => {
      const pool = pricedPool(state);
      if (pool === null || amountIn <= 0n || spotPrice(state, i, j, timestamp) === null) return null;
      return maths.getDy(pool, i, j, amountIn, timestamp);
    },
    legState: (state, i, j, [decimalsI, decimalsJ]) => {
      const pool = pricedPool(state);
      const raw = spotPrice(state, i, j, state.timestamp);
      if (raw === null || pool === null) return { price: 0, liquidity: 0, reserve0: 0, reserve1: 0 };
      const liquidity = maths.liquidityOf(pool, i, j, state.timestamp);
      return {
        price: scalePrice(raw, decimalsI, decimalsJ, true),
        liquidity: liquidity / 10 ** ((decimalsI + decimalsJ) / 2),
        reserve0: wholeTokens(pool.balances[i] ?? 0n, decimalsI),
        reserve1: wholeTokens(pool.balances[j] ?? 0n, decimalsJ),
      };
    },
  } satisfies Partial<ManyTokenProtocol>;
}
