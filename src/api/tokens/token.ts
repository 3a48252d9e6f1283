/** GET /api/v1/tokens/{address}: details of one token. */
import type { Hex } from '../../domain/hex';
import { askOlderLps } from '../../query/risks/olderLps';
import { TokenEntry, toTokenDetail } from '../../query/tokens/tokenItem';
import { readTokenWindows } from '../../query/tokens/tokenWindows';
import { tokenAnswerShape } from '../../wire/tokens';
import { MARKET, WITHOUT_NODE_MS, type MarketDeps } from '../marketScope';
import type { Route } from '../route';
import { route } from '../scope';
import { getTokenEntry, TOKEN_PATH_PARAMS } from './tokenEntry';

/** Block explorers by chain id. Tokens of other chains get no link. */
const EXPLORER_OF_CHAIN: Readonly<Record<number, string>> = {
  369: 'https://scan.pulsechain.com',
  943: 'https://scan.v4.testnet.pulsechain.com',
};

export function token(deps: MarketDeps): Route {
  const { node } = deps.wallets;
  return route(deps, {
    scope: MARKET,
    path: '/api/v1/tokens/:address',
    summary: 'Details of one token',
    description:
      'Price with its confidence, market capitalisation, supply, holders and warnings of one token. An address that no pool holds is a 404.',
    pathParams: TOKEN_PATH_PARAMS,
    query: {},
    answer: tokenAnswerShape,
    errors: [400, 404, 503],
    keepMs: ({ data: { flags, lp_locked_pct: locked } }) =>
      node !== null && locked === null && flags.includes('partial_history') ? WITHOUT_NODE_MS : null,
    async read({ address }, head) {
      const entry = await getTokenEntry(deps, address, head);
      const { chainId } = deps.chain;
      const [pairs, risks] = await Promise.all([deps.pairs.at(head), deps.risks.at(head)]);
      const [windows, olderLps] = await Promise.all([
        readTokenWindows(deps.runner, chainId, head, address),
        askOlderLps(node, head, entry.pairs, risks),
      ]);
      const facts = { ...entry.facts, risks: risks.withLps(olderLps) };
      const entryWithLps =
        olderLps.size === 0 ? entry : new TokenEntry(address, entry.pairs, entry.prices, facts);
      const ownPair = pairs.byAddress.get(address);
      const detail = toTokenDetail(entryWithLps, windows, explorerLink(chainId, address), ownPair);
      // Without the deepest pools, the means would only describe small pools.
      if (detail.symbol === null || detail.name === null || detail.decimals === null)
        deps.onIncomplete?.(address);
      const isLpUnanswered = [...olderLps.values()].includes(null);
      return {
        data: isLpUnanswered ? { ...detail, lp_locked_pct: null, lp_held_by_creator_pct: null } : detail,
      };
    },
  });
}

function explorerLink(chainId: number, address: Hex): string | null {
  const explorer = EXPLORER_OF_CHAIN[chainId];
  return explorer === undefined ? null : `${explorer}/address/${address}`;
}
