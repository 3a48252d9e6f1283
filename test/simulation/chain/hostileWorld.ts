/**
 * A simulated chain with hostile bytes in every address, hash, text and log, stored by the real ingester.
 * Verified sources, codes and creations are inserted as raw bytes, as an older version might have stored
 * them. The test file replaces `digest` of the simulated chain by `hostileDigest`.
 */
import { AbiCoder, id } from 'ethers';

import type { Database } from '../../../src/clickhouse/client/database';
import { createdContractsTable } from '../../../src/clickhouse/schema/explorerTables';
import { insertRows } from '../../../src/clickhouse/rows/inserter';
import { balanceChecksTable, positionEventsTable } from '../../../src/clickhouse/schema/tables';
import { NO_CHECK } from '../../../src/ingest/balances/balanceBook';
import { normaliseText } from '../../../src/domain/address';
import type { Hex } from '../../../src/domain/hex';
import { toOrd } from '../../../src/domain/ord';
import { SIM_CHAIN_ID, type SimChain, type Wilderness } from './simChain';
import type { Draft } from '../../support/plainLogs';
import { askRows } from '../../support/engine/askRows';
import { HOSTILE_PATTERNS, hostileIdentity } from '../../support/hostile/hostileBytes';

const PATTERN_COUNT = HOSTILE_PATTERNS.length;
const NOTE = { type: 'event', name: 'Note', inputs: [{ name: 'text', type: 'string' }] };
const NOTE_TOPIC = id('Note(string)') as Hex;

/** Addresses of contracts with verified sources, one contract for each pattern of hostile bytes. */
export const hostileContract = (index: number): Hex => hostileIdentity('contract', index % PATTERN_COUNT, 20);
const hashOf = (role: string, index: number): Hex => hostileIdentity(role, index % PATTERN_COUNT, 32);
const addressOf = (role: string, index: number): Hex => hostileIdentity(role, index % PATTERN_COUNT, 20);
const patternAt = (index: number): Buffer => HOSTILE_PATTERNS[index % PATTERN_COUNT]!.bytes;
const hexOf = (bytes: Buffer): Hex => `0x${bytes.toString('hex')}`;

/** Logs of the hostile contracts. Hostile bytes are in their data and topics, and in the text of a decodable event. */
export function hostileWilderness(): Wilderness {
  let draftCount = 0;
  let newTokenCount = 0;
  const nextDraft = (): Draft => {
    const index = draftCount;
    draftCount += 1;
    const address = hostileContract(Math.floor(index / 3));
    if (index % 3 === 0) {
      const text = AbiCoder.defaultAbiCoder().encode(['bytes'], [patternAt(index / 3)]);
      return { address, topics: [NOTE_TOPIC], data: text as Hex };
    }
    const identity = Math.floor((index * 2) / 3);
    const topics = [0, 1, 2, 3].map((topicIndex) => hashOf(`topic${topicIndex}`, identity + topicIndex));
    return {
      address,
      topics: topics.slice(0, (identity % 5) + 1),
      data: hexOf(patternAt(Math.floor(index / 3))),
    };
  };
  return {
    spacings: [1, 10, 10, 59, 400],
    emptyChance: 0,
    transactionsMax: 3,
    rateRandom: null,
    stableRandom: null,
    drafts: () => [nextDraft(), nextDraft()],
    secondToken: () => hostileIdentity('late', (newTokenCount += 1), 20),
  };
}

/** An SQL expression for a value of raw bytes. */
type Sql = string;
const bytes = (value: Buffer | Hex): Sql =>
  `unhex('${typeof value === 'string' ? value.slice(2) : value.toString('hex')}')`;
const json = (value: unknown): Sql => bytes(Buffer.from(JSON.stringify(value)));

async function insertSql(
  database: Database,
  table: string,
  rows: readonly Readonly<Record<string, Sql | number>>[],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => `(${columns.map((column) => row[column]).join(', ')})`);
  await database.command(
    `fill ${table}`,
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${values.join(', ')}`,
  );
}

/** Stores everything that the simulated ingester does not write. */
export async function storeHostileRows(database: Database, chain: SimChain): Promise<void> {
  const indexes = HOSTILE_PATTERNS.map((_, index) => index);
  await storeSources(database, indexes);
  await storeCodes(database, indexes);
  await storeNames(database);
  await storeEvents(database, chain, indexes);
  await storePoolSearch(database, indexes);
  await insertSql(
    database,
    'import_positions',
    indexes.map((index) => ({
      source: bytes(patternAt(index)),
      position: bytes(patternAt(index)),
      version: 1,
    })),
  );
}

/**
 * Stores pools and supplies as the pool search stores them. Their block is not part of the chain, so these rows
 * change no pool.
 */
async function storePoolSearch(database: Database, indexes: readonly number[]): Promise<void> {
  const address = (kind: string, index: number): string => bytes(addressOf(kind, index));
  await insertSql(
    database,
    'found_pools',
    indexes.map((index) => ({
      block: 4_000_000_000,
      block_hash: bytes(hashOf('found', index)),
      address: address('found', index),
      token0: address('found token0', index),
      token1: address('found token1', index),
      tokens: `[${address('found token0', index)}]`,
      pool_id: bytes(hashOf('found id', index)),
    })),
  );
  await insertSql(
    database,
    'old_ticks',
    indexes.map((index) => ({ pair: address('ticked', index), from_block: 4_000_000_000 })),
  );
  await insertSql(
    database,
    'pool_births',
    indexes.map((index) => ({ address: address('born', index), created_tx: bytes(hashOf('born', index)) })),
  );
  await insertSql(
    database,
    'pool_first_shares',
    indexes.map((index) => ({ pair: address('shared', index) })),
  );
  await insertSql(
    database,
    'token_supplies',
    indexes.map((index) => ({ token: address('supplied', index) })),
  );
}

async function storeSources(database: Database, indexes: readonly number[]): Promise<void> {
  const verified = indexes.map((index) => {
    const pattern = patternAt(index);
    const text = pattern.toString();
    const raw = bytes(pattern);
    const abi = [
      NOTE,
      { type: 'function', name: 'f', inputs: [{ name: text, type: 'uint256' }], outputs: [] },
    ];
    return {
      chain_id: SIM_CHAIN_ID,
      address: bytes(hostileContract(index)),
      code_hash: bytes(hashOf('code', index)),
      status: "'exact_match'",
      source: "'local'",
      verified_at: 1_700_000_000,
      name: raw,
      path: raw,
      language: "'Solidity'",
      compiler: "'solc'",
      compiler_version: raw,
      optimization: 'true',
      runs: 200,
      evm_version: raw,
      license: raw,
      abi: json(abi),
      constructor_arguments: raw,
      libraries: json({ [text]: addressOf('library', index) }),
      settings: json({ remappings: [text] }),
      file_paths: `[${raw}, concat('two', ${raw})]`,
      file_hashes: `[${bytes(hashOf('content', index))}, ${bytes(hashOf('content', index + 1))}]`,
      deployer: bytes(addressOf('deployer', index)),
      deployment_tx: bytes(hashOf('deployment', index)),
      deployment_block: 3,
      creation_match: "'match'",
      outputs: json({ metadata: text, userdoc: { [text]: text } }),
      version: index + 1,
    };
  });
  await insertSql(
    database,
    'source_files',
    indexes.map((index) => ({
      content_hash: bytes(hashOf('content', index)),
      content: bytes(sourceText(index)),
    })),
  );
  await insertSql(
    database,
    'source_uses',
    indexes.map((index) => ({
      content_hash: bytes(hashOf('content', index)),
      chain_id: SIM_CHAIN_ID,
      address: bytes(hostileContract(index)),
      path: bytes(patternAt(index)),
      contract_name: bytes(patternAt(index)),
      language: "'Solidity'",
      status: "'exact_match'",
      version: index + 1,
      removed: 0,
    })),
  );
  await insertSql(database, 'verified_contracts', verified);
  await insertSql(
    database,
    'abi_signatures',
    indexes.map((index) => ({
      selector: bytes(hashOf('topic0', index)),
      kind: "'event'",
      signature: bytes(patternAt(index)),
      indexed: 0,
      // Every third ABI entry is not valid JSON.
      entry:
        index % 3 === 0
          ? bytes(patternAt(index))
          : json({ ...NOTE, inputs: [{ name: patternAt(index).toString(), type: 'string' }] }),
    })),
  );
}

/** A Solidity source with hostile bytes in a comment. */
export function sourceText(index: number): Buffer {
  return Buffer.concat([Buffer.from('// hostile '), patternAt(index), Buffer.from('\ncontract A {}\n')]);
}

async function storeCodes(database: Database, indexes: readonly number[]): Promise<void> {
  const codes = indexes.map((index) => ({
    address: bytes(hostileContract(index)),
    code_hash: bytes(hashOf('code', index)),
    code_size: 100,
    proxy: index % 2 === 0 ? "''" : "'eip1967'",
    implementation: bytes(addressOf('implementation', index)),
    beacon: bytes(addressOf('beacon', index)),
    facets: bytes(patternAt(index)),
    version: 1,
  }));
  await insertSql(
    database,
    'contract_codes',
    codes.map((code) => ({ ...code, checked_block: 3 })),
  );
  await insertSql(
    database,
    'code_spans',
    codes.map((code) => ({ ...code, from_block: 3 })),
  );
  await insertSql(
    database,
    'contract_creations',
    indexes.map((index) => ({
      address: bytes(hostileContract(index)),
      creator: bytes(addressOf('creator', index)),
      factory: bytes(addressOf('factory', index)),
      tx_hash: bytes(hashOf('creation', index)),
      block: 3,
      timestamp: 1_700_000_000,
      version: 1,
    })),
  );
}

/** Names, logos and traits of all tokens. Some names are cleaned by the ingester's rules, others are raw. */
async function storeNames(database: Database): Promise<void> {
  const tokens = await askRows<{ address: string; version: string }>(
    database,
    'SELECT lower(hex(address)) AS address, toString(max(version) + 1) AS version FROM tokens GROUP BY address ORDER BY address',
  );
  const rows = tokens.map(({ address, version }, index) => {
    const pattern = patternAt(Math.floor(index / 2));
    const clean = (max: number): Sql => {
      const text = normaliseText(pattern.toString(), max);
      return text === null ? 'NULL' : bytes(Buffer.from(text));
    };
    const isClean = index % 2 === 0;
    return {
      address: bytes(`0x${address}`),
      symbol: isClean ? clean(64) : bytes(pattern),
      name: isClean ? clean(128) : bytes(pattern),
      decimals: 18,
      version,
    };
  });
  await insertSql(database, 'tokens', rows);
  const listedTokens = rows.map(({ address }, index) => {
    const raw = bytes(patternAt(index));
    return { chain_id: SIM_CHAIN_ID, address, list: raw, logo_url: raw, version: 1 };
  });
  await insertSql(database, 'listed_tokens', listedTokens);
  await insertSql(
    database,
    'token_traits',
    rows.map(({ address }) => ({ token: address, checked_block: 3, version: 1 })),
  );
}

/** Creations of contracts and positions, in final blocks and in the head. */
async function storeEvents(database: Database, chain: SimChain, indexes: readonly number[]): Promise<void> {
  const headBlocks = await askRows<{ number: number; commit: string }>(
    database,
    'SELECT number, toString(argMax(commit, version)) AS commit FROM head_blocks GROUP BY number ORDER BY number DESC LIMIT 10',
  );
  // Makes `count` creations and positions in a block, with the patterns of hostile bytes from `firstIndex` on.
  const rowsAt = (block: number, firstIndex: number, count: number) =>
    indexes.slice(0, count).map((offset) => {
      const index = firstIndex + offset;
      const ordAndTime = { ord: toOrd(block, 100_000 + offset), timestamp: chain.at(block)!.timestamp };
      const created = {
        ...ordAndTime,
        address: hostileContract(index),
        creator: addressOf('creator', index),
        tx_hash: hashOf('creation', index),
        tx_index: 0,
      };
      const position = {
        ...ordAndTime,
        manager: addressOf('manager', index),
        token_id: BigInt(index),
        kind: (['transfer', 'increase', 'collect'] as const)[index % 3]!,
        sender: addressOf('owner', index),
        recipient: addressOf('owner', index + 1),
        pair: addressOf('position', index),
        tick_lower: -60,
        tick_upper: 60,
        liquidity: 1n,
        amount0: 1n,
        amount1: 1n,
      };
      return { created, position };
    });
  const finalRows = rowsAt(5, 0, PATTERN_COUNT);
  await insertRows(
    database,
    createdContractsTable,
    finalRows.map(({ created }) => created),
  );
  await insertRows(
    database,
    positionEventsTable,
    finalRows.map(({ position }) => position),
  );
  for (const [index, { number, commit }] of headBlocks.entries()) {
    const rows = rowsAt(number, index * 5, 5);
    const options = { commit: Number(commit) };
    await insertRows(
      database,
      createdContractsTable,
      rows.map(({ created }) => created),
      options,
    );
    await insertRows(
      database,
      positionEventsTable,
      rows.map(({ position }) => position),
      options,
    );
  }
  await insertRows(
    database,
    balanceChecksTable,
    indexes.map((index) => ({
      ...NO_CHECK,
      token: addressOf('checked', index),
      checked_block: 5,
      holders_checked: 1,
      witness: addressOf('witness', index),
      version: 1,
    })),
  );
}
