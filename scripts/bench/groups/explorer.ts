/**
 * Measures the explorer over many stored logs: event pages of one contract, records and searches, with
 * parameters that no cache holds. The ratios compare each time with `SELECT 1` over HTTP, measured in the
 * same run. Also measures storage per log, by column and projection.
 */
import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import type { Figure } from '../figure';
import { readSql } from '../loaders/readSql';
import type { ServedApi } from '../loaders/servedApi';
import { askRows } from '../../../test/support/engine/askRows';
import { askFigures, type Ask } from '../askFigures';

interface LogLoad {
  readonly logs: number;
  /** Seed of all values, together with the number of the log. */
  readonly seed: number;
}

const FIRST_BLOCK = 17_000_000;
const LOGS_PER_BLOCK = 250;
const LOGS_PER_TX = 5;
const CONTRACTS = 20_000;
/** Number of accounts in the topics of logs. */
const ACCOUNTS = 300_000;
const START_TIMESTAMP = 1_700_000_000;
const CHUNK_LOGS = 500_000;
const ROUNDS = 200;
/** Largest allowed bytes per stored log. */
const STORAGE_TARGET_BYTES = 120;

/** SQL for 20 bytes derived from a number. */
const address = (expression: string): string =>
  `toFixedString(substring(concat(sipHash128Reference(${expression}), sipHash128Reference(${expression} + 1)), 1, 20), 20)`;
const word = (expression: string): string =>
  `toFixedString(concat(sipHash128Reference(${expression}), sipHash128Reference(${expression} + 1)), 32)`;

/** Fills logs, blocks, tokens and the cursor in the database server. */
export async function loadLogs(
  database: Database,
  load: LogLoad,
  onChunk: (done: number) => void,
): Promise<void> {
  const { seed, logs } = load;
  const blocks = Math.ceil(logs / LOGS_PER_BLOCK);
  const sql = readSql('logs');
  const sharedParams = {
    seed,
    start: START_TIMESTAMP,
    first_block: FIRST_BLOCK,
    per_block: LOGS_PER_BLOCK,
    per_tx: LOGS_PER_TX,
    contracts: CONTRACTS,
    people: ACCOUNTS,
  };
  for (let firstIndex = 0; firstIndex < logs; firstIndex += CHUNK_LOGS) {
    const count = Math.min(CHUNK_LOGS, logs - firstIndex);
    await database.command('load logs', sql, { ...sharedParams, at: firstIndex, count });
    onChunk(firstIndex + count);
  }
  await database.command(
    'load blocks',
    `INSERT INTO blocks SELECT 369, ${FIRST_BLOCK} + number, ${word('number * 2')}, ${word('number * 2 - 2')},
       ${START_TIMESTAMP} + number * 10, NULL, 50, ${LOGS_PER_BLOCK}, [], [] FROM numbers({blocks:UInt64})`,
    { blocks },
  );
  await database.command(
    'load tokens',
    `INSERT INTO tokens SELECT ${address('number + {seed:UInt64}')}, concat('TKN', toString(number)), concat('Token number ', toString(number)),
       18, 1 FROM numbers(20000)`,
    { seed },
  );
  await database.command(
    'load codes',
    `INSERT INTO contract_codes SELECT ${address('number + {seed:UInt64}')}, ${word('number % 997')}, 5000, '', toFixedString('', 20),
       toFixedString('', 20), '', number % 4 > 0, ${FIRST_BLOCK}, 1 FROM numbers(${CONTRACTS})`,
    { seed },
  );
  for (const [seq, kind, to] of [
    [0, 'start', FIRST_BLOCK - 1],
    [1, 'backfill', FIRST_BLOCK + blocks - 1],
  ] as const) {
    await database.command(
      'load cursor',
      `INSERT INTO promotions (chain_id, seq, status, kind, from_block, to_block, to_hash, to_timestamp)
       SELECT 369, {seq:UInt64}, 'done', {kind:String}, ${FIRST_BLOCK}, {to:UInt32}, ${word(`toUInt64({to:UInt32} - ${FIRST_BLOCK}) * 2`)}, ${START_TIMESTAMP}`,
      { seq, kind, to },
    );
  }
}

/** Bytes on disk per log, including projections. */
export async function logStorage(database: Database, load: LogLoad): Promise<Figure> {
  const [row] = await askRows<{ bytes: string; rows: string; parts: string }>(
    database,
    `SELECT sum(bytes_on_disk) AS bytes, sum(rows) AS rows, count() AS parts FROM system.parts
     WHERE active AND database = currentDatabase() AND table = 'logs'`,
  );
  const value = Number(row?.bytes) / Number(row?.rows);
  return {
    name: `a stored log with its projections, of ${load.logs} in ${row?.parts} parts`,
    value,
    unit: 'B',
    limitName: 'allowed',
    limit: STORAGE_TARGET_BYTES,
    ratio: value / STORAGE_TARGET_BYTES,
    target: `<= ${STORAGE_TARGET_BYTES} B`,
    ok: value <= STORAGE_TARGET_BYTES,
  };
}

export async function benchExplorer(api: ServedApi, load: LogLoad, readerUrl: string): Promise<Figure[]> {
  const database = openDatabase({ url: readerUrl, maxConnections: 1 });
  const busyContracts = await listBusy(database, load);
  const busyAt = (index: number): Busy =>
    busyContracts[index % busyContracts.length] ?? { address: '', topic0: '' };
  // Each time all contracts were asked, the last block moves down by seven, so that no request repeats another one.
  const toBlock = (index: number): number =>
    FIRST_BLOCK + Math.floor(load.logs / LOGS_PER_BLOCK) - 1 - Math.floor(index / busyContracts.length) * 7;
  const asks: readonly Ask[] = [
    {
      name: 'getLogs of the Etherscan dialect, address and topic0, page of 1,000',
      targetMs: 30,
      path: (i) =>
        `?module=logs&action=getLogs&address=0x${busyAt(i).address}&topic0=0x${busyAt(i).topic0}&page=1&offset=1000` +
        `&fromBlock=0&toBlock=${toBlock(i)}`,
    },
    {
      name: '/logs, address and topic0, page of 1,000, with count and decoding',
      targetMs: 60,
      path: (i) =>
        `/logs?address=0x${busyAt(i).address}&topic0=0x${busyAt(i).topic0}&limit=1000&to_block=${toBlock(i)}`,
    },
    { name: '/contracts/{a}', targetMs: 15, path: (i) => `/contracts/0x${busyAt(i).address}?x=${i}` },
    { name: '/search by name', targetMs: 30, path: (i) => `/search?q=tkn${i}` },
    {
      name: '/search by address',
      targetMs: 30,
      path: (i) => `/search?q=${busyAt(i).address}&limit=${1 + (i % 90)}`,
    },
    {
      name: '/logs of a contract, page of 25',
      targetMs: 60,
      path: (i) => `/logs?address=0x${busyAt(i).address}&to_block=${toBlock(i)}`,
    },
    {
      name: '/logs with a topic0, page of 25',
      targetMs: 120,
      path: (i) => `/logs?topic0=0x${busyAt(i).topic0}&to_block=${toBlock(i)}`,
    },
    {
      name: '/logs without a filter, page of 25',
      targetMs: 120,
      path: (i) => `/logs?to_block=${toBlock(i * 3)}`,
    },
  ];
  await database.close();
  const namedAsks = asks.map((ask) => ({ ...ask, name: `${ask.name}, ${load.logs} logs` }));
  return askFigures(api, readerUrl, namedAsks, ROUNDS);
}

interface Busy {
  readonly address: string;
  readonly topic0: string;
}

/** Contracts and events with more than 40 logs in the first 1,000 blocks, in a random order. */
async function listBusy(database: Database, load: LogLoad): Promise<Busy[]> {
  const rows = await askRows<Busy>(
    database,
    `SELECT lower(hex(l.address)) AS address, lower(hex(l.topic0)) AS topic0 FROM logs AS l
     WHERE ord < {to:UInt64} GROUP BY l.address, l.topic0 HAVING count() > 40 ORDER BY cityHash64(l.address) LIMIT 60`,
    { to: (FIRST_BLOCK + Math.min(1_000, load.logs / LOGS_PER_BLOCK)) * 1_048_576 },
  );
  return rows;
}
