-- Layer 11, verified contracts of all chains: verifications, source files (each stored once), and the signatures of
-- every ABI. These tables are in the market chain's database.

-- One row: the verification of one contract. If a contract has several rows, the newest one is valid.
CREATE TABLE IF NOT EXISTS verified_contracts
(
    chain_id UInt32 COMMENT 'EIP-155 id of the contract''s chain',
    address FixedString(20) COMMENT 'Address of the contract',
    code_hash FixedString(32) COMMENT 'keccak256 of the runtime code on the chain; zero bytes if unknown',
    status Enum8('exact_match' = 1, 'match' = 2) COMMENT 'exact_match: the code and the metadata hash match the sources; match: only the code matches',
    source LowCardinality(String) COMMENT 'Origin of the verification: sourcify or blockscout (imported), local (compiled here), ancestor:1 (same address and code on chain 1)',
    verified_at UInt32 COMMENT 'Time of the verification, unix seconds, UTC',
    name String COMMENT 'Name of the contract in its source',
    path String COMMENT 'Path of the source file that holds the contract',
    language LowCardinality(String) COMMENT 'Language of the source: Solidity, Vyper or Yul',
    compiler LowCardinality(String) COMMENT 'Name of the compiler: solc or vyper',
    compiler_version LowCardinality(String) COMMENT 'Version of the compiler, without a leading v',
    optimization Bool COMMENT 'Whether the compiler''s optimizer was on',
    runs UInt32 COMMENT 'Setting runs of the optimizer',
    evm_version Nullable(String) COMMENT 'EVM version of the compilation; NULL if the compiler used its default',
    license Nullable(String) COMMENT 'SPDX identifier of the licence; NULL if none is given',
    abi String COMMENT 'ABI of the contract, as a JSON list' CODEC(ZSTD(3)),
    constructor_arguments Nullable(String) COMMENT 'Constructor arguments, ABI-encoded bytes; NULL if unknown' CODEC(ZSTD(1)),
    libraries String COMMENT 'Linked libraries, a JSON object: address by fully qualified library name',
    settings String COMMENT 'Settings of the standard JSON input, a JSON object without outputSelection' CODEC(ZSTD(3)),
    file_paths Array(String) COMMENT 'Paths of the contract''s source files',
    file_hashes Array(FixedString(32)) COMMENT 'keccak256 of the content of each file, in the order of file_paths; key of source_files',
    deployer Nullable(FixedString(20)) COMMENT 'Address that created the contract; NULL if the origin of the record does not name the creator',
    deployment_tx Nullable(FixedString(32)) COMMENT 'Hash of the creating transaction; NULL if the origin of the record does not name the transaction',
    deployment_block Nullable(UInt32) COMMENT 'Number of the block of the creation; NULL if the origin of the record does not name the block',
    creation_match LowCardinality(String) COMMENT 'Result of the comparison of the creation code: exact_match or match; empty if it was not compared',
    outputs String COMMENT 'Further outputs of the compiler, a JSON object with metadata, storageLayout, userdoc, devdoc and evm; empty if unknown' CODEC(ZSTD(3)),
    version UInt64 COMMENT 'Time when this row was written, unix microseconds, UTC; the newest row of a contract is valid',
    INDEX name_ngrams name TYPE text(tokenizer = ngrams(3), preprocessor = lowerUTF8(name))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (chain_id, address)
SETTINGS index_granularity = 256
COMMENT 'Verifications of contracts with their settings and ABI';

-- One row: the verification of one contract for one code. The code at an address can change, and each code keeps its
-- verification. If a code has several rows, the newest one is valid.
CREATE TABLE IF NOT EXISTS verified_codes
(
    chain_id UInt32 COMMENT 'EIP-155 id of the contract''s chain',
    address FixedString(20) COMMENT 'Address of the contract',
    code_hash FixedString(32) COMMENT 'keccak256 of the runtime code on the chain',
    status Enum8('exact_match' = 1, 'match' = 2) COMMENT 'exact_match: the code and the metadata hash match the sources; match: only the code matches',
    source LowCardinality(String) COMMENT 'Origin of the verification: sourcify or blockscout (imported), local (compiled here), ancestor:1 (same address and code on chain 1)',
    verified_at UInt32 COMMENT 'Time of the verification, unix seconds, UTC',
    name String COMMENT 'Name of the contract in its source',
    path String COMMENT 'Path of the source file that holds the contract',
    language LowCardinality(String) COMMENT 'Language of the source: Solidity, Vyper or Yul',
    compiler LowCardinality(String) COMMENT 'Name of the compiler: solc or vyper',
    compiler_version LowCardinality(String) COMMENT 'Version of the compiler, without a leading v',
    optimization Bool COMMENT 'Whether the compiler''s optimizer was on',
    runs UInt32 COMMENT 'Setting runs of the optimizer',
    evm_version Nullable(String) COMMENT 'EVM version of the compilation; NULL if the compiler used its default',
    license Nullable(String) COMMENT 'SPDX identifier of the licence; NULL if none is given',
    abi String COMMENT 'ABI of the contract, as a JSON list' CODEC(ZSTD(3)),
    constructor_arguments Nullable(String) COMMENT 'Constructor arguments, ABI-encoded bytes; NULL if unknown' CODEC(ZSTD(1)),
    libraries String COMMENT 'Linked libraries, a JSON object: address by fully qualified library name',
    settings String COMMENT 'Settings of the standard JSON input, a JSON object without outputSelection' CODEC(ZSTD(3)),
    file_paths Array(String) COMMENT 'Paths of the contract''s source files',
    file_hashes Array(FixedString(32)) COMMENT 'keccak256 of the content of each file, in the order of file_paths; key of source_files',
    deployer Nullable(FixedString(20)) COMMENT 'Address that created the contract; NULL if the origin of the record does not name the creator',
    deployment_tx Nullable(FixedString(32)) COMMENT 'Hash of the creating transaction; NULL if the origin of the record does not name the transaction',
    deployment_block Nullable(UInt32) COMMENT 'Number of the block of the creation; NULL if the origin of the record does not name the block',
    creation_match LowCardinality(String) COMMENT 'Result of the comparison of the creation code: exact_match or match; empty if it was not compared',
    outputs String COMMENT 'Further outputs of the compiler, a JSON object with metadata, storageLayout, userdoc, devdoc and evm; empty if unknown' CODEC(ZSTD(3)),
    version UInt64 COMMENT 'Time when this row was written, unix microseconds, UTC; the newest row of a contract and a code is valid'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (chain_id, address, code_hash)
SETTINGS index_granularity = 256
COMMENT 'Verifications of contracts for each code that their addresses had';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_verified_codes TO verified_codes AS
SELECT
    chain_id,
    address,
    code_hash,
    status,
    source,
    verified_at,
    name,
    path,
    language,
    compiler,
    compiler_version,
    optimization,
    runs,
    evm_version,
    license,
    abi,
    constructor_arguments,
    libraries,
    settings,
    file_paths,
    file_hashes,
    deployer,
    deployment_tx,
    deployment_block,
    creation_match,
    outputs,
    version
FROM verified_contracts
WHERE code_hash != toFixedString('', 32);

-- One row: a contract by the hash of its runtime code, to find contracts with the same code. The row may be
-- outdated: verified_contracts has the current hash.
CREATE TABLE IF NOT EXISTS verified_code_hashes
(
    code_hash FixedString(32) COMMENT 'keccak256 of the runtime code on the chain',
    status Enum8('exact_match' = 1, 'match' = 2) COMMENT 'Quality of the match, as in verified_contracts.status',
    verified_at UInt32 COMMENT 'Time of the verification, unix seconds, UTC',
    chain_id UInt32 COMMENT 'EIP-155 id of the contract''s chain',
    address FixedString(20) COMMENT 'Address of the contract'
)
ENGINE = ReplacingMergeTree
ORDER BY (code_hash, status, verified_at, chain_id, address)
SETTINGS index_granularity = 256
COMMENT 'Verified contracts, by the hash of their code';

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
    content_hash FixedString(32) COMMENT 'keccak256 of the file''s content',
    content String COMMENT 'Content of the source file, UTF-8' CODEC(ZSTD(3)),
    INDEX content_ngrams content TYPE text(tokenizer = ngrams(3), preprocessor = lowerUTF8(content))
)
ENGINE = ReplacingMergeTree
ORDER BY content_hash
SETTINGS index_granularity = 64, index_granularity_bytes = 32768, min_compress_block_size = 16384, max_compress_block_size = 65536
COMMENT 'Source files of verified contracts, by the hash of their content';

-- One row: a source file of a verified contract. If a file has several rows, the newest one is valid.
CREATE TABLE IF NOT EXISTS source_uses
(
    content_hash FixedString(32) COMMENT 'keccak256 of the file''s content',
    chain_id UInt32 COMMENT 'EIP-155 id of the contract''s chain',
    address FixedString(20) COMMENT 'Address of the contract',
    path String COMMENT 'Path of the file in this contract',
    contract_name LowCardinality(String) COMMENT 'Name of the contract in its source',
    language LowCardinality(String) COMMENT 'Language of the source: Solidity, Vyper or Yul',
    status Enum8('exact_match' = 1, 'match' = 2) COMMENT 'Quality of the match, as in verified_contracts.status',
    version UInt64 COMMENT 'Version of the contract''s row in verified_contracts',
    removed UInt8 COMMENT '1 if a newer verification of the contract does not have the file'
)
ENGINE = ReplacingMergeTree(version, removed)
ORDER BY (content_hash, chain_id, address, path)
SETTINGS index_granularity = 1024
COMMENT 'Which verified contracts use which source file';

-- One row: an event, function or error of an ABI, by its selector.
CREATE TABLE IF NOT EXISTS abi_signatures
(
    selector String COMMENT 'topic0 of an event (32 bytes), or selector of a function or error (4 bytes)',
    kind Enum8('event' = 1, 'function' = 2, 'error' = 3) COMMENT 'Kind of the ABI entry: event, function or error',
    signature String COMMENT 'Signature of the ABI entry: name and parameter types',
    indexed UInt32 COMMENT 'Which parameters of an event are indexed: bit i for parameter i. Each combination seen has a row. 0 for functions and errors',
    entry String COMMENT 'Full ABI entry as JSON, taken from one of the ABIs' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
ORDER BY (selector, kind, signature, indexed)
SETTINGS index_granularity = 256
COMMENT 'Signatures of all known ABIs by selector';

-- One row: an event, function or error of an ABI, by its name.
CREATE TABLE IF NOT EXISTS abi_signature_names
(
    name_lower String COMMENT 'Name of the event, function or error in lower case',
    length UInt32 COMMENT 'Length of the signature in characters',
    signature String COMMENT 'Signature of the ABI entry: name and parameter types',
    kind Enum8('event' = 1, 'function' = 2, 'error' = 3) COMMENT 'Kind of the ABI entry: event, function or error',
    selector String COMMENT 'topic0 of an event (32 bytes), or selector of a function or error (4 bytes)',
    entry String COMMENT 'Full ABI entry as JSON, taken from one of the ABIs' CODEC(ZSTD(3))
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

-- One row: how far the import of verified contracts from one source has come. If a source has several rows,
-- the newest one is valid.
CREATE TABLE IF NOT EXISTS import_positions
(
    source String COMMENT 'Origin of the import: kind of source (folder, sourcify, blockscout), folder path or URL, and chain ids, separated by spaces',
    position String COMMENT 'Where the import continues, in the format of the source; empty if the import has not started',
    version UInt64 COMMENT 'Time when this row was written, unix microseconds, UTC; the newest row of a source is valid'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY source
COMMENT 'Progress of imports of verified contracts';
