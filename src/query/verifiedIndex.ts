/**
 * Which contracts are verified, and which codes verified contracts have, in memory: to ask the database for it beside everything
 * else that is known of a contract took a third of that statement.
 */
import type { QueryRunner } from '../clickhouse/namedQueries';
import type { RowReader } from '../clickhouse/rowReader';
import type { Hex } from '../domain/hex';
import { findRow, type SortedRows } from './sortedRows';
import { readMark } from './tableMark';
import { createTableMirror, type MirroredTable, type MirrorOptions } from './tableMirror';

/** Of each list. Where there are more, what is not in it may be verified. */
const LISTED_MAX = 1_000_000;
const ADDRESS_BYTES = 20;
const KEY_BYTES = 24;
const HASH_BYTES = 32;

/** As of one moment. */
export interface VerifiedSet {
  /**
   * Whether a verification of the contract is stored, or was of a contract with this code; true where there are too many to know.
   * `codeHash`: null where not known.
   */
  has(chainId: number, address: Hex, codeHash: Hex | null): boolean;
}

export interface VerifiedIndex {
  /** What is stored, or was a moment ago. */
  read(): Promise<VerifiedSet>;
  /** Whoever reads from now on has at least what is stored now. */
  forget(): void;
}

interface Base {
  /** Of an address and its chain, as list_verified_keys has them. */
  readonly contracts: SortedRows;
  readonly hashes: SortedRows;
}

interface NewlyVerified {
  readonly address: Hex;
  readonly chainId: number;
  readonly codeHash: Hex;
}

/** `runner`: of the market chain's database, where the verifications of all chains are. 56 bytes for each verified contract. */
export function createVerifiedIndex(
  runner: QueryRunner,
  options: MirrorOptions = {},
  listedMax = LISTED_MAX,
): VerifiedIndex {
  const table: MirroredTable<Base, NewlyVerified> = {
    readMark: () => readMark(runner, 'explorer/mark_verified'),
    async readBase() {
      const [contracts, hashes] = await Promise.all([
        runner.write('explorer/list_verified_keys', { limit: listedMax }, 'RowBinary'),
        runner.write('explorer/list_verified_hashes', { limit: listedMax }, 'RowBinary'),
      ]);
      return {
        contracts: { bytes: contracts, rowBytes: KEY_BYTES },
        hashes: { bytes: hashes, rowBytes: HASH_BYTES },
      };
    },
    readNewer: (version, limit) =>
      runner.read('explorer/list_newly_verified', { version, limit }, readNewlyVerified),
  };
  const mirror = createTableMirror(table, options);
  const isListed = (rows: SortedRows, key: Buffer): boolean =>
    findRow(rows, key) !== null || rows.bytes.length >= listedMax * rows.rowBytes;
  return {
    forget: () => mirror.forget(),
    async read() {
      const { base, newer } = await mirror.read();
      const newKeys = new Set(newer.map(({ chainId, address }) => `${chainId} ${address}`));
      const newHashes = new Set(newer.map(({ codeHash }) => codeHash));
      return {
        has: (chainId, address, codeHash) =>
          newKeys.has(`${chainId} ${address}`) ||
          isListed(base.contracts, keyOf(chainId, address)) ||
          (codeHash !== null && (newHashes.has(codeHash) || isListed(base.hashes, bytesOf(codeHash)))),
      };
    },
  };
}

const bytesOf = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex');

function keyOf(chainId: number, address: Hex): Buffer {
  const key = Buffer.alloc(KEY_BYTES);
  key.write(address.slice(2), 'hex');
  key.writeUInt32BE(chainId, ADDRESS_BYTES);
  return key;
}

function readNewlyVerified(row: RowReader): NewlyVerified {
  return { address: row.hex0x(ADDRESS_BYTES), chainId: row.u32(), codeHash: row.hex0x(HASH_BYTES) };
}
