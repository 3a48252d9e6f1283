/**
 * Measures portfolios and holders over many stored transfers. Each portfolio is another wallet with 500 tokens and some
 * LP tokens; the token has a million holders. `SELECT 1` over HTTP at the same time is the limit. Also measures the
 * storage per transfer.
 */
import type { Database } from '../../src/clickhouse/client/database';
import { askFigures, type Ask } from './askFigures';
import type { Figure } from './figure';
import type { ServedApi } from './servedApi';
import { lastLoadedBlock, loadedToken, type SwapLoad } from './swapLoader';
import { askRows } from '../../test/support/askRows';

export interface TransferLoad {
  /** Transfers of other tokens between other accounts. */
  readonly others: number;
  /** Number of holders of the widely held token; each received it at least once. */
  readonly holders: number;
  readonly wallets: number;
}

const TOKENS = 500;
const LP_TOKENS = 10;
/** Number of times a wallet received each of its tokens. */
const RECEIPTS = 3;
const CHUNK = 500_000;
const ROUNDS = 120;
const TARGET_MS = 50;
const PARTS = ['transfers', 'token_balances', 'holder_balances'] as const;

const WIDELY_HELD = loadedToken(0);
const walletAt = (index: number): string => `05${index.toString(16).padStart(38, '0')}`;

/** Fills `transfers` in the database server through its views. All values derive from the row numbers. */
export async function loadTransfers(
  database: Database,
  swaps: SwapLoad,
  load: TransferLoad,
  onChunk: (done: number) => void,
): Promise<void> {
  const common = { from: swaps.from, blocks: lastLoadedBlock(swaps) - 1 };
  const parts: readonly (readonly [string, number])[] = [
    [HOLDERS_SQL, Math.floor(load.holders * 1.2)],
    [WALLETS_SQL, load.wallets * (TOKENS + LP_TOKENS) * RECEIPTS],
    [OTHERS_SQL, load.others],
  ];
  let done = 0;
  for (const [what, count] of parts) {
    for (let at = 0; at < count; at += CHUNK) {
      const some = Math.min(CHUNK, count - at);
      const params = { ...common, at, count: some, total: count, holders: load.holders };
      await database.command('load transfers', `INSERT INTO transfers ${what}`, params);
      done += some;
      onChunk(done);
    }
  }
}

/** SQL for the address with number `expression` and a prefix of one byte. */
const address = (prefix: string, expression: string): string =>
  `unhex(concat('${prefix}', leftPad(lower(hex(${expression})), 38, '0')))`;

/** SQL for the position and time of row `n`, in block order. */
const PLACE = `(intDiv(n * {blocks:UInt64}, {total:UInt64}) + 1) * 1048576 + 2000 + n % 500, {from:UInt32} + n % 86400`;
const NUMBERS = 'FROM (SELECT {at:UInt64} + number AS n FROM numbers({count:UInt64}))';
const NOBODY = `toFixedString('', 20)`;
const AMOUNT = 'toUInt256(1000000000000000 + cityHash64(n, 3) % 1000000000000000000)';

const HOLDERS_SQL = `
  SELECT ${PLACE}, unhex('${WIDELY_HELD}'), ${NOBODY}, ${address('06', '(n * 7919) % {holders:UInt64}')}, ${AMOUNT}, 'transfer',
    n % 50 ${NUMBERS}`;
const WALLETS_SQL = `
  SELECT ${PLACE}, if(what < ${TOKENS}, ${address('01', 'what + 1')}, ${address('e2', `what - ${TOKENS}`)}), ${NOBODY},
    ${address('05', `intDiv(n, ${(TOKENS + LP_TOKENS) * RECEIPTS})`)}, ${AMOUNT}, 'transfer', n % 50
  FROM (SELECT {at:UInt64} + number AS n, n % ${TOKENS + LP_TOKENS} AS what FROM numbers({count:UInt64}))`;
const OTHERS_SQL = `
  SELECT ${PLACE}, ${address('01', '1 + cityHash64(n, 4) % 4000')}, ${address('07', 'cityHash64(n, 5) % 200000')},
    ${address('07', 'cityHash64(n, 6) % 200000')}, ${AMOUNT}, 'transfer', n % 50 ${NUMBERS}`;

export async function benchBalances(
  api: ServedApi,
  load: TransferLoad,
  readerUrl: string,
): Promise<Figure[]> {
  const asks: readonly Ask[] = [
    {
      name: `/portfolio of ${TOKENS} tokens and ${LP_TOKENS} LP tokens`,
      target: TARGET_MS,
      path: (index) => `/portfolio/0x${walletAt(index % load.wallets)}`,
    },
    {
      // Varying limits, so that no answer comes from the cache.
      name: `/tokens?q= of a token with ${load.holders} holders`,
      target: TARGET_MS,
      path: (index) =>
        `/tokens?q=0x${WIDELY_HELD}&limit=${1 + (index % 100)}&page=${1 + Math.floor(index / 100)}`,
    },
    { name: `/tokens/{a} of it, given again`, target: TARGET_MS, path: () => `/tokens/0x${WIDELY_HELD}` },
  ];
  await api.get('/api/v1/tokens?limit=1');
  return askFigures(api, readerUrl, asks, ROUNDS);
}

/** Bytes on disk per transfer: for the row alone, and with the balances by token and by holder. */
export async function storageFigures(database: Database): Promise<Figure[]> {
  const rows = await askRows<{ table: string; bytes: string; stored: string }>(
    database,
    `SELECT table, sum(data_compressed_bytes) AS bytes, sum(rows) AS stored
     FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table`,
  );
  const of = (table: string): { bytes: number; stored: number } => {
    const row = rows.find((each) => each.table === table);
    return { bytes: Number(row?.bytes ?? 0), stored: Number(row?.stored ?? 0) };
  };
  const transfers = of('transfers');
  const all = PARTS.reduce((sum, table) => sum + of(table).bytes, 0);
  // Uncompressed: three addresses, an amount, ord, time, kind and index.
  const rawBytes = 3 * 20 + 32 + 8 + 4 + 1 + 4;
  return [
    ['bytes per transfer, its row', transfers.bytes / transfers.stored],
    ['bytes per transfer with its balances', all / transfers.stored],
  ].map(([name, value]) => ({
    name: `${name}, ${transfers.stored} stored`,
    value: Number(value),
    unit: 'B',
    limitName: 'the row uncompressed',
    limit: rawBytes,
    ratio: Number(value) / rawBytes,
    target: 'printed',
    ok: true,
  }));
}
