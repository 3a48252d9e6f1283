/** The actions of module=transaction: whether a transaction succeeded, from its logs or from the node's
 * receipt. */
import { z } from 'zod';

import { NO_DATA } from '../../../query/logs/logBytes';
import { ALL_LOGS } from '../../../query/logs/logFilter';
import { listLogs } from '../../../query/logs/logs';
import type { Action, Actions, Ask } from '../action';
import { ok } from '../answers';
import { badFormat, findHashParam } from '../askedParams';

export const transactionActions: Actions = new Map<string, Action>([
  ['gettxreceiptstatus', getReceiptStatus],
  ['getstatus', getStatus],
]);

const receiptShape = z.object({ status: z.enum(['0x0', '0x1']) });

async function getReceiptStatus(ask: Ask) {
  const hasSucceededOrNull = await hasSucceeded(ask);
  return ok({ status: hasSucceededOrNull === null ? '' : hasSucceededOrNull ? '1' : '0' });
}

/** The service reads no traces, so it does not know why a transaction failed. */
async function getStatus(ask: Ask) {
  const succeeded = await hasSucceeded(ask);
  return ok({ isError: succeeded === null ? '' : succeeded ? '0' : '1', errDescription: '' });
}

/**
 * Whether the transaction succeeded; a log proves this. Null if neither the logs nor the node know the transaction.
 */
async function hasSucceeded({ deps, asked, chainId, chainAtHead }: Ask): Promise<boolean | null> {
  const txHash = findHashParam(asked, 'txhash');
  if (txHash === null) throw badFormat('txhash');
  if (chainAtHead === null) return null;
  const page = { newestFirst: true, afterOrd: null, skip: 0, limit: 1, bounds: NO_DATA };
  const { logs } = await listLogs(chainAtHead.chain, chainAtHead.head, { ...ALL_LOGS, txHash }, page);
  if (logs.length > 0) return true;
  const answer = await deps.relayOf?.(chainId)?.call('eth_getTransactionReceipt', [txHash]);
  const receipt = receiptShape.safeParse(answer !== undefined && 'result' in answer ? answer.result : null);
  return receipt.success ? receipt.data.status === '0x1' : null;
}
