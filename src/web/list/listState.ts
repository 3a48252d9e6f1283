/** The sort order and the page of a list in the address bar. */
import type { Query } from '../core/api.ts';
import type { TableState } from './dataTable.ts';

export const DEFAULT_SORT = 'volume_24h_usd';

export function readState(query: URLSearchParams): TableState {
  const page = Number(query.get('page') ?? '1');
  const limit = Number(query.get('limit') ?? '25');
  return {
    sort: query.get('sort') ?? (query.get('q') ? null : DEFAULT_SORT),
    order: query.get('order') === 'asc' ? 'asc' : 'desc',
    page: Number.isInteger(page) && page > 0 ? page : 1,
    limit: [25, 50, 100].includes(limit) ? limit : 25,
  };
}

/** The state in the address bar, without values that are the default. */
export function stateQuery({ sort, order, page, limit }: TableState): Query {
  return {
    sort: sort === DEFAULT_SORT && order === 'desc' ? null : sort,
    order: order === 'desc' ? null : order,
    page: page === 1 ? null : page,
    limit: limit === 25 ? null : limit,
  };
}
