/**
 * Finds the chain that a path names by its id or slug: /api/v1/{chain}/pairs, /{chain}/udf/config. The rest of the app sees
 * the path without the chain. A path without a chain means the first chain.
 */
import type Koa from 'koa';

import type { RequestState, ServedChain } from '../route';

const API_PATH = /^\/api\/v1\/([^/]+)(\/(?!\/).*)$/;
const OTHER_PATH = /^\/([^/]+)(\/(?!\/).*)?$/;
/** Paths of the Etherscan dialect name their chain as these do, and may name a chain that is not served. */
const ETHERSCAN_REST = /^\/api\/?$/;

interface AskedPath {
  /** The word in the place of the chain. */
  readonly word: string;
  /** The path without the word. */
  readonly path: string;
}

/** Splits a path that may name a chain. Null if it cannot. */
export function splitChainPath(path: string): AskedPath | null {
  const [, apiWord, apiRest = ''] = API_PATH.exec(path) ?? [];
  if (apiWord !== undefined) return { word: apiWord, path: `/api/v1${apiRest}` };
  const [, word, rest = '/'] = OTHER_PATH.exec(path) ?? [];
  return word === undefined || ETHERSCAN_REST.test(rest) ? null : { word, path: rest };
}

/** `list` gives the chains that are served now. A word that begins another endpoint's path never means a chain. */
export function chooseChain(
  first: Pick<ServedChain, 'routes' | 'head'>,
  list: () => readonly ServedChain[],
): Koa.Middleware<RequestState> {
  const endpointWords = new Set(first.routes.map(({ path }) => splitChainPath(path)?.word));
  return (ctx, next) => {
    const asked = splitChainPath(ctx.path);
    const chain =
      asked === null || endpointWords.has(asked.word)
        ? undefined
        : list().find(({ chainId, slug }) => String(chainId) === asked.word || slug === asked.word);
    ctx.state.chain = chain ?? first;
    if (asked !== null && chain !== undefined) {
      ctx.state.chainPrefix = `/${asked.word}`;
      ctx.path = asked.path;
    }
    return next();
  };
}
