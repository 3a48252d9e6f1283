/**
 * A mirror of a snapshot that changes one thing and forges everything that it can: sizes, hashes and roots in the manifest
 * and the index. ClickHouse rewrites the files.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openFileInserter, type FileInserter } from '../../../src/clickhouse/client/fileInserter';
import { openSideDatabase, type SideDatabase } from '../../../src/clickhouse/client/sideDatabase';
import { allColumns, insertStatement } from '../../../src/ingest/parquet/datasets';
import { createFileTables } from '../../../src/ingest/parquet/staging';
import {
  rootOfFiles,
  sha256Of,
  type DayManifest,
  type SnapshotFile,
} from '../../../src/ingest/snapshot/manifest';
import { merkleRoot } from '../../../src/ingest/snapshot/merkleRoot';
import { askRows } from '../engine/askRows';
import { Random } from '../random';

export const HOSTILE_KINDS = ['row', 'file', 'manifest', 'header'] as const;
type HostileKind = (typeof HOSTILE_KINDS)[number];

/** What the mirror changed. */
interface Change {
  /** The path of the file that must be refused. */
  readonly path: string;
  readonly what: string;
  /** Lowest block that the change touches. */
  readonly block: number;
}

interface Day {
  readonly day: string;
  readonly manifest: DayManifest;
}

/** Another value of the column's type. */
const ALTERED: Readonly<Record<string, string>> = {
  'Nullable(UInt64)': 'ifNull(C, 0) + 1',
  UInt64: 'C + 1',
  'Nullable(Bool)': 'NOT ifNull(C, false)',
  'Nullable(String)':
    "if(ifNull(C, '') = '', 'x', concat(substring(C, 1, length(C) - 1), char(bitXor(reinterpretAsUInt8(substring(C, -1)), 1))))",
};
/** A byte of the state root, which no column repeats. */
const STATE_BYTE = 100;

export class HostileMirror {
  private random = new Random(0);
  private readonly types = new Map<string, string>();

  private constructor(
    private readonly honest: string,
    private readonly folder: string,
    private readonly side: SideDatabase,
    private readonly inserter: FileInserter,
  ) {}

  /** `databaseUrl` is a database beside which the mirror creates another one. */
  static async open(honest: string, folder: string, databaseUrl: string): Promise<HostileMirror> {
    const side = openSideDatabase(databaseUrl, '_hostile');
    await side.drop();
    await side.create();
    await createFileTables(side.database);
    const mirror = new HostileMirror(honest, folder, side, openFileInserter(side.url));
    const columns = await askRows<{ path: string; type: string }>(
      side.database,
      `SELECT concat(table, '.', name) AS path, type FROM system.columns WHERE database = currentDatabase()`,
    );
    for (const { path, type } of columns) mirror.types.set(path, type);
    return mirror;
  }

  async close(): Promise<void> {
    await this.side.drop();
    await Promise.all([this.inserter.close(), this.side.close()]);
  }

  /** Copies the honest snapshot into the folder, with one change. */
  async change(kind: HostileKind, seed: number): Promise<Change> {
    this.random = new Random(seed);
    rmSync(this.folder, { recursive: true, force: true });
    cpSync(this.honest, this.folder, { recursive: true });
    const index = this.json<{ days: { day: string }[] }>('snapshot.json');
    const { day } = this.random.pick(index.days);
    const manifest = this.json<DayManifest>(join(day, 'manifest.json'));
    const at = { day, manifest };
    if (kind === 'row') return this.changeRow(at);
    if (kind === 'file') return this.changeFile(at);
    return kind === 'manifest' ? this.changeManifest(at) : this.changeHeader(at);
  }

  private async changeRow({ day, manifest }: Day): Promise<Change> {
    const file = this.random.pick(manifest.files);
    const names = [...allColumns(file.dataset).keys()];
    const column = this.random.pick([...names, 'twice', 'never']);
    const { bytes, block, row } = await this.rewrite(
      day,
      file,
      this.random.next(),
      (name, type) => (name === column ? ALTERED[type]!.replaceAll('C', name) : name),
      column === 'twice' ? 2 : column === 'never' ? 0 : 1,
    );
    this.forge(day, manifest, file, bytes, {});
    const [path, what] = [`${day}/${file.name}`, `${column} of row ${row}`];
    return { path, what, block };
  }

  /** Flips a byte, cuts the file, or removes it. The manifest stays honest. */
  private changeFile({ day, manifest }: Day): Change {
    const file = this.random.pick(manifest.files);
    const path = join(this.folder, day, file.name);
    const bytes = readFileSync(path);
    const what = this.random.pick(['a byte', 'the end', 'the file']);
    const at = this.random.int(0, bytes.length - 1);
    if (what === 'a byte') bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << this.random.int(0, 7)), at);
    if (what === 'the file') rmSync(path);
    else writeFileSync(path, what === 'the end' ? bytes.subarray(0, at) : bytes);
    return { path: file.name, what, block: file.from_block };
  }

  /** Changes one value of the manifest; in half of the cases, the index fits the new manifest. */
  private changeManifest({ day, manifest }: Day): Change {
    const leaves: [owner: Record<string, unknown>, key: string][] = [];
    const visit = (owner: Record<string, unknown>): void => {
      for (const [key, value] of Object.entries(owner))
        if (typeof value === 'object') visit(value as Record<string, unknown>);
        else leaves.push([owner, key]);
    };
    const { start_block, range_hashes, ...checked } = manifest;
    visit(checked);
    const [owner, key] = this.random.pick(leaves);
    const old = owner[key];
    owner[key] = typeof old === 'number' ? old + 1 : flipText(String(old), this.random);
    const isForged = this.random.chance(0.5);
    this.write(day, { ...checked, start_block, range_hashes }, isForged);
    return {
      path: isForged ? day : 'manifest.json',
      what: `${key} ${isForged ? 'with' : 'without'} the index`,
      block: manifest.from_block,
    };
  }

  /** Changes a header and the hash of its block, and the hashes of all headers in the manifest. */
  private async changeHeader({ day, manifest }: Day): Promise<Change> {
    const file = manifest.files.find(({ dataset }) => dataset === 'blocks')!;
    const byte = `char(bitXor(reinterpretAsUInt8(substring(header, ${STATE_BYTE}, 1)), 1))`;
    const header = `concat(substring(header, 1, ${STATE_BYTE - 1}), ${byte}, substring(header, ${STATE_BYTE + 1}))`;
    const at = this.random.chance(0.5) ? 1 : this.random.next();
    const { bytes, hashes, block, row } = await this.rewrite(day, file, at, (name) =>
      name === 'header' ? header : name === 'block_hash' ? `keccak256(${header})` : name,
    );
    const to_hash = `0x${hashes.at(-1)!.toString('hex')}` as const;
    const headers = [{ to_block: file.to_block, to_hash, root: merkleRoot(hashes) }];
    const isFirst = row === 0 ? { from_hash: `0x${hashes[0]!.toString('hex')}` as const } : {};
    this.forge(day, manifest, file, bytes, { headers, to_hash, ...isFirst });
    const days = this.json<{ days: { day: string }[] }>('snapshot.json').days.map((one) => one.day);
    const next = days[days.indexOf(day) + 1];
    if (next !== undefined && row === hashes.length - 1) {
      const after = this.json<DayManifest>(join(next, 'manifest.json'));
      this.write(next, { ...after, parent_hash: to_hash }, true);
    }
    return { path: `${day}/${file.name}`, what: `header of row ${row}`, block };
  }

  /** The file with the changed values of one row, which it has `times` times. `place` is 0 for its first row, 1 for its last. */
  private async rewrite(
    day: string,
    { name, dataset }: SnapshotFile,
    place: number,
    valueOf: (column: string, type: string) => string,
    times = 1,
  ): Promise<{
    readonly bytes: Buffer;
    readonly hashes: Buffer[];
    readonly block: number;
    readonly row: number;
  }> {
    const { database } = this.side;
    const columns = allColumns(dataset);
    const body = readFileSync(join(this.folder, day, name));
    await database.command('empty', `TRUNCATE TABLE ${dataset}`);
    await this.inserter.insert(
      name,
      insertStatement(dataset, 0, columns),
      body,
      new AbortController().signal,
    );
    const keys = { blocks: [], logs: ['log_index'], transactions: ['transaction_index'] }[dataset];
    const order = ['block_number', ...keys].join(', ');
    const listed = await askRows<{ block: string }>(
      database,
      `SELECT block_number AS block FROM ${dataset} ORDER BY ${order} LIMIT 100000`,
    );
    const row = Math.min(listed.length - 1, Math.floor(place * listed.length));
    const shown = [...columns.keys()].map((column) => {
      const value = valueOf(column, this.types.get(`${dataset}.${column}`) ?? '');
      return value === column ? column : `if(at = ${row}, ${value}, ${column}) AS ${column}`;
    });
    const numbered = `SELECT *, rowNumberInAllBlocks() AS at FROM (SELECT * FROM ${dataset} ORDER BY ${order})`;
    const changed = `SELECT ${shown.join(', ')} FROM (${numbered}) ARRAY JOIN range(if(at = ${row}, ${times}, 1)) AS copy ORDER BY at`;
    const forge = (sql: string, format: string): Promise<Buffer> =>
      database.selectBinary('forge', sql, {}, format, {
        output_format_parquet_string_as_string: '0',
        // `header` is the column, and not the changed header.
        prefer_column_name_to_alias: '1',
      });
    const hashes =
      dataset === 'blocks'
        ? await forge(`SELECT toFixedString(assumeNotNull(block_hash), 32) FROM (${changed})`, 'RowBinary')
        : Buffer.alloc(0);
    return {
      bytes: await forge(changed, 'Parquet'),
      hashes: Array.from({ length: hashes.length / 32 }, (_, at) => hashes.subarray(32 * at, 32 * at + 32)),
      block: Number(listed[row]!.block),
      row,
    };
  }

  private forge(
    day: string,
    manifest: DayManifest,
    old: SnapshotFile,
    bytes: Buffer,
    more: Partial<DayManifest>,
  ): void {
    writeFileSync(join(this.folder, day, old.name), bytes);
    const files = manifest.files.map((file) =>
      file.name === old.name ? { ...file, bytes: bytes.length, sha256: sha256Of(bytes) } : file,
    );
    this.write(day, { ...manifest, files, files_root: rootOfFiles(files), ...more }, true);
  }

  private write(day: string, manifest: DayManifest, isForged: boolean): void {
    const text = JSON.stringify(manifest);
    writeFileSync(join(this.folder, day, 'manifest.json'), text);
    if (!isForged) return;
    const index = this.json<{ days: { day: string; manifest: string; to_hash: string; to_block: number }[] }>(
      'snapshot.json',
    );
    for (const one of index.days)
      if (one.day === day)
        Object.assign(one, { manifest: sha256Of(Buffer.from(text)), to_hash: manifest.to_hash });
    writeFileSync(join(this.folder, 'snapshot.json'), JSON.stringify(index));
  }

  private json<T>(path: string): T {
    return JSON.parse(readFileSync(join(this.folder, path), 'utf8')) as T;
  }
}

function flipText(text: string, random: Random): string {
  const at = random.int(0, text.length - 1);
  const other = text[at] === '1' ? '2' : '1';
  return text.slice(0, at) + other + text.slice(at + 1);
}
