/** GET /api/v1/activity: swaps, mints, burns and syncs, newest first, by page or by cursor. */
import { blockOfOrd, logIndexOfOrd, ORD_SPAN, toOrd } from '../../domain/ord';
import { activityAnswerShape, EVENT_KINDS } from '../../wire/activity';
import { listMeta, PAGE_PARAMS, skipOf } from '../listMeta';
import { MARKET, type MarketDeps } from '../marketScope';
import { parsedParam, addressParam, listOfParam, poolParam, type ParsedOf } from '../params';
import type { Route } from '../route';
import { route } from '../scope';
import type { ActivityFilter } from '../../query/activity/activity';

export const ACTIVITY_FILTER_PARAMS = {
  event_type: listOfParam(EVENT_KINDS, 'Only these kinds of events: a comma list. Default: all kinds'),
  pair: poolParam('pair', 'Only events of this pair: its address or id'),
  token: addressParam('token', 'Only events in which this token is token0 or token1'),
  maker: addressParam('maker', 'Only events of transactions from this sender'),
} as const;

export function toActivityFilter(params: ParsedOf<typeof ACTIVITY_FILTER_PARAMS>): ActivityFilter {
  return { kinds: params.event_type, pair: params.pair, token: params.token, maker: params.maker };
}

const BLOCK_MAX = 4_294_967_295;

export function activity(deps: MarketDeps): Route {
  return route(deps, {
    scope: MARKET,
    path: '/api/v1/activity',
    summary: 'Swaps, mints, burns and syncs, newest first',
    description:
      'Events of all pools. The filters choose kinds of events, a pair, a token or the sender of the transaction. `meta.next_cursor` continues the list while new events arrive.',
    query: {
      ...PAGE_PARAMS,
      ...ACTIVITY_FILTER_PARAMS,
      cursor: parsedParam({
        parse: parseCursor,
        allowed: 'the next_cursor of an earlier answer',
        doc: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' },
        description: 'The next_cursor of an earlier answer: continues after its last event. Overrides page',
      }),
    },
    answer: activityAnswerShape,
    errors: [400, 503],
    async read({ cursor, ...params }, head) {
      const filter = toActivityFilter(params);
      const skip = cursor === null ? skipOf(params) : 0;
      // The read asks for one more event than shown, to find out whether there is a next page.
      const page = { beforeOrd: cursor, skip, limit: params.limit + 1 };
      const eventCount = deps.activityCounter.count(head, filter);
      // Waits for the number of events first if the query skips some: past the last event, nothing needs to
      // be read.
      const hasPage = skip === 0 || skip < (await eventCount);
      const [total, events] = await Promise.all([
        eventCount,
        hasPage ? deps.newestEvents.list(head, filter, page) : [],
      ]);
      const shownEvents = events.slice(0, params.limit);
      const hasNext = events.length > shownEvents.length;
      const lastEvent = shownEvents.at(-1);
      return {
        data: shownEvents.map(({ item }) => item),
        meta: {
          ...listMeta(params, total, head),
          has_next: hasNext,
          next_cursor: hasNext && lastEvent !== undefined ? formatCursor(lastEvent.ord) : null,
        },
      };
    },
  });
}

/** A cursor encodes the position of the last event on the page, so it never expires. */
export function formatCursor(ord: number): string {
  return Buffer.from(`${blockOfOrd(ord)}-${logIndexOfOrd(ord)}`).toString('base64url');
}

/** Decodes a cursor to the position (`ord`) of an event; null if the cursor is invalid. */
export function parseCursor(text: string): number | null {
  const [, blockText = '', indexText = ''] =
    /^(\d{1,10})-(\d{1,7})$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  const block = Number(blockText);
  const index = Number(indexText);
  if (blockText === '' || block > BLOCK_MAX || index >= ORD_SPAN) return null;
  const ord = toOrd(block, index);
  return formatCursor(ord) === text ? ord : null;
}
