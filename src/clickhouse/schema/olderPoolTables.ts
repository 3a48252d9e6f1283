/** Descriptors of the tables with facts from before the first ingested block. They mirror clickhouse/schema. */
import {
  address,
  array,
  bool,
  enum8,
  f64,
  hash,
  i256,
  i32,
  lowText,
  nullable,
  u128,
  u16,
  u256,
  u32,
  u64,
  u8,
  wideU64,
} from '../rows/columns';
import { defineTable } from './tables';

export const foundPoolsTable = defineTable('found_pools', {
  block: u32,
  block_hash: hash,
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
  moved_at: u32,
  reserve0: u256,
  reserve1: u256,
  sqrt_price_x96: u256,
  liquidity: u128,
  tick: i32,
  balances: array(u256),
  params: array(u256),
});
export type FoundPoolRow = Parameters<typeof foundPoolsTable.writeRow>[1];

export const oldTicksTable = defineTable('old_ticks', {
  pair: address,
  from_block: u32,
  low: i32,
  high: i32,
  ticks: array(i32),
  nets: array(i256),
});
export type OldTicksRow = Parameters<typeof oldTicksTable.writeRow>[1];

export const poolBirthsTable = defineTable('pool_births', {
  address,
  created_block: u32,
  created_at: u32,
  created_tx: hash,
  version: u64,
});

export const poolFirstSharesTable = defineTable('pool_first_shares', {
  pair: address,
  share0: nullable(f64),
  share1: nullable(f64),
  read_block: u32,
  version: u64,
});

export const tokenSuppliesTable = defineTable('token_supplies', {
  token: address,
  supply_before: nullable(u256),
  holders: array(address),
  held_before: array(u256),
  read_block: u32,
  version: u64,
});
export type TokenSupplyRow = Parameters<typeof tokenSuppliesTable.writeRow>[1];

export const poolSearchTable = defineTable('pool_search', {
  chain_id: u32,
  factories: hash,
  start_block: u32,
  searched_from: u32,
  search_to: u32,
  listed: u64,
  pools: u64,
  state: enum8({ searching: 1, complete: 2, incomplete: 3 }),
  version: u64,
});
export type PoolSearchRow = Parameters<typeof poolSearchTable.writeRow>[1];
