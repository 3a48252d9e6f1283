/** Says why tokens and pairs of the lists have no price, from the newest states of their pools. */
import { doubtCodes, DOUBTS, type DoubtCode } from '../../domain/pools/doubts';
import { shapeOf } from '../../domain/pools/poolShape';
import { DORMANT_SECONDS } from '../../pricing/epoch';
import { NO_STATE } from '../../pricing/leg';
import { pricedAs } from '../../domain/pools/nativeCoin';
import { legsOf, toLegState, type LegsPool } from '../../pricing/legState';
import { getManyTokenProtocol } from '../../protocols/registry';
import type { PriceReason } from '../../wire/priceReason';
import type { Token } from '../../wire/primitives';
import type { TokenPrices } from '../prices/priceByHops';
import { priceReason, makeReason, type ReasonLeg } from '../prices/priceReason';
import type { StateRow } from './pairRows';
import { hasEnded, type StoredPool } from './pools';

/** What a missing price needs to know about a pair. */
interface ReasonPair {
  readonly pool: StoredPool;
  readonly tokens: { readonly base: Token; readonly quote: Token; readonly all: readonly Token[] };
  readonly facts: {
    readonly state: StateRow | null;
    readonly balances: readonly bigint[] | null;
    readonly params: readonly bigint[] | null;
    readonly doubts: number;
    readonly lastTradeAt: number | null;
  };
  /** Quote tokens per base token; null if the pool has no price. */
  readonly price: string | null;
  readonly prices: TokenPrices;
}

/** The reason why a token without a price has none. `pairs` are all its pairs, `headTime` the time of the head. */
export function tokenPriceReason(token: Token, pairs: readonly ReasonPair[], headTime: number): PriceReason {
  return priceReason(
    token,
    pairs.flatMap((pair) => legsOfToken(token.address, pair, headTime)),
  );
}

function legsOfToken(
  token: string,
  { pool, tokens, facts, prices }: ReasonPair,
  headTime: number,
): readonly ReasonLeg[] {
  const { state, doubts, lastTradeAt } = facts;
  const params = facts.params ?? [];
  const poolWithTokens = { ...pool, tokens: pool.all_tokens, weights: pool.all_weights };
  const { wrappedNative } = prices;
  const priced = pricedAs(token, wrappedNative);
  const decimalsOf = (address: string): number | null =>
    tokens.all.find((token) => pricedAs(token.address, wrappedNative) === address)?.decimals ?? null;
  const lastChangeAt = Math.max(state?.timestamp ?? 0, lastTradeAt ?? 0);
  return legsOf(poolWithTokens, wrappedNative, getManyTokenProtocol).flatMap((legInfo) => {
    const { token0, token1 } = legInfo.leg;
    if (token0 !== priced && token1 !== priced) return [];
    const { pool_type } = pool;
    const rawState =
      state === null ? null : { ...state, pool_type, balances: facts.balances ?? [], params, doubts };
    return {
      state: rawState === null ? NO_STATE : toLegState(poolWithTokens, legInfo, rawState, decimalsOf),
      isToken0: token0 === priced,
      otherPrice: prices.now(token0 === priced ? token1 : token0),
      isFollowed: isFollowed(poolWithTokens, { doubts, params }),
      isQuiet: state === null || headTime - lastChangeAt > DORMANT_SECONDS,
    };
  });
}

interface FollowedPool extends Pick<LegsPool, 'protocol' | 'tokens' | 'weights'> {
  readonly pool_type: number;
}

/**
 * Whether the price and depth of a pool can be followed. A pool of many tokens asks its protocol.
 */
export function isFollowed(
  { protocol, pool_type, tokens, weights }: FollowedPool,
  { doubts, params }: { readonly doubts: number; readonly params: readonly bigint[] },
): boolean {
  if (tokens.length > 0) return getManyTokenProtocol(protocol).isFollowed({ weights, doubts, params });
  const { isWalked, reservesPart } = shapeOf(pool_type);
  return doubts === 0 && (isWalked || reservesPart > 0);
}

/**
 * The doubts about a pool by its newest state. Those of the state never end. A pool without any is `unfollowed` as long as
 * its price cannot be followed, for example until a swap confirms the rates that the node told.
 */
export function doubtsNow(pool: FollowedPool, facts: Parameters<typeof isFollowed>[1]): number {
  return facts.doubts > 0 || isFollowed(pool, facts) ? facts.doubts : DOUBTS.unfollowed;
}

/** Why a pair backs no price, as flags and warnings say it. A pool without a state has no doubts. */
export function pairDoubts({ pool, facts }: Pick<ReasonPair, 'pool' | 'facts'>): DoubtCode[] {
  const { doubts, params } = facts;
  const ofPool = { ...pool, tokens: pool.all_tokens, weights: pool.all_weights };
  return doubtCodes(params === null ? doubts : doubtsNow(ofPool, { doubts, params }));
}

/** The reason why a pair has no USD price: that of the pool, or that of its quote token. */
export function pairPriceReason(pair: ReasonPair, quoteReason: PriceReason | null): PriceReason {
  const { pool, tokens, facts, price } = pair;
  if (price !== null)
    return quoteReason ?? makeReason('price_not_followed', 'No price: its value is beyond all numbers');
  if (tokens.base.decimals === null || tokens.quote.decimals === null)
    return makeReason('unknown_decimals', 'No price: the decimals of a token of this pair are unknown');
  const followedPool = { ...pool, tokens: pool.all_tokens, weights: pool.all_weights };
  if (!isFollowed(followedPool, { doubts: facts.doubts, params: facts.params ?? [] })) {
    const text = 'No price: this pool has no fixed weights, is in doubt, or had no swap or wrap yet';
    return makeReason('price_not_followed', text);
  }
  if (facts.state === null && pool.created_block === null)
    return makeReason('price_not_followed', 'No price: the state of this pool is unknown');
  const text = hasEnded({ pool, facts })
    ? 'No price: this bonding curve has ended'
    : 'No price: this pool has no liquidity';
  return { ...makeReason('low_liquidity', text), have_usd: 0 };
}
