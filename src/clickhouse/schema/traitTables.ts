/**
 * Descriptors of the tables that background workers and imports of token lists fill. They mirror
 * clickhouse/schema.
 */
import { address, bool, f64, lowText, nullable, text, u256, u32, u64 } from '../rows/columns';
import { defineTable } from './tables';

export const tokenTraitsTable = defineTable('token_traits', {
  token: address,
  checked_block: u32,
  swaps: u64,
  buys: u32,
  buy_tax: f64,
  sells: u32,
  sell_tax: f64,
  buyers: u32,
  sellers: u32,
  sale_fails: nullable(bool),
  mintable: nullable(bool),
  pausable: nullable(bool),
  bridged: nullable(bool),
  forked: nullable(bool),
  kept_at_zero: u256,
  version: u64,
});
export type TokenTraitRow = Parameters<typeof tokenTraitsTable.writeRow>[1];

export const dexDaysTable = defineTable('dex_days', { day: u32, dex: lowText, tvl_usd: f64, version: u64 });

export const listedTokensTable = defineTable('listed_tokens', {
  chain_id: u32,
  address,
  list: lowText,
  logo_url: text,
  version: u64,
});
export type ListedTokenRow = Parameters<typeof listedTokensTable.writeRow>[1];
