/**
 * Copies source references from contracts that are verified only on another chain, to one contract with the same code
 * on this chain. A search in this chain's sources then finds the files. If the contract itself is verified later,
 * only its own files are searched.
 */
import type { Database } from '../clickhouse/client/database';
import { commandNamed, type QueryRunner } from '../clickhouse/client/namedQueries';
import { address, u32 } from '../clickhouse/rows/columns';
import { rowType } from '../clickhouse/rows/rowType';

/** Number of contracts per statement. */
const LENDERS_MAX = 200;

const lenderRow = rowType({ twin: address, lender_chain: u32, lender: address });

interface LendDeps {
  readonly database: Database;
  /** Query runner of the chain's database. */
  readonly runner: QueryRunner;
  readonly chainId: number;
  /** Name of the database with the verified contracts. */
  readonly verifiedDb: string;
}

/** Resolves to the number of contracts that received sources. A repeated call changes nothing. */
export async function lendSources(deps: LendDeps): Promise<number> {
  const { database, runner, chainId, verifiedDb } = deps;
  const chainParams = { chain_id: chainId, verified_db: verifiedDb };
  await commandNamed(database, 'sources/withdraw_sources', chainParams);
  let lentCount = 0;
  for (;;) {
    const rows = await runner.run('sources/list_lenders', { ...chainParams, limit: LENDERS_MAX }, lenderRow);
    if (rows.length === 0) return lentCount;
    await commandNamed(database, 'sources/lend_sources', {
      ...chainParams,
      chains: rows.map((row) => row.lender_chain),
      lenders: rows.map((row) => row.lender.slice(2)),
      twins: rows.map((row) => row.twin.slice(2)),
    });
    lentCount += rows.length;
    if (rows.length < LENDERS_MAX) return lentCount;
  }
}
