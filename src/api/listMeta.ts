/** Paging of lists: the two parameters, the slice and the `meta`. */
import type { HeadSnapshot } from '../query/head/headSnapshot';
import type { ListMeta } from '../wire/primitives';
import { integerParam } from './params';

const LIMIT_MAX = 100;

export const PAGE_PARAMS = {
  page: integerParam({ min: 1, absent: 1, description: 'Page number, from 1' }),
  limit: integerParam({ min: 1, max: LIMIT_MAX, absent: 25, description: 'Items per page' }),
} as const;

interface Page {
  readonly page: number;
  readonly limit: number;
}

/** Number of items before a page. */
export function skipOf({ page, limit }: Page): number {
  return (page - 1) * limit;
}

export function listMeta(page: Page, total: number, head: HeadSnapshot): ListMeta {
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
