/**
 * Blockscout's list of verified contracts, API version 2: the newest verification first, 50 a page.
 * `next_page_params` of an answer are the query of the next page.
 */
import { getAddress } from 'ethers';
import { z } from 'zod';

import type { Hex } from '../../domain/hex';
import type { StateAnswers } from '../../domain/accountState';
import type { ListedVerification } from '../../query/contracts/verifiedList';
import { answering, Refusal } from '../answering';
import type { DialectDeps } from '../etherscan/action';
import { TIME_BUDGETS, orNull } from '../../query/head/timeBudgets';
import { chainParam, questionOf, type ChainAtHead } from '../explorerScope';
import { textParam } from '../params';
import type { Route, RouteContext } from '../route';

const CONTRACTS_PER_PAGE = 50;
const SEARCH_LENGTH_MAX = 100;
const LANGUAGES: ReadonlyMap<string, string> = new Map([
  ['solidity', 'Solidity'],
  ['vyper', 'Vyper'],
  ['yul', 'Yul'],
]);

const listShape = z.object({
  items: z.array(
    z.looseObject({
      address: z.looseObject({ hash: z.string(), name: z.string() }),
      language: z.string(),
      compiler_version: z.string(),
      verified_at: z.string(),
      coin_balance: z.string().optional().meta({ description: 'In the smallest unit; absent if unknown' }),
    }),
  ),
  next_page_params: z.looseObject({ smart_contract_id: z.string(), items_count: z.int() }).nullable(),
});

export function smartContractList(deps: DialectDeps, path: string): Route {
  const chainPathDoc = path.includes(':chainId') ? { path: { chainId: chainParam(deps.chainIds) } } : {};
  return {
    path,
    doc: {
      summary: 'The verified contracts of a chain in the format of Blockscout',
      description:
        'The answer is {items, next_page_params}: the newest verification first, 50 a page. next_page_params are ' +
        'the query of the next page, or null on the last page.',
      tag: 'explorer',
      ...chainPathDoc,
      query: {
        q: textParam({
          max: SEARCH_LENGTH_MAX,
          description: 'A part of the name, or the start of the address',
        }),
        filter: textParam({ max: 20, description: 'Language: solidity, vyper or yul' }),
        smart_contract_id: textParam({ max: 20, description: 'From next_page_params' }),
        items_count: textParam({ max: 20, description: 'From next_page_params; accepted and ignored' }),
      },
      answer: listShape,
      errors: [400, 404, 503],
    },
    handle: answering(deps.cache, (ctx) => {
      const chainText = ctx.params['chainId'] ?? String(deps.chainIds[0]);
      const chainId = deps.chainIds.find((id) => String(id) === chainText);
      if (chainId === undefined) throw new Refusal(404, { message: 'Not found' });
      const page = readPage(ctx);
      const requestKey = `blockscout list ${JSON.stringify(page)}`;
      return questionOf(deps, ctx, chainId, requestKey, async (chainAtHead) => {
        const rows = await deps.verifiedList.listVerified({
          ...page,
          chainId,
          newestFirst: true,
          limit: CONTRACTS_PER_PAGE,
        });
        const lastMatchId = rows.length < CONTRACTS_PER_PAGE ? null : (rows.at(-1)?.match_id ?? null);
        const balances = await readBalances(deps, chainAtHead, chainId, rows);
        const nextPageParams =
          lastMatchId === null
            ? null
            : { ...filtersOf(ctx), smart_contract_id: lastMatchId, items_count: CONTRACTS_PER_PAGE };
        return {
          items: rows.map((row, index) => toItem(row, balances?.[index] ?? null)),
          next_page_params: nextPageParams,
        };
      });
    }),
  };
}

function readPage(ctx: RouteContext): { afterMatchId: string; q: string; language: string } {
  const query = new URLSearchParams(ctx.querystring);
  const afterMatchId = query.get('smart_contract_id') ?? '0';
  const filter = query.get('filter') ?? '';
  const q = (query.get('q') ?? '').trim();
  const language = filter === '' ? '' : LANGUAGES.get(filter);
  if (!/^\d{1,18}$/.test(afterMatchId)) throw invalidParam('/smart_contract_id');
  if (language === undefined) throw invalidParam('/filter');
  if (q.length > SEARCH_LENGTH_MAX) throw invalidParam('/q');
  return { afterMatchId, q, language };
}

/** The filters of the request, which the next page repeats. */
function filtersOf(ctx: RouteContext): Record<string, string> {
  const query = new URLSearchParams(ctx.querystring);
  return Object.fromEntries(
    ['q', 'filter'].flatMap((name) => {
      const value = query.get(name);
      return value === null || value === '' ? [] : [[name, value]];
    }),
  );
}

function invalidParam(pointer: string): Refusal {
  return new Refusal(422, {
    errors: [{ title: 'Invalid value', source: { pointer }, detail: 'Invalid format' }],
  });
}

/** Balances of the native coin in the order of the rows. Null without a node, or if it does not answer. */
async function readBalances(
  { nodeOf }: DialectDeps,
  chainAtHead: ChainAtHead | null,
  chainId: number,
  rows: readonly ListedVerification[],
): Promise<StateAnswers | null> {
  const node = nodeOf?.(chainId) ?? null;
  if (node === null || chainAtHead === null || rows.length === 0) return null;
  const questions = rows.map(({ contract: address }) => ({ kind: 'coin', address }) as const);
  return orNull(node.ask(chainAtHead.head.hash, questions), TIME_BUDGETS.nodeMs);
}

/** `coin_balance` is left out if it is unknown. This service has no table of transactions, so their number is too. */
function toItem(row: ListedVerification, balance: Hex | null): z.infer<typeof listShape>['items'][number] {
  return {
    address: {
      hash: getAddress(row.contract),
      name: row.name,
      is_contract: true,
      is_verified: true,
    },
    compiler_version: row.compiler === 'solc' ? `v${row.compiler_version}` : row.compiler_version,
    language: row.language.toLowerCase(),
    license_type: row.license,
    optimization_enabled: row.optimization,
    has_constructor_args: row.has_arguments,
    verified_at: new Date(row.verified_at * 1_000).toISOString().replace('.000Z', '.000000Z'),
    certified: false,
    ...(balance === null ? {} : { coin_balance: BigInt(balance).toString() }),
  };
}
