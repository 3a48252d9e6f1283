/**
 * Reads the total supply of one token. A token of the market has the supply that the market shows. For other tokens,
 * prefers the contract's answer after the head's block, because some contracts still count tokens at the zero address.
 * Without a node, uses the transfers, if they are complete and add up.
 */
import { callData, readNumber } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import type { AccountState } from '../../domain/accountState';
import { isHistoryPartial } from '../holders/balances';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { LogSource } from '../logs/logFilter';
import { orNull } from '../head/timeBudgets';
import { findBalanceChecks } from '../holders/balanceChecks';
import { readTokenHolding } from '../holders/tokenHolding';
import { supplyOf } from './tokenSupply';

interface SupplyDeps {
  /** Access to the node of the chain, or null. */
  readonly node: AccountState | null;
  /** The supply that the market shows at this head; null if it shows none. */
  readonly marketSupply: bigint | null;
  /**
   * Longest time in ms to wait for the node; by default there is no limit. An answer that comes later is used for the
   * next request.
   */
  readonly patienceMs?: number;
}

/** Supply in raw units; null if neither the node nor the logs give a supply. */
export async function readTotalSupply(
  { runner }: Pick<LogSource, 'runner'>,
  head: HeadSnapshot,
  token: Hex,
  { node, marketSupply, patienceMs }: SupplyDeps,
): Promise<bigint | null> {
  if (marketSupply !== null) return marketSupply;
  const nodeSupply = node === null ? null : await askSupply(node, head, token, patienceMs);
  if (nodeSupply !== null || isHistoryPartial(head)) return nodeSupply;
  const [holding, checks] = await Promise.all([
    readTokenHolding(runner, head, token),
    findBalanceChecks(runner, token),
  ]);
  return supplyOf({ holding, partial: false, checks })?.total ?? null;
}

async function askSupply(
  node: AccountState,
  head: HeadSnapshot,
  token: Hex,
  patienceMs: number | undefined,
): Promise<bigint | null> {
  const answersRead = node.ask(head.hash, [{ kind: 'call', to: token, data: callData('totalSupply()') }]);
  const answers = await (patienceMs === undefined ? answersRead : orNull(answersRead, patienceMs));
  return readNumber(answers?.[0]);
}
