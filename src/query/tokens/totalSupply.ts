/**
 * Reads the total supply of one token. Prefers the contract's answer after the head's block, because a contract may
 * still count tokens at the zero address. Without a node, uses the transfers if they are complete and add up.
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
/** Characters of 0x and one word. */
const WORD = 66;

interface SupplyDeps {
  /** The node of the chain, or null. */
  readonly node: NodeState | null;
  /** The existing count of this head; null: none. A new count reads every holder. */
  readonly counted: TokenHolding | null;
  /** Maximum wait for the node; default: no limit here. A late answer serves the next request. */
  readonly patienceMs?: number;
}

/** Raw units; null if neither the node nor the logs give a supply. */
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
