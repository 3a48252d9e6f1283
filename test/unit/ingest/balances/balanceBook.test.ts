import type { Hex } from '../../../../src/domain/hex';
import {
  AGREEING_MIN,
  BalanceBook,
  NO_CHECK,
  type ComparedBalance,
} from '../../../../src/ingest/balances/balanceBook';
import { createRandom } from '../../../support/createRandom';

const SEED = 4_711;
const token = (index: number): Hex => `0x${'a'.repeat(38)}${index.toString(16).padStart(2, '0')}`;
const holder = (index: number): Hex => `0x${'b'.repeat(38)}${index.toString(16).padStart(2, '0')}`;
const compared = (of: number, who: number, logs: bigint, node: bigint | null): ComparedBalance => ({
  token: token(of),
  holder: holder(who),
  logs,
  node,
});

describe('with the whole history stored, a balance that differs from the logs is a mismatch', () => {
  test('a balance that equals the logs does not make the token a suspect of rebasing', () => {
    const book = new BalanceBook();
    const found = book.note(10, [compared(1, 1, 5n, 5n), compared(1, 2, 0n, 0n)], false);
    expect(found).toEqual({
      mismatches: 0,
      suspects: 0,
      isNews: false,
      tokens: [{ ...NO_CHECK, token: token(1), checked_block: 10, holders_checked: 2, held_checked: 1 }],
    });
  });

  const right = compared(1, 1, 5n, 5n);
  const wrong = compared(1, 1, 5n, 6n);
  const markedBook = (): BalanceBook => {
    const book = new BalanceBook();
    book.note(10, [wrong], false);
    expect(book.note(11, [wrong], false).tokens[0]!.rebasing).toBe(true);
    return book;
  };

  test('a mismatch makes a token a suspect, and a mismatch of the same holder in the next check marks it as rebasing', () => {
    const book = new BalanceBook();
    const first = book.note(10, [wrong, compared(1, 2, 5n, 6n)], false);
    expect([first.suspects, first.tokens[0]!.rebasing]).toEqual([1, false]);
    expect(book.listAgain(1)).toEqual([{ token: token(1), holder: holder(1) }]);
    const again = book.note(11, [wrong], false);
    expect([again.suspects, again.tokens[0]!.rebasing]).toEqual([0, true]);
    expect(book.marked()).toEqual([token(1)]);
    expect(book.listAgain(100)).toEqual([{ token: token(1), holder: holder(1) }]);
  });

  test('two mismatches of different holders, or with an agreeing check in between, mark no token', () => {
    const book = new BalanceBook();
    const checks = [[wrong], [right, compared(1, 2, 5n, 6n)], [compared(1, 2, 5n, 5n)], [wrong], [right]];
    for (const [index, check] of checks.entries())
      expect(book.note(10 + index, check, false).tokens[0]!.rebasing).toBe(false);
    expect(book.listAgain(1)).toEqual([{ token: token(1), holder: holder(2) }]);
  });

  test('two checks of the same block mark no token', () => {
    const book = new BalanceBook();
    for (const block of [10, 10, 10])
      expect(book.note(block, [wrong], false).tokens[0]!.rebasing).toBe(false);
  });

  test('a mark is removed after some agreeing checks in a row, also if the program restarts in between', () => {
    const first = markedBook();
    for (let check = 1; check < AGREEING_MIN; check += 1) first.note(11 + check, [right], false);
    expect(first.note(20, [wrong], false).tokens[0]).toMatchObject({ rebasing: true, agreed: 0 });
    let book = first;
    for (let check = 1; check <= AGREEING_MIN; check += 1) {
      expect(book.marked()).toEqual([token(1)]);
      expect(book.listAgain(1)).toEqual([{ token: token(1), holder: holder(1) }]);
      book = new BalanceBook(book.note(20 + check, [right], false).tokens);
    }
    expect([book.marked(), book.listAgain(1)]).toEqual([[], []]);
  });

  test('a mark stays while its witness is not compared, or another holder has a mismatch', () => {
    const book = markedBook();
    const other = compared(1, 2, 5n, 9n);
    for (let check = 1; check <= AGREEING_MIN; check += 1) {
      book.note(11 + check, [compared(1, 3, 5n, 5n)], false);
      expect(book.note(21 + check, [right, other], false).tokens[0]!.rebasing).toBe(true);
    }
    expect(book.listAgain(1)).toEqual([{ token: token(1), holder: holder(2) }]);
  });

  test('a token that is a suspect of rebasing stays a suspect after a restart', () => {
    const { tokens } = new BalanceBook().note(10, [wrong], false);
    expect(new BalanceBook(tokens).note(11, [wrong], false).tokens[0]!.rebasing).toBe(true);
  });
});

describe('addresses that hold a token by its logs are counted', () => {
  const counts = ({ tokens: [check] }: ReturnType<BalanceBook['note']>): number[] => [
    check!.held_checked,
    check!.unconfirmed,
  ];

  test('each checked holder is counted once, and is unconfirmed when the contract answers 0 or nothing', () => {
    const book = new BalanceBook();
    const all = [
      compared(1, 1, 5n, 5n),
      compared(1, 2, 5n, 0n),
      compared(1, 3, 5n, null),
      compared(1, 4, 0n, 0n),
      compared(1, 5, -5n, 0n),
    ];
    expect(counts(book.note(10, all, false))).toEqual([3, 2]);
    expect(counts(book.note(11, all, false))).toEqual([3, 2]);
    expect(counts(book.note(12, [compared(1, 6, 5n, 7n)], false))).toEqual([4, 2]);
  });

  test('a holder that the contract confirms later is not counted as unconfirmed any more, also after a restart', () => {
    const book = new BalanceBook();
    const found = book.note(10, [compared(1, 1, 5n, 0n), compared(1, 2, 5n, 5n)], false);
    expect(book.listAgain(1)).toEqual([{ token: token(1), holder: holder(1) }]);
    expect(counts(book.note(11, [compared(1, 1, 5n, 5n)], false))).toEqual([2, 0]);
    const later = new BalanceBook(found.tokens);
    expect(later.listInherited(1)).toEqual([token(1)]);
    expect(counts(later.note(11, [compared(1, 1, 5n, 5n), compared(1, 2, 5n, 5n)], false))).toEqual([2, 0]);
    expect(later.listInherited(1)).toEqual([]);
  });

  test('holders of a token marked as rebasing are still counted, but make no further mismatches', () => {
    const book = new BalanceBook();
    book.note(10, [compared(1, 1, 5n, 6n)], false);
    expect(book.note(11, [compared(1, 1, 5n, 6n)], false).tokens[0]!.rebasing).toBe(true);
    const found = book.note(12, [compared(1, 2, 5n, 0n), compared(1, 3, 5n, 9n)], false);
    expect([...counts(found), found.mismatches, found.suspects]).toEqual([3, 1, 0, 0]);
  });

  test('checked holders are not counted in a history that begins late, because earlier transfers are missing', () => {
    expect(new BalanceBook().note(10, [compared(1, 1, 5n, null)], true)).toMatchObject({ tokens: [] });
    expect(counts(new BalanceBook().note(10, [compared(1, 1, 5n, 0n)], true))).toEqual([0, 0]);
  });
});

describe('in a history that begins late, only a changing difference is a mismatch', () => {
  test('if the history begins late, a constant difference is the balance from before the history, not a mismatch', () => {
    const book = new BalanceBook();
    for (let block = 10; block < 20; block += 1) {
      const logs = BigInt(block) * 3n;
      const found = book.note(block, [compared(1, 1, logs, logs + 1_000n)], true);
      expect([found.mismatches, found.tokens[0]!.rebasing]).toEqual([0, false]);
    }
  });

  test('if the history begins late, a difference that changes and does not change back marks the token as rebasing', () => {
    const book = new BalanceBook();
    const rebasingAfter = (...nodes: bigint[]): boolean[] =>
      nodes.map((node, index) => {
        const block = 10 + index;
        return book.note(block, [compared(nodes.length, 1, 0n, node)], true).tokens[0]!.rebasing;
      });
    expect(rebasingAfter(100n, 101n, 101n)).toEqual([false, false, true]);
    expect(rebasingAfter(100n, 101n, 100n, 101n)).toEqual([false, false, false, false]);
    expect(rebasingAfter(100n, 101n, 102n, 102n, 102n, 102n, 102n).at(-1)).toBe(true);
    expect(rebasingAfter(100n, 101n, 102n, 100n, 100n, 100n).slice(2)).toEqual([true, true, true, false]);
  });

  test('a negative balance from the logs does not mark the token as rebasing', () => {
    const book = new BalanceBook();
    for (const logs of [-5n, -9n, -1n])
      expect(book.note(Number(20n + logs), [compared(1, 1, logs, logs + 10n)], true).mismatches).toBe(0);
  });
});

test(`balance checks take the holder with the oldest check first, and reach every holder, seed ${SEED}`, () => {
  const random = createRandom(SEED);
  const book = new BalanceBook();
  const lastSeen = new Map<string, number>();
  for (let round = 1; round <= 200; round += 1) {
    const again = book.listAgain(7);
    const oldest = [...lastSeen].sort((a, b) => a[1] - b[1]).slice(0, 7);
    for (const pair of again) {
      const seen = lastSeen.get(pair.token + pair.holder)!;
      expect(seen).toBeLessThanOrEqual(oldest.at(-1)![1]);
    }
    const fresh = compared(random.int(9), random.int(9), 1n, 1n);
    const all = [...again.map((pair) => ({ ...pair, logs: 2n, node: 2n })), fresh];
    book.note(round, all, false);
    for (const pair of all) lastSeen.set(pair.token + pair.holder, round);
  }
  expect(Math.min(...lastSeen.values())).toBeGreaterThan(150);
});
