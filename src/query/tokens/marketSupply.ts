/**
 * The supply of a token or an LP token as the market's endpoints show it, so that the explorer's endpoints show the
 * same.
 */
import { isHistoryPartial } from '../holders/balances';
import { shapeOf } from '../../domain/pools/poolShape';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { MarketTables } from '../marketTables';
import { getProtocol } from '../../protocols/registry';
import { lpSupplyOf, supplyOf } from './tokenSupply';

/** Supply in raw units. Null if the market does not know the supply, or does not list the token. */
export async function findMarketSupply(
  { tokens, pairs, holders }: Pick<MarketTables, 'tokens' | 'pairs' | 'holders'>,
  head: HeadSnapshot,
  token: string,
): Promise<bigint | null> {
  const entry = (await tokens.at(head)).byAddress.get(token);
  if (entry !== undefined) return supplyOf(entry.facts)?.total ?? null;
  const pool = (await pairs.at(head)).byAddress.get(token)?.pool;
  if (pool === undefined || !shapeOf(pool.pool_type).hasLpToken) return null;
  const holding = (await holders.at(head)).holdingOf(token);
  return lpSupplyOf(pool, { holding, partial: isHistoryPartial(head) })?.supply ?? null;
}

/** Whether the token is an LP token whose supply includes what its holders sent to the zero address. */
export async function keepsAtZero(
  { pairs }: Pick<MarketTables, 'pairs'>,
  head: HeadSnapshot,
  token: string,
): Promise<boolean> {
  const pool = (await pairs.at(head)).byAddress.get(token)?.pool;
  return pool !== undefined && getProtocol(pool.protocol).locksSharesAtZero;
}
