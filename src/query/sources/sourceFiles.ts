/** Reads source files by content hash. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { hash, text } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import { inChunks } from '../head/inChunks';

/** Largest number of hashes per query. FILES_PER_QUERY is lower, because those queries return contents. */
const HASHES_PER_QUERY = 500;
const FILES_PER_QUERY = 100;

const fileRow = rowType({ content_hash: hash, content: text });
const knownRow = rowType({ content_hash: hash });

/** Contents by hash, without missing files. The default of `database` is the runner's database. */
export async function listContents(
  runner: QueryRunner,
  hashes: readonly Hex[],
  database?: string,
): Promise<Map<Hex, string>> {
  const readChunk = (chunk: readonly Hex[]): Promise<RowOf<typeof fileRow>[]> => {
    const params = { hashes: chunk.map((contentHash) => contentHash.slice(2)), limit: FILES_PER_QUERY };
    return database === undefined
      ? runner.run('sources/list_files', params, fileRow)
      : runner.run('sources/list_files_of', { ...params, verified_db: database }, fileRow);
  };
  const rows = await inChunks([...new Set(hashes)], readChunk, FILES_PER_QUERY);
  return new Map(rows.map((row) => [row.content_hash, row.content]));
}

/** The stored hashes among `hashes`. */
export async function listKnownFiles(runner: QueryRunner, hashes: readonly Hex[]): Promise<Set<Hex>> {
  const readChunk = (chunk: readonly Hex[]): Promise<RowOf<typeof knownRow>[]> => {
    const params = { hashes: chunk.map((contentHash) => contentHash.slice(2)), limit: HASHES_PER_QUERY };
    return runner.run('sources/list_known_files', params, knownRow);
  };
  const rows = await inChunks([...new Set(hashes)], readChunk, HASHES_PER_QUERY);
  return new Set(rows.map((row) => row.content_hash));
}
