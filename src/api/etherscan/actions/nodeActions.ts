/** Balances of the native coin, and a helper that asks the node about the state after the head block. */
import type { Hex } from '../../../domain/hex';
import type { StateAnswers, StateQuestion } from '../../../domain/accountState';
import { AppError } from '../../../errors';
import { HeadReplaced } from '../../answering';
import type { Action, Actions, Ask } from '../action';
import { dialectError, ok, refuse, TEXTS } from '../answers';
import { addressOf, badFormat, needAddress, textOf } from '../askedParams';

const BALANCES_MAX = 20;

export const coinActions: Actions = new Map<string, Action>([
  ['balance', getBalance],
  ['balancemulti', getBalances],
]);

/** Asks the node for the state at the head. Returns null if no node is configured. Throws node_failed if the
 * node does not answer. */
export async function askNode(
  { deps, chainId, chainAtHead }: Ask,
  questions: readonly StateQuestion[],
): Promise<StateAnswers | null> {
  const node = deps.nodeOf?.(chainId) ?? null;
  if (node === null || chainAtHead === null) return null;
  const answers = await node.ask(chainAtHead.head.hash, questions);
  if (answers === null) {
    const failure = new AppError('node_failed', 'the node does not answer');
    throw node.lacks(chainAtHead.head.hash) ? new HeadReplaced(failure) : failure;
  }
  return answers;
}

async function getBalance(ask: Ask) {
  needLatest(ask);
  const balances = await readCoins(ask, [needAddress(ask.asked)]);
  return balances === null ? refuse(TEXTS.unavailableAction) : ok(balances[0] ?? '0');
}

async function getBalances(ask: Ask) {
  needLatest(ask);
  const texts = (textOf(ask.asked, 'address') ?? '').split(',').map((text) => text.trim());
  const addressTexts = texts.filter((text) => text !== '');
  if (addressTexts.length === 0) throw dialectError(TEXTS.noAddress);
  if (addressTexts.length > BALANCES_MAX) throw badFormat('address');
  const accounts = addressTexts.map(addressOf);
  const balances = await readCoins(ask, accounts);
  if (balances === null) return refuse(TEXTS.unavailableAction);
  return ok(accounts.map((account, index) => ({ account, balance: balances[index] ?? '0' })));
}

async function readCoins(ask: Ask, addresses: readonly Hex[]): Promise<string[] | null> {
  const answers = await askNode(
    ask,
    addresses.map((address) => ({ kind: 'coin', address })),
  );
  return (
    answers?.map((answer) => {
      if (answer === null) throw new AppError('node_failed', 'the node returned no balance');
      return BigInt(answer).toString();
    }) ?? null
  );
}

/** Throws if the request asks for an older block, because the Etherscan dialect reads no older state. */
function needLatest({ asked }: Ask): void {
  const tag = textOf(asked, 'tag') ?? 'latest';
  if (tag !== 'latest' && tag !== 'pending') throw badFormat('tag');
}
