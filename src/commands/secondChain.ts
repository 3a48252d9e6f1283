/**
 * The explorer's second chain: its own ingester and its own database, because head tables hold the blocks of one
 * chain. The second chain has no market: no DEXes, anchors or burns.
 */
import { listFaults } from '../api/service/readyz';
import { findBuiltInChain } from '../chains/builtInChains';
import type { Config } from '../config';
import { AppError } from '../errors';
import type { WriterFacts, WriterView } from '../tail/writerState';
import type { ReadyProblem } from '../wire/ready';

export const SECOND_CHAIN_ID = 943;
const SUFFIX = `_${SECOND_CHAIN_ID}`;

/** Whether to ingest the second chain. */
export function hasSecondChain({ rpcUrls943, chainId }: Config): boolean {
  return rpcUrls943 !== null && chainId !== SECOND_CHAIN_ID;
}

/** Settings of the second chain's ingester. START_BLOCK and FINALITY_DEPTH are the same as for the market chain. */
export function secondConfig(config: Config): Config {
  const chain = findBuiltInChain(SECOND_CHAIN_ID);
  if (chain === null) throw new AppError('internal', `chain ${SECOND_CHAIN_ID} has no built-in description`);
  return {
    ...config,
    rpcUrls: config.rpcUrls943,
    chainId: SECOND_CHAIN_ID,
    // TRUSTED_BLOCK is a block of the market chain, so it cannot be used here.
    proof: { ...config.proof, trusted: null },
    chain: { ...chain, wrappedNative: null, anchors: [], majors: [], burn: null, dexes: [] },
  };
}

/** The URL of the second chain's database on the same server. */
export function secondDatabaseUrl(url: string): string {
  const second = new URL(url);
  second.pathname = `/${second.pathname.slice(1).replace(/\/$/, '') || 'default'}${SUFFIX}`;
  return second.toString();
}

/**
 * Problems of the second chain's ingester for /readyz. They have their own codes, because they do not affect the
 * market's readiness.
 */
export function listSecondProblems(facts: WriterFacts): ReadyProblem[] {
  return withChain([...listFaults(facts), ...facts.problems]);
}

/** The same, for a process without an ingester. `view` is null if nothing is known of the second chain's ingester. */
export function listSecondView(view: WriterView | null): ReadyProblem[] {
  if (view === null) return [];
  return [...withChain(view.problems), ...(view.facts === null ? [] : listSecondProblems(view.facts))];
}

function withChain(problems: readonly ReadyProblem[]): ReadyProblem[] {
  return problems.map(({ code, message, ...rest }) => ({
    ...rest,
    code: `${code}${SUFFIX}`,
    message: `Chain ${SECOND_CHAIN_ID}: ${message}`,
  }));
}
