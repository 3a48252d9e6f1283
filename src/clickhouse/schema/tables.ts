/**
 * Descriptors of the tables that the ingester writes: column order, types and row shapes. They mirror
 * clickhouse/schema, and a test compares them with system.columns. Amounts are raw, times are unix seconds
 * UTC, addresses and hashes are lower-case 0x-hex.
 */
import {
  address,
  array,
  bool,
  enum8,
  f64,
  hash,
  hexBytes,
  i256,
  i32,
  lowText,
  nullable,
  text,
  topic,
  u128,
  u16,
  u256,
  u32,
  u64,
  u8,
  usd,
  wideU64,
  type ColumnType,
} from '../rows/columns';
import { compileFunction } from '../../domain/compileFunction';
import type { ColumnTypes } from '../rows/rowType';
import type { RowWriter } from '../rows/rowWriter';

export interface Table<Row> {
  readonly name: string;
  /** Column names in the order of writing. */
  readonly columns: readonly string[];
  readonly sqlTypes: readonly string[];
  readonly types: ColumnTypes<Row>;
  writeRow(writer: RowWriter, row: Row): void;
}

export function defineTable<Row>(name: string, columns: ColumnTypes<Row>): Table<Readonly<Row>> {
  const names: string[] = [];
  const sqlTypes: string[] = [];
  const writes: ColumnType<never>['write'][] = [];
  for (const column in columns) {
    const type = columns[column];
    names.push(column);
    sqlTypes.push(type.sql);
    writes.push(type.write);
  }
  return {
    name,
    columns: names,
    sqlTypes,
    types: columns,
    writeRow: compileWriter(names, writes),
  };
}

/** A function with one call for each column, which V8 makes several times faster than a loop over the columns. */
function compileWriter<Row>(
  columns: readonly string[],
  writes: readonly ColumnType<never>['write'][],
): Table<Row>['writeRow'] {
  const calls = columns.map((column, index) => `write${index}(writer, row[${JSON.stringify(column)}]);`);
  const make = compileFunction<(...writes: readonly ColumnType<never>['write'][]) => Table<Row>['writeRow']>(
    writes.map((_, index) => `write${index}`),
    `return (writer, row) => { ${calls.join(' ')} };`,
  );
  return make(...writes);
}

export const blocksTable = defineTable('blocks', {
  chain_id: u32,
  number: u32,
  hash,
  parent_hash: hash,
  timestamp: u32,
  base_fee: nullable(u128),
  transaction_count: u32,
  log_count: u32,
  gas_prices: array(u128),
  gas_used: array(u64),
});
export type BlockRow = Parameters<typeof blocksTable.writeRow>[1];

export const headBlocksTable = defineTable('head_blocks', {
  chain_id: u32,
  number: u32,
  hash,
  parent_hash: hash,
  timestamp: u32,
  commit: u64,
  version: u64,
  final_number: u32,
  proof: enum8({ bloom: 1, headers: 2, full: 3, receipts: 4, none: 5 }),
});
export type HeadBlockRow = Parameters<typeof headBlocksTable.writeRow>[1];

export const tokensTable = defineTable('tokens', {
  address,
  symbol: nullable(text),
  name: nullable(text),
  decimals: nullable(u8),
  version: u64,
});
export type TokenRow = Parameters<typeof tokensTable.writeRow>[1];

export const poolsTable = defineTable('pools', {
  ord: u64,
  address,
  dex: lowText,
  protocol: lowText,
  pool_type: u8,
  factory: address,
  token0: address,
  token1: address,
  base_is_token0: bool,
  tokens: array(address),
  weights: array(wideU64),
  doubts: u8,
  fee_pips: u32,
  tick_spacing: i32,
  scale_decimals: array(u8),
  pool_id: nullable(hash),
  hooks: nullable(address),
  hook_bits: nullable(u16),
  created_block: nullable(u32),
  created_at: nullable(u32),
  created_tx: nullable(hash),
});
export type PoolRow = Parameters<typeof poolsTable.writeRow>[1];

export const swapsTable = defineTable('swaps', {
  ord: u64,
  timestamp: u32,
  pair: address,
  leg: u16,
  dex: lowText,
  pool_type: u8,
  token0: address,
  token1: address,
  base_is_token0: bool,
  tx_hash: hash,
  tx_index: u32,
  maker: nullable(address),
  sender: address,
  recipient: address,
  amount0: i256,
  amount1: i256,
  reserve0: u256,
  reserve1: u256,
  sqrt_price_x96: u256,
  liquidity: u128,
  tick: i32,
  price: f64,
  price_usd: f64,
  quote_price_usd: f64,
  native_usd: f64,
  amount_usd: usd,
  untracked_usd: usd,
  tracked: bool,
  price_counts: u8,
  fee_pips: u32,
});
export type SwapRow = Parameters<typeof swapsTable.writeRow>[1];

const LIQUIDITY_KINDS = { mint: 1, burn: 2, collect: 3, collect_protocol: 4, flash: 5 } as const;

export const liquidityEventsTable = defineTable('liquidity_events', {
  ord: u64,
  timestamp: u32,
  kind: enum8(LIQUIDITY_KINDS),
  pair: address,
  dex: lowText,
  pool_type: u8,
  token0: address,
  token1: address,
  base_is_token0: bool,
  tx_hash: hash,
  tx_index: u32,
  maker: nullable(address),
  owner: address,
  recipient: address,
  amount0: u256,
  amount1: u256,
  liquidity: nullable(u256),
  tick_lower: nullable(i32),
  tick_upper: nullable(i32),
  amount0_usd: nullable(usd),
  amount1_usd: nullable(usd),
  trust: u8,
  others_usd: nullable(usd),
});
export type LiquidityEventRow = Parameters<typeof liquidityEventsTable.writeRow>[1];

const STATE_KINDS = {
  sync: 1,
  initialize: 2,
  swap: 3,
  mint: 4,
  burn: 5,
  collect: 6,
  collect_protocol: 7,
  flash: 8,
  fee: 9,
  register: 10,
  found: 11,
  ticks: 12,
} as const;

export const poolStatesTable = defineTable('pool_states', {
  ord: u64,
  timestamp: u32,
  kind: enum8(STATE_KINDS),
  pair: address,
  dex: lowText,
  pool_type: u8,
  token0: address,
  token1: address,
  base_is_token0: bool,
  tx_hash: hash,
  tx_index: u32,
  maker: nullable(address),
  reserve0: u256,
  reserve1: u256,
  sqrt_price_x96: u256,
  liquidity: u128,
  tick: i32,
  doubts: u8,
  price: f64,
  balances: array(u256),
  params: array(u256),
  unswapped: array(f64),
  walked_liquidity: f64,
  near0: f64,
  near1: f64,
});
export type PoolStateRow = Parameters<typeof poolStatesTable.writeRow>[1];

export const eventsTable = defineTable('events', {
  ord: u64,
  kind: enum8({ swap: 1, mint: 2, burn: 3, sync: 4 }),
  pair: address,
  token0: address,
  token1: address,
  maker: nullable(address),
});

export const logsTable = defineTable('logs', {
  chain_id: u32,
  ord: u64,
  timestamp: u32,
  address,
  topic_count: u8,
  topic0: topic,
  topic1: topic,
  topic2: topic,
  topic3: topic,
  data: hexBytes,
  tx_hash: hash,
  tx_index: u32,
});
export type LogRow = Parameters<typeof logsTable.writeRow>[1];

export const poolEpochsTable = defineTable('pool_epochs', {
  ord: u64,
  timestamp: u32,
  pair: address,
  leg: u16,
  price: f64,
  reserve0: f64,
  reserve1: f64,
  liquidity: f64,
  depth_liquidity: f64,
  depth_weight: f64,
  mean_log: f64,
  traded: f64,
  moved_at: u32,
  unswapped: f64,
  makers: array(address),
  born_block: u32,
});

export const tokenRoutesTable = defineTable('token_routes', {
  ord: u64,
  timestamp: u32,
  token: address,
  next_token: address,
  hops: u8,
  hop_confidence: f64,
  depth_usd: f64,
  other_depth_usd: f64,
  recent: bool,
  stale: bool,
  pairs: array(address),
  legs: array(u16),
  weights: array(f64),
  warnings: array(lowText),
});

export const tokenPricesTable = defineTable('token_prices', {
  ord: u64,
  timestamp: u32,
  token: address,
  next_token: address,
  hop_price: f64,
  hop_confidence: f64,
  hop_cap: f64,
  price_usd: f64,
  confidence: f64,
  previous_next_token: address,
  previous_hop_price: f64,
  previous_hop_confidence: f64,
});
export type TokenPriceRow = Parameters<typeof tokenPricesTable.writeRow>[1];

const TRANSFER_KINDS = { transfer: 1, deposit: 2, withdrawal: 3 } as const;

export const transfersTable = defineTable('transfers', {
  ord: u64,
  timestamp: u32,
  token: address,
  sender: address,
  recipient: address,
  amount: u256,
  kind: enum8(TRANSFER_KINDS),
  tx_index: u32,
});
export type TransferRow = Parameters<typeof transfersTable.writeRow>[1];

export const ODD_KINDS = { unpaired_deposit: 1, unread_transfer: 2 } as const;
export type OddKind = keyof typeof ODD_KINDS;

export const oddTokensTable = defineTable('odd_tokens', {
  token: address,
  kind: enum8(ODD_KINDS),
  version: u64,
});
export type OddTokenRow = Parameters<typeof oddTokensTable.writeRow>[1];

const POSITION_KINDS = { transfer: 1, increase: 2, decrease: 3, collect: 4 } as const;

export const positionEventsTable = defineTable('position_events', {
  ord: u64,
  timestamp: u32,
  manager: address,
  token_id: u256,
  kind: enum8(POSITION_KINDS),
  sender: address,
  recipient: address,
  pair: address,
  tick_lower: i32,
  tick_upper: i32,
  liquidity: u128,
  amount0: u256,
  amount1: u256,
});
export type PositionEventRow = Parameters<typeof positionEventsTable.writeRow>[1];

export const balanceChecksTable = defineTable('token_balance_checks', {
  token: address,
  checked_block: u32,
  holders_checked: u64,
  mismatches: u64,
  mismatch_block: u32,
  rebasing: bool,
  held_checked: u64,
  unconfirmed: u64,
  witness: address,
  witness_baseline: i256,
  agreed: u32,
  sampled_block: u32,
  sampled_holders: u32,
  version: u64,
});
export type BalanceCheckRow = Parameters<typeof balanceChecksTable.writeRow>[1];
