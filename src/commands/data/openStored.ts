/** Opens the stored data for a command that only reads it. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { parseChainDescription } from '../../chains/parseChainDescription';
import { openDatabase, type Database } from '../../clickhouse/client/database';
import type { Config } from '../../config';
import { AppError } from '../../errors';
import type { Logger } from '../../log';
import { attach } from '../attach';
import { databaseUrl, listChains } from '../chains';
import { openStorage } from '../storage';

interface Stored {
  readonly database: Database;
  /** URL of the database. */
  readonly url: string;
  /** The settings, with the node and the description of a running development chain. */
  readonly config: Config;
  close(): Promise<void>;
}

/**
 * Opens the stored data, also beside a running program. An error names the command.
 * @throws AppError `bad_config` if there is none
 */
export async function openStored(config: Config, log: Logger, commandName: string): Promise<Stored> {
  if (config.clickhouseCluster !== null) {
    const storage = await openStorage(config, log);
    // The commands read the database of the first chain, with a cluster and without. `openStorage` has refused a
    // cluster without a URL.
    const url = databaseUrl(config.clickhouseUrl ?? '', listChains(config)[0]);
    const database = openDatabase({ url, distributed: true });
    const close = async (): Promise<void> => {
      await database.close();
      await storage.close();
    };
    return { database, url, config, close };
  }
  const attached = await attach(config, log);
  try {
    if (!(await attached.exists(attached.name)))
      throw new AppError(
        'bad_config',
        `nothing to ${commandName}: the database ${attached.name} does not exist`,
      );
    const database = attached.open(attached.name);
    const { url, engineFolder } = attached;
    return { database, url, config: withDevChain(config, engineFolder), close: () => attached.close() };
  } catch (error) {
    await attached.close();
    throw error;
  }
}

/** The data folder of a development chain holds its description, with the URL of its node. */
function withDevChain(config: Config, engineFolder: string | null): Config {
  const path = engineFolder === null ? '' : join(dirname(engineFolder), 'chain.json');
  if (config.rpcUrls !== null || !existsSync(path)) return config;
  const chain = parseChainDescription(readFileSync(path, 'utf8'), path, null);
  return { ...config, chain, chainId: chain.chainId, rpcUrls: chain.rpcUrls };
}
