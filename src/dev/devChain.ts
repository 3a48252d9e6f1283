/**
 * The development chain of `npm start`: a local node with contracts, eight days of history and a live trader.
 *
 * Each start creates a new chain in a new folder. A chain is not kept for the next start: the dump of the
 * node program anvil is large, and loading the dump takes longer than mining the history again.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Hex } from '../domain/hex';
import { errorText } from '../errors';
import type { Logger } from '../log';
import { startAnvil, type Anvil } from './node/anvil';
import { buildWorld } from './world/buildWorld';
import { makeDevFolder, removeOldDevFolders, type DevFolder } from './node/devFolder';
import { getBlockHead, openDevRpc, type DevRpc } from './node/devRpc';
import { mineHistory, type History } from './world/history';
import { tradeLive, type LiveOptions } from './trading/liveTrader';
import type { ChainConfigFile, World } from './world/world';

interface DevChainOptions {
  /** Folder in which the chain's folder is created. */
  readonly dataDir: string;
  readonly log: Logger;
  /** Id of the chain; default 369. */
  readonly chainId?: number;
  /** Keys that replace keys of the development chain's description. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** Seed that determines the whole history; default 369. */
  readonly seed?: number;
  /** Approximate number of swaps in the history. Default 6,500. */
  readonly swaps?: number;
  /** Days of history. Default 8. */
  readonly days?: number;
  /** Cancels the start. A running chain is ended by `stop`. */
  readonly signal?: AbortSignal;
  /** The pace of the live trader, and a way to stop it for a moment, for tests. */
  readonly live?: Pick<LiveOptions, 'blockMs' | 'tradesPerBlock' | 'reorgMs' | 'runBlockWork'>;
}

interface DevChain {
  /** Id of the chain: `dev-` and eight hex digits. */
  readonly id: string;
  /** Folder for all data about this chain: `<dataDir>/<id>`. */
  readonly folder: string;
  readonly url: string;
  /** The same address as `url`. */
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** Process id of the node. */
  readonly pid: number;
  /** Path of a file for CHAIN_CONFIG. */
  readonly chainConfigPath: string;
  readonly chainDescription: ChainConfigFile;
  /** The pools with the most trades, most active first. */
  readonly hotPairs: readonly Hex[];
  readonly world: World;
  /**
   * Ends the trader and the node and deletes the folder. Call it after every user of the folder has ended. May be
   * called twice.
   */
  stop(): Promise<void>;
}

const DEFAULT_SEED = 369;
const DEFAULT_SWAPS = 6_500;
const DEFAULT_DAYS = 8;
const DAY_SECONDS = 86_400;
/** Time in seconds between the genesis and the history, for the blocks that build the world. */
const BUILD_SECONDS = 3_600;
const ACCOUNT_COUNT = 41;
/** The node keeps states for reads and for reorgs slightly deeper than finality. */
const STATE_BLOCKS = 80;
/** Number of blocks whose transactions the node keeps, about five hours. Older blocks lose their
 * transactions, to limit the node's memory. */
const BLOCKS_WITH_TRANSACTIONS = 10_000;
const HOT_PAIRS = 5;
const PROGRESS_MS = 2_000;

/**
 * Resolves when the history is mined and live trading runs. On an error it removes everything and throws: `bad_config`
 * naming RPC_URL if there is no node for this platform, the node's error, or the signal's reason.
 */
export async function startDevChain(options: DevChainOptions): Promise<DevChain> {
  const { dataDir, log, days = DEFAULT_DAYS } = options;
  await removeOldDevFolders(dataDir, log);
  const folder = await makeDevFolder(dataDir);
  let node: Anvil | null = null;
  let rpc: DevRpc | null = null;
  try {
    const now = Math.floor(Date.now() / 1_000);
    node = await startAnvil({
      log,
      timestamp: now - days * DAY_SECONDS - BUILD_SECONDS,
      accounts: ACCOUNT_COUNT,
      ...(options.chainId === undefined ? {} : { chainId: options.chainId }),
      stateBlocks: STATE_BLOCKS,
      extraArguments: ['--transaction-block-keeper', String(BLOCKS_WITH_TRANSACTIONS)],
    });
    folder.setNode(node.pid);
    rpc = openDevRpc(node.url);
    const history = await mineWorld(rpc, options, now);
    return await runChain(options, folder, node, rpc, history);
  } catch (error) {
    await rpc?.close();
    await node?.stop();
    folder.remove();
    throw error;
  }
}

/** Builds the world and its history up to `now` (unix seconds), and logs the progress. */
async function mineWorld(rpc: DevRpc, options: DevChainOptions, endTimestamp: number): Promise<History> {
  const { log, seed = DEFAULT_SEED, swaps = DEFAULT_SWAPS, days = DEFAULT_DAYS, signal } = options;
  log.info(
    { swaps, days },
    'creating a local development chain; npm start uses a real chain if RPC_URL is set',
  );
  const startedAt = performance.now();
  const world = await buildWorld(rpc);
  log.info(
    { tokens: world.tokens.length, pools: world.pools.length },
    'created the exchanges, tokens and pools of the development chain',
  );
  let loggedAt = performance.now();
  const history = await mineHistory(rpc, world, {
    seed,
    swaps,
    days,
    endTimestamp,
    ...(signal === undefined ? {} : { signal }),
    onProgress: (done, total) => {
      if (performance.now() - loggedAt < PROGRESS_MS) return;
      loggedAt = performance.now();
      log.info({ blocks: done, of: total }, 'mining the history of the development chain');
    },
  });
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  log.info(
    { blocks: history.blocks, swaps: history.swaps, seconds },
    'mined the history of the development chain',
  );
  return history;
}

/** Starts the trader on a chain with a finished history. */
async function runChain(
  options: DevChainOptions,
  folder: DevFolder,
  node: Anvil,
  rpc: DevRpc,
  { world, walk }: History,
): Promise<DevChain> {
  const { log, seed = DEFAULT_SEED, live = {} } = options;
  const chainConfigPath = join(folder.path, 'chain.json');
  const { chainId, rpcUrls } = world.chainDescription;
  const description = { ...world.chainDescription, ...options.overrides, chainId, rpcUrls };
  writeFileSync(chainConfigPath, `${JSON.stringify(description, null, 2)}\n`);
  const stopper = new AbortController();
  const trading = tradeLive(rpc, world, { ...live, seed: seed + 1, walk, log, signal: stopper.signal }).catch(
    (error: unknown) => log.error({ error: errorText(error) }, 'the trader of the development chain failed'),
  );
  void node.ended.then((reason) => {
    if (!stopper.signal.aborted) log.error({ why: reason }, 'the node of the development chain has ended');
  });
  const stopOnce = async (): Promise<void> => {
    stopper.abort();
    await trading;
    await rpc.close();
    await node.stop();
    folder.remove();
  };
  let stopRequest: Promise<void> | null = null;
  const head = await getBlockHead(rpc);
  log.info({ url: node.url, block: head.number }, 'the development chain runs');
  return {
    id: folder.id,
    folder: folder.path,
    url: node.url,
    rpcUrl: node.url,
    wsUrl: node.wsUrl,
    pid: node.pid,
    chainConfigPath,
    chainDescription: world.chainDescription,
    hotPairs: listHotPairs(world),
    world,
    stop: () => (stopRequest ??= stopOnce()),
  };
}

function listHotPairs(world: World): Hex[] {
  return [...world.pools]
    .sort((a, b) => b.popularity - a.popularity)
    .slice(0, HOT_PAIRS)
    .map(({ address }) => address);
}
