/** Compares the stored rows, field by field, with the oracle's recomputation from the canonical logs. */
import type { ChainBlock } from '../../../src/domain/block';
import type { Hex } from '../../../src/domain/hex';
import type { BarPart } from '../model/modelViews';
import type { Fields } from '../model/rowBytes';
import { oracleBars, oracleSwaps, type OracleSwap } from '../../support/oracle/oracle';
import { FamilyOracle, type FamilyTruth } from '../../support/oracle/oracleFamilies';
import { oraclePairs, plainOrd, type OracleLine } from './oraclePairs';
import { booksOracles, movingOracles } from './movingOracles';
import { VaultOracle } from '../../support/oracle/oracleVault';
import { oracleBalances, oracleTransfers } from './transferRows';
import { FAMILY_FACTORIES, type FamilyPool } from '../chain/simFamilyPool';
import { simDecimals } from '../chain/simTokens';
import { SIM_NATIVE, SIM_RANKED, V2_FACTORY, V3_FACTORY, type SimChain } from '../chain/simChain';
import { listingOf, VAULT } from '../chain/simVault';
import { fieldsOf, type StoredContent } from './storedContent';

const FACTORIES = new Set<string>([V2_FACTORY, V3_FACTORY]);
const SHOWN_MAX = 3;

export interface OracleTruth {
  readonly swaps: readonly OracleSwap[];
  /** Pools of many tokens. */
  readonly manyTokens: readonly (VaultOracle | ReturnType<typeof booksOracles>[number])[];
  /** Pools of two tokens. Their states have no doubts where the line ends before that column. */
  readonly pairs: readonly (FamilyOracle | ReturnType<typeof movingOracles>[number])[];
  readonly blocks: readonly ChainBlock[];
}

/** The expected rows of the branch that ends with the last of `blocks`. `blocks` must start with the chain's
 * first block. */
export function oracleTruth(chain: SimChain, blocks: readonly ChainBlock[], startBlock: number): OracleTruth {
  const tip = blocks.at(-1)!;
  const listings = new Map(chain.vaultPoolsAt(tip.hash)!.map((pool) => [pool.address, listingOf(pool)]));
  const listingFor = (pool: string) => listings.get(pool as Hex) ?? null;
  const truth = { vault: VAULT, ranked: SIM_RANKED, listingOf: listingFor };
  const vault = new VaultOracle(truth, startBlock);
  const familyPools = new Map<string, FamilyPool>(
    chain.familiesAt(tip.hash)!.map((pool) => [pool.address, pool]),
  );
  const familyFactories = new Set(Object.values(FAMILY_FACTORIES));
  const truthOf = (pool: string) => toFamilyTruth(familyPools.get(pool));
  const families = new FamilyOracle(familyFactories, truthOf, startBlock);
  const moving = movingOracles(chain, tip.hash, startBlock);
  const books = booksOracles(chain, startBlock);
  const swaps = oracleSwaps(blocks, FACTORIES, {
    vault,
    families,
    others: [...moving, ...books],
    firstBlock: startBlock,
    hasOlderPools: true,
  });
  return { swaps, manyTokens: [vault, ...books], pairs: [families, ...moving], blocks };
}

/** What the contracts of the pool answer. */
function toFamilyTruth(pool: FamilyPool | undefined): FamilyTruth | undefined {
  if (pool === undefined) return undefined;
  const { token0, token1, isStable, tellsDecimals, spacing } = pool;
  const decimals = tellsDecimals ? ([simDecimals(token0), simDecimals(token1)] as const) : null;
  return { token0, token1, isStable, decimals, spacing, feePips: answeredFee(pool) };
}

/**
 * The fee of the pool by its contracts, in pips. The first generation of Solidly has one fee of the factory for each
 * curve. An event of Algebra has the fee as uint16. An answer above 10 % is of another unit, and the DEX's 0.3 % applies.
 */
function answeredFee({ family, isStable, feePips }: FamilyPool): number {
  if (family === 'solidly1') return isStable ? 500 : 2_000;
  if (family === 'algebra') return Math.min(feePips, 65_535);
  return feePips > 100_000 ? 3_000 : feePips;
}

const isClose = (a: number, b: number): boolean =>
  a === b || Math.abs(a - b) <= 1e-14 * Math.max(Math.abs(a), Math.abs(b));

/**
 * Whether token0 is the base. The quote is the token that ranks first (anchors in order, then the native token and its
 * coin, which is the zero address), otherwise token1.
 */
export function isBaseFirst(token0: string, token1: string): boolean {
  const rank = (token: string): number => {
    const index = SIM_RANKED.indexOf(BigInt(token) === 0n ? SIM_NATIVE : (token as Hex));
    return index < 0 ? SIM_RANKED.length : index;
  };
  return rank(token1) <= rank(token0);
}

export function compareOracle(content: StoredContent, truth: OracleTruth): string[] {
  const rows = (table: string): Fields[] =>
    (content.rows.get(table) ?? [])
      .map((row) => fieldsOf(table, row))
      .sort((a, b) => Number(a['ord']) - Number(b['ord']));
  const { startBlock } = content;
  const pairs = oraclePairs(truth.blocks, FACTORIES, startBlock);
  const manyTokenPools = truth.manyTokens.flatMap((oracle) => oracle.pools);
  const addresses = new Set(manyTokenPools.map(([, , address]) => address));
  const hasManyTokens = ({ address, pair = address }: Fields): boolean => addresses.has(String(pair));
  const isOfPair = (row: Fields): boolean => !hasManyTokens(row);
  const makeLine = (row: Fields, columns: readonly string[]): OracleLine =>
    columns.map((column) => {
      const value = row[column];
      return typeof value === 'bigint' ? String(value) : (value as string | number | null);
    });
  const pools = rows('pools');
  const states = rows('pool_states');
  const liquidity = rows('liquidity_events');
  const ordOf = ([block, index, ...otherValues]: readonly (string | number | null)[]): OracleLine => [
    plainOrd(Number(block), Number(index)),
    ...otherValues,
  ];
  return [
    ...compareSwaps(rows('swaps'), truth.swaps),
    ...compareLines(
      'pools',
      pools
        .filter(isOfPair)
        .map((row) => makeLine(row, ['ord', 'address', 'token0', 'token1', 'created_block'])),
      [pairs, ...truth.pairs].flatMap(({ pools }) => pools),
    ),
    ...compareLines(
      'states',
      states.filter(isOfPair).map((row) => makeLine(row, STATE_COLUMNS)),
      [pairs, ...truth.pairs].flatMap(({ states }) => states.map(withDoubts)),
    ),
    ...compareLines(
      'liquidity',
      liquidity.filter(isOfPair).map((row) => makeLine(row, LIQUIDITY_COLUMNS)),
      [pairs, ...truth.pairs].flatMap(({ liquidity }) => liquidity),
    ),
    ...compareLines(
      'pools of many tokens',
      pools.filter(hasManyTokens).map(vaultPoolLine),
      manyTokenPools.map(ordOf),
    ),
    ...compareLines(
      'states of many tokens',
      states
        .filter(hasManyTokens)
        .map((row) => [
          Number(row['ord']),
          String(row['pair']),
          String(row['kind']),
          joined(row['balances']),
          Number(row['doubts']),
        ]),
      truth.manyTokens.flatMap((oracle) => oracle.states.map(ordOf)),
    ),
    ...compareLines(
      'liquidity of many tokens',
      liquidity
        .filter(hasManyTokens)
        .map((row) => makeLine(row, ['ord', 'pair', 'kind', 'amount0', 'amount1'])),
      truth.manyTokens.flatMap((oracle) => oracle.liquidity.map(ordOf)),
    ),
    ...compareLines(
      'transfers',
      rows('transfers').map((row) => [
        ['ord', 'timestamp', 'token', 'sender', 'recipient', 'amount']
          .map((column) => String(row[column]))
          .join(' '),
      ]),
      oracleTransfers(truth.blocks.slice(startBlock), SIM_NATIVE).map((transfer) => [transfer]),
    ),
    ...compareLines(
      'blocks',
      (content.rows.get('blocks') ?? [])
        .map((row) => fieldsOf('blocks', row))
        .map((row) =>
          makeLine(row, ['number', 'hash', 'parent_hash', 'timestamp', 'transaction_count', 'log_count']),
        ),
      truth.blocks
        .slice(startBlock)
        .map((block) => [
          block.number,
          block.hash,
          block.parentHash,
          block.timestamp,
          block.transactionCount,
          block.logs.length,
        ]),
    ),
  ];
}

const STATE_COLUMNS = [
  'ord',
  'pair',
  'kind',
  'reserve0',
  'reserve1',
  'sqrt_price_x96',
  'liquidity',
  'tick',
  'doubts',
];
const withDoubts = (line: OracleLine): OracleLine =>
  line.length === STATE_COLUMNS.length ? line : [...line, 0];
const LIQUIDITY_COLUMNS = [
  'ord',
  'pair',
  'kind',
  'owner',
  'amount0',
  'amount1',
  'liquidity',
  'tick_lower',
  'tick_upper',
];

const joined = (values: unknown): string => (values as readonly unknown[]).map(String).join(' ');

function vaultPoolLine(row: Fields): OracleLine {
  return [
    Number(row['ord']),
    String(row['address']),
    Number(row['pool_type']),
    joined(row['tokens']),
    joined(row['weights']),
    String(row['token0']),
    String(row['token1']),
    Number(row['fee_pips']),
    row['created_block'] as number | null,
  ];
}

function compareLines(
  title: string,
  stored: readonly OracleLine[],
  expected: readonly OracleLine[],
): string[] {
  // Above 0 for a missing line, below 0 for an unexpected one.
  const countByLine = new Map<string, number>();
  for (const line of expected)
    countByLine.set(JSON.stringify(line), (countByLine.get(JSON.stringify(line)) ?? 0) + 1);
  for (const line of stored)
    countByLine.set(JSON.stringify(line), (countByLine.get(JSON.stringify(line)) ?? 0) - 1);
  const wrong = [...countByLine].filter(([, count]) => count !== 0);
  return wrong
    .slice(0, SHOWN_MAX)
    .map(([line, count]) => `oracle: ${count > 0 ? 'missing' : 'unexpected'} in ${title}: ${line}`);
}

function compareSwaps(rows: readonly Fields[], expected: readonly OracleSwap[]): string[] {
  const differences: string[] = [];
  if (rows.length !== expected.length)
    differences.push(`oracle: ${rows.length} swaps stored, ${expected.length} expected`);
  rows.slice(0, expected.length).forEach((row, index) => {
    const swap = expected[index]!;
    const isSame =
      row['ord'] === plainOrd(swap.block, swap.logIndex) &&
      row['pair'] === swap.pair &&
      row['leg'] === swap.leg &&
      row['token0'] === swap.token0 &&
      row['token1'] === swap.token1 &&
      row['base_is_token0'] === isBaseFirst(swap.token0, swap.token1) &&
      row['maker'] === swap.maker &&
      row['amount0'] === swap.amount0 &&
      row['amount1'] === swap.amount1 &&
      row['fee_pips'] === swap.feePips &&
      row['timestamp'] === swap.timestamp &&
      (swap.reserves === null ||
        (swap.reserves[0] === row['reserve0'] && swap.reserves[1] === row['reserve1'])) &&
      isClose(Number(row['price']), swap.price ?? 0);
    if (!isSame)
      differences.push(
        `oracle: swap ${row['ord']} of ${row['pair']} at ${row['price']} is not ${swap.block}-${swap.logIndex} of ${swap.pair} at ${swap.price}`,
      );
  });
  return differences.slice(0, SHOWN_MAX);
}

/** Compares bars of final swaps, and balances of final transfers, with the views of the model. */
export function compareViews(
  views: {
    readonly bars: ReadonlyMap<string, BarPart>;
    readonly tokenBalances: ReadonlyMap<string, bigint>;
    readonly holderBalances: ReadonlyMap<string, bigint>;
  },
  content: StoredContent,
  truth: OracleTruth,
): string[] {
  const { finalTo, startBlock } = content;
  const differences: string[] = [];
  const bars = oracleBars(truth.swaps.filter(({ block }) => block <= finalTo));
  if (views.bars.size !== bars.size)
    differences.push(`oracle: ${views.bars.size} bars, ${bars.size} expected`);
  for (const [key, bar] of bars) {
    const storedBar = views.bars.get(key);
    const hasPrice = !Number.isNaN(bar.open);
    const isSame =
      storedBar !== undefined &&
      (storedBar.open !== null) === hasPrice &&
      (!hasPrice ||
        (isClose(storedBar.open![1], bar.open) &&
          isClose(storedBar.close![1], bar.close) &&
          isClose(storedBar.high, bar.high) &&
          isClose(storedBar.low, bar.low))) &&
      storedBar.volume0 === bar.volume0 &&
      storedBar.volume1 === bar.volume1 &&
      storedBar.trades === bar.trades &&
      // A bar does not tell which token is the base, so buys are the outflows of either token.
      [bar.outs0, bar.outs1].includes(storedBar.buys);
    if (!isSame) differences.push(`oracle: bar ${key} differs`);
  }
  const balances = oracleBalances(truth.blocks.slice(startBlock, finalTo + 1), SIM_NATIVE);
  for (const storedBalances of [views.tokenBalances, views.holderBalances]) {
    const lines = [...storedBalances].map(([key, balance]) => [`${key} ${balance}`]);
    differences.push(
      ...compareLines(
        'balances',
        lines,
        [...balances].map(([key, balance]) => [`${key} ${balance}`]),
      ),
    );
  }
  return differences.slice(0, 5);
}
