-- Layer 11, verified contracts of all chains: verifications, source files (each stored once), and the signatures of
-- every ABI. These tables are in the market chain's database.

-- One row: the verification of one contract; the newest version counts.
CREATE TABLE IF NOT EXISTS verified_contracts
(
    chain_id UInt32 COMMENT 'Chain of the contract',
    address FixedString(20) COMMENT 'Contract',
    code_hash FixedString(32) COMMENT 'keccak256 of the runtime code on the chain; zero bytes where it is not known',
    status Enum8('exact_match' = 1, 'match' = 2) COMMENT 'exact_match: the metadata hash agrees too; match: everything but it',
    source LowCardinality(String) COMMENT 'sourcify, blockscout, local (recompiled here) or ancestor:1',
    verified_at UInt32 COMMENT 'When it was verified, unix seconds, UTC',
    name String COMMENT 'Name of the contract in its source',
    path String COMMENT 'Source file that holds the contract',
    language LowCardinality(String) COMMENT 'Solidity, Vyper or Yul',
    compiler LowCardinality(String) COMMENT 'solc or vyper',
    compiler_version LowCardinality(String) COMMENT 'Without a leading v',
    optimization Bool COMMENT 'Whether the optimizer was on',
    runs UInt32 COMMENT 'Optimizer runs',
    evm_version Nullable(String) COMMENT 'NULL: the default of the compiler',
    license Nullable(String) COMMENT 'SPDX identifier; NULL: not given',
    abi String COMMENT 'JSON list as the compiler prints it' CODEC(ZSTD(3)),
    constructor_arguments Nullable(String) COMMENT 'ABI-encoded, bytes; NULL: unknown' CODEC(ZSTD(1)),
    libraries String COMMENT 'JSON object: address by fully qualified library name',
    settings String COMMENT 'JSON object: settings of the standard JSON input without outputSelection' CODEC(ZSTD(3)),
    file_paths Array(String) COMMENT 'Paths of the source files, in their order',
    file_hashes Array(FixedString(32)) COMMENT 'keccak256 of the content of each, for source_files',
    deployer Nullable(FixedString(20)) COMMENT 'Who created the contract, where the source of the record says it',
    deployment_tx Nullable(FixedString(32)) COMMENT 'Transaction that created it, where the source of the record says it',
    deployment_block Nullable(UInt32) COMMENT 'Its block, where the source of the record says it',
    version UInt64 COMMENT 'When the row was written, microseconds: the newest counts',
    INDEX name_ngrams name TYPE text(tokenizer = ngrams(3), preprocessor = lowerUTF8(name))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (chain_id, address)
SETTINGS index_granularity = 256
COMMENT 'Verified contracts';

-- One row: a contract whose runtime code has this hash, to find contracts with the same code. A row may be outdated:
-- verified_contracts has the current hash.
CREATE TABLE IF NOT EXISTS verified_code_hashes
(
    code_hash FixedString(32) COMMENT 'keccak256 of the runtime code on the chain',
    status Enum8('exact_match' = 1, 'match' = 2) COMMENT 'As in verified_contracts',
    verified_at UInt32 COMMENT 'When it was verified, unix seconds, UTC',
    chain_id UInt32 COMMENT 'Chain of the contract',
    address FixedString(20) COMMENT 'Contract'
)
ENGINE = ReplacingMergeTree
ORDER BY (code_hash, status, verified_at, chain_id, address)
SETTINGS index_granularity = 256
COMMENT 'Verified contracts by the hash of their code';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_verified_code_hashes TO verified_code_hashes AS
SELECT
    code_hash,
    status,
    verified_at,
    chain_id,
    address
FROM verified_contracts
WHERE code_hash != toFixedString('', 32);

-- One row: one source file. Files often exceed 10 kB, so granules are small: a read of a hundred files reads little
-- else.
CREATE TABLE IF NOT EXISTS source_files
(
    content_hash FixedString(32) COMMENT 'keccak256 of the content',
    content String COMMENT 'UTF-8' CODEC(ZSTD(3)),
    INDEX content_ngrams content TYPE text(tokenizer = ngrams(3), preprocessor = lowerUTF8(content))
)
ENGINE = ReplacingMergeTree
ORDER BY content_hash
SETTINGS index_granularity = 64, index_granularity_bytes = 32768, min_compress_block_size = 16384, max_compress_block_size = 65536
COMMENT 'Source files by content';

-- One row: a source file of a verified contract; the newest version counts.
CREATE TABLE IF NOT EXISTS source_uses
(
    content_hash FixedString(32) COMMENT 'keccak256 of the content',
    chain_id UInt32 COMMENT 'Chain of the contract',
    address FixedString(20) COMMENT 'Contract',
    path String COMMENT 'Of the file in this contract',
    contract_name LowCardinality(String) COMMENT 'Name of the contract in its source',
    language LowCardinality(String) COMMENT 'Solidity, Vyper or Yul',
    status Enum8('exact_match' = 1, 'match' = 2) COMMENT 'As in verified_contracts',
    version UInt64 COMMENT 'Version of the row of verified_contracts that it belongs to',
    removed UInt8 COMMENT '1: a newer verification of the contract is without the file'
)
ENGINE = ReplacingMergeTree(version, removed)
ORDER BY (content_hash, chain_id, address, path)
SETTINGS index_granularity = 1024
COMMENT 'Which verified contracts have which source file';

-- One row: an event, function or error of an ABI by its selector.
CREATE TABLE IF NOT EXISTS abi_signatures
(
    selector String COMMENT 'Bytes: topic0 (32) of an event, the first 4 of the hash of a function or error',
    kind Enum8('event' = 1, 'function' = 2, 'error' = 3) COMMENT 'What it is',
    signature String COMMENT 'name(types)',
    indexed UInt32 COMMENT 'Events: bit i is set when parameter i is indexed; an event is listed once for each such set',
    entry String COMMENT 'JSON: the entry of the ABI that came first' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
ORDER BY (selector, kind, signature, indexed)
SETTINGS index_granularity = 256
COMMENT 'Signatures of all known ABIs by selector';

-- One row: a signature by its name.
CREATE TABLE IF NOT EXISTS abi_signature_names
(
    name_lower String COMMENT 'Name in lower case',
    length UInt32 COMMENT 'Characters of the signature',
    signature String COMMENT 'name(types)',
    kind Enum8('event' = 1, 'function' = 2, 'error' = 3) COMMENT 'What it is',
    selector String COMMENT 'As in abi_signatures',
    entry String COMMENT 'JSON: an entry of an ABI' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
ORDER BY (name_lower, length, signature, kind)
SETTINGS index_granularity = 256
COMMENT 'Signatures of all known ABIs by name';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_abi_signature_names TO abi_signature_names AS
SELECT
    lowerUTF8(substring(signature, 1, position(signature, '(') - 1)) AS name_lower,
    lengthUTF8(signature) AS length,
    signature,
    kind,
    selector,
    entry
FROM abi_signatures;

-- One row: the import position of one source of contracts; the newest version counts.
CREATE TABLE IF NOT EXISTS import_positions
(
    source String COMMENT 'Folder or address of the server, with the chain',
    position String COMMENT 'Where to go on, in the words of the source; empty: from the start',
    version UInt64 COMMENT 'When it was written, microseconds: the newest counts'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY source
COMMENT 'Progress of imports of verified contracts';
