/** Paging of lists: two parameters, the slice of a page and the fields of `meta`. */
import type { HeadSnapshot } from '../query/head/headSnapshot';
import type { ListMeta } from '../wire/primitives';
import { integerParam, type Param } from './params';

const LIMIT_MAX = 100;

export const PAGE_PARAMS = {
  page: integerParam({ min: 1, absent: 1, description: 'Page number, from 1' }),
  limit: integerParam({ min: 1, max: LIMIT_MAX, absent: 25, description: 'Items per page' }),
} as const;

/** The parameter that leaves out items with little liquidity, for a list of `items`. */
export function minLiquidityParam(items: string): Param<number | null> {
  return integerParam({
    min: 0,
    absent: null,
    description: `Only ${items} with at least this liquidity_usd`,
  });
}

interface Page {
  readonly page: number;
  readonly limit: number;
}

/** Number of items before the page. */
export function skipOf({ page, limit }: Page): number {
  return (page - 1) * limit;
}

export function listMeta(
  page: Page,
  total: number,
  head: Pick<HeadSnapshot, 'number' | 'timestamp'>,
): ListMeta {
  return {
    page: page.page,
    limit: page.limit,
    total,
    total_pages: Math.ceil(total / page.limit),
    has_next: page.page * page.limit < total,
    as_of_block: head.number,
    as_of_timestamp: head.timestamp,
  };
}
