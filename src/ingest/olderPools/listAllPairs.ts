/**
 * Reads the pairs of V2 factories with the functions allPairsLength and allPairs, for nodes that do not keep
 * old logs.
 */
import { ZERO_ADDRESS, ZERO_HASH, type Hex } from '../../domain/hex';
import { callContracts, type EthCalls } from '../pools/contractCalls';
import type { OlderPool, SearchedDexes } from './factoryLogs';
import type { SearchBlock } from './searchProgress';

const ALL_PAIRS_LENGTH = '0x574f2ba3';
const ALL_PAIRS = '0x1e3dd18b';
const TOKEN0 = '0x0dfe1681';
const TOKEN1 = '0xd21220a7';
const CALL_GAS: Hex = '0x4c4b40';
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
  const at = { blockHash: hash };
  const calls = factories.map(({ dex }) => ({ to: dex.factory, data: ALL_PAIRS_LENGTH, gas: CALL_GAS, at }));
  const answers = await callContracts(rpc, calls, signal);
  return answers.map((answer) => {
    const count = answer?.length === 66 ? BigInt(answer) : 0n;
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
  const at = { blockHash: hash };
  const indexes = Array.from({ length: count }, (_, i) => from + i);
  const calls = indexes.map((index) => {
    const data = ALL_PAIRS + index.toString(16).padStart(64, '0');
    return { to: dex.factory, data, gas: CALL_GAS, at };
  });
  const listed = await callContracts(rpc, calls, signal);
  const fresh = listed.flatMap((answer) => addressOf(answer) ?? []).filter((pool) => !isKnown(pool));
  const asked = fresh.flatMap((to) => [TOKEN0, TOKEN1].map((data) => ({ to, data, gas: CALL_GAS, at })));
  const tokens = await callContracts(rpc, asked, signal);
  return fresh.flatMap((pool, index) => {
    const [token0, token1] = [addressOf(tokens[2 * index]), addressOf(tokens[2 * index + 1])];
    if (token0 === null || token1 === null) return [];
    const creation = { pool, token0, token1, feePips: null, tickSpacing: 0 };
    return [{ address: pool, dex, protocol, creation, poolId: null, block: 0, tx: ZERO_HASH }];
  });
}

function addressOf(data: Hex | null | undefined): Hex | null {
  if (data?.length !== 66 || BigInt(data) >> 160n !== 0n) return null;
  const address: Hex = `0x${data.slice(26)}`;
  return address === ZERO_ADDRESS ? null : address;
}
