/** GET /api/v1/tokens/{address}/audit: how a token's price was derived at one block. */
import { pricedAs } from '../../domain/pools/nativeCoin';
import { isAddress, type Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import { createAuditDirectory } from '../../query/audit/auditDirectory';
import { readAuditInputs, type AuditQuestion } from '../../query/audit/auditInputs';
import { toAudit } from '../../query/audit/tokenAudit';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import type { TokenEntry } from '../../query/tokens/tokenItem';
import { auditAnswerShape, type Audit } from '../../wire/audit';
import { MARKET, type MarketDeps } from '../marketScope';
import { badParam, integerParam } from '../params';
import type { Route } from '../route';
import { route } from '../scope';
import { getTokenEntry, TOKEN_PATH_PARAMS } from '../tokens/tokenEntry';

/** Largest number of pools outside the token's route that an audit considers. */
const CANDIDATES_MAX = 100;

export function tokenAudit(deps: MarketDeps): Route {
  return route(deps, {
    scope: MARKET,
    path: '/api/v1/tokens/:address/audit',
    summary: 'How the price of a token is derived',
    description:
      'Each pool and each step that leads to the USD price of the token at a block, its confidence, and the cost of moving it.',
    pathParams: TOKEN_PATH_PARAMS,
    query: {
      block: integerParam({
        min: 0,
        absent: null,
        description: 'Block at whose end the price is derived; default: the newest indexed block',
      }),
    },
    answer: auditAnswerShape,
    errors: [400, 404, 503],
    async read({ address, block }, head) {
      if (block !== null && block > head.number)
        throw badParam('block', String(block), `at most ${head.number}, the newest indexed block`);
      const entry = await getTokenEntry(deps, address, head);
      const blockNumber = block ?? head.number;
      const { firstSeenBlock } = entry;
      if (blockNumber < firstSeenBlock)
        throw new AppError(
          'not_found',
          `there is no price of ${address} at block ${blockNumber}: its first pool appeared in block ` +
            `${firstSeenBlock}`,
        );
      return { data: await readTokenAudit(deps, head, address, entry, blockNumber) };
    },
  });
}

/** The audit of a token at the end of a block from its first pool on. */
export async function readTokenAudit(
  deps: MarketDeps,
  head: HeadSnapshot,
  address: Hex,
  entry: TokenEntry,
  blockNumber: number,
): Promise<Audit> {
  const { chain, runner } = deps;
  const { chainId, wrappedNative } = chain;
  const directory = createAuditDirectory(await deps.pairs.at(head), await deps.tokens.at(head));
  // The native coin has the price of the wrapped coin.
  const priced = pricedAs(address, wrappedNative);
  const question = questionOf(priced, entry, blockNumber);
  const table = blockNumber === head.number ? await deps.audits.at(head) : null;
  const sources = { runner, chainId, sources: chain, directory, table };
  const inputs = await readAuditInputs(sources, head, question);
  const audit = toAudit(priced, chainId, wrappedNative, inputs);
  const { symbol, name } = entry.item;
  return { ...audit, token: { address, symbol, name } };
}

/** Takes the token's oldest pools, so the choice does not change when new pools appear. */
function questionOf(token: Hex, { pairs }: TokenEntry, blockNumber: number): AuditQuestion {
  const createdBlockOf = (pool: { created_block: number | null }): number => pool.created_block ?? 0;
  const candidates = pairs
    .filter(({ pool }) => createdBlockOf(pool) <= blockNumber)
    .sort(
      (a, b) => createdBlockOf(a.pool) - createdBlockOf(b.pool) || (a.pool.address < b.pool.address ? -1 : 1),
    )
    .slice(0, CANDIDATES_MAX);
  return {
    token,
    block: blockNumber,
    candidates: candidates.map(({ pool }) => pool.address).filter(isAddress),
    neighbours: candidates.flatMap(({ item }) => item.tokens.map(({ address }) => address)).filter(isAddress),
  };
}
