/**
 * The explorer's second chain: an ingester of its own into a database of its own beside the market chain's, because head
 * tables hold the blocks of one chain. Nothing of the market is made of it: it has no DEXes, anchors or burns.
 */
import type { IngestFacts, ReadyProblem } from '../api/service/readyz';
import { findBuiltInChain } from '../chains/builtInChains';
import type { Config } from '../config';
import { AppError } from '../errors';

export const SECOND_CHAIN_ID = 943;
const SUFFIX = `_${SECOND_CHAIN_ID}`;

/** Whether it is to be ingested. */
export function hasSecondChain({ rpcUrls943, chainId }: Config): boolean {
  return rpcUrls943 !== null && chainId !== SECOND_CHAIN_ID;
}

/** The settings by which the second chain is ingested. START_BLOCK and FINALITY_DEPTH are those of the market chain. */
export function secondConfig(config: Config): Config {
  const chain = findBuiltInChain(SECOND_CHAIN_ID);
  if (chain === null) throw new AppError('internal', `chain ${SECOND_CHAIN_ID} is not built in`);
  return {
    ...config,
    rpcUrls: config.rpcUrls943,
    chainId: SECOND_CHAIN_ID,
    chain: { ...chain, wrappedNative: null, anchors: [], majors: [], burn: null, dexes: [] },
  };
}

/** The same server, the second chain's database. */
export function secondDatabaseUrl(url: string): string {
  const second = new URL(url);
  second.pathname = `/${second.pathname.slice(1).replace(/\/$/, '') || 'default'}${SUFFIX}`;
  return second.toString();
}

/**
 * What is wrong with the second chain's ingester, for the list of /readyz beside the market chain's problems: under codes of
 * their own, since the market is as ready as it was.
 */
export function listSecondProblems({ nodeAnswers, problems }: IngestFacts): ReadyProblem[] {
  const away = { code: 'node_away', message: 'The chain node does not answer' };
  return [...(nodeAnswers ? [] : [away]), ...problems].map(({ code, message }) => ({
    code: `${code}${SUFFIX}`,
    message: `Chain ${SECOND_CHAIN_ID}: ${message}`,
  }));
}
