-- Layer 11, verified contracts of all chains: verifications, source files (each stored once), and the signatures of
-- every ABI. These tables are in the market chain's database.

-- One row: the verification of one contract; the newest version counts.
CREATE TABLE IF NOT EXISTS verified_contracts
(
    chain_id UInt32 COMMENT 'Chain of the contract',
    address FixedString(20) COMMENT 'Contract',
    code_hash FixedString(32) COMMENT 'keccak256 of the runtime code on the chain; zero bytes if unknown',
    status Enum8('exact_match' = 1, 'match' = 2) COMMENT 'exact_match: code and metadata hash match; match: the code matches',
    source LowCardinality(String) COMMENT 'Origin: sourcify or blockscout (imported), local (compiled here), ancestor:1 (same address and code on chain 1)',
    verified_at UInt32 COMMENT 'When it was verified, unix seconds, UTC',
    name String COMMENT 'Name of the contract in its source',
    path String COMMENT 'Source file that holds the contract',
    language LowCardinality(String) COMMENT 'Solidity, Vyper or Yul',
    compiler LowCardinality(String) COMMENT 'solc or vyper',
    compiler_version LowCardinality(String) COMMENT 'Version of the compiler, without a leading v',
    optimization Bool COMMENT 'Whether the optimizer was on',
    runs UInt32 COMMENT 'Optimizer runs',
    evm_version Nullable(String) COMMENT 'EVM version; NULL: the default of the compiler',
    license Nullable(String) COMMENT 'SPDX identifier; NULL: not given',
    abi String COMMENT 'ABI of the compiler, JSON list' CODEC(ZSTD(3)),
    constructor_arguments Nullable(String) COMMENT 'ABI-encoded, bytes; NULL: unknown' CODEC(ZSTD(1)),
    libraries String COMMENT 'JSON object: address by fully qualified library name',
    settings String COMMENT 'JSON object: settings of the standard JSON input without outputSelection' CODEC(ZSTD(3)),
    file_paths Array(String) COMMENT 'Paths of the source files',
    file_hashes Array(FixedString(32)) COMMENT 'keccak256 of the content of each file, in the order of file_paths; key of source_files',
    deployer Nullable(FixedString(20)) COMMENT 'Creator of the contract; NULL if the origin of the record does not name it',
    deployment_tx Nullable(FixedString(32)) COMMENT 'Creating transaction; NULL if the origin of the record does not name it',
    deployment_block Nullable(UInt32) COMMENT 'Block of the creation; NULL if the origin of the record does not name it',
    version UInt64 COMMENT 'Time of writing, unix microseconds, UTC; the newest counts',
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
    content String COMMENT 'Content of the file, UTF-8' CODEC(ZSTD(3)),
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
    path String COMMENT 'Path of the file in this contract',
    contract_name LowCardinality(String) COMMENT 'Name of the contract in its source',
    language LowCardinality(String) COMMENT 'Solidity, Vyper or Yul',
    status Enum8('exact_match' = 1, 'match' = 2) COMMENT 'As in verified_contracts',
    version UInt64 COMMENT 'Version of the row in verified_contracts',
    removed UInt8 COMMENT '1: a newer verification of the contract does not have the file'
)
ENGINE = ReplacingMergeTree(version, removed)
ORDER BY (content_hash, chain_id, address, path)
SETTINGS index_granularity = 1024
COMMENT 'Source files of verified contracts, by file';

-- One row: an event, function or error of an ABI by its selector.
CREATE TABLE IF NOT EXISTS abi_signatures
(
    selector String COMMENT 'topic0 of an event (32 bytes), or selector of a function or error (4 bytes)',
    kind Enum8('event' = 1, 'function' = 2, 'error' = 3) COMMENT 'Kind of the ABI entry',
    signature String COMMENT 'Signature: name(types)',
    indexed UInt32 COMMENT 'Events: bit i is set if parameter i is indexed, and each set of indexed parameters has a row. 0 otherwise',
    entry String COMMENT 'ABI entry, JSON, from one of the ABIs' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
ORDER BY (selector, kind, signature, indexed)
SETTINGS index_granularity = 256
COMMENT 'Signatures of all known ABIs by selector';

-- One row: a signature by its name.
CREATE TABLE IF NOT EXISTS abi_signature_names
(
    name_lower String COMMENT 'Name in lower case',
    length UInt32 COMMENT 'Length of the signature in characters',
    signature String COMMENT 'Signature: name(types)',
    kind Enum8('event' = 1, 'function' = 2, 'error' = 3) COMMENT 'Kind of the ABI entry',
    selector String COMMENT 'As in abi_signatures',
    entry String COMMENT 'ABI entry, JSON, from one of the ABIs' CODEC(ZSTD(3))
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
    source String COMMENT 'Folder or URL of the import, with the chain',
    position String COMMENT 'Position to continue from, in the format of the source; empty: the start',
    version UInt64 COMMENT 'Time of writing, unix microseconds, UTC; the newest counts'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY source
COMMENT 'Progress of imports of verified contracts';
