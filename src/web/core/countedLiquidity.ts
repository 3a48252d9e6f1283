/** The liquidity of a token or pair in words, also where a part of it does not count. */
import type { DexItem } from '../../wire/dexes';
import type { PairDetail, PairItem } from '../../wire/pairs';
import type { TokenDetail, TokenItem } from '../../wire/tokens';
import { h } from './dom.ts';
import { formatUsd } from './format.ts';

/** If at least this part of the value counts, the rest is rounding, and the page shows one figure. */
const WHOLE_SHARE = 0.99;
/** Warnings that say why a price is not trusted. */
const PRICE_CODES = ['unknown_decimals', 'no_route', 'low_liquidity'];
/** Warnings that say why a pool does not count. */
const POOL_CODES = ['managed_balance', 'weights_in_doubt', 'extreme_terms', 'price_not_followed'];

export function tokenLiquidity(token: TokenDetail): HTMLElement | string {
  const { liquidity_usd: countedUsd, pools_liquidity_usd: totalUsd, price_confidence: confidence } = token;
  if (confidence === 'high' || confidence === 'medium' || totalUsd <= 0) return formatUsd(countedUsd);
  const reason = token.warnings.find(({ code }) => PRICE_CODES.includes(code))?.message;
  return partlyCounted(countedUsd, totalUsd, 'price not trusted', reason ?? '');
}

export function pairLiquidity(pair: PairDetail): HTMLElement | string {
  const countedUsd = pair.liquidity_usd;
  const values = pair.balances?.map(({ value_usd }) => value_usd) ?? [pair.reserve0_usd, pair.reserve1_usd];
  const totalUsd = values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  if (countedUsd >= totalUsd * WHOLE_SHARE) return formatUsd(countedUsd);
  const poolReason = pair.warnings.find(({ code }) => POOL_CODES.includes(code))?.message;
  if (poolReason !== undefined) return partlyCounted(countedUsd, totalUsd, 'pool not trusted', poolReason);
  return countedUsd === 0
    ? partlyCounted(countedUsd, totalUsd, 'price not trusted', 'No token of this pool has a trusted price')
    : partlyCounted(
        countedUsd,
        totalUsd,
        'price limited',
        'The pools behind a price limit what its token counts with',
      );
}

/** The liquidity in a list of tokens, where a zero without a trusted price is no measured zero. */
export function listedTokenLiquidity(token: TokenItem): HTMLElement | string {
  const { liquidity_usd: countedUsd, price_confidence: confidence } = token;
  if (countedUsd > 0 || confidence === 'high' || confidence === 'medium') return formatUsd(countedUsd);
  return notCounted(
    confidence === 'none'
      ? 'The token has no USD price, so its liquidity does not count'
      : 'The price of the token is not trusted, so its liquidity does not count',
  );
}

/** The liquidity in a list of pairs. */
export function listedPairLiquidity(pair: PairItem): HTMLElement | string {
  if (pair.liquidity_usd > 0) return formatUsd(pair.liquidity_usd);
  if (pair.flags.includes('ended')) return notCounted('The curve has ended and is empty', 'ended');
  return notCounted(
    pair.flags.some((flag) => POOL_CODES.includes(flag))
      ? 'The pool is not trusted, so its liquidity does not count'
      : 'No token of this pool has a trusted price, or the pool is empty',
  );
}

/** The liquidity of a DEX, of whose pools perhaps none counts. */
export function dexLiquidity(dex: Pick<DexItem, 'tvl_usd' | 'pool_count'>): HTMLElement | string {
  if (dex.tvl_usd > 0 || dex.pool_count === 0) return formatUsd(dex.tvl_usd);
  return notCounted('No pool of this DEX has a token with a trusted price, or all pools are empty');
}

function notCounted(reason: string, text = 'not counted'): HTMLElement {
  return h('span', { class: 'not-counted', title: reason }, text);
}

function partlyCounted(
  countedUsd: number,
  totalUsd: number,
  shortReason: string,
  reason: string,
): HTMLElement {
  const amountText = `counted ${formatUsd(countedUsd)} of ${formatUsd(totalUsd)}: ${shortReason}`;
  return h('span', { class: 'counted' }, amountText, h('small', {}, reason));
}
