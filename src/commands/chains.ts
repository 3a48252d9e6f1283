/**
 * The settings, the database and the problems of each chain. Every chain has its own database, because head tables hold
 * the blocks of one chain.
 */
import { listFaults } from '../api/service/readyz';
import type { Config } from '../config';
import { AppError } from '../errors';
import type { WriterView } from '../stream/writerState';
import type { ReadyProblem } from '../wire/ready';

/** Settings of one chain. */
export interface ChainConfig extends Config {
  /** Whether the chain is the first one, which paths without a chain mean. */
  readonly isFirst: boolean;
  /** False for a chain of the explorer. Without URLs of a node, this program does not ingest such a chain. */
  readonly hasMarket: boolean;
  /** The end of the database's name; empty for the first chain without CHAINS. */
  readonly suffix: string;
}

/** One entry for each chain, the first chain of the settings first. */
export type PerChain<T> = readonly [first: T, ...others: T[]];

/**
 * Lists the settings of each chain. Chains of the explorer have no DEXes, anchors or burns. FINALITY_DEPTH is the same
 * for all chains.
 */
export function listChains(config: Config): PerChain<ChainConfig> {
  const others = config.otherChains.map(({ chain, ...own }) => ({
    ...config,
    ...own,
    chainId: chain.chainId,
    // TRUSTED_BLOCK is a block of the first chain, so it cannot be used here.
    proof: { ...config.proof, trusted: null },
    chain: own.hasMarket
      ? chain
      : { ...chain, wrappedNative: null, anchors: [], majors: [], burn: null, dexes: [] },
    isFirst: false,
    suffix: `_${chain.chainId}`,
  }));
  const suffix = config.hasChainList ? `_${config.chainId}` : '';
  return [{ ...config, isFirst: true, hasMarket: true, suffix }, ...others];
}

/**
 * The settings with one chain of CHAINS only, for a command that works on one chain. It then touches no database of
 * another chain. Without `chainId`, the chain is the first one. @throws AppError `bad_config` for an unknown chain
 */
export function onlyChain(config: Config, chainId = config.chainId): Config {
  const others = config.otherChains.filter(({ hasMarket }) => hasMarket);
  const other = others.find(({ chain }) => chain.chainId === chainId);
  if (chainId === config.chainId) return { ...config, otherChains: [] };
  if (other === undefined) {
    const ids = [config.chainId, ...others.map(({ chain }) => chain.chainId)];
    throw new AppError('bad_config', `--chain: got ${chainId}; allowed: ${ids.join(' or ')}`);
  }
  const { chain, rpcUrls, startBlock } = other;
  const proof = { ...config.proof, trusted: null };
  return { ...config, chainId, chain, rpcUrls, startBlock, proof, otherChains: [] };
}

/** The URLs of the chain's nodes. `wanted` says what the missing setting should name. @throws AppError `bad_config` */
export function needNodeUrls(
  { rpcUrls, hasChainList, chainId }: Config,
  wanted: string,
): NonNullable<Config['rpcUrls']> {
  if (rpcUrls !== null) return rpcUrls;
  const name = hasChainList ? `RPC_URL_${chainId}` : 'RPC_URL';
  throw new AppError('bad_config', `${name} is not set: set it to ${wanted}`);
}

/** The URL of a chain's database. `url` is the URL of the settings, which names the database without a suffix. */
export function databaseUrl(url: string, { suffix }: Pick<ChainConfig, 'suffix'>): string {
  if (suffix === '') return url;
  const other = new URL(url);
  other.pathname = `/${other.pathname.slice(1).replace(/\/$/, '') || 'default'}${suffix}`;
  return other.toString();
}

/** Name of the database with the verified contracts of all chains: the database of the first chain. */
export function verifiedDatabase(url: string, config: Config): string {
  const [first] = listChains(config);
  return new URL(databaseUrl(url, first)).pathname.slice(1) || 'default';
}

/**
 * Problems of a chain's ingester for the /readyz of another chain. They have their own codes, because they do not affect
 * the readiness of the other chain. `view` is null if nothing is known of the ingester.
 */
export function listChainProblems(
  { chainId }: Pick<ChainConfig, 'chainId'>,
  view: WriterView | null,
): ReadyProblem[] {
  const facts = view?.facts ?? null;
  const problems = [...(view?.problems ?? []), ...listFaults(facts), ...(facts?.problems ?? [])];
  return problems.map(({ code, message, ...rest }) => ({
    ...rest,
    code: `${code}_${chainId}`,
    message: `Chain ${chainId}: ${message}`,
  }));
}
