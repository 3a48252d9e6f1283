/**
 * The supply of one token: as the contract says after the head's block, for a contract may keep counting what was sent to the zero
 * address; where no node tells, by its transfers if those are all known and add up.
 */
import type { Hex } from '../../domain/hex';
import type { NodeState } from '../../domain/nodeState';
import { isHistoryPartial } from '../holders/balances';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { TokenHolding } from '../holders/holderCounts';
import type { LogSource } from '../logs/logFilter';
import { orNull } from '../head/orNull';
import { listRebasing } from '../holders/rebasing';
import { readTokenHolding } from '../holders/tokenHolding';
import { supplyOf } from './tokenSupply';

/** `totalSupply()`. */
const TOTAL_SUPPLY: Hex = '0x18160ddd';
/** 0x and one word. */
const WORD = 66;

export interface SupplyDeps {
  /** Who can say what the contract itself tells; null: nobody. */
  readonly node: NodeState | null;
  /** What was counted already as of this very head; null: nothing. Counting reads every holder. */
  readonly counted: TokenHolding | null;
  /** How long the node is waited for; default: as long as it is asked at all. What it says late is there for the next one. */
  readonly patienceMs?: number;
}

/** Raw units; null: neither the node nor the logs tell. */
export async function readTotalSupply(
  { runner }: Pick<LogSource, 'runner'>,
  head: HeadSnapshot,
  token: Hex,
  { node, counted, patienceMs }: SupplyDeps,
): Promise<bigint | null> {
  const said = node === null ? null : await askSupply(node, head, token, patienceMs);
  if (said !== null || isHistoryPartial(head)) return said;
  const [holding, rebasing] = await Promise.all([
    counted ?? readTokenHolding(runner, head, token),
    listRebasing(runner),
  ]);
  return supplyOf({ holding, partial: false, rebasing: rebasing.has(token) })?.total ?? null;
}

async function askSupply(
  node: NodeState,
  head: HeadSnapshot,
  token: Hex,
  patienceMs: number | undefined,
): Promise<bigint | null> {
  const asking = node.ask(head.hash, [{ kind: 'call', to: token, data: TOTAL_SUPPLY }]);
  const answers = await (patienceMs === undefined ? asking : orNull(asking, patienceMs));
  const answer = answers?.[0] ?? null;
  return answer !== null && answer.length === WORD ? BigInt(answer) : null;
}
