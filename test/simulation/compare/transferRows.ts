/**
 * Compares stored transfers and balances with a plain recomputation from the canonical logs. Shares no code with the
 * product.
 */
import type { Database } from '../../../src/clickhouse/client/database';
import type { ChainBlock } from '../../../src/domain/block';
import { askRows } from '../../support/engine/askRows';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c';
const WITHDRAWAL = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65';
const NOBODY = `0x${'0'.repeat(40)}`;

interface Move {
  readonly block: number;
  readonly line: string;
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

function holderOf(topic: string | undefined): string | null {
  return topic !== undefined && /^0x0{24}[0-9a-f]{40}$/.test(topic) ? `0x${topic.slice(26)}` : null;
}

function listMoves(blocks: readonly ChainBlock[], wrapped: string): Move[] {
  const moves: Move[] = [];
  for (const block of blocks) {
    for (const { address, topics, data, logIndex } of block.logs) {
      const [first, second] = [holderOf(topics[1]), holderOf(topics[2])];
      let sides: readonly [string, string] | null = null;
      if (topics[0] === TRANSFER && topics.length === 3 && first !== null && second !== null)
        sides = [first, second];
      if (topics[0] === DEPOSIT && topics.length === 2 && address === wrapped && first !== null)
        sides = [NOBODY, first];
      if (topics[0] === WITHDRAWAL && topics.length === 2 && address === wrapped && first !== null)
        sides = [first, NOBODY];
      if (sides === null || data.length !== 66) continue;
      const [from, to] = sides;
      const amount = BigInt(data);
      const ord = block.number * 2 ** 20 + logIndex;
      const line = [ord, block.timestamp, address, from, to, amount].join(' ');
      moves.push({ block: block.number, line, token: address, from, to, amount });
    }
  }
  return moves;
}

/** Balances by `token holder`, modulo 2^256 as signed numbers. */
function sumBalances(moves: readonly Move[]): Map<string, bigint> {
  const balances = new Map<string, bigint>();
  const add = (key: string, amount: bigint): void => {
    balances.set(key, BigInt.asIntN(256, (balances.get(key) ?? 0n) + amount));
  };
  for (const { token, from, to, amount } of moves) {
    add(`${token} ${from}`, -amount);
    add(`${token} ${to}`, amount);
  }
  return balances;
}

/** One line per transfer: ord, time, token, sender, recipient, amount. */
export function oracleTransfers(blocks: readonly ChainBlock[], wrapped: string): string[] {
  return listMoves(blocks, wrapped).map(({ line }) => line);
}

/** Balances by `token holder` after these blocks, modulo 2^256 as signed numbers. */
export function oracleBalances(blocks: readonly ChainBlock[], wrapped: string): Map<string, bigint> {
  return sumBalances(listMoves(blocks, wrapped));
}

/** Lists the differences in stored rows up to the tip. `commits`: canonical commits above `finalTo`. */
export async function compareTransfers(
  database: Database,
  blocks: readonly ChainBlock[],
  wrapped: string,
  { finalTo, commits }: { readonly finalTo: number; readonly commits: readonly number[] },
): Promise<string[]> {
  const moves = listMoves(blocks, wrapped);
  const hex = (column: string): string => `concat('0x', lower(hex(t.${column})))`;
  const line = `concat(toString(t.ord), ' ', toString(t.timestamp), ' ', ${hex('token')}, ' ', ${hex('sender')}, ' ', ${hex('recipient')}, ' ', toString(t.amount))`;
  const rows = await askRows<{ line: string }>(
    database,
    `SELECT ${line} AS line FROM transfers AS t WHERE intDiv(t.ord, 1048576) <= {final_to:UInt64}
     UNION ALL SELECT ${line} FROM transfers_head AS t WHERE has({commits:Array(UInt64)}, commit)`,
    { final_to: finalTo, commits },
  );
  const differences = differ(
    'transfers',
    moves.map((move) => move.line),
    rows.map((row) => row.line),
  );
  const expected = [...sumBalances(moves.filter((move) => move.block <= finalTo))].map(
    ([key, balance]) => `${key} ${balance}`,
  );
  for (const table of ['token_balances', 'holder_balances']) {
    const found = await askRows<{ line: string }>(
      database,
      `SELECT concat(${hex('token')}, ' ', ${hex('holder')}, ' ', toString(sum(t.balance))) AS line FROM ${table} AS t GROUP BY t.token, t.holder`,
    );
    differences.push(
      ...differ(
        table,
        expected,
        found.map((row) => row.line),
      ),
    );
  }
  return differences;
}

function differ(table: string, expected: readonly string[], found: readonly string[]): string[] {
  const [wanted, there] = [new Set(expected), new Set(found)];
  const lines = [
    ...expected.filter((line) => !there.has(line)).map((line) => `missing in ${table}: ${line}`),
    ...found.filter((line) => !wanted.has(line)).map((line) => `unexpected in ${table}: ${line}`),
  ];
  if (lines.length === 0 && expected.length !== found.length)
    lines.push(`${table} has ${found.length} rows, ${expected.length} expected`);
  return lines.slice(0, 4);
}
