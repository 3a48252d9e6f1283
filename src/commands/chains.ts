/**
 * The settings, the database and the problems of each chain. Every chain has its own database, because head tables hold
 * the blocks of one chain.
 */
import { listFaults } from '../api/service/readyz';
import type { Config } from '../config';
import type { WriterView } from '../stream/writerState';
import type { ReadyProblem } from '../wire/ready';

/** Settings of one chain. */
export interface ChainConfig extends Config {
  /** The end of the database's name and of problem codes; empty for the market chain. */
  readonly suffix: string;
}

/** One entry for each chain, the market chain first. */
export type PerChain<T> = readonly [market: T, ...others: T[]];

/**
 * Lists the settings of each chain. Chains of the explorer have no market: no DEXes, anchors or burns. START_BLOCK and
 * FINALITY_DEPTH are the same for all chains.
 */
export function listChains(config: Config): PerChain<ChainConfig> {
  const explorerChains = config.explorerChains.map(({ chain, rpcUrls }) => ({
    ...config,
    rpcUrls,
    chainId: chain.chainId,
    // TRUSTED_BLOCK is a block of the market chain, so it cannot be used here.
    proof: { ...config.proof, trusted: null },
    chain: { ...chain, wrappedNative: null, anchors: [], majors: [], burn: null, dexes: [] },
    suffix: `_${chain.chainId}`,
  }));
  return [{ ...config, suffix: '' }, ...explorerChains];
}

/** The URL of a chain's database. `url` is the URL of the market chain's database on the same server. */
export function databaseUrl(url: string, { suffix }: Pick<ChainConfig, 'suffix'>): string {
  if (suffix === '') return url;
  const other = new URL(url);
  other.pathname = `/${other.pathname.slice(1).replace(/\/$/, '') || 'default'}${suffix}`;
  return other.toString();
}

/**
 * Problems of the ingester of an explorer chain for /readyz. They have their own codes, because they do not affect the
 * market's readiness. `view` is null if nothing is known of the ingester.
 */
export function listChainProblems(
  { chainId, suffix }: Pick<ChainConfig, 'chainId' | 'suffix'>,
  view: WriterView | null,
): ReadyProblem[] {
  const facts = view?.facts ?? null;
  const problems = [...(view?.problems ?? []), ...listFaults(facts), ...(facts?.problems ?? [])];
  return problems.map(({ code, message, ...rest }) => ({
    ...rest,
    code: `${code}${suffix}`,
    message: `Chain ${chainId}: ${message}`,
  }));
}
