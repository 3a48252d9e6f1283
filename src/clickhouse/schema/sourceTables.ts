/**
 * Descriptors (columns, types and row shapes) of the tables of verified contracts. They mirror
 * clickhouse/schema/11.sources.sql.
 */
import {
  address,
  array,
  bool,
  enum8,
  hash,
  hexBytes,
  lowText,
  nullable,
  text,
  u32,
  u64,
  u8,
  wordOf,
} from '../rows/columns';
import { defineTable } from './tables';

const VERIFICATION_STATUSES = { exact_match: 1, match: 2 } as const;
const SIGNATURE_KINDS = { event: 1, function: 2, error: 3 } as const;

export const verifiedContractsTable = defineTable('verified_contracts', {
  chain_id: u32,
  address,
  code_hash: hash,
  status: enum8(VERIFICATION_STATUSES),
  source: wordOf('sourcify', 'blockscout', 'local', 'ancestor:1'),
  verified_at: u32,
  name: text,
  path: text,
  language: wordOf('Solidity', 'Vyper', 'Yul'),
  compiler: lowText,
  compiler_version: lowText,
  optimization: bool,
  runs: u32,
  evm_version: nullable(text),
  license: nullable(text),
  abi: text,
  constructor_arguments: nullable(hexBytes),
  libraries: text,
  settings: text,
  file_paths: array(text),
  file_hashes: array(hash),
  deployer: nullable(address),
  deployment_tx: nullable(hash),
  deployment_block: nullable(u32),
  creation_match: wordOf('exact_match', 'match', ''),
  outputs: text,
  version: u64,
});
export type VerifiedContractRow = Parameters<typeof verifiedContractsTable.writeRow>[1];

export const sourceFilesTable = defineTable('source_files', { content_hash: hash, content: text });

export const sourceUsesTable = defineTable('source_uses', {
  content_hash: hash,
  chain_id: u32,
  address,
  path: text,
  contract_name: lowText,
  language: lowText,
  status: enum8(VERIFICATION_STATUSES),
  version: u64,
  removed: u8,
});
export type SourceUseRow = Parameters<typeof sourceUsesTable.writeRow>[1];

export const abiSignaturesTable = defineTable('abi_signatures', {
  selector: hexBytes,
  kind: enum8(SIGNATURE_KINDS),
  signature: text,
  indexed: u32,
  entry: text,
});
export type AbiSignatureRow = Parameters<typeof abiSignaturesTable.writeRow>[1];

export const importPositionsTable = defineTable('import_positions', {
  source: text,
  position: text,
  version: u64,
});
