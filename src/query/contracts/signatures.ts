/** Reads events, functions and errors of all known ABIs, by selector and by name. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { abiSignaturesTable } from '../../clickhouse/schema/sourceTables';
import { parseAbiEntry } from '../../domain/abi';
import type { KnownSignature, SignatureReader } from '../../domain/verifiedContract';
import { AppError } from '../../errors';
import { inChunks } from '../head/inChunks';

const SELECTORS_MAX = 1_000;
/** Largest number of selectors (up to 32 bytes each) per query. The length of the query's URL is limited. */
const SELECTORS_PER_QUERY = 500;
/** Largest number of names of one selector. A limit is needed because anyone can publish any number of names. */
const ROWS_MAX = 10_000;
const PREFIX_LIMIT_MAX = 1_000;

const { indexed: indexedType, ...listedTypes } = abiSignaturesTable.types;
const signatureRow = rowType(listedTypes);

/** Leaves out a row with an unreadable ABI entry. Other rows may still name the same selector. */
function toSignatures(row: RowOf<typeof signatureRow>): KnownSignature[] {
  const entry = parseAbiEntry(row.entry);
  return entry === null ? [] : [{ ...row, entry }];
}

/**
 * Makes a reader of signatures. `runner` queries the market chain's database, where signatures are stored.
 */
export function createSignatureReader(runner: QueryRunner): SignatureReader {
  return {
    async listBySelectors(selectors) {
      if (selectors.length > SELECTORS_MAX)
        throw new AppError('internal', `got ${selectors.length} selectors; allowed: ${SELECTORS_MAX}`);
      const uniqueSelectors = [...new Set(selectors)].map((selector) => selector.slice(2));
      const readChunk = (chunk: readonly string[]): Promise<RowOf<typeof signatureRow>[]> =>
        runner.run('sources/list_signatures', { selectors: chunk, limit: ROWS_MAX }, signatureRow);
      return (await inChunks(uniqueSelectors, readChunk, SELECTORS_PER_QUERY)).flatMap(toSignatures);
    },
    async listByPrefix(text, limit) {
      if (text === '') return [];
      const params = { prefix: text.toLowerCase(), limit: Math.min(limit, PREFIX_LIMIT_MAX) };
      return (await runner.run('sources/list_signature_names', params, signatureRow)).flatMap(toSignatures);
    },
  };
}
