/**
 * Descriptors (columns, types and row shapes) of the explorer's tables. They mirror
 * clickhouse/schema/10.explorer.sql.
 */
import { PROXY_KINDS } from '../../domain/proxies';
import { address, bool, hash, nullable, text, u32, u64, wordOf } from '../rows/columns';
import { defineTable } from './tables';

export const createdContractsTable = defineTable('created_contracts', {
  ord: u64,
  timestamp: u32,
  address,
  creator: nullable(address),
  tx_hash: hash,
  tx_index: u32,
});
export type CreatedContractRow = Parameters<typeof createdContractsTable.writeRow>[1];

const code = {
  code_hash: hash,
  code_size: u32,
  proxy: wordOf(...PROXY_KINDS, ''),
  implementation: address,
  beacon: address,
  facets: text,
  fixed: bool,
} as const;

export const contractCodesTable = defineTable('contract_codes', {
  address,
  ...code,
  checked_block: u32,
  version: u64,
});
export type ContractCodeRow = Parameters<typeof contractCodesTable.writeRow>[1];

export const codeSpansTable = defineTable('code_spans', { address, from_block: u32, ...code, version: u64 });
