/** Parameters that choose bars, shared by the endpoints of pairs and tokens. */
import { TIMEFRAMES } from '../../domain/timeframes';
import { flagParam, integerParam, oneOfParam } from '../params';

/** Larger values of the parameter `to` are milliseconds, not seconds. */
const MILLISECONDS_ABOVE = 1e11;
const LIMIT_MAX = 1_000;

export const BAR_RANGE_PARAMS = {
  timeframe: oneOfParam(TIMEFRAMES, { absent: '1h', description: 'Length of a bar' }),
  limit: integerParam({
    min: 1,
    max: LIMIT_MAX,
    absent: 300,
    description: 'Maximum number of bars. The answer has the last bars before `to`',
  }),
  to: integerParam({
    min: 0,
    absent: null,
    description: 'Only bars that open before this time, unix seconds; values above 1e11 are milliseconds',
  }),
  fill: flagParam('Adds bars without trades, at the close of the previous bar'),
  continuous: flagParam('Each bar opens at the close of the bar before it; high and low include this price'),
};

/**
 * Converts `to` to seconds. Milliseconds are rounded up, because bars open at whole seconds and `to` is an exclusive
 * bound.
 */
export function toSeconds(to: number | null): number | null {
  return to !== null && to > MILLISECONDS_ABOVE ? Math.ceil(to / 1000) : to;
}
