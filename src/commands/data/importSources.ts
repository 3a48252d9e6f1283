/**
 * The `import-sources` command: imports verified contracts from a Sourcify folder, a Sourcify server or a Blockscout
 * server.
 */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';

import { createEndpointPool, type EndpointPool } from '../../node/rpc/endpointPool';
import { BUILT_IN_CHAINS } from '../../chains/builtIn/builtInChains';
import { redactUrls } from '../../chains/redactUrls';
import { createQueryRunner } from '../../clickhouse/client/namedQueries';
import type { Config } from '../../config';
import { AppError } from '../../errors';
import type { Logger } from '../../log';
import { createChainCode } from '../../contracts/chainCode';
import { isBlockscoutServer, openBlockscoutServer } from '../../contracts/import/blockscoutServer';
import type { ContractSource } from '../../contracts/import/foundContract';
import { createJsonFetch } from '../../contracts/import/jsonFetch';
import { runImport, type ImportCounts } from '../../contracts/import/runImport';
import { ANCESTOR_CHAIN } from '../../contracts/import/attachCodes';
import { openSourcifyFolder } from '../../contracts/import/sourcifyFolder';
import { isSourcifyServer, openSourcifyServer } from '../../contracts/import/sourcifyServer';
import { listChains } from '../chains';
import { openStorage } from '../storage';

/** Chains that started as copies of chain 1 (Ethereum), so that contracts of chain 1 exist on them too. */
export const DESCENDANTS = BUILT_IN_CHAINS.filter(({ forkBlock }) => forkBlock !== undefined).map(
  ({ chainId }) => chainId,
);

interface ImportOptions {
  /** The chains to import; an empty list means all chains of the source. */
  readonly chains: readonly number[];
  /** URL of a node of the market chain; null means RPC_URL. */
  readonly rpc: string | null;
  /** Whether the name of the server may resolve to a private address. */
  readonly allowPrivate: boolean;
}

/** Resolves when the import is complete, or when the signal stops it. The next run continues at the same
 * position. */
export async function runImportSources(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  place: string,
  options: ImportOptions,
): Promise<void> {
  const sources = await openSources(place, options, config.chainId, signal);
  const storage = await openStorage(config, log, { mayShareServer: true });
  const pools = openPools(config, log, options.rpc);
  try {
    const runner = createQueryRunner(storage.writer);
    const deps = {
      database: storage.writer,
      runner,
      chain: createChainCode(pools),
      descendants: DESCENDANTS,
      progress: (counts: Readonly<ImportCounts>) => writeLine(`${describeCounts(counts)} …`),
      skipped: ({ chainId, address }: { chainId: number; address: string }, reason: string) =>
        writeLine(`skipped ${address} of chain ${chainId}: ${reason}`),
    };
    for (const source of sources) {
      writeLine(`importing from ${source.key}`);
      const { counts, finished } = await runImport(deps, source, signal);
      const ending = finished ? '' : ' (stopped; the next run continues from here)';
      process.stdout.write(`${source.key}: ${describeCounts(counts)}${ending}\n`);
      if (!finished) return;
    }
  } finally {
    await Promise.all([...pools.values()].map((pool) => pool.close()));
    await storage.close();
  }
}

function describeCounts({ found, stored, known, broken }: Readonly<ImportCounts>): string {
  return `${found} contracts found, ${stored} verifications stored, ${known} already known, ${broken} skipped`;
}

function writeLine(text: string): void {
  process.stderr.write(`${text}\n`);
}

function openPools(config: Config, log: Logger, rpc: string | null): Map<number, EndpointPool> {
  const pools = new Map<number, EndpointPool>();
  for (const { chainId, rpcUrls } of listChains(rpc === null ? config : { ...config, rpcUrls: [rpc] })) {
    if (rpcUrls !== null) pools.set(chainId, createEndpointPool({ urls: rpcUrls, chainId, log }));
  }
  return pools;
}

/**
 * Opens a folder, or a server. A test request finds out the kind of server. `chains` lists the chains to
 * import; an empty list means the market chain and its relatives (PulseChain, its testnet and Ethereum).
 */
async function openSources(
  place: string,
  { chains: givenChains, allowPrivate }: ImportOptions,
  marketId: number,
  signal: AbortSignal,
): Promise<ContractSource[]> {
  const chains =
    givenChains.length === 0 ? [...new Set([marketId, ...DESCENDANTS, ANCESTOR_CHAIN])] : givenChains;
  if (!/^https?:\/\//i.test(place)) {
    const folder = resolve(place);
    const folderStats = await stat(folder).catch(() => null);
    if (folderStats?.isDirectory() !== true)
      throw new AppError('bad_config', `got ${place}; allowed: a folder, or an http(s) URL`);
    return [await openSourcifyFolder(folder, chains)];
  }
  if (!URL.canParse(place))
    throw new AppError('bad_config', `got ${redactUrls(place)}, which is not a valid URL`);
  const fetch = createJsonFetch(place, { allowPrivate });
  const [market = marketId] = chains;
  if (await isSourcifyServer(fetch, market, signal).catch(noUnlessRefused))
    return chains.map((chainId) => openSourcifyServer(fetch, chainId));
  if (givenChains.length > 1)
    throw new AppError('bad_config', '--chain: allowed once, because a Blockscout server has one chain');
  if (await isBlockscoutServer(fetch, signal).catch(noUnlessRefused))
    return [openBlockscoutServer(fetch, market)];
  signal.throwIfAborted();
  throw new AppError(
    'bad_config',
    `${fetch.shown} is not a Sourcify server (no list at /v2/contracts/${market}) ` +
      'and not a Blockscout server (no list at /api/v2/smart-contracts)',
  );
}

/**
 * Handles an error of the request that finds out the kind of a server. The result false means that the server is
 * not of this kind. If the address or a redirect was refused, the import ends.
 */
function noUnlessRefused(error: unknown): false {
  if (error instanceof AppError && error.code === 'bad_config') throw error;
  return false;
}
