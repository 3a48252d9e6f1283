/** module=stats: the native coin's price by our own pools. Its supply is in no log, and no node tells it. */
import { plainNumber } from '../../domain/amounts';
import type { Action, Actions, Ask } from './action';
import { ok, refuse, TEXTS } from './answers';
import { tokenSupplyActions } from './tokenActions';

export const statsActions: Actions = new Map<string, Action>([
  ...tokenSupplyActions,
  ['ethprice', getCoinPrice],
  ['ethsupply', () => refuse(TEXTS.action)],
]);

/** Named as the dialect names every native coin. No price in bitcoin is known. */
async function getCoinPrice({ deps, chainId, moment }: Ask) {
  if (moment === null || deps.nativeUsdOf === undefined) return refuse(TEXTS.action);
  const usd = await deps.nativeUsdOf(chainId, moment.head);
  if (usd === null) return refuse(TEXTS.action);
  return ok({
    ethbtc: '',
    ethbtc_timestamp: '',
    ethusd: plainNumber(usd),
    ethusd_timestamp: String(moment.head.timestamp),
  });
}
