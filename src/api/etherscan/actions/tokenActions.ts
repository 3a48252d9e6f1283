/** Token actions: supplies and balances from the node or from complete transfer histories, metadata, and holders. */
import { callData } from '../../../domain/contractCall';
import type { Hex } from '../../../domain/hex';
import { findBalanceChecks, inventsTransfers, tellsBalances } from '../../../query/holders/balanceChecks';
import { isHistoryPartial, readHoldings } from '../../../query/holders/balances';
import { hasWholeHistory, listHolders, readTokenHolding } from '../../../query/holders/tokenHolding';
import { listTokens } from '../../../query/tokens/tokens';
import { loggedHoldersOf } from '../../../query/tokens/tokenSupply';
import { readTotalSupply } from '../../../query/tokens/totalSupply';
import type { Action, Actions, Ask } from '../action';
import { EMPTY_TEXTS, listAnswer, ok, refuse, TEXTS } from '../answers';
import { needAddress, readPage } from '../askedParams';
import { askNode } from './nodeActions';

/** Selector of the function `balanceOf(address)`. */
/** Length of a 32-byte word in hex, with 0x. */
const WORD_LENGTH = 66;
/** Etherscan's limit of page times offset: the whole list may be one page. */
const PAGE_MAX = 10_000;

export const tokenBalanceActions: Actions = new Map<string, Action>([['tokenbalance', getTokenBalance]]);
export const tokenSupplyActions: Actions = new Map<string, Action>([['tokensupply', getTokenSupply]]);
export const tokenActions: Actions = new Map<string, Action>([
  ['tokeninfo', getTokenInfo],
  ['tokenholderlist', listTokenHolders],
  ['tokenholdercount', countTokenHolders],
]);

async function getTokenSupply(ask: Ask) {
  const supply = await readSupply(ask, needAddress(ask.asked, 'contractaddress'));
  return supply === null ? refuse(TEXTS.unavailableAction) : ok(supply.toString());
}

async function getTokenBalance(ask: Ask) {
  const token = needAddress(ask.asked, 'contractaddress');
  const holder = needAddress(ask.asked);
  const data = callData('balanceOf(address)', holder);
  const nodeBalance = await callToken(ask, token, data);
  if (nodeBalance !== null) return ok(nodeBalance.toString());
  const { chainAtHead } = ask;
  if (chainAtHead === null || isHistoryPartial(chainAtHead.head)) return refuse(TEXTS.unavailableAction);
  const { balances } = await readHoldings(chainAtHead.chain.runner, chainAtHead.head, holder);
  const balance = balances.get(token) ?? 0n;
  return ok((balance < 0n ? 0n : balance).toString());
}

async function getTokenInfo(ask: Ask) {
  const { asked, chainAtHead } = ask;
  const address = needAddress(asked, 'contractaddress');
  const token =
    chainAtHead === null ? undefined : (await listTokens(chainAtHead.chain.runner, [address])).get(address);
  if (token === undefined) return listAnswer([], EMPTY_TEXTS.creations);
  const supply = await readSupply(ask, address);
  return ok([
    {
      contractAddress: address,
      tokenName: token.name ?? '',
      symbol: token.symbol ?? '',
      divisor: token.decimals === null ? '' : String(token.decimals),
      tokenType: 'ERC20',
      totalSupply: supply?.toString() ?? '',
    },
  ]);
}

/**
 * Lists holders with balances from transfer logs. A balance that changes without a log is not seen. Refuses a token
 * that invents transfers.
 */
async function listTokenHolders({ deps, asked, chainId, chainAtHead }: Ask) {
  const token = needAddress(asked, 'contractaddress');
  const page = readPage(asked, PAGE_MAX);
  if (chainAtHead === null || !(await hasWholeHistory(deps.contracts, chainId, chainAtHead.head, token)))
    return refuse(TEXTS.unavailableAction);
  const checks = await findBalanceChecks(chainAtHead.chain.runner, token);
  // The holders are not counted here, so a sample of any age will do.
  const areBalancesConfirmed = tellsBalances(checks, checks?.sampledHolders ?? 0);
  if (!areBalancesConfirmed || inventsTransfers(checks)) return refuse(TEXTS.unavailableAction);
  const holders = await listHolders(chainAtHead.chain.runner, chainAtHead.head, token, page);
  return listAnswer(
    holders.map(({ holder, balance }) => ({
      TokenHolderAddress: holder,
      TokenHolderQuantity: balance.toString(),
    })),
    EMPTY_TEXTS.logs,
  );
}

async function countTokenHolders({ deps, asked, chainId, chainAtHead }: Ask) {
  const token = needAddress(asked, 'contractaddress');
  if (chainAtHead === null || !(await hasWholeHistory(deps.contracts, chainId, chainAtHead.head, token)))
    return refuse(TEXTS.unavailableAction);
  const [holding, checks] = await Promise.all([
    readTokenHolding(chainAtHead.chain.runner, chainAtHead.head, token),
    findBalanceChecks(chainAtHead.chain.runner, token),
  ]);
  const holders = loggedHoldersOf({ holding, partial: false, checks });
  return holders === null ? refuse(TEXTS.unavailableAction) : ok(String(holders));
}

/** Supply of the token in raw units; null if unknown. */
async function readSupply({ deps, chainId, chainAtHead }: Ask, token: Hex): Promise<bigint | null> {
  if (chainAtHead === null) return null;
  const node = deps.nodeOf?.(chainId) ?? null;
  const marketSupply = (await deps.supplyOf?.(chainId, chainAtHead.head, token)) ?? null;
  return readTotalSupply(chainAtHead.chain, chainAtHead.head, token, { node, marketSupply });
}

/** Result of a call to the token. Null if there is no node, or if the contract does not have this function. */
async function callToken(ask: Ask, to: Hex, data: Hex): Promise<bigint | null> {
  const answers = await askNode(ask, [{ kind: 'call', to, data }]);
  const answer = answers?.[0] ?? null;
  return answer !== null && answer.length === WORD_LENGTH ? BigInt(answer) : null;
}
