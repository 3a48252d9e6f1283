/** Asks the node about the bins of which a wallet has shares, as of the snapshot's block. */
import { callData, readUint, type ContractCall } from '../../domain/contractCall';
import type { StateAnswers } from '../../domain/accountState';
import type { Hex } from '../../domain/hex';
import { findProtocol } from '../../protocols/registry';
import type { PairEntry } from '../pairs/pairItem';
import type { OwnedBin, OwnedPosition } from './portfolioPositions';
import type { WalletNode } from './walletState';

/** Largest number of bins per wallet. The amounts of further ones are unknown. */
const BINS_ASKED_MAX = 300;

interface OwnedShares {
  readonly position: OwnedPosition;
  readonly entry: PairEntry;
}

interface PoolShares {
  readonly entry: PairEntry;
  readonly bins: readonly OwnedBin[];
}

interface BinShares {
  /** In the order of the pools' addresses. */
  readonly pools: readonly PoolShares[];
  readonly isTruncated: boolean;
}

/** Never rejects: without a node, the reserves are unknown. `isWhole`: logs tell all shares of the pool's owners. */
export async function readBinShares(
  { node }: WalletNode,
  blockHash: Hex,
  owner: Hex,
  owned: readonly OwnedShares[],
  isWhole: (entry: PairEntry) => boolean,
): Promise<BinShares> {
  const asked = owned.slice(0, BINS_ASKED_MAX);
  const calls = asked.map((shares) => callsAbout(shares, isWhole(shares.entry) ? null : owner));
  const questions = calls.flat().map((call) => ({ kind: 'call' as const, ...call }));
  const answers = (await node?.ask(blockHash, questions)) ?? [];
  const pools = new Map<Hex, { entry: PairEntry; bins: OwnedBin[] }>();
  let at = 0;
  for (const [index, shares] of owned.entries()) {
    const count = calls[index]?.length ?? 0;
    const bin = readBin(shares, answers.slice(at, at + count), isWhole(shares.entry));
    at += count;
    const { address } = shares.entry.pool;
    const pool = pools.get(address) ?? { entry: shares.entry, bins: [] };
    pools.set(address, pool);
    if (bin.shares > 0n) pool.bins.push(bin);
  }
  return {
    pools: [...pools.values()]
      .filter(({ bins }) => bins.length > 0)
      .sort((a, b) => (a.entry.pool.address < b.entry.pool.address ? -1 : 1)),
    isTruncated: asked.length < owned.length,
  };
}

/** About the reserves of the bin, the shares of all owners, and those of the owner, unless logs tell them. */
function callsAbout({ position, entry: { pool } }: OwnedShares, owner: Hex | null): ContractCall[] {
  const questions = findProtocol(pool.protocol)?.binQuestions;
  if (questions === undefined) return [];
  const { manager: to, position_id: id, tick_lower: bin } = position;
  const calls = [questions.binCall(pool, bin), questions.supplyCall(pool, bin)];
  if (owner !== null) calls.push({ to, data: callData('balanceOf(address,uint256)', owner, BigInt(id)) });
  return calls;
}

function readBin(
  { position, entry }: OwnedShares,
  [reserves, shares, balance]: StateAnswers,
  isWhole: boolean,
): OwnedBin {
  const [amount0, amount1] = [readUint(reserves), readUint(reserves, 1)];
  const supply = findProtocol(entry.pool.protocol)?.binQuestions?.readSupply(shares) ?? null;
  const told = isWhole ? null : readUint(balance);
  const isKnown = amount0 !== null && amount1 !== null && supply !== null && (isWhole || told !== null);
  return {
    id: position.tick_lower,
    shares: told ?? position.shares,
    whole: isKnown ? { amount0, amount1, supply } : null,
  };
}
