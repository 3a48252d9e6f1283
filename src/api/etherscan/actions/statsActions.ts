/**
 * The actions of module=stats: the price of the native coin from the indexed pools, and token supplies.
 * There is no action ethsupply, because neither logs nor the node provide the supply of the native coin.
 */
import { plainNumber } from '../../../domain/amounts';
import type { Action, Actions, Ask } from '../action';
import { ok, refuse, TEXTS } from '../answers';
import { tokenSupplyActions } from './tokenActions';

export const statsActions: Actions = new Map<string, Action>([
  ...tokenSupplyActions,
  ['ethprice', getCoinPrice],
]);

/** The dialect calls every native coin `eth`. The fields for the price in bitcoin stay empty. */
async function getCoinPrice({ deps, chainId, chainAtHead }: Ask) {
  if (chainAtHead === null || deps.nativeUsdOf === undefined) return refuse(TEXTS.unavailableAction);
  const usdPerCoin = await deps.nativeUsdOf(chainId, chainAtHead.head);
  if (usdPerCoin === null) return refuse(TEXTS.unavailableAction);
  return ok({
    ethbtc: '',
    ethbtc_timestamp: '',
    ethusd: plainNumber(usdPerCoin),
    ethusd_timestamp: String(chainAtHead.head.timestamp),
  });
}
