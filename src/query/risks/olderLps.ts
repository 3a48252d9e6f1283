/**
 * Asks the node about LP tokens of pools that are older than the first indexed block: the supply, and the balances that
 * are burnt, locked or the creator's. Earlier transfers of these LP tokens are not stored.
 */
import { callData, readUint } from '../../domain/contractCall';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import type { AccountState } from '../../domain/accountState';
import { getProtocol } from '../../protocols/registry';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { PairEntry } from '../pairs/pairItem';
import { hasOlderLp, type ToldLps } from './lpShares';
import type { RiskTable } from './riskTable';

/** Number of pools per answer, the deepest ones. */
const POOLS_MAX = 5;

/** Sends one batch to the node, as of the head's block. Never rejects. */
export async function askOlderLps(
  node: AccountState | null,
  head: HeadSnapshot,
  pairs: readonly PairEntry[],
  { watched, creatorOf }: Pick<RiskTable, 'watched' | 'creatorOf'>,
): Promise<ToldLps> {
  const counted = watched.flatMap(({ address, kind }) => (kind === 'treasury' ? [] : [address]));
  const poolQuestions = pairs
    .filter(({ pool }) => hasOlderLp(pool, head))
    .sort((a, b) => b.liquidityUsd - a.liquidityUsd)
    .slice(0, POOLS_MAX)
    .map(({ pool, tokens: { base } }) => {
      const zero = getProtocol(pool.protocol).locksSharesAtZero ? [ZERO_ADDRESS] : [];
      const holders = [...new Set([...counted, ...zero, creatorOf(base.address) ?? []].flat())];
      return {
        pool,
        holders,
        calls: [
          callData('totalSupply()'),
          ...holders.map((holder) => callData('balanceOf(address)', holder)),
        ],
      };
    });
  const questions = poolQuestions.flatMap(({ pool, calls }) => {
    const to: Hex = `0x${pool.address.slice(2)}`;
    return calls.map((data) => ({ kind: 'call', to, data }) as const);
  });
  const answers = [...((await node?.ask(head.hash, questions)) ?? [])];
  return new Map(
    poolQuestions.map(({ pool, holders, calls }) => {
      const [total, ...balances] = answers.splice(0, calls.length).map((answer) => readUint(answer));
      // A balance above the supply is an answer of a faulty node.
      const usableBalances = balances.filter((balance) => balance !== null && balance <= (total ?? 0n));
      if (total == null || usableBalances.length < holders.length) return [pool.address, null];
      return [
        pool.address,
        { total, watched: new Map(holders.map((holder, index) => [holder, usableBalances[index] ?? 0n])) },
      ];
    }),
  );
}
