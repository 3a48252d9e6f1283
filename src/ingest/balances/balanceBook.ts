/**
 * Finds tokens whose balances do not follow from their Transfer logs, by comparing both with the contract's
 * balanceOf. Pure: balanceChecker.ts calls the node and the database.
 *
 * If the whole history is stored, balanceOf must equal the sum of the logs. If the stored history starts
 * later, the earlier transfers are missing from the sum. The missing amount is the same at every check, so
 * only a changed difference between balanceOf and the sum is a mismatch. A token with one mismatch is a
 * suspect: the token may be rebasing, and is checked again. A second mismatch, at another block, marks the
 * token as rebasing permanently, even if later checks find no difference.
 *
 * The book also counts, over different addresses, which balances the contract confirms at all. For a token
 * with invented Transfer logs, the contract answers 0 or nothing for addresses that hold tokens according to
 * the logs.
 */
import type { BalanceCheckRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';

/** Largest number of differences kept in memory. */
const KNOWN_MAX = 20_000;

export interface HeldToken {
  readonly token: Hex;
  readonly holder: Hex;
}

/**
 * One balance at one block, in raw units: the sum of the logs, and the contract's answer. The answer is null
 * if it is no valid number.
 */
export interface ComparedBalance extends HeldToken {
  readonly logs: bigint;
  readonly node: bigint | null;
}

type TokenCheck = Omit<BalanceCheckRow, 'version'>;

interface Findings {
  /** The checked tokens with their new counts. */
  readonly tokens: readonly TokenCheck[];
  readonly mismatches: number;
  /**
   * Number of tokens that have a new mismatch and are not yet marked as rebasing. Their balances are checked
   * again soon.
   */
  readonly suspects: number;
}

interface Difference extends HeldToken {
  /** balanceOf minus the sum of the logs, modulo 2^256, signed. */
  readonly difference: bigint;
  readonly block: number;
}

const NO_CHECK = {
  checked_block: 0,
  holders_checked: 0,
  mismatches: 0,
  mismatch_block: 0,
  rebasing: false,
  held_checked: 0,
  unconfirmed: 0,
};

const keyOf = ({ token, holder }: HeldToken): string => token + holder.slice(2);

export class BalanceBook {
  /** Last difference of each checked balance, ordered by the time of the check, oldest first. */
  private readonly known = new Map<string, Difference>();
  private readonly tokens: Map<Hex, TokenCheck>;
  /** Balances that are already counted as held according to the logs, oldest first. */
  private readonly held = new Set<string>();
  /**
   * Balances with a mismatch in the last check, for tokens that are not marked as rebasing. The next check compares
   * them again first.
   */
  private doubted: HeldToken[] = [];

  /** `stored` contains the results of earlier runs of the program. */
  constructor(stored: readonly TokenCheck[] = []) {
    this.tokens = new Map(stored.map((check) => [check.token, check]));
  }

  /** Tokens that are marked as rebasing. Later checks do not remove the mark. */
  marked(): Hex[] {
    return [...this.tokens.values()].filter(({ rebasing }) => rebasing).map(({ token }) => token);
  }

  /**
   * At most `max` balances to check again: first balances of suspects (tokens with one mismatch), then the
   * balances whose last check is longest ago.
   */
  listAgain(max: number): HeldToken[] {
    const again = new Map<string, HeldToken>();
    for (const pair of [...this.doubted, ...this.known.values()]) {
      if (again.size >= max) break;
      if (this.tokens.get(pair.token)?.rebasing === true) continue;
      again.set(keyOf(pair), { token: pair.token, holder: pair.holder });
    }
    return [...again.values()];
  }

  /**
   * Records the results of one check at one block. `partial` means that the stored history starts after the
   * chain's first block.
   */
  note(block: number, compared: readonly ComparedBalance[], partial: boolean): Findings {
    const touched = new Set<Hex>();
    const doubted: HeldToken[] = [];
    let mismatches = 0;
    for (const balance of compared) {
      touched.add(balance.token);
      if (!partial) this.countHeld(block, balance);
      if (balance.node === null) continue;
      const wrong = this.isWrong(block, balance, balance.node, partial);
      if (wrong) mismatches += 1;
      if (this.count(block, balance.token, wrong)) doubted.push(balance);
    }
    this.doubted = doubted.filter(({ token }) => this.tokens.get(token)?.rebasing !== true);
    const tokens = [...touched].flatMap((token) => this.tokens.get(token) ?? []);
    return { tokens, mismatches, suspects: new Set(this.doubted.map(({ token }) => token)).size };
  }

  private checkOf(token: Hex, block: number): TokenCheck {
    return this.tokens.get(token) ?? { ...NO_CHECK, token, checked_block: block };
  }

  /** Counts a balance that is positive according to the logs, once per holder and token. */
  private countHeld(block: number, { token, holder, logs, node }: ComparedBalance): void {
    const key = keyOf({ token, holder });
    if (logs <= 0n || this.held.has(key)) return;
    this.held.add(key);
    if (this.held.size > KNOWN_MAX) for (const oldest of this.held) if (this.held.delete(oldest)) break;
    const before = this.checkOf(token, block);
    this.tokens.set(token, {
      ...before,
      checked_block: block,
      held_checked: before.held_checked + 1,
      unconfirmed: before.unconfirmed + (node === null || node === 0n ? 1 : 0),
    });
  }

  /** Returns whether the comparison is a mismatch, and stores the new difference. */
  private isWrong(block: number, balance: ComparedBalance, node: bigint, partial: boolean): boolean {
    if (this.tokens.get(balance.token)?.rebasing === true) return false;
    const key = keyOf(balance);
    const before = this.known.get(key);
    const difference = BigInt.asIntN(256, node - balance.logs);
    this.known.delete(key);
    this.known.set(key, { token: balance.token, holder: balance.holder, difference, block });
    if (this.known.size > KNOWN_MAX) {
      const [oldest] = this.known.keys();
      if (oldest !== undefined) this.known.delete(oldest);
    }
    if (!partial) return difference !== 0n;
    return before !== undefined && before.block !== block && before.difference !== difference;
  }

  /** Counts one comparison for its token, as a mismatch if `wrong` is true. Returns `wrong`. */
  private count(block: number, token: Hex, wrong: boolean): boolean {
    const before = this.checkOf(token, block);
    const { mismatch_block: mismatchBlock } = before;
    const repeated = wrong && mismatchBlock !== 0 && mismatchBlock !== block;
    this.tokens.set(token, {
      ...before,
      checked_block: block,
      holders_checked: before.holders_checked + 1,
      mismatches: before.mismatches + (wrong ? 1 : 0),
      mismatch_block: wrong ? block : mismatchBlock,
      rebasing: repeated || before.rebasing,
    });
    return wrong;
  }
}
