/**
 * Reads the pairs of V2 factories with the functions allPairsLength and allPairs, for nodes that do not keep
 * old logs.
 */
import { callData, readAddress, readNumber } from '../../domain/contractCall';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { askContracts, type EthCalls } from '../../node/calls/askContracts';
import type { OlderPool, SearchedDexes } from './factoryLogs';
import type { SearchBlock } from './searchProgress';

/** Safety limit: more pairs than any factory has. */
const PAIRS_MAX = 10_000_000n;

type Factory = SearchedDexes['pairs'][number];

/** Number of pairs of each factory; 0 if the factory has no function allPairsLength. */
export async function readPairCounts(
  rpc: EthCalls,
  factories: readonly Factory[],
  { hash }: SearchBlock,
  signal: AbortSignal,
): Promise<number[]> {
  const calls = factories.map(({ dex }) => [{ to: dex.factory, data: callData('allPairsLength()') }]);
  const contractAnswers = await askContracts(rpc, calls, { at: { blockHash: hash }, signal });
  return contractAnswers.map(({ answers: [answer] }) => {
    const count = readNumber(answer) ?? 0n;
    return count > PAIRS_MAX ? 0 : Number(count);
  });
}

/** Reads the pairs at a range of indexes of one factory. Entries without a usable answer are left out. */
export async function readPairsAt(
  rpc: EthCalls,
  { dex, protocol }: Factory,
  { from, count }: { readonly from: number; readonly count: number },
  { hash }: SearchBlock,
  isKnown: (pool: Hex) => boolean,
  signal: AbortSignal,
): Promise<OlderPool[]> {
  const options = { at: { blockHash: hash }, signal };
  const calls = Array.from({ length: count }, (_, index) => [
    { to: dex.factory, data: callData('allPairs(uint256)', from + index) },
  ]);
  const listed = (await askContracts(rpc, calls, options)).flatMap(
    ({ answers }) => readAddress(answers[0]) ?? [],
  );
  const fresh = listed.filter((pool) => !isKnown(pool));
  const facts = await askContracts(
    rpc,
    fresh.map((to) => protocol.factCalls.map((name) => ({ to, data: callData(name) }))),
    options,
  );
  return fresh.flatMap((pool, index) => {
    const { answers = [] } = facts[index] ?? {};
    const answerByName = new Map(protocol.factCalls.map((name, at) => [name, answers[at] ?? null]));
    const creation = protocol.readFacts(pool, answerByName);
    if (creation === null) return [];
    return [{ address: pool, dex, protocol, creation, poolId: null, block: 0, tx: ZERO_HASH }];
  });
}
