/** The `import-tokens` command: stores the logos of a token list (tokenlists.org) from a file or a server. */
import { lstat, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import { redactUrls } from '../../chains/redactUrls';
import { systemClock, withDeadline } from '../../node/rpc/clock';
import { createQueryRunner } from '../../clickhouse/client/namedQueries';
import type { Database } from '../../clickhouse/client/database';
import { address, u32 } from '../../clickhouse/rows/columns';
import { insertRows } from '../../clickhouse/rows/inserter';
import { rowType } from '../../clickhouse/rows/rowType';
import { listedTokensTable, type ListedTokenRow } from '../../clickhouse/schema/traitTables';
import type { Config } from '../../config';
import { AppError } from '../../errors';
import type { Logger } from '../../log';
import { parseTokenList, TOKENS_MAX, type TokenList } from '../../contracts/import/tokenList';
import { guardedGet } from '../../contracts/guardedGet';
import { listChains } from '../chains';
import { openStorage } from '../storage';

/** Largest token list in bytes. */
const LIST_BYTES_MAX = 32 * 2 ** 20;
const FETCH_MS = 60_000;

const listedRow = rowType({ chain_id: u32, address });

/** Resolves when the list is stored. A new import of a list of the same name replaces the earlier one. */
export async function runImportTokens(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  place: string,
  { allowPrivate }: { readonly allowPrivate: boolean },
): Promise<void> {
  const { text, shown } = await readPlace(place, allowPrivate, signal);
  const list = parseTokenList(text, shown);
  const storage = await openStorage(config, log, { mayShareServer: true });
  try {
    const version = Date.now();
    // A list has tokens of several chains, and each chain reads its own database.
    for (const database of storage.writers.values()) await storeTokenList(database, list, version);
  } finally {
    await storage.close();
  }
  const logos = list.tokens.filter(({ logoUrl }) => logoUrl !== null).length;
  const markets = listChains(config).filter(({ hasMarket }) => hasMarket);
  const counts = markets.map(({ chainId: id }) => {
    return `${list.tokens.filter(({ chainId }) => chainId === id).length} of chain ${id}`;
  });
  process.stdout.write(
    `${list.name}: ${list.tokens.length} tokens found, ${counts.join(', ')}, ${logos} logos stored, ${list.broken} skipped\n`,
  );
}

/**
 * Stores the tokens of a list. Tokens that an earlier import of the list had, and this one lacks, lose their
 * logos.
 */
async function storeTokenList(
  database: Database,
  { name, tokens }: TokenList,
  version: number,
): Promise<void> {
  const runner = createQueryRunner(database);
  const params = { list: name, limit: TOKENS_MAX };
  const storedRows = await runner.run('sources/list_listed_tokens', params, listedRow);
  const listedKeys = new Set(tokens.map(({ chainId, address }) => `${chainId} ${address}`));
  const unlistedRows = storedRows.filter(
    ({ chain_id: chainId, address }) => !listedKeys.has(`${chainId} ${address}`),
  );
  await insertRows(database, listedTokensTable, [
    ...unlistedRows.map((row): ListedTokenRow => ({ ...row, list: name, logo_url: '', version })),
    ...tokens.map(({ chainId, address, logoUrl }): ListedTokenRow => {
      return { chain_id: chainId, address, list: name, logo_url: logoUrl ?? '', version };
    }),
  ]);
}

async function readPlace(
  place: string,
  allowPrivate: boolean,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly shown: string }> {
  if (!/^https?:\/\//i.test(place)) return readList(resolve(place), place);
  const shownUrl = redactUrls(place);
  if (!URL.canParse(place)) throw new AppError('bad_config', `got ${shownUrl}, which is not a valid URL`);
  const timeoutError = (): Error =>
    new AppError('unavailable', `${shownUrl} did not answer within ${FETCH_MS / 1_000} s`);
  const { status, body } = await withDeadline(
    systemClock(),
    FETCH_MS,
    signal,
    timeoutError,
    (deadlineSignal) =>
      guardedGet(new URL(place), { bytesMax: LIST_BYTES_MAX, allowPrivate, signal: deadlineSignal }),
  );
  if (status !== 200) throw new AppError('unavailable', `${shownUrl} answered with status ${status}`);
  return { text: body.toString('utf8'), shown: shownUrl };
}

async function readList(
  path: string,
  shown: string,
): Promise<{ readonly text: string; readonly shown: string }> {
  const fileStats = await lstat(path).catch(() => null);
  if (fileStats?.isFile() !== true)
    throw new AppError('bad_config', `got ${shown}; allowed: a file with a token list, or an http(s) URL`);
  if (fileStats.size > LIST_BYTES_MAX)
    throw new AppError(
      'bad_config',
      `${shown}: got ${fileStats.size} bytes; allowed: at most ${LIST_BYTES_MAX}`,
    );
  return { text: await readFile(path, 'utf8'), shown };
}
