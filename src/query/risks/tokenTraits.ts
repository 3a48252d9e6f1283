/** Reads what the ingester measured about tokens, and the logos of imported token lists. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, text } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { tokenTraitsTable } from '../../clickhouse/schema/traitTables';
import { createNewestRows } from '../head/newestRows';

/** Limit for safety: more tokens than any chain has. */
const TOKENS_MAX = 2_000_000;

const { checked_block, swaps, ...traits } = tokenTraitsTable.types;
const traitsRow = rowType(traits);
export type TokenTraits = Omit<RowOf<typeof traitsRow>, 'version'>;

const logoRow = rowType({ token: address, logo_url: text });
const markRow = rowType({ mark: text });

/** A function that returns the traits of each measured token. Each call reads only the rows that are new. */
export function createTraitReader(runner: QueryRunner): () => Promise<ReadonlyMap<string, TokenTraits>> {
  return createNewestRows((since) =>
    runner.run('risks/list_traits', { since, limit: TOKENS_MAX }, traitsRow),
  );
}

/** A function that returns the URLs of logos by token. It reads them again after an import. */
export function createLogoReader(
  runner: QueryRunner,
  chainId: number,
): () => Promise<ReadonlyMap<string, string>> {
  let logos: ReadonlyMap<string, string> = new Map();
  let lastMark = '';
  return async () => {
    const [row] = await runner.run('risks/find_logo_mark', { chain_id: chainId }, markRow);
    const newMark = row?.mark ?? '';
    if (newMark !== lastMark) logos = await listLogos(runner, chainId);
    lastMark = newMark;
    return logos;
  };
}

/** URLs of logos by token. */
export async function listLogos(runner: QueryRunner, chainId: number): Promise<ReadonlyMap<string, string>> {
  const params = { chain_id: chainId, limit: TOKENS_MAX };
  const rows = await runner.run('risks/list_logos', params, logoRow);
  return new Map(rows.map(({ token, logo_url }) => [token, logo_url]));
}
