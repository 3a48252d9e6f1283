/**
 * Compares all stored pricing rows bit by bit with one straight run over the canonical chain: no restart, no reorg, no
 * store.
 */
import type { Database } from '../../../src/clickhouse/client/database';
import { formatUnits } from '../../../src/domain/amounts';
import { lastOrdOfBlock } from '../../../src/domain/ord';
import { BlockPricer } from '../../../src/ingest/price/blockPricer';
import type { BlockRows } from '../../../src/ingest/rows/blockRows';
import { decodeBlock } from '../../../src/ingest/decode/decodeBlock';
import type { DecodeContext } from '../../../src/ingest/decode/decodeContext';
import type { VaultDiscovery } from '../../../src/ingest/pools/discoverVaultPools';
import type { ChainBlock } from '../../../src/domain/block';
import type { PricerConfig } from '../../../src/pricing/pricer';
import type { SimChain } from '../chain/simChain';
import { askRows } from '../../support/engine/askRows';

type Line = readonly (string | number | boolean | null)[];

interface Compared {
  readonly table: string;
  /** As the store prints it. The first column is ord. */
  readonly columns: readonly string[];
  lines(rows: BlockRows): Line[];
}

const hexed = (column: string): string => `concat('0x', lower(hex(t.${column})))`;
const usd = (scaled: bigint | null): string | null => (scaled === null ? null : formatUnits(scaled, 12));
const scaledUsd = (column: string): string => `toString(t.${column})`;

const COMPARED: readonly Compared[] = [
  {
    table: 'swaps',
    columns: [
      'ord',
      'price_usd',
      'quote_price_usd',
      'native_usd',
      'tracked',
      ...['amount_usd', 'untracked_usd', 'fee_usd'].map(scaledUsd),
    ],
    lines: (rows) =>
      rows.swaps.map((row) => [
        row.ord,
        row.price_usd,
        row.quote_price_usd,
        row.native_usd,
        row.tracked,
        usd(row.amount_usd),
        usd(row.untracked_usd),
        usd((row.amount_usd * BigInt(row.fee_pips)) / 1_000_000n),
      ]),
  },
  {
    table: 'liquidity_events',
    columns: ['ord', 'trust', ...['amount0_usd', 'amount1_usd', 'others_usd'].map(scaledUsd)],
    lines: (rows) =>
      rows.liquidity_events.map((row) => [
        row.ord,
        row.trust,
        usd(row.amount0_usd),
        usd(row.amount1_usd),
        usd(row.others_usd),
      ]),
  },
  {
    table: 'pool_epochs',
    columns: [
      'ord',
      hexed('pair'),
      'price',
      'reserve0',
      'liquidity',
      'depth_liquidity',
      'mean_log',
      'traded',
      'timestamp',
      'moved_at',
    ],
    lines: (rows) =>
      rows.pool_epochs.map((row) => [
        row.ord,
        row.pair,
        row.price,
        row.reserve0,
        row.liquidity,
        row.depth_liquidity,
        row.mean_log,
        row.traded,
        row.timestamp,
        row.moved_at,
      ]),
  },
  {
    table: 'token_routes',
    columns: [
      'ord',
      hexed('token'),
      hexed('next_token'),
      'hops',
      'hop_confidence',
      'depth_usd',
      'recent',
      'stale',
      "arrayStringConcat(arrayMap(p -> concat('0x', lower(hex(p))), t.pairs), ' ')",
      "arrayStringConcat(t.warnings, ' ')",
    ],
    lines: (rows) =>
      rows.token_routes.map((row) => [
        row.ord,
        row.token,
        row.next_token,
        row.hops,
        row.hop_confidence,
        row.depth_usd,
        row.recent,
        row.stale,
        row.pairs.join(' '),
        row.warnings.join(' '),
      ]),
  },
  {
    table: 'token_prices',
    columns: [
      'ord',
      hexed('token'),
      hexed('next_token'),
      'hop_price',
      'hop_confidence',
      'price_usd',
      'confidence',
      hexed('previous_next_token'),
      'previous_hop_price',
    ],
    lines: (rows) =>
      rows.token_prices.map((row) => [
        row.ord,
        row.token,
        row.next_token,
        row.hop_price,
        row.hop_confidence,
        row.price_usd,
        row.confidence,
        row.previous_next_token,
        row.previous_hop_price,
      ]),
  },
];

/** Lists the differences in stored rows up to the tip. `head`: canonical commits above `finalTo`. */
export async function comparePriceRows(
  chain: SimChain,
  database: Database,
  straight: { readonly context: DecodeContext; readonly vaultDiscovery: VaultDiscovery },
  prices: PricerConfig,
  stored: { readonly firstBlock: number; readonly finalTo: number; readonly commits: readonly number[] },
): Promise<{ readonly differences: string[]; readonly tracked: number }> {
  const blocks = await priceStraight(chain.canonical().slice(stored.firstBlock), straight, prices);
  const differences: string[] = [];
  for (const { table, columns, lines } of COMPARED) {
    const expected = blocks.flatMap(lines).map((line) => JSON.stringify(line));
    const found = await readLines(database, table, columns, stored);
    differences.push(...firstDifferences(table, expected.sort(), found.sort()));
  }
  const tracked = blocks.reduce((sum, rows) => sum + rows.swaps.filter((swap) => swap.tracked).length, 0);
  return { differences, tracked };
}

async function priceStraight(
  blocks: readonly ChainBlock[],
  { context, vaultDiscovery }: Parameters<typeof comparePriceRows>[2],
  prices: PricerConfig,
): Promise<BlockRows[]> {
  const pricer = new BlockPricer(prices, () => 0);
  context.registry.clear();
  const all: BlockRows[] = [];
  for (const block of blocks) {
    const vaultPools = await vaultDiscovery.discover([block], context.registry, false);
    const facts = decodeBlock(context, block, { pools: [], vaultPools }, false);
    all.push(pricer.price(facts, false));
  }
  return all;
}

async function readLines(
  database: Database,
  table: string,
  columns: readonly string[],
  { finalTo, commits }: { readonly finalTo: number; readonly commits: readonly number[] },
): Promise<string[]> {
  const list = columns.map((column, i) => `${column} AS c${i}`).join(', ');
  const rows = await askRows<Readonly<Record<string, unknown>>>(
    database,
    `SELECT ${list} FROM ${table} AS t WHERE ord <= {final_ord:UInt64}
     UNION ALL SELECT ${list} FROM ${table}_head AS t WHERE has({commits:Array(UInt64)}, commit)`,
    { final_ord: lastOrdOfBlock(finalTo), commits },
  );
  return rows.map((row) =>
    JSON.stringify(columns.map((_, i) => (i === 0 ? Number(row['c0']) : row[`c${i}`]))),
  );
}

function firstDifferences(table: string, expected: readonly string[], found: readonly string[]): string[] {
  const inExpected = new Set(expected);
  const inFound = new Set(found);
  const missing = expected.filter((line) => !inFound.has(line));
  const extra = found.filter((line) => !inExpected.has(line));
  const lines = [
    ...missing.slice(0, 3).map((line) => `missing in ${table}: ${line}`),
    ...extra.slice(0, 3).map((line) => `unexpected in ${table}: ${line}`),
  ];
  if (lines.length === 0 && expected.length !== found.length)
    lines.push(`${table} has ${found.length} rows, ${expected.length} expected`);
  return lines;
}
