/** Filter parameters of /activity and of its stream. */
import type { ActivityFilter } from '../../query/activity/activity';
import { EVENT_KINDS } from '../../wire/activity';
import { addressParam, listOfParam, type ParsedOf } from '../params';

export const ACTIVITY_FILTER_PARAMS = {
  event_type: listOfParam(EVENT_KINDS, 'Only these kinds of events: a comma list. Default: all kinds'),
  pair: addressParam('pair', 'Only events of this pair'),
  token: addressParam('token', 'Only events in which this token is token0 or token1'),
  maker: addressParam('maker', 'Only events of transactions from this sender'),
} as const;

export function toActivityFilter(params: ParsedOf<typeof ACTIVITY_FILTER_PARAMS>): ActivityFilter {
  return { kinds: params.event_type, pair: params.pair, token: params.token, maker: params.maker };
}
