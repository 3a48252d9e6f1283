/** GET /api/v1/tokens/{address}: details of one token. */
import type { Hex } from '../../domain/hex';
import { toTokenDetail } from '../../query/tokens/tokenItem';
import { readTokenWindows } from '../../query/tokens/tokenWindows';
import { tokenAnswerShape } from '../../wire/tokens';
import { marketRoute, type MarketDeps } from '../marketRoute';
import type { Route } from '../route';
import { getTokenEntry, TOKEN_PATH_PARAMS } from './tokenEntry';

/** Block explorers by chain id. Tokens of other chains get no link. */
const EXPLORER_OF_CHAIN: Readonly<Record<number, string>> = {
  369: 'https://scan.pulsechain.com',
  943: 'https://scan.v4.testnet.pulsechain.com',
};

export function token(deps: MarketDeps): Route {
  return marketRoute(deps, {
    path: '/api/v1/tokens/:address',
    summary: 'Details of one token',
    description:
      'Price with its confidence, market capitalisation, supply, holders and warnings of one token. An address that no pool holds is a 404.',
    pathParams: TOKEN_PATH_PARAMS,
    query: {},
    answer: tokenAnswerShape,
    errors: [400, 404, 503],
    async read({ address }, head) {
      const entry = await getTokenEntry(deps, address, head);
      const { chainId } = deps.chain;
      const [windows, pairs] = await Promise.all([
        readTokenWindows(deps.runner, chainId, head, address),
        deps.pairs.at(head),
      ]);
      const own = pairs.byAddress.get(address);
      return { data: toTokenDetail(entry, windows, explorerLink(chainId, address), own) };
    },
  });
}

function explorerLink(chainId: number, address: Hex): string | null {
  const explorer = EXPLORER_OF_CHAIN[chainId];
  return explorer === undefined ? null : `${explorer}/address/${address}`;
}
