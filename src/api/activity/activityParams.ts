/** Filter parameters of /activity and of its stream. */
import type { ActivityFilter } from '../../query/activity/activity';
import { EVENT_KINDS } from '../../wire/activity';
import { addressParam, listOfParam, type ParsedOf } from '../params';

export const ACTIVITY_FILTER_PARAMS = {
  event_type: listOfParam(EVENT_KINDS, 'Only these kinds of events; a comma list'),
  pair: addressParam('pair', 'Only events of this pair'),
  token: addressParam('token', 'Only events of pairs that hold this token'),
  maker: addressParam('maker', 'Only events of transactions that this address sent'),
} as const;

export function toActivityFilter(params: ParsedOf<typeof ACTIVITY_FILTER_PARAMS>): ActivityFilter {
  return { kinds: params.event_type, pair: params.pair, token: params.token, maker: params.maker };
}
