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
  readonly description: string;
  /** Lowest block that the change touches. */
  readonly block: number;
}

interface Day {
  readonly day: string;
  readonly manifest: DayManifest;
}

/** SQL of another value, by the type of its column. */
const CHANGED_VALUE: Readonly<Record<string, string>> = {
  'Nullable(UInt64)': 'ifNull(COLUMN, 0) + 1',
  UInt64: 'COLUMN + 1',
  'Nullable(Bool)': 'NOT ifNull(COLUMN, false)',
  'Nullable(String)':
    "if(ifNull(COLUMN, '') = '', 'x', concat(substring(COLUMN, 1, length(COLUMN) - 1), char(bitXor(reinterpretAsUInt8(substring(COLUMN, -1)), 1))))",
};
/** A byte of the state root, which no column repeats. */
const STATE_BYTE = 100;

export class HostileMirror {
  private random = new Random(0);
  private readonly types = new Map<string, string>();

  private constructor(
    private readonly honestFolder: string,
    private readonly folder: string,
    private readonly side: SideDatabase,
    private readonly inserter: FileInserter,
  ) {}

  /** `databaseUrl` is a database beside which the mirror creates another one. */
  static async open(honestFolder: string, folder: string, databaseUrl: string): Promise<HostileMirror> {
    const side = openSideDatabase(databaseUrl, '_hostile');
    await side.drop();
    await side.create();
    await createFileTables(side.database);
    const mirror = new HostileMirror(honestFolder, folder, side, openFileInserter(side.url));
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
    cpSync(this.honestFolder, this.folder, { recursive: true });
    const index = this.json<{ days: { day: string }[] }>('snapshot.json');
    const { day } = this.random.pick(index.days);
    const manifest = this.json<DayManifest>(join(day, 'manifest.json'));
    const chosenDay = { day, manifest };
    if (kind === 'row') return this.changeRow(chosenDay);
    if (kind === 'file') return this.changeFile(chosenDay);
    return kind === 'manifest' ? this.changeManifest(chosenDay) : this.changeHeader(chosenDay);
  }

  private async changeRow({ day, manifest }: Day): Promise<Change> {
    const file = this.random.pick(manifest.files);
    const names = [...allColumns(file.dataset).keys()];
    const column = this.random.pick([...names, 'twice', 'never']);
    const { bytes, block, row } = await this.rewrite(
      day,
      file,
      this.random.next(),
      (name, type) => (name === column ? CHANGED_VALUE[type]!.replaceAll('COLUMN', name) : name),
      column === 'twice' ? 2 : column === 'never' ? 0 : 1,
    );
    this.forge(day, manifest, file, bytes, {});
    return { path: `${day}/${file.name}`, description: `${column} of row ${row}`, block };
  }

  /** Flips a byte, cuts the file, or removes it. The manifest stays honest. */
  private changeFile({ day, manifest }: Day): Change {
    const file = this.random.pick(manifest.files);
    const path = join(this.folder, day, file.name);
    const bytes = readFileSync(path);
    const changedPart = this.random.pick(['a byte', 'the end', 'the file']);
    const offset = this.random.int(0, bytes.length - 1);
    if (changedPart === 'a byte')
      bytes.writeUInt8(bytes.readUInt8(offset) ^ (1 << this.random.int(0, 7)), offset);
    if (changedPart === 'the file') rmSync(path);
    else writeFileSync(path, changedPart === 'the end' ? bytes.subarray(0, offset) : bytes);
    return { path: file.name, description: changedPart, block: file.from_block };
  }

  /** Changes one value of the manifest; in half of the cases, the index fits the new manifest. */
  private changeManifest({ day, manifest }: Day): Change {
    const leaves: [owner: Record<string, unknown>, key: string][] = [];
    const visit = (owner: Record<string, unknown>): void => {
      for (const [key, value] of Object.entries(owner))
        if (typeof value === 'object') visit(value as Record<string, unknown>);
        else leaves.push([owner, key]);
    };
    const { start_block, range_hashes, ...checkedFields } = manifest;
    visit(checkedFields);
    const [owner, key] = this.random.pick(leaves);
    const honestValue = owner[key];
    owner[key] =
      typeof honestValue === 'number' ? honestValue + 1 : flipText(String(honestValue), this.random);
    const isForged = this.random.chance(0.5);
    this.write(day, { ...checkedFields, start_block, range_hashes }, isForged);
    return {
      path: isForged ? day : 'manifest.json',
      description: `${key} ${isForged ? 'with' : 'without'} the index`,
      block: manifest.from_block,
    };
  }

  /** Changes a header and the hash of its block, and the hashes of all headers in the manifest. */
  private async changeHeader({ day, manifest }: Day): Promise<Change> {
    const file = manifest.files.find(({ dataset }) => dataset === 'blocks')!;
    const byte = `char(bitXor(reinterpretAsUInt8(substring(header, ${STATE_BYTE}, 1)), 1))`;
    const header = `concat(substring(header, 1, ${STATE_BYTE - 1}), ${byte}, substring(header, ${STATE_BYTE + 1}))`;
    // Half of the changes are in the last header, which the next day names as its parent.
    const position = this.random.chance(0.5) ? 1 : this.random.next();
    const { bytes, hashes, block, row } = await this.rewrite(day, file, position, (name) =>
      name === 'header' ? header : name === 'block_hash' ? `keccak256(${header})` : name,
    );
    const to_hash = `0x${hashes.at(-1)!.toString('hex')}` as const;
    const headers = [{ to_block: file.to_block, to_hash, root: merkleRoot(hashes) }];
    const fromHash = row === 0 ? { from_hash: `0x${hashes[0]!.toString('hex')}` as const } : {};
    this.forge(day, manifest, file, bytes, { headers, to_hash, ...fromHash });
    const days = this.json<{ days: { day: string }[] }>('snapshot.json').days.map((indexed) => indexed.day);
    const nextDay = days[days.indexOf(day) + 1];
    if (nextDay !== undefined && row === hashes.length - 1) {
      const nextManifest = this.json<DayManifest>(join(nextDay, 'manifest.json'));
      this.write(nextDay, { ...nextManifest, parent_hash: to_hash }, true);
    }
    return { path: `${day}/${file.name}`, description: `header of row ${row}`, block };
  }

  /**
   * The file with the changed values of one row, which it then has `copies` times. `position` chooses the row: 0 is the
   * first one, 1 the last one.
   */
  private async rewrite(
    day: string,
    { name, dataset }: SnapshotFile,
    position: number,
    valueOf: (column: string, type: string) => string,
    copies = 1,
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
    const rows = await askRows<{ block: string }>(
      database,
      `SELECT block_number AS block FROM ${dataset} ORDER BY ${order} LIMIT 100000`,
    );
    const row = Math.min(rows.length - 1, Math.floor(position * rows.length));
    const selected = [...columns.keys()].map((column) => {
      const value = valueOf(column, this.types.get(`${dataset}.${column}`) ?? '');
      return value === column ? column : `if(row_number = ${row}, ${value}, ${column}) AS ${column}`;
    });
    const numbered = `SELECT *, rowNumberInAllBlocks() AS row_number FROM (SELECT * FROM ${dataset} ORDER BY ${order})`;
    const changed = `SELECT ${selected.join(', ')} FROM (${numbered}) ARRAY JOIN range(if(row_number = ${row}, ${copies}, 1)) AS copy ORDER BY row_number`;
    const readChanged = (sql: string, format: string): Promise<Buffer> =>
      database.selectBinary('forge', sql, {}, format, {
        output_format_parquet_string_as_string: '0',
        // `header` is the column, and not the changed header.
        prefer_column_name_to_alias: '1',
      });
    const hashes =
      dataset === 'blocks'
        ? await readChanged(
            `SELECT toFixedString(assumeNotNull(block_hash), 32) FROM (${changed})`,
            'RowBinary',
          )
        : Buffer.alloc(0);
    return {
      bytes: await readChanged(changed, 'Parquet'),
      hashes: Array.from({ length: hashes.length / 32 }, (_, index) =>
        hashes.subarray(32 * index, 32 * index + 32),
      ),
      block: Number(rows[row]!.block),
      row,
    };
  }

  /** Writes a changed file, and its size and hash into the manifest and the index. */
  private forge(
    day: string,
    manifest: DayManifest,
    changedFile: SnapshotFile,
    bytes: Buffer,
    changedFields: Partial<DayManifest>,
  ): void {
    writeFileSync(join(this.folder, day, changedFile.name), bytes);
    const files = manifest.files.map((file) =>
      file.name === changedFile.name ? { ...file, bytes: bytes.length, sha256: sha256Of(bytes) } : file,
    );
    this.write(day, { ...manifest, files, files_root: rootOfFiles(files), ...changedFields }, true);
  }

  /** Writes the manifest. If `isForged`, the index gets its hash. */
  private write(day: string, manifest: DayManifest, isForged: boolean): void {
    const text = JSON.stringify(manifest);
    writeFileSync(join(this.folder, day, 'manifest.json'), text);
    if (!isForged) return;
    const index = this.json<{ days: { day: string; manifest: string; to_hash: string; to_block: number }[] }>(
      'snapshot.json',
    );
    for (const indexed of index.days)
      if (indexed.day === day)
        Object.assign(indexed, { manifest: sha256Of(Buffer.from(text)), to_hash: manifest.to_hash });
    writeFileSync(join(this.folder, 'snapshot.json'), JSON.stringify(index));
  }

  private json<T>(path: string): T {
    return JSON.parse(readFileSync(join(this.folder, path), 'utf8')) as T;
  }
}

function flipText(text: string, random: Random): string {
  const index = random.int(0, text.length - 1);
  const otherDigit = text[index] === '1' ? '2' : '1';
  return text.slice(0, index) + otherDigit + text.slice(index + 1);
}
