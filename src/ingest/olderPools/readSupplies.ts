/**
 * Reads the supplies of tokens whose earlier transfers are not stored. The supply before the start block is
 * totalSupply() at a block, minus the amount that the stored transfers minted up to this block. The result is
 * the same on every branch, so a reorg does not change it.
 */
import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { insertRows } from '../../clickhouse/rows/inserter';
import { address, array, i256 } from '../../clickhouse/rows/columns';
import { rowType, tuple } from '../../clickhouse/rows/rowType';
import { tokenSuppliesTable, type TokenSupplyRow } from '../../clickhouse/schema/olderPoolTables';
import { callData, readNumber } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { askContracts, type EthCalls } from '../../node/calls/askContracts';
import type { SearchBlock } from './searchProgress';

/** Number of tokens per batch. Each token takes one call, and one more call for each holder. */
const TOKENS_MAX = 50;

const tokenRow = rowType({ token: address });
const mintedRow = rowType({ token: address, zero_balance: i256, held: array(tuple(address, i256)) });

/** Tokens whose supply, or whose balances of the given holders, have not been read yet. */
export async function listUnaskedTokens(
  database: Database,
  { commits, finalTo }: SearchBlock,
  holders: readonly Hex[],
): Promise<Hex[]> {
  const bare = holders.map((holder) => holder.slice(2));
  const params = { commits, final_ord: lastOrdOfBlock(finalTo), holders: bare, limit: TOKENS_MAX };
  const rows = await selectNamed(database, 'ingest/older_pools/list_unasked_tokens', params, tokenRow);
  return rows.map(({ token }) => token);
}

export async function storeSupplies(
  {
    database,
    rpc,
    version,
    holders,
  }: {
    readonly database: Database;
    readonly rpc: EthCalls;
    readonly version: number;
    /** Addresses whose balances are read together with the supply. */
    readonly holders: readonly Hex[];
  },
  tokens: readonly Hex[],
  block: SearchBlock,
  signal: AbortSignal,
): Promise<void> {
  const calls = tokens.map((to) => [
    { to, data: callData('totalSupply()') },
    ...holders.map((holder) => ({ to, data: callData('balanceOf(address)', holder) })),
  ]);
  const contractAnswers = await askContracts(rpc, calls, { at: { blockHash: block.hash }, signal });
  const params = {
    commits: block.commits,
    final_ord: lastOrdOfBlock(block.finalTo),
    tokens: tokens.map((token) => token.slice(2)),
    holders: holders.map((holder) => holder.slice(2)),
    limit: tokens.length,
  };
  const minted = await selectNamed(database, 'ingest/older_pools/list_minted', params, mintedRow);
  const movesOf = new Map(minted.map((row) => [row.token, row]));
  const rows = tokens.map((token, index): TokenSupplyRow => {
    const moves = movesOf.get(token);
    const { answers: [supply, ...balances] = [], isUnsure = true } = contractAnswers[index] ?? {};
    const movedAmounts = new Map(moves?.held);
    return {
      token,
      // The stored balance of the zero address is minus the minted amount.
      // A balance that could not be read would count as 0, and the circulating supply would be wrong.
      supply_before: isUnsure ? null : before(supply, moves?.zero_balance ?? 0n),
      holders,
      held_before: holders.map((holder, at) => before(balances[at], -(movedAmounts.get(holder) ?? 0n)) ?? 0n),
      read_block: block.number,
      version,
    };
  });
  await insertRows(database, tokenSuppliesTable, rows);
}

/**
 * Adds `change` to the number in an answer, to get the number before the start block. Null if the answer is
 * not one 32-byte word, or if the sum is no valid uint256.
 */
function before(answer: Hex | null | undefined, change: bigint): bigint | null {
  const number = readNumber(answer);
  if (number === null) return null;
  const sum = number + change;
  return sum < 0n || sum >= 1n << 256n ? null : sum;
}
