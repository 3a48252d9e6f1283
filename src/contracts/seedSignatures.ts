/** Inserts well-known signatures that are missing. A repeated call changes nothing, and the check is
 * cheap. */
import { Interface } from 'ethers';

import { abiSignaturesTable, type AbiSignatureRow } from '../clickhouse/schema/sourceTables';
import type { Database } from '../clickhouse/client/database';
import { insertRows } from '../clickhouse/rows/inserter';
import type { QueryRunner } from '../clickhouse/client/namedQueries';
import { indexedBits, listSignatures, readAbi } from '../domain/abi';
import type { KnownSignature } from '../domain/verifiedContract';
import { inChunks } from '../query/head/inChunks';
import { createSignatureReader } from '../query/contracts/signatures';
import { AppError } from '../errors';
import { CONTROL_INTERFACES } from './wellKnown/controlInterfaces';
import { DEX_INTERFACES } from './wellKnown/dexInterfaces';
import { TOKEN_INTERFACES } from './wellKnown/tokenInterfaces';

/**
 * Signatures that are known without any verified contract, so that transfers of unverified tokens can be decoded.
 * Events that differ only in indexed parameters, such as Transfer of ERC-20 and ERC-721, are separate entries.
 */
function listWellKnownSignatures(): KnownSignature[] {
  return [TOKEN_INTERFACES, CONTROL_INTERFACES, DEX_INTERFACES].flatMap((lines) => {
    // Each line has its own interface, because one interface refuses two events with the same signature.
    const entries: unknown[] = lines.flatMap((line) => JSON.parse(new Interface([line]).formatJson()));
    const abi = readAbi(entries);
    if (abi === null) throw new AppError('internal', 'a well-known interface is no ABI');
    return listSignatures(abi);
  });
}

/** The row of a signature, in the same form as rows from ABIs of verified contracts. */
function toSignatureRow({ kind, selector, signature, entry }: KnownSignature): AbiSignatureRow {
  const indexed = kind === 'event' ? indexedBits(entry) : 0;
  return { selector, kind, signature, indexed, entry: JSON.stringify(entry) };
}

/** Resolves to the number of missing signatures. `runner` reads the database that `database` writes. */
export async function seedSignatures(database: Database, runner: QueryRunner): Promise<number> {
  const unstored = new Map(listWellKnownSignatures().map((signature) => [keyOf(signature), signature]));
  const selectors = [...new Set([...unstored.values()].map(({ selector }) => selector))];
  const reader = createSignatureReader(runner);
  for (const stored of await inChunks(selectors, (chunk) => reader.listBySelectors(chunk)))
    unstored.delete(keyOf(stored));
  if (unstored.size > 0)
    await insertRows(database, abiSignaturesTable, [...unstored.values()].map(toSignatureRow));
  return unstored.size;
}

/** The columns of the key of abi_signatures. */
function keyOf(known: KnownSignature): string {
  const { selector, kind, signature, indexed } = toSignatureRow(known);
  return `${selector} ${kind} ${signature} ${indexed}`;
}
