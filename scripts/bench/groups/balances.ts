/**
 * Measures portfolios and holders over many stored transfers. Each portfolio request names another wallet,
 * which has 500 tokens and some LP tokens. The holder requests name a token with a million holders. The
 * ratios compare each time with `SELECT 1` over HTTP, measured in the same run. Also measures the storage per
 * transfer.
 */
import type { Database } from '../../../src/clickhouse/client/database';
import type { Figure } from '../figure';
import { readSql } from '../loaders/readSql';
import type { ServedApi } from '../loaders/servedApi';
import { lastLoadedBlock, loadedToken, type SwapLoad } from '../loaders/swapLoader';
import { askRows } from '../../../test/support/engine/askRows';
import { askFigures, type Ask } from '../askFigures';

interface TransferLoad {
  /** Number of transfers of other tokens between other accounts. */
  readonly otherTransfers: number;
  /** Number of holders of the token with many holders. Each holder received the token at least once. */
  readonly holders: number;
  readonly wallets: number;
}

const TOKENS = 500;
const LP_TOKENS = 10;
/** Number of times a wallet received each of its tokens. */
const RECEIPTS = 3;
const CHUNK_TRANSFERS = 500_000;
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
  const sharedParams = {
    from: swaps.from,
    blocks: lastLoadedBlock(swaps) - 1,
    holders: load.holders,
    token: WIDELY_HELD,
    tokens: TOKENS,
    lp_tokens: LP_TOKENS,
    receipts: RECEIPTS,
  };
  const parts: readonly (readonly [string, number])[] = [
    ['holder_transfers', Math.floor(load.holders * 1.2)],
    ['wallet_transfers', load.wallets * (TOKENS + LP_TOKENS) * RECEIPTS],
    ['other_transfers', load.otherTransfers],
  ];
  let loadedRows = 0;
  for (const [name, count] of parts) {
    const sql = readSql(name);
    for (let firstIndex = 0; firstIndex < count; firstIndex += CHUNK_TRANSFERS) {
      const chunkRows = Math.min(CHUNK_TRANSFERS, count - firstIndex);
      await database.command('load transfers', sql, {
        ...sharedParams,
        at: firstIndex,
        count: chunkRows,
        total: count,
      });
      loadedRows += chunkRows;
      onChunk(loadedRows);
    }
  }
}

export async function benchBalances(
  api: ServedApi,
  load: TransferLoad,
  readerUrl: string,
): Promise<Figure[]> {
  const asks: readonly Ask[] = [
    {
      name: `/portfolio of ${TOKENS} tokens and ${LP_TOKENS} LP tokens`,
      targetMs: TARGET_MS,
      path: (index) => `/portfolio/0x${walletAt(index % load.wallets)}`,
    },
    {
      // Each request has another `limit` or `page`, so that no answer comes from the cache.
      name: `/tokens?q= of a token with ${load.holders} holders`,
      targetMs: TARGET_MS,
      path: (index) =>
        `/tokens?q=0x${WIDELY_HELD}&limit=${1 + (index % 100)}&page=${1 + Math.floor(index / 100)}`,
    },
    {
      name: `/tokens/{address} of the same token, repeated`,
      targetMs: TARGET_MS,
      path: () => `/tokens/0x${WIDELY_HELD}`,
    },
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
  const sizeOf = (table: string): { bytes: number; stored: number } => {
    const row = rows.find((sizeRow) => sizeRow.table === table);
    return { bytes: Number(row?.bytes ?? 0), stored: Number(row?.stored ?? 0) };
  };
  const transfers = sizeOf('transfers');
  const allBytes = PARTS.reduce((sum, table) => sum + sizeOf(table).bytes, 0);
  // Uncompressed size of one transfer in bytes: three addresses, an amount, ord, time, kind and transaction index.
  const rawBytes = 3 * 20 + 32 + 8 + 4 + 1 + 4;
  return [
    ['bytes per transfer, the row alone', transfers.bytes / transfers.stored],
    ['bytes per transfer, the row and its balances', allBytes / transfers.stored],
  ].map(([name, value]) => ({
    name: `${name}, ${transfers.stored} stored`,
    value: Number(value),
    unit: 'B',
    limitName: 'uncompressed row',
    limit: rawBytes,
    ratio: Number(value) / rawBytes,
    target: 'printed',
    ok: true,
  }));
}
