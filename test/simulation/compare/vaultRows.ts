/**
 * Compares stored rows of vault pools (pools, states, liquidity) with the oracle, row by row. Swaps are compared
 * elsewhere.
 */
import type { Database } from '../../../src/clickhouse/client/database';
import { lastOrdOfBlock, toOrd } from '../../../src/domain/ord';
import { askRows } from '../../support/engine/askRows';
import type { VaultOracle } from '../../support/oracle/oracleVault';

const hexed = (column: string): string => `concat('0x', lower(hex(t.${column})))`;
const joined = (column: string): string => `arrayStringConcat(arrayMap(v -> toString(v), t.${column}), ' ')`;

const COLUMNS = {
  pools: [
    hexed('address'),
    'pool_type',
    `arrayStringConcat(arrayMap(v -> concat('0x', lower(hex(v))), t.tokens), ' ')`,
    joined('weights'),
    hexed('token0'),
    hexed('token1'),
    'fee_pips',
    'created_block',
  ],
  pool_states: [hexed('pair'), 'toString(t.kind)', joined('balances')],
  liquidity_events: [hexed('pair'), 'toString(t.kind)', 'toString(t.amount0)', 'toString(t.amount1)'],
} as const;

/** Lists the differences in stored rows up to the tip. `commits`: canonical commits above `finalTo`. */
export async function compareVaultRows(
  database: Database,
  oracle: VaultOracle,
  { finalTo, commits }: { readonly finalTo: number; readonly commits: readonly number[] },
): Promise<string[]> {
  const expected = { pools: oracle.pools, pool_states: oracle.states, liquidity_events: oracle.liquidity };
  const differences: string[] = [];
  for (const table of ['pools', 'pool_states', 'liquidity_events'] as const) {
    const list = ['toString(t.ord)', ...COLUMNS[table]].map((column, i) => `${column} AS c${i}`).join(', ');
    const rows = await askRows<Readonly<Record<string, unknown>>>(
      database,
      `SELECT * FROM (
         SELECT ${list}, ord FROM ${table} AS t WHERE ord <= {final_ord:UInt64} AND pool_type IN (4, 5)
         UNION ALL
         SELECT ${list}, ord FROM ${table}_head AS t WHERE has({commits:Array(UInt64)}, commit) AND pool_type IN (4, 5)
       ) ORDER BY ord`,
      { final_ord: lastOrdOfBlock(finalTo), commits },
    );
    const found = rows.map((row) => JSON.stringify(['ord', ...COLUMNS[table]].map((_, i) => row[`c${i}`])));
    const lines = expected[table].map(([block, logIndex, ...rest]) =>
      JSON.stringify([String(toOrd(Number(block), Number(logIndex))), ...rest]),
    );
    if (lines.length !== found.length)
      differences.push(`${found.length} vault rows in ${table}, ${lines.length} expected`);
    const wrong = lines.findIndex((line, index) => line !== found[index]);
    if (wrong >= 0) differences.push(`${table} has ${found[wrong]} instead of ${lines[wrong]}`);
  }
  return differences;
}
