/**
 * Builds the portfolio of a wallet as of a snapshot: token balances, LP tokens, V3 positions and shares of bins with their
 * share of the pool. Data comes from the logs, and from the node for values that logs lack (walletState.ts). Staked tokens are not
 * included.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, i256, i32, text, u256 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { shapeOf } from '../../domain/pools/poolShape';
import { getProtocol } from '../../protocols/registry';
import type { Portfolio } from '../../wire/portfolio';
import type { Warning } from '../../wire/risks';
import {
  BALANCES_MAX,
  isHistoryPartial,
  listSupplies,
  readHoldings,
  type Balances,
} from '../holders/balances';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { HolderTable } from '../holders/holders';
import { readZeroBalances } from '../holders/zeroBalances';
import type { UnfollowedTokens } from '../holders/rebasing';
import { inChunks } from '../head/inChunks';
import type { Reserves } from './lpShare';
import type { PairEntry } from '../pairs/pairItem';
import type { PairTable } from '../pairs/pairTable';
import { readBinShares } from './binShares';
import {
  toBinPosition,
  toConcentratedPosition,
  toLpPosition,
  type OwnedPosition,
  type ValuedPosition,
} from './portfolioPositions';
import { createHoldingCaps, type CountHolding } from './holdingCaps';
import {
  listDeepest,
  toNative,
  toToken,
  CAPPED_FLAG,
  type NativeCoin,
  type ValuedToken,
} from './portfolioTokens';
import { NO_HOLDINGS, toPortfolio, type ValuedHoldings } from './portfolioTotals';
import { tokenOf } from '../tokens/tokens';
import { PARTIAL_HISTORY, UNBALANCED_TRANSFERS } from '../tokens/tokenSupply';
import {
  readSupplies,
  readWalletState,
  toOwedQuestion,
  type WalletNode,
  type WalletState,
} from './walletState';

const POSITIONS_MAX = 10_000;

const TRUNCATED: Warning = {
  code: 'truncated',
  message: 'This address has more tokens or positions than this answer covers',
  severity: 'warning',
};

const NODE_AWAY: Warning = {
  code: 'node_away',
  message:
    'The chain node does not answer, so the native coin and the amounts owed to V3 positions are not counted',
  severity: 'info',
};

const REBASING_GUESSED: Warning = {
  code: 'rebasing_guessed',
  message:
    'The node gave no balances of tokens whose balances do not follow from their logs, so these balances are sums of the logs',
  severity: 'warning',
};

const SEEDED: Warning = {
  code: 'seeded',
  message:
    'Balances from before the first indexed block come from the node, for tokens of the wallet and of the deepest pools. ' +
    'Other tokens and V3 positions from before this block are missing',
  severity: 'info',
};

const CAPPED: Warning = {
  code: CAPPED_FLAG,
  message:
    'Some value is more than the pools behind the price of its token could pay, so only this amount counts',
  severity: 'info',
};

/** A row of list_positions.sql: a V3 position, or the shares of a bin. */
const positionRow = rowType({
  manager: address,
  position_id: text,
  pair: address,
  tick_lower: i32,
  tick_upper: i32,
  liquidity: i256,
  shares: i256,
});
/** A row of list_last_products.sql: raw reserves of a V2 pair right after its newest mint or burn. */
const productRow = rowType({ pair: address, reserve0: u256, reserve1: u256 });

interface PortfolioSource {
  readonly runner: QueryRunner;
  readonly walletNode: WalletNode;
  readonly unfollowed: UnfollowedTokens;
  /** The table of holders, if it is ready. If null, a query reads the supplies. */
  readonly holders: HolderTable | null;
  readonly native: NativeCoin;
}

/** The portfolio of an address. Empty for an address without logs, and for the zero address. */
export async function getPortfolio(
  source: PortfolioSource,
  head: HeadSnapshot,
  pairs: PairTable,
  address: Hex,
): Promise<Portfolio> {
  if (address === ZERO_ADDRESS) return toPortfolio(address, head, NO_HOLDINGS, []);
  const { runner, walletNode, unfollowed } = source;
  const { rebasing, odd } = unfollowed;
  const { balances, positionsReceived } = await readHoldings(runner, head, address);
  // The query is skipped for most wallets, because few have V3 positions or shares of bins.
  const ownedPositions = positionsReceived === 0 ? [] : await listPositions(runner, head, address);
  const placed = ownedPositions.flatMap((position) => {
    const entry = pairs.byAddress.get(position.pair);
    return entry === undefined ? [] : [{ position, entry }];
  });
  const placedPositions = placed.filter(({ position }) => position.shares === 0n);
  const placedShares = placed.filter(({ position }) => position.shares !== 0n);
  const earlierTokens = isHistoryPartial(head) ? listDeepest(pairs) : null;
  const isUnfollowed = (token: string): boolean => rebasing.has(token) || odd.has(token);
  const wallet = {
    address,
    balances,
    positions: placedPositions.map(({ position, entry }) => toOwedQuestion(position, entry.pool, address)),
    unfollowed: { has: isUnfollowed },
    earlierTokens,
  };
  const [walletState, binShares] = await Promise.all([
    readWalletState(walletNode, head.hash, wallet),
    readBinShares(walletNode, head.hash, address, placedShares, (entry) => isHistoryWhole(head, entry)),
  ]);
  // The holdings share the caps of their tokens, so the result depends on the order of the holdings. That order must
  // not depend on the store.
  const countHolding = createHoldingCaps();
  const native =
    walletState.native === null
      ? null
      : toNative(walletState.native, source.native, pairs.prices, countHolding);
  const lpEntries: PairEntry[] = [];
  const tokens: ValuedToken[] = [];
  for (const [token, balance] of [...walletState.balances].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (balance <= 0n) continue;
    // Many contracts that are no tokens emit Deposit logs.
    const isDeposit = odd.get(token)?.kind === 'unpaired_deposit' && walletState.guessedTokens.has(token);
    if (isDeposit && tokenOf(pairs.tokens, token).decimals === null) continue;
    const entry = lpOf(pairs, token);
    if (entry === null)
      tokens.push(toToken(token, balance, pairs, flagsOf(token, rebasing, walletState), countHolding));
    else lpEntries.push(entry);
  }
  const positions = [
    ...(await valueLpTokens(source, head, pairs, lpEntries, walletState.balances, countHolding)),
    ...placedPositions.map(({ position, entry }) => {
      const owed = walletState.owedByPosition.get(`${position.manager}-${position.position_id}`) ?? null;
      return toConcentratedPosition(entry, position, pairs.prices, owed, countHolding);
    }),
    ...binShares.pools.map(({ entry, bins }) =>
      toBinPosition(entry, address, bins, pairs.prices, countHolding),
    ),
  ];
  const holdings = { native, tokens, positions };
  const isTruncated =
    balances.size === BALANCES_MAX ||
    ownedPositions.length === POSITIONS_MAX ||
    walletState.isTruncated ||
    binShares.isTruncated;
  const warnings = warningsOf(head, walletState, isTruncated);
  return toPortfolio(address, head, holdings, isCapped(holdings) ? [...warnings, CAPPED] : warnings);
}

function isCapped({ native, tokens, positions }: ValuedHoldings): boolean {
  return (
    native?.capped === true ||
    tokens.some(({ token: { flags } }) => flags.includes(CAPPED_FLAG)) ||
    positions.some(({ position: { flags } }) => flags.includes(CAPPED_FLAG))
  );
}

function flagsOf(token: string, rebasing: ReadonlySet<string>, { seededTokens }: WalletState): string[] {
  return [...(rebasing.has(token) ? ['rebasing'] : []), ...(seededTokens.has(token) ? ['seeded'] : [])];
}

/** The pool of an LP token; null for other tokens. */
function lpOf(pairs: PairTable, token: string): PairEntry | null {
  const entry = pairs.byShareToken.get(token) ?? pairs.byAddress.get(token);
  if (entry?.shareToken !== token) return null;
  return shapeOf(entry.pool.pool_type).hasLpToken ? entry : null;
}

/** Whether logs tell all LP tokens and shares of a pool: its creation is indexed. */
function isHistoryWhole(head: HeadSnapshot, { pool }: PairEntry): boolean {
  return !isHistoryPartial(head) || pool.created_block !== null;
}

async function listPositions(
  runner: QueryRunner,
  head: HeadSnapshot,
  owner: string,
): Promise<OwnedPosition[]> {
  const params = { ...snapshotParams(head), owner: owner.slice(2), limit: POSITIONS_MAX };
  return runner.run('portfolio/list_positions', params, positionRow);
}

async function valueLpTokens(
  { runner, walletNode, holders }: PortfolioSource,
  head: HeadSnapshot,
  pairs: PairTable,
  entries: readonly PairEntry[],
  balances: Balances,
  countHolding: CountHolding,
): Promise<ValuedPosition[]> {
  if (entries.length === 0) return [];
  const hasKnownSupply = (entry: PairEntry): boolean => isHistoryWhole(head, entry);
  const addresses = (someEntries: readonly PairEntry[]): string[] =>
    someEntries.map(({ shareToken }) => shareToken);
  const countedSupplyOf = ({ shareToken }: PairEntry): bigint | null =>
    holders?.holdingOf(shareToken)?.supply ?? null;
  const uncountedEntries = entries.filter(
    (entry) => hasKnownSupply(entry) && countedSupplyOf(entry) === null,
  );
  const uncountedLocked = uncountedEntries.filter(({ pool }) => getProtocol(pool.protocol).locksSharesAtZero);
  const [supplies, zeroBalances, askedSupplies, lastReserves] = await Promise.all([
    listSupplies(runner, head, addresses(uncountedEntries)),
    readZeroBalances(runner, head, addresses(uncountedLocked)),
    readSupplies(walletNode, head.hash, addresses(entries.filter((entry) => !hasKnownSupply(entry)))),
    listLastReserves(runner, head, entries),
  ]);
  return entries.map((entry) => {
    const { shareToken } = entry;
    const summedSupply = (supplies.get(shareToken) ?? 0n) + (zeroBalances.get(shareToken)?.sent ?? 0n);
    const supply = hasKnownSupply(entry)
      ? (countedSupplyOf(entry) ?? summedSupply)
      : (askedSupplies.get(shareToken) ?? null);
    const ownedLp = {
      balance: balances.get(shareToken) ?? 0n,
      supply,
      lastReserves: lastReserves.get(entry.pool.address) ?? null,
    };
    return toLpPosition(entry, ownedLp, pairs.prices, countHolding);
  });
}

/** Reserves after the newest mint or burn, for pools that mint LP tokens to the protocol. */
async function listLastReserves(
  runner: QueryRunner,
  head: HeadSnapshot,
  entries: readonly PairEntry[],
): Promise<ReadonlyMap<string, Reserves>> {
  const entriesWithFees = entries.filter(
    ({ pool, facts }) => getProtocol(pool.protocol).mintsProtocolShares && facts.protocolShare > 0,
  );
  const rows = await inChunks(
    entriesWithFees.map(({ pool }) => pool.address.slice(2)),
    (chunk) =>
      runner.run(
        'portfolio/list_last_products',
        { ...snapshotParams(head), pairs: chunk, limit: chunk.length },
        productRow,
      ),
  );
  return new Map(rows.map(({ pair, ...reserves }) => [pair, reserves]));
}

function warningsOf(head: HeadSnapshot, state: WalletState, truncated: boolean): Warning[] {
  const warnings: Warning[] = [];
  if (isHistoryPartial(head)) warnings.push(PARTIAL_HISTORY);
  if (state.seededTokens.size > 0) warnings.push(SEEDED);
  if ([...state.balances.values()].some((balance) => balance < 0n)) warnings.push(UNBALANCED_TRANSFERS);
  if (truncated) warnings.push(TRUNCATED);
  if (state.native === null) warnings.push(NODE_AWAY);
  if (state.guessedTokens.size > 0) warnings.push(REBASING_GUESSED);
  return warnings;
}
