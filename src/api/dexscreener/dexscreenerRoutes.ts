/**
 * The four endpoints of a DEX Screener adapter (specification v1.1): the newest block, a token, a pair, and all events
 * of a block range. The base URL to register is …/dexscreener.
 */
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import { findBlockTime } from '../../query/head/blockTimes';
import type { PairEntry } from '../../query/pairs/pairItem';
import { legOfPool, tokensOfPool } from '../../query/pairs/pools';
import { listScreenerEvents, screenerPairId } from '../../query/activity/screenerEvents';
import {
  latestBlockShape,
  screenerAssetShape,
  screenerEventsShape,
  screenerPairShape,
  type ScreenerAsset,
  type ScreenerPair,
} from '../../wire/dialects/dexscreener';
import { MARKET, type MarketDeps } from '../marketScope';
import { integerParam, parsedParam, required, parsePool, requiredAddressParam, type Param } from '../params';
import type { Route } from '../route';
import { route } from '../scope';

/** Largest number of events of one /events answer, about 30 MB. A request for more events is refused. */
const EVENTS_MAX = 50_000;
const BLOCK_MAX = 4_294_967_295;
const TOKEN_INDEX_SPAN = 256;

const DEXSCREENER: typeof MARKET = { ...MARKET, tag: 'dexscreener' };

export function dexscreenerRoutes(deps: MarketDeps): Route[] {
  return [latestBlock(deps), asset(deps), pair(deps), events(deps)];
}

function latestBlock(deps: MarketDeps): Route {
  return route(deps, {
    scope: DEXSCREENER,
    path: '/dexscreener/latest-block',
    summary: 'DEX Screener adapter: the newest final block',
    description:
      'Number and time of the newest block that no reorg can remove. DEX Screener asks for events up to this block.',
    query: {},
    answer: latestBlockShape,
    errors: [503],
    async read(_, head) {
      const { finalNumber: blockNumber } = head;
      const blockTimestamp = await findBlockTime(deps.runner, deps.chain.chainId, head, blockNumber);
      if (blockTimestamp === null) throw new AppError('unavailable', 'no block is final yet');
      return { block: { blockNumber, blockTimestamp } };
    },
  });
}

function asset(deps: MarketDeps): Route {
  return route(deps, {
    scope: DEXSCREENER,
    path: '/dexscreener/asset',
    summary: 'DEX Screener adapter: details of a token',
    description: 'Name, symbol and supply of a token by its address.',
    query: { id: requiredAddressParam('id', 'Address of the token') },
    answer: screenerAssetShape,
    errors: [400, 404, 503],
    async read({ id }, head): Promise<ScreenerAsset> {
      const item = (await deps.tokens.at(head)).byAddress.get(id)?.item;
      if (item === undefined) throw new AppError('not_found', `there is no pool with the token ${id}`);
      const symbol = textOrFallback(item.symbol, item.address);
      return {
        asset: {
          id: item.address,
          name: textOrFallback(item.name, symbol),
          symbol,
          ...(item.total_supply === null ? {} : { totalSupply: item.total_supply }),
          ...(item.decimals === null ? {} : { metadata: { decimals: String(item.decimals) } }),
        },
      };
    },
  });
}

/** Replaces an empty name, because DEX Screener's indexer stops at an empty name. */
function textOrFallback(text: string | null, fallback: string): string {
  return text === null || text.trim() === '' ? fallback : text;
}

interface PairId {
  readonly address: Hex;
  /**
   * The leg as `swaps.leg` encodes it, 256 · i + j for tokens i and j of the pool. Null means token0 and
   * token1.
   */
  readonly leg: number | null;
}

function pair(deps: MarketDeps): Route {
  return route(deps, {
    scope: DEXSCREENER,
    path: '/dexscreener/pair',
    summary: 'DEX Screener adapter: details of a pair',
    description: 'The DEX, the tokens, the fee and the creation of a pair by its address.',
    query: {
      id: required(
        parsedParam({
          parse: parsePairId,
          allowed: 'an address or an id; for a pool of more than two tokens <address>-<i>-<j> too',
          doc: { type: 'string', pattern: '^0[xX][0-9a-fA-F]{40}([0-9a-fA-F]{24}|-\\d{1,3}-\\d{1,3})?$' },
          description:
            'Address or id of the pool; for two tokens of a larger pool <address>-<i>-<j>, as pairId of an event',
        }),
      ),
    },
    answer: screenerPairShape,
    errors: [400, 404, 503],
    async read({ id }, head) {
      const entry = (await deps.pairs.at(head)).byAddress.get(id.address);
      const answer = entry === undefined ? null : toPair(entry, id.leg);
      if (answer === null) throw new AppError('not_found', `there is no pair ${id.address}`);
      return answer;
    },
  });
}

function parsePairId(text: string): PairId | null {
  const [, address = '', firstIndex = '', secondIndex = ''] =
    /^(0[xX][0-9a-fA-F]{40,64})(?:-(\d{1,3})-(\d{1,3}))?$/.exec(text) ?? [];
  if (address === '') return null;
  const leg = firstIndex === '' ? null : TOKEN_INDEX_SPAN * Number(firstIndex) + Number(secondIndex);
  return { address: parsePool(address, 'id'), leg };
}

/** Details of a pool's leg; `wantedLeg` null means token0 and token1. Null if the pool has no such leg. */
function toPair({ pool, item }: PairEntry, wantedLeg: number | null): ScreenerPair | null {
  const tokens = tokensOfPool(pool);
  const leg = wantedLeg ?? legOfPool(pool, pool.token0, pool.token1);
  if (leg === null || (wantedLeg !== null && tokens.length <= 2)) return null;
  const [firstIndex, secondIndex] = [Math.floor(leg / TOKEN_INDEX_SPAN), leg % TOKEN_INDEX_SPAN];
  const [asset0Id, asset1Id] = [tokens[firstIndex], tokens[secondIndex]];
  if (asset0Id === undefined || asset1Id === undefined || firstIndex >= secondIndex) return null;
  const { created_block: createdBlock, created_at: createdAt, created_tx: creationTx } = pool;
  return {
    pair: {
      id: screenerPairId(pool, leg),
      dexKey: pool.dex,
      asset0Id,
      asset1Id,
      ...(createdBlock === null ? {} : { createdAtBlockNumber: createdBlock }),
      ...(createdAt === null ? {} : { createdAtBlockTimestamp: createdAt }),
      ...(creationTx === null ? {} : { createdAtTxnId: creationTx }),
      ...(item.fee_bps === null ? {} : { feeBps: item.fee_bps }),
      ...(tokens.length <= 2 ? {} : { pool: poolOf({ pool, item }, tokens) }),
    },
  };
}

function poolOf(
  { pool, item }: Pick<PairEntry, 'pool' | 'item'>,
  tokens: readonly string[],
): ScreenerPair['pair']['pool'] {
  const pairIds = tokens.flatMap((_, i) =>
    tokens
      .slice(i + 1)
      .map((__, offsetAfter) => screenerPairId(pool, TOKEN_INDEX_SPAN * i + i + 1 + offsetAfter)),
  );
  return { id: pool.address, name: item.name, assetIds: [...tokens], pairIds };
}

function events(deps: MarketDeps): Route {
  return route(deps, {
    scope: DEXSCREENER,
    path: '/dexscreener/events',
    summary: 'DEX Screener adapter: all swaps, joins and exits of a range of blocks',
    description:
      'The range includes both bounds, may have any length, and an answer is always complete. The service ' +
      `refuses a range of more than ${EVENTS_MAX} events, and names the last block that fits. It also ` +
      'refuses a range above the newest indexed block. An answer leaves out swaps that exchange no tokens (flash loans repaid in the same token), and ' +
      'mints and burns without amounts.',
    query: {
      fromBlock: required(blockParam('First block')),
      toBlock: required(blockParam('Last block')),
    },
    answer: screenerEventsShape,
    errors: [400, 503],
    check({ fromBlock, toBlock }) {
      if (fromBlock > toBlock)
        throw new AppError(
          'bad_request',
          `toBlock: got "${toBlock}" with fromBlock=${fromBlock}; allowed: ${fromBlock} or more`,
        );
    },
    async read({ fromBlock, toBlock }, head) {
      if (toBlock > head.number)
        throw new AppError(
          'bad_request',
          `toBlock: got "${toBlock}"; allowed: at most ${head.number}, the newest indexed block`,
        );
      const range = { from: fromBlock, to: toBlock };
      const screenerRange = await listScreenerEvents(
        deps.runner,
        head,
        await deps.pairs.at(head),
        range,
        EVENTS_MAX,
      );
      if (screenerRange.fitsTo !== null)
        throw new AppError(
          'bad_request',
          `toBlock: got "${toBlock}", and the range has more than ${EVENTS_MAX} events; allowed: ${fromBlock} to ${screenerRange.fitsTo}`,
        );
      return { events: [...screenerRange.events] };
    },
  });
}

function blockParam(description: string): Param<number | null> {
  return integerParam({ min: 0, max: BLOCK_MAX, absent: null, description });
}
