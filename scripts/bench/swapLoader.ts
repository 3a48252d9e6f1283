/** Fills `swaps` inside the engine from a seed: a year of trading, few hot pairs and a long tail. */
import type { Database } from '../../src/clickhouse/database';

export interface SwapLoad {
  readonly swaps: number;
  readonly pairs: number;
  /** Time of the first swap, unix seconds. */
  readonly from: number;
  readonly days: number;
}

const CHUNK = 500_000;
const BLOCK_SECONDS = 10;

/** Address of the `index`-th pair, as hex without 0x. Pair 0 trades most. */
export function loadedPair(index: number): string {
  return `e2${index.toString(16).padStart(38, '0')}`;
}

/** Number of the last block of the load. */
export function lastLoadedBlock({ days }: SwapLoad): number {
  return Math.floor((days * 86_400) / BLOCK_SECONDS);
}

/**
 * Inserts the swaps through all views, oldest first, and a cursor that makes them final. Pair index = pairs^u − 1 with u
 * uniform, so that popularity falls like 1/rank.
 */
export async function loadSwaps(
  database: Database,
  load: SwapLoad,
  onChunk: (done: number) => void,
): Promise<void> {
  const blocks = lastLoadedBlock(load);
  await database.command(
    'load pools',
    `INSERT INTO pools SELECT (number + 1) * 1048576, unhex(concat('e2', leftPad(lower(hex(number)), 38, '0'))), 'bench', 'uniswap_v2', 2,
       unhex(repeat('fa', 20)), unhex(repeat('01', 20)), unhex(repeat('02', 20)), true, 2900, 0, 1, {from:UInt32}, NULL
     FROM numbers({pairs:UInt64})`,
    { pairs: load.pairs, from: load.from },
  );
  for (let at = 0; at < load.swaps; at += CHUNK) {
    const count = Math.min(CHUNK, load.swaps - at);
    await database.command('load swaps', LOAD_SQL, {
      at,
      count,
      swaps: load.swaps,
      blocks,
      pairs: load.pairs,
      from: load.from,
      seconds: BLOCK_SECONDS,
    });
    onChunk(at + count);
  }
  await database.command(
    'load cursor',
    `INSERT INTO promotions (chain_id, seq, status, kind, from_block, to_block, to_hash, to_timestamp, counts)
     SELECT 369, number, 'done', if(number = 0, 'start', 'backfill'), 1, if(number = 0, 0, {blocks:UInt32}),
       unhex(repeat('b1', 32)), {from:UInt32} + if(number = 0, 0, {blocks:UInt32}) * {seconds:UInt32}, map() FROM numbers(2)`,
    { blocks, from: load.from, seconds: BLOCK_SECONDS },
  );
}

const LOAD_SQL = `
  INSERT INTO swaps
  SELECT
    block * 1048576 + number % 1000 AS ord, {from:UInt32} + block * {seconds:UInt32}, unhex(concat('e2', leftPad(lower(hex(pair_index)), 38, '0'))),
    1, 'bench', 2, unhex(repeat('01', 20)), unhex(repeat('02', 20)), true,
    reinterpretAsFixedString(sipHash128(number)) || reinterpretAsFixedString(sipHash128(number + 1)), number % 50,
    unhex(leftPad(lower(hex(cityHash64(number) % 20000)), 40, '0')), unhex(repeat('03', 20)), unhex(repeat('04', 20)),
    toInt256(amount), -toInt256(amount * 3), toUInt256(1000000000000000000000 + amount), toUInt256(3000000000000000000000),
    0, 0, 0, (1 + (cityHash64(number, 7) % 1000) / 100000) * (1 + pair_index), 0, 0, 0, false, 2900
  FROM
  (
    SELECT
      {at:UInt64} + number AS number,
      intDiv(({at:UInt64} + number) * {blocks:UInt64}, {swaps:UInt64}) + 1 AS block,
      toUInt64(floor(pow({pairs:Float64}, (cityHash64({at:UInt64} + number, 1) % 1000003) / 1000003))) - 1 AS pair_index,
      1000000000000000 + cityHash64({at:UInt64} + number, 2) % 1000000000000000 AS amount
    FROM numbers({count:UInt64})
  )`;
