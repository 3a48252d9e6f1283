/**
 * The Etherscan dialect: one handler for all its paths. Its clients compare texts literally and expect status 200 for
 * every answer. The texts are in `answers.ts`.
 */
import { z } from 'zod';

import { chainSlug } from '../../domain/chainDescription';
import { AppError } from '../../errors';
import { etherscanAnswerShape } from '../../wire/dialects/etherscan';
import { answering, Refusal, type Question } from '../answering';
import { blockscoutRoutes } from '../blockscout/smartContract';
import { chainParam, questionOf } from '../explorerScope';
import { clientOf } from '../middleware/limitRate';
import { integerParam, textParam, type Params } from '../params';
import type { Route, RouteContext } from '../route';
import { sourcifyRoutes } from '../sourcify/sourcifyRoutes';
import {
  dialectAnswerShape,
  type Action,
  type Actions,
  type DialectAnswer,
  type DialectDeps,
} from './action';
import { describeActions } from './actionDocs';
import { dialectError, refusalOf, refuse, TEXTS } from './answers';
import { readAsked, textOf, type AskedParams } from './askedParams';
import { blockActions } from './actions/blockActions';
import { contractActions } from './actions/contractActions';
import { gasActions } from './actions/gasActions';
import { logActions } from './actions/logActions';
import { CHAIN_LIST_PATH, ETHERSCAN_PATHS, SHARED_PATH } from './mounts';
import { coinActions } from './actions/nodeActions';
import { proxyActions } from './actions/proxyActions';
import { statsActions } from './actions/statsActions';
import { tokenActions, tokenBalanceActions } from './actions/tokenActions';
import { transactionActions } from './actions/transactionActions';
import { transferActions } from './actions/transferActions';
import { VERIFY_BOUNDS } from './actions/verifyActions';

/** The path under which the document describes the dialect. The other paths are its aliases. */
const FIRST_PATH = '/api';
/** Longer requests, such as requests with whole sources, are not cached. */
const KEY_LENGTH_MAX = 4_096;

/** Etherscan's modules without actions here are listed too, so that the error names the action and not the
 * module. */
const MODULES: ReadonlyMap<string, Actions> = new Map<string, Actions>([
  ['contract', contractActions],
  ['logs', logActions],
  ['block', blockActions],
  ['proxy', proxyActions],
  ['account', new Map([...coinActions, ...tokenBalanceActions, ...transferActions])],
  ['stats', statsActions],
  ['token', tokenActions],
  ['transaction', transactionActions],
  ['gastracker', gasActions],
]);

const SERVED_ACTIONS = [...MODULES].flatMap(([module, actions]) =>
  [...actions.keys()].map((action) => [module, action] as const),
);

/**
 * Routes of other services' dialects: Etherscan's, and the Sourcify and Blockscout endpoints that Etherscan's clients
 * also use.
 */
export function etherscanRoutes(deps: DialectDeps): Route[] {
  return [
    ...ETHERSCAN_PATHS.map((path) => dialectRoute(deps, path)),
    chainListRoute(deps),
    ...sourcifyRoutes(deps),
    ...blockscoutRoutes(deps),
  ];
}

function dialectRoute(deps: DialectDeps, path: string): Route {
  // All paths give the same answers, so only one path has an example and lists the actions.
  const isFirst = path === FIRST_PATH;
  const pathDoc = isFirst
    ? { description: DESCRIPTION, actions: describeActions(SERVED_ACTIONS) }
    : { description: `The same as ${FIRST_PATH}, for clients that expect this path.`, aliasOf: FIRST_PATH };
  const chainPathParam = path.includes(':chainId') ? { path: { chainId: chainParam(deps.chainIds) } } : {};
  return {
    path,
    takesForms: true,
    doc: {
      summary: 'The Etherscan dialect',
      ...pathDoc,
      tag: 'etherscan',
      query: queryOf(deps.chainIds),
      answer: dialectAnswerShape,
      hasExample: isFirst,
      ...(path === SHARED_PATH ? { errors: [404] } : {}),
      ...chainPathParam,
    },
    handle: answering(deps.cache, (ctx) => readCall(deps, ctx, path === SHARED_PATH), refusalOfCall),
  };
}

/** Only requests that can never succeed are answered here. `answerInDialect.ts` logs and answers all other
 * errors. */
function refusalOfCall(error: AppError): Refusal | null {
  const isRefused = error.code === 'bad_request' || error.code === 'logs_not_kept';
  const answer = isRefused ? refusalOf(error) : null;
  return answer === null ? null : new Refusal(200, answer);
}

const queryOf = (chainIds: readonly number[]): Params => ({
  module: textParam({ max: 64, description: 'Module, in any letter case' }),
  action: textParam({ max: 64, description: 'Action of the module, in any letter case' }),
  address: textParam({ max: 64, description: 'Address of a contract or account; most actions need it' }),
  chainid: {
    ...chainParam(chainIds),
    description: 'Chain id, if the path has none',
  },
  page: integerParam({ min: 1, absent: 1, description: 'Page number of a list, from 1' }),
  offset: integerParam({
    min: 1,
    max: 10_000,
    absent: null,
    description:
      'Items per page: by default as many as the action allows, 1,000 logs or 10,000 items of other lists. Page ' +
      'times offset must not exceed 10,000',
  }),
});

const DESCRIPTION =
  'Answers in the format of Etherscan: the parameters module and action choose the answer. GET, or POST with a form or ' +
  'JSON of at most 64 KiB (verifysourcecode: 5 MB). All answers have status 200. A refusal is ' +
  '{status: "0", message: "NOTOK", result: "<text>"}. An empty list is {status: "0", result: []}. apikey is accepted ' +
  'and ignored. ' +
  VERIFY_BOUNDS;

async function readCall(
  deps: DialectDeps,
  ctx: RouteContext,
  isSharedPath: boolean,
): Promise<Question<DialectAnswer>> {
  const asked = await readAsked(ctx);
  if (isSharedPath && !asked.has('module'))
    throw new AppError('not_found', `there is no endpoint at ${ctx.path.slice(0, 200)}`);
  const chainId = chainOf(deps, ctx.params['chainId'] ?? null, textOf(asked, 'chainid'));
  const action = findAction(asked);
  const requestKey = keyOf(asked);
  return questionOf(
    deps,
    ctx,
    chainId,
    requestKey === null ? null : `etherscan ${requestKey}`,
    async (chainAtHead) => action({ deps, asked, chainId, chainAtHead, client: clientOf(ctx.ip) }),
  );
}

/** The id or slug in the path takes precedence over the parameter. The default is the chain of the path, else the first. */
function chainOf(
  { chainIds, chainNameOf = () => null }: DialectDeps,
  word: string | null,
  asked: string | null,
): number {
  const text = word ?? asked;
  if (text === null) return chainIds[0] ?? 0;
  const isSlug = (id: number): boolean =>
    word !== null && chainSlug({ name: chainNameOf(id) ?? '' }) === word;
  const chainId = chainIds.find((id) => String(id) === text || isSlug(id));
  if (chainId === undefined) throw dialectError(TEXTS.chain);
  return chainId;
}

function findAction(asked: AskedParams): Action {
  const actions = MODULES.get((textOf(asked, 'module') ?? '').toLowerCase());
  if (actions === undefined) throw dialectError(TEXTS.module);
  const action = actions.get((textOf(asked, 'action') ?? '').toLowerCase());
  return action ?? (() => refuse(TEXTS.unavailableAction));
}

/** The cache key of the request; null if the request is too long to cache. */
function keyOf(asked: AskedParams): string | null {
  const entries = [...asked].filter(([name]) => name !== 'apikey' && name !== 'chainid');
  const charCount = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (charCount > KEY_LENGTH_MAX) return null;
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const chainListShape = z.union([
  z.object({
    comments: z.string(),
    totalcount: z.int(),
    result: z.array(
      z.object({
        chainname: z.string(),
        chainid: z.string(),
        blockexplorer: z.string(),
        apiurl: z.string(),
        status: z.int().meta({ description: '1: this service indexes the chain; 0: it does not' }),
      }),
    ),
  }),
  etherscanAnswerShape,
]);

function chainListRoute(deps: DialectDeps): Route {
  return {
    path: CHAIN_LIST_PATH,
    doc: {
      summary: 'Chains of the Etherscan dialect',
      tag: 'etherscan',
      description: 'The chains that the parameter chainid may name, in the format of Etherscan.',
      answer: chainListShape,
    },
    handle(ctx): void {
      // Koa's `ctx.origin` can be the origin of the requesting page, so the URL is built from protocol and host.
      const serverUrl = `${ctx.protocol}://${ctx.host}`;
      const pageOf = (id: number): string => {
        if (id === deps.chainIds[0]) return serverUrl + (ctx.state.chainPrefix ?? '');
        return deps.findChain(id) === null ? serverUrl : `${serverUrl}/${id}`;
      };
      const chainItems = deps.chainIds.map((id) => ({
        chainname: deps.chainNameOf?.(id) ?? `Chain ${id}`,
        chainid: String(id),
        blockexplorer: pageOf(id),
        apiurl: `${serverUrl}/v2/api?chainid=${id}`,
        status: deps.findChain(id) === null ? 0 : 1,
      }));
      const chainList = { comments: '', totalcount: chainItems.length, result: chainItems };
      ctx.type = 'application/json';
      // The answer repeats the Host header of this request, so no cache may give it to others.
      ctx.set('Cache-Control', 'no-store');
      ctx.body = Buffer.from(JSON.stringify(chainList));
    },
  };
}
