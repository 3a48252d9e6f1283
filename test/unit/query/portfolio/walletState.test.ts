/**
 * A node that answers `0x` to a balance call, without any digits, is treated as not answering. A soak test found this
 * case.
 */
import type { Hex } from '../../../../src/domain/hex';
import { createBalanceSeeds } from '../../../../src/query/holders/balanceSeeds';
import { readWalletState } from '../../../../src/query/portfolio/walletState';

const WALLET: Hex = `0x${'77'.repeat(20)}`;
const HASH: Hex = `0x${'11'.repeat(32)}`;

test.each<[Hex, bigint | null]>([
  ['0x', null],
  ['0x0', 0n],
  ['0x1b', 27n],
])('the answer %s of a node for the native balance is read as %s', async (answer, expected) => {
  const ask = async (_hash: Hex, questions: readonly unknown[]) => questions.map(() => answer);
  const node = { ask, lacks: () => false };
  const wallet = {
    address: WALLET,
    balances: new Map(),
    positions: [],
    unfollowed: new Set<string>(),
    earlierTokens: null,
  };
  const state = await readWalletState({ node, seeds: createBalanceSeeds() }, HASH, wallet);
  expect(state.native).toBe(expected);
});
