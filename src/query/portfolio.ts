/**
 * What a wallet holds, as of a snapshot: tokens by their balances, LP tokens and V3 positions by what they stand for. All of
 * it from logs: the native coin leaves none and is not in it, nor is what lies staked in other contracts.
 */
import { z } from 'zod';

import type { QueryRunner } from '../clickhouse/namedQueries';
import { formatUnits, plainNumber } from '../domain/amounts';
import { ZERO_ADDRESS } from '../domain/hex';
import { levelOf } from '../pricing/confidence';
import type { Portfolio, PortfolioToken } from '../wire/portfolio';
import type { Warning } from '../wire/tokens';
import { BALANCES_MAX, isHistoryPartial, listBalances, listSupplies, type Balances } from './balances';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';
import { inChunks } from './inChunks';
import type { Reserves } from './lpShare';
import type { PairEntry } from './pairItem';
import type { PairTable } from './pairTable';
import {
  toConcentratedPosition,
  toLpPosition,
  type OwnedLp,
  type OwnedPosition,
  type ValuedPosition,
} from './portfolioPositions';
import { isTrusted } from './priceBook';
import { changePercent, compareKeys } from './ranking';
import { PARTIAL_HISTORY, UNBALANCED_TRANSFERS, worthOf } from './tokenSupply';
import { tokenOf } from './tokens';

const POSITIONS_MAX = 10_000;
const CONSTANT_PRODUCT = 2;
const CONCENTRATED = 3;

const TRUNCATED: Warning = {
  code: 'truncated',
  message: `Only ${BALANCES_MAX} tokens and ${POSITIONS_MAX} positions of an address are looked at`,
  severity: 'warning',
};

const ownedRowShape = z.object({ got: z.int() });
const positionRowShape = z.object({
  manager: z.string(),
  position_id: z.string(),
  pair: z.string(),
  tick_lower: z.int(),
  tick_upper: z.int(),
  liquidity: z.string(),
});
const productRowShape = z.object({ pair: z.string(), reserve0: z.string(), reserve1: z.string() });

interface ValuedToken {
  readonly token: PortfolioToken;
  readonly trusted: boolean;
}

/** The portfolio of an address; empty for one that no log names, and for the zero address, which owns nothing. */
export async function getPortfolio(
  runner: QueryRunner,
  head: HeadSnapshot,
  pairs: PairTable,
  address: string,
): Promise<Portfolio> {
  const owner = address !== ZERO_ADDRESS;
  const [balances, owned] = owner
    ? await Promise.all([listBalances(runner, head, address), listPositions(runner, head, address)])
    : [new Map<string, bigint>(), []];
  const lpOf = (token: string): PairEntry | null => {
    const entry = pairs.byAddress.get(token);
    return entry === undefined || entry.pool.pool_type === CONCENTRATED ? null : entry;
  };
  const lp: PairEntry[] = [];
  const tokens: ValuedToken[] = [];
  for (const [token, balance] of balances) {
    if (balance <= 0n) continue;
    const entry = lpOf(token);
    if (entry === null) tokens.push(toToken(token, balance, pairs));
    else lp.push(entry);
  }
  const positions = [
    ...(await valueLpTokens(runner, head, pairs, lp, balances)),
    ...owned.flatMap((position) => {
      const entry = pairs.byAddress.get(position.pair);
      return entry === undefined ? [] : [toConcentratedPosition(entry, position, pairs.prices)];
    }),
  ];
  const truncated = balances.size === BALANCES_MAX || owned.length === POSITIONS_MAX;
  return toPortfolio(address, head, tokens, positions, warningsOf(head, balances, truncated));
}

async function listPositions(
  runner: QueryRunner,
  head: HeadSnapshot,
  owner: string,
): Promise<OwnedPosition[]> {
  const params = { ...snapshotParams(head), owner: owner.slice(2), limit: POSITIONS_MAX };
  // Few wallets have any.
  const [row] = await runner.run('portfolio/count_owned', params, ownedRowShape);
  if (row === undefined || row.got === 0) return [];
  return runner.run('portfolio/list_positions', params, positionRowShape);
}

function toToken(address: string, balance: bigint, { tokens, prices }: PairTable): ValuedToken {
  const token = tokenOf(tokens, address);
  const price = prices.now(address);
  return {
    trusted: isTrusted(price),
    token: {
      address,
      symbol: token.symbol,
      name: token.name,
      decimals: token.decimals,
      balance: formatUnits(balance, token.decimals ?? 0),
      balance_raw: balance.toString(),
      price_usd: price.usd === null ? null : plainNumber(price.usd),
      value_usd: worthOf(balance, token.decimals ?? 0, price),
      price_confidence: levelOf(price.confidence),
      price_change_24h: changePercent(price.usd, prices.before(address, 'h24')),
      portfolio_pct: 0,
    },
  };
}

async function valueLpTokens(
  runner: QueryRunner,
  head: HeadSnapshot,
  pairs: PairTable,
  entries: readonly PairEntry[],
  balances: Balances,
): Promise<ValuedPosition[]> {
  if (entries.length === 0) return [];
  const [supplies, products] = await Promise.all([
    listSupplies(
      runner,
      head,
      entries.map(({ pool }) => pool.address),
    ),
    listLastReserves(runner, head, entries),
  ]);
  return entries.map((entry) => {
    const { address, created_block } = entry.pool;
    // Of a pool whose creation was not seen the supply is not known.
    const complete = !isHistoryPartial(head) || created_block !== null;
    const lp: OwnedLp = {
      balance: balances.get(address) ?? 0n,
      supply: complete ? (supplies.get(address) ?? 0n) : null,
      last: products.get(address) ?? null,
    };
    return toLpPosition(entry, lp, pairs.prices);
  });
}

/** Reserves after the newest mint or burn of the V2 pairs whose factory takes a part of the fees. */
async function listLastReserves(
  runner: QueryRunner,
  head: HeadSnapshot,
  entries: readonly PairEntry[],
): Promise<ReadonlyMap<string, Reserves>> {
  const taxed = entries.filter(
    ({ pool, facts }) => pool.pool_type === CONSTANT_PRODUCT && facts.protocolShare > 0,
  );
  const rows = await inChunks(
    taxed.map(({ pool }) => pool.address.slice(2)),
    (chunk) =>
      runner.run(
        'portfolio/list_last_products',
        { ...snapshotParams(head), pairs: chunk, limit: chunk.length },
        productRowShape,
      ),
  );
  return new Map(
    rows.map((row) => [row.pair, { reserve0: BigInt(row.reserve0), reserve1: BigInt(row.reserve1) }]),
  );
}

function warningsOf(head: HeadSnapshot, balances: Balances, truncated: boolean): Warning[] {
  const warnings: Warning[] = [];
  if (isHistoryPartial(head)) warnings.push(PARTIAL_HISTORY);
  if ([...balances.values()].some((balance) => balance < 0n)) warnings.push(UNBALANCED_TRANSFERS);
  if (truncated) warnings.push(TRUNCATED);
  return warnings;
}

/** Sums what counts; the largest values first. */
function toPortfolio(
  address: string,
  head: HeadSnapshot,
  tokens: readonly ValuedToken[],
  positions: readonly ValuedPosition[],
  warnings: readonly Warning[],
): Portfolio {
  const values = (trusted: boolean, items: readonly { trusted: boolean; usd: number | null }[]): number =>
    items.reduce((sum, item) => (item.trusted === trusted ? sum + (item.usd ?? 0) : sum), 0);
  const ofTokens = tokens.map(({ token, trusted }) => ({ trusted, usd: token.value_usd }));
  const ofPositions = positions.map(({ position, trusted }) => ({ trusted, usd: position.value_usd }));
  const tokensUsd = values(true, ofTokens);
  const positionsUsd = values(true, ofPositions);
  const total = tokensUsd + positionsUsd;
  const percent = (trusted: boolean, usd: number | null): number =>
    trusted && total > 0 ? ((usd ?? 0) / total) * 100 : 0;
  return {
    address,
    total_usd: total,
    tokens_usd: tokensUsd,
    positions_usd: positionsUsd,
    excluded_usd: values(false, ofTokens) + values(false, ofPositions),
    block_number: head.number,
    tokens: tokens
      .map(({ token, trusted }) => ({ ...token, portfolio_pct: percent(trusted, token.value_usd) }))
      .sort(
        (a, b) => compareKeys(a.value_usd, b.value_usd, 'desc') || compareKeys(a.address, b.address, 'asc'),
      ),
    positions: positions
      .map(({ position, trusted }) => ({
        ...position,
        portfolio_pct: percent(trusted, position.value_usd),
      }))
      .sort((a, b) => compareKeys(a.value_usd, b.value_usd, 'desc') || compareKeys(a.id, b.id, 'asc')),
    flags: warnings.map(({ code }) => code),
    warnings: [...warnings],
  };
}
