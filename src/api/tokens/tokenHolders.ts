/** GET /api/v1/tokens/{address}/holders: the holders of one token, largest balance first. */
import type { Hex } from '../../domain/hex';
import { formatUnits } from '../../domain/amounts';
import { AppError } from '../../errors';
import { findBalanceChecks } from '../../query/holders/balanceChecks';
import type { TokenHolding } from '../../query/holders/holderCounts';
import { readZeroBalances } from '../../query/holders/zeroBalances';
import { findBlockTime } from '../../query/head/blockTimes';
import { chainUpTo } from '../../query/head/headSnapshot';
import { hasWholeHistory, listHolders, readTokenHolding } from '../../query/holders/tokenHolding';
import { TIME_BUDGETS } from '../../query/head/timeBudgets';
import { listTokens } from '../../query/tokens/tokens';
import { loggedHoldersOf } from '../../query/tokens/tokenSupply';
import { readTotalSupply } from '../../query/tokens/totalSupply';
import { holdersAnswerShape, type HoldersAnswer } from '../../wire/holders';
import { EXPLORER, type ChainAtHead, type ExplorerDeps } from '../explorerScope';
import { listMeta, PAGE_PARAMS, skipOf } from '../listMeta';
import { badParam, integerParam } from '../params';
import type { Route } from '../route';
import { route } from '../scope';
import { TOKEN_PATH_PARAMS } from './tokenEntry';

/** Holders that the pages reach. */
const HOLDERS_MAX = 10_000;
/** Shares are computed as integers in millionths of a percent. */
const PARTS_PER_PERCENT = 1_000_000n;

export function tokenHolders(deps: ExplorerDeps): Route {
  return route(deps, {
    scope: EXPLORER,
    path: '/api/v1/tokens/:address/holders',
    summary: 'Holders of a token, largest first',
    description:
      'Every address with a positive balance by the Transfer logs, without the zero address, with its share of ' +
      `the supply and the name of a known contract. The pages reach the ${HOLDERS_MAX.toLocaleString('en-US')} ` +
      'largest holders.',
    pathParams: TOKEN_PATH_PARAMS,
    query: {
      ...PAGE_PARAMS,
      block: integerParam({
        min: 0,
        absent: null,
        description: 'Block at whose end the balances are; default: the newest indexed block',
      }),
    },
    answer: holdersAnswerShape,
    errors: [400, 404, 503],
    async read({ address, block: askedBlock, ...page }, { chainId, chainAtHead }) {
      const notFound = new AppError('not_found', `there is no token at ${address} on chain ${chainId}`);
      if (chainAtHead === null) throw notFound;
      const { head } = chainAtHead;
      const { runner } = chainAtHead.chain;
      const block = askedBlock ?? head.number;
      const timestamp = await findBlockTime(runner, chainId, head, block);
      if (timestamp === null)
        throw badParam('block', String(block), `an indexed block, from ${head.startBlock} to ${head.number}`);
      const [token, holding, checks, isHistoryWhole] = await Promise.all([
        listTokens(runner, [address]).then((tokens) => tokens.get(address)),
        readTokenHolding(runner, head, address, block),
        findBalanceChecks(runner, address),
        hasWholeHistory(deps.contracts, chainId, head, address),
      ]);
      if (token === undefined && holding === null) throw notFound;
      const total = holding === null ? 0 : loggedHoldersOf({ holding, checks, partial: !isHistoryWhole });
      const hasPage = skipOf(page) < (total ?? 0);
      if (hasPage) checkReach(page);
      const meta = listMeta(page, total ?? 0, { number: block, timestamp });
      const question = { token: address, block, holding, decimals: token?.decimals ?? null };
      return {
        data: hasPage ? await readPage(deps, chainAtHead, question, page) : [],
        meta: {
          ...meta,
          has_next: meta.has_next && page.page < lastPage(page.limit),
          reason: total === null ? 'unknown_balances' : null,
        },
      };
    },
  });
}

/** A token whose holders are listed, at a block. */
interface HoldersQuestion {
  readonly token: Hex;
  readonly block: number;
  /** The holders at the block. Null if no transfer of the token is stored. */
  readonly holding: TokenHolding | null;
  readonly decimals: number | null;
}

/** The last page that the list reaches. */
function lastPage(limit: number): number {
  return Math.floor(HOLDERS_MAX / limit);
}

/** Throws bad_request for a page of holders that the list does not reach. A page without holders is empty instead. */
function checkReach({ page, limit }: { readonly page: number; readonly limit: number }): void {
  if (page > lastPage(limit))
    throw badParam('page', String(page), `with limit=${limit}, an integer from 1 to ${lastPage(limit)}`);
}

async function readPage(
  deps: ExplorerDeps,
  { chain, head }: ChainAtHead,
  question: HoldersQuestion,
  page: { readonly page: number; readonly limit: number },
): Promise<HoldersAnswer['data']> {
  const { token, block, decimals } = question;
  const skip = skipOf(page);
  const [holders, supply, labelOf] = await Promise.all([
    listHolders(chain.runner, head, token, { skip, limit: page.limit }, block),
    block === head.number
      ? readSupply(deps, { chain, head }, token)
      : readEarlierSupply(deps, { chain, head }, question),
    deps.labelsOf?.(chain.chainId, head),
  ]);
  return holders.map(({ holder, balance }, index) => ({
    rank: skip + index + 1,
    address: holder,
    balance: decimals === null ? null : formatUnits(balance, decimals),
    balance_raw: balance.toString(),
    share_pct:
      supply === null || supply <= 0n
        ? null
        : Number((balance * 100n * PARTS_PER_PERCENT) / supply) / Number(PARTS_PER_PERCENT),
    label: labelOf?.(holder) ?? null,
  }));
}

async function readSupply(
  { nodeOf, supplyOf }: ExplorerDeps,
  { chain, head }: ChainAtHead,
  token: Hex,
): Promise<bigint | null> {
  const marketSupply = (await supplyOf?.(chain.chainId, head, token)) ?? null;
  const node = nodeOf?.(chain.chainId) ?? null;
  return readTotalSupply(chain, head, token, { node, marketSupply, patienceMs: TIME_BUDGETS.nodeMs });
}

/** The supply at the end of an earlier block, by the logs. Null if they do not add up. */
async function readEarlierSupply(
  { keepsAtZero }: ExplorerDeps,
  { chain, head }: ChainAtHead,
  { token, block, holding }: HoldersQuestion,
): Promise<bigint | null> {
  const supply = holding?.supply ?? null;
  if (supply === null || (await keepsAtZero?.(chain.chainId, head, token)) !== true) return supply;
  const zeroBalances = await readZeroBalances(chain.runner, chainUpTo(head, block), [token]);
  return supply + (zeroBalances.get(token)?.sent ?? 0n);
}
