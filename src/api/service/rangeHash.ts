/** GET /api/v1/range-hash: hashes of the stored rows of final blocks, by which two instances compare their data. */
import { AppError } from '../../errors';
import { rangeHashAnswerShape, type RangeHashAnswer } from '../../wire/rangeHash';
import { MARKET, type MarketDeps } from '../marketScope';
import { integerParam } from '../params';
import type { Route } from '../route';
import { route } from '../scope';

interface Span {
  readonly from: number;
  readonly to: number;
}

type Sums = RangeHashAnswer['data']['tables'];

const BLOCK_MAX = 2 ** 31 - 1;

/** `sum` sums the hashes of the rows of final blocks. */
export function rangeHash(deps: MarketDeps, sum: (span: Span) => Promise<Sums>): Route {
  const block = (description: string) => integerParam({ min: 0, max: BLOCK_MAX, absent: null, description });
  return route(deps, {
    scope: MARKET,
    path: '/api/v1/range-hash',
    summary: 'Hashes of the stored rows of a range of final blocks, for comparing two instances',
    description:
      'For each table, the sum of the hashes of its rows. Two instances with equal sums store equal rows. The command ' +
      '`compare` asks for ever smaller ranges and so finds the first block that differs.',
    query: {
      from_block: block('First block; default: the first block that is stored'),
      to_block: block('Last block; default: the last final block that is stored'),
    },
    answer: rangeHashAnswerShape,
    errors: [400, 503],
    async read({ from_block, to_block }, head) {
      const [from, to] = [from_block ?? head.startBlock, to_block ?? head.finalTo];
      if (from < head.startBlock || to > head.finalTo || from > to)
        throw new AppError(
          'bad_request',
          `from_block, to_block: got ${from} and ${to}; allowed: an ascending range within ${head.startBlock} to ` +
            `${head.finalTo}, the final blocks that are stored`,
        );
      return {
        data: {
          chain_id: deps.chain.chainId,
          first_block: head.startBlock,
          final_block: head.finalTo,
          logs_from_block: head.logsFrom,
          from_block: from,
          to_block: to,
          tables: await sum({ from, to }),
        },
      };
    },
  });
}
