/** GET /api/v1/tokens/{address}/holders: the holders of one token, largest balance first. */
import type { Hex } from '../../domain/hex';
import { formatUnits } from '../../domain/amounts';
import { AppError } from '../../errors';
import { findBalanceChecks } from '../../query/holders/balanceChecks';
import { hasWholeHistory, listHolders, readTokenHolding } from '../../query/holders/tokenHolding';
import { TIME_BUDGETS } from '../../query/head/timeBudgets';
import { listTokens } from '../../query/tokens/tokens';
import { loggedHoldersOf } from '../../query/tokens/tokenSupply';
import { readTotalSupply } from '../../query/tokens/totalSupply';
import { holdersAnswerShape, type HoldersAnswer } from '../../wire/holders';
import { EXPLORER, type ChainMoment, type ExplorerDeps } from '../explorerScope';
import { listMeta, PAGE_PARAMS, skipOf } from '../listMeta';
import type { Route } from '../route';
import { route } from '../scope';
import { TOKEN_PATH_PARAMS } from './tokenEntry';

/** Holders that the pages reach. */
const HOLDERS_MAX = 10_000;
/** Parts of one percent in a share before it becomes a float. */
const PERCENT_PARTS = 1_000_000n;

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
    query: PAGE_PARAMS,
    answer: holdersAnswerShape,
    errors: [400, 404, 503],
    check({ page, limit }) {
      if (page * limit > HOLDERS_MAX)
        throw new AppError(
          'bad_request',
          `page: got "${page}"; allowed: with limit=${limit}, an integer from 1 to ${Math.floor(HOLDERS_MAX / limit)}`,
        );
    },
    async read({ address, ...page }, { chainId, moment }) {
      const notFound = new AppError('not_found', `there is no token at ${address} on chain ${chainId}`);
      if (moment === null) throw notFound;
      const { runner } = moment.chain;
      const [token, holding, checks, isWhole] = await Promise.all([
        listTokens(runner, [address]).then((tokens) => tokens.get(address)),
        readTokenHolding(runner, moment.head, address),
        findBalanceChecks(runner, address),
        hasWholeHistory(deps.contracts, chainId, moment.head, address),
      ]);
      if (token === undefined && holding === null) throw notFound;
      const total = holding === null ? 0 : loggedHoldersOf({ holding, checks, partial: !isWhole });
      return {
        data: total === null ? [] : await readPage(deps, moment, address, page, token?.decimals ?? null),
        meta: {
          ...listMeta(page, total ?? 0, moment.head),
          reason: total === null ? 'unknown_balances' : null,
        },
      };
    },
  });
}

async function readPage(
  deps: ExplorerDeps,
  { chain, head }: ChainMoment,
  token: Hex,
  page: { readonly page: number; readonly limit: number },
  decimals: number | null,
): Promise<HoldersAnswer['data']> {
  const { chainId } = chain;
  const skip = skipOf(page);
  const [holders, supply, labelOf] = await Promise.all([
    listHolders(chain.runner, head, token, { skip, limit: page.limit }),
    readSupply(deps, { chain, head }, token),
    deps.labelsOf?.(chainId, head),
  ]);
  return holders.map(({ holder, balance }, index) => ({
    rank: skip + index + 1,
    address: holder,
    balance: decimals === null ? null : formatUnits(balance, decimals),
    balance_raw: balance.toString(),
    share_pct:
      supply === null || supply <= 0n
        ? null
        : Number((balance * 100n * PERCENT_PARTS) / supply) / Number(PERCENT_PARTS),
    label: labelOf?.(holder) ?? null,
  }));
}

async function readSupply(
  { nodeOf, supplyOf }: ExplorerDeps,
  { chain, head }: ChainMoment,
  token: Hex,
): Promise<bigint | null> {
  const marketSupply = (await supplyOf?.(chain.chainId, head, token)) ?? null;
  const node = nodeOf?.(chain.chainId) ?? null;
  return readTotalSupply(chain, head, token, { node, marketSupply, patienceMs: TIME_BUDGETS.nodeMs });
}
