/** Headers that name the block an answer is as of, for routes of the dialects: that of the asked chain, not of the market's. */
import type { ChainMoment } from '../explorer/explorerRoute';
import type { RouteContext } from '../route';

/** Null: the chain is not stored here, the answer is of no block. */
export function setHeadHeaders(ctx: RouteContext, moment: ChainMoment | null): void {
  if (moment === null) {
    ctx.remove('X-Indexed-Block');
    ctx.remove('X-Indexed-Block-Hash');
    return;
  }
  ctx.set('X-Indexed-Block', String(moment.head.number));
  ctx.set('X-Indexed-Block-Hash', moment.head.hash);
}
