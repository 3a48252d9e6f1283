/**
 * Copies source references of contracts verified only on another chain to one contract with the same code on this
 * chain. A search in this chain's sources then finds them. Once the contract is verified itself, only its own files
 * count.
 */
import { z } from 'zod';

import type { Database } from '../clickhouse/client/database';
import type { QueryRunner } from '../clickhouse/client/namedQueries';

/** Contracts per statement. */
const LENDERS_MAX = 200;
/** Lower than every version of a verification; versions are microseconds. */
const LENT = 0;
const WITHDRAWN = 1;

const lenderShape = z.object({ twin: z.string(), lender_chain: z.int(), lender: z.string() });

export interface LendDeps {
  readonly database: Database;
  /** Query runner of the chain's database. */
  readonly runner: QueryRunner;
  readonly chainId: number;
  /** Name of the database with the verified contracts. */
  readonly verifiedDb: string;
}

/** Resolves to the number of contracts that received sources. Safe to repeat. */
export async function lendSources(deps: LendDeps): Promise<number> {
  const { database, runner, chainId, verifiedDb } = deps;
  const where = { chain_id: chainId, verified_db: verifiedDb };
  await database.command('withdraw lent sources', WITHDRAW, where);
  let lent = 0;
  for (;;) {
    const rows = await runner.run('sources/list_lenders', { ...where, limit: LENDERS_MAX }, lenderShape);
    if (rows.length === 0) return lent;
    await database.command('lend sources', LEND, {
      ...where,
      chains: rows.map((row) => row.lender_chain),
      lenders: rows.map((row) => row.lender),
      twins: rows.map((row) => row.twin),
    });
    lent += rows.length;
    if (rows.length < LENDERS_MAX) return lent;
  }
}

const COLUMNS = 'content_hash, chain_id, address, path, contract_name, language, status, version, removed';

const LEND = `INSERT INTO {verified_db:Identifier}.source_uses (${COLUMNS})
  SELECT u.content_hash, {chain_id:UInt32}, l.twin, u.path, u.contract_name, u.language, u.status, ${LENT}, 0
  FROM {verified_db:Identifier}.source_uses AS u FINAL
  INNER JOIN (
    SELECT pair.1 AS chain, toFixedString(unhex(pair.2), 20) AS lender, toFixedString(unhex(pair.3), 20) AS twin
    FROM (SELECT arrayJoin(arrayZip({chains:Array(UInt32)}, {lenders:Array(String)}, {twins:Array(String)})) AS pair)
  ) AS l ON l.chain = u.chain_id AND l.lender = u.address`;

const WITHDRAW = `INSERT INTO {verified_db:Identifier}.source_uses (${COLUMNS})
  SELECT content_hash, chain_id, address, path, contract_name, language, status, ${WITHDRAWN}, 1
  FROM {verified_db:Identifier}.source_uses FINAL
  WHERE chain_id = {chain_id:UInt32} AND version = ${LENT}
    AND address IN (SELECT address FROM {verified_db:Identifier}.verified_contracts WHERE chain_id = {chain_id:UInt32})`;
