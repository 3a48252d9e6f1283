/** Asks the node for the names of contracts without token metadata, such as NFTs. */
import { NAME_MAX, readAbiText, SYMBOL_MAX } from '../../domain/abiText';
import { callData } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import type { AccountState } from '../../domain/accountState';
import type { HeadSnapshot } from '../head/headSnapshot';

/**
 * Largest number of contracts per answer whose names are read from the node. Further contracts have no name.
 */
const CONTRACTS_MAX = 50;

interface ContractNames {
  readonly symbol: string | null;
  readonly name: string | null;
}

/** Names at the head's block; empty if the node does not answer. */
export async function askNames(
  node: AccountState | null,
  head: HeadSnapshot,
  contracts: readonly Hex[],
): Promise<Map<Hex, ContractNames>> {
  const askedContracts = [...new Set(contracts)].slice(0, CONTRACTS_MAX);
  if (node === null || askedContracts.length === 0) return new Map();
  const questions = askedContracts.flatMap((to) =>
    ['symbol()', 'name()'].map((name) => ({ kind: 'call', to, data: callData(name) }) as const),
  );
  const answers = (await node.ask(head.hash, questions)) ?? [];
  return new Map(
    askedContracts.map((address, index) => [
      address,
      {
        symbol: readAbiText(answers[2 * index], SYMBOL_MAX),
        name: readAbiText(answers[2 * index + 1], NAME_MAX),
      },
    ]),
  );
}
