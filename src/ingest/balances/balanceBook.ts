/**
 * Finds tokens whose balances do not follow from their transfer logs, from comparisons with balanceOf. Pure:
 * balanceChecker calls the node and the database.
 *
 * With the whole history stored, balanceOf must equal the sum of the logs. A history that starts later lacks
 * the earlier balances. They are the same at every check, so only a changed difference is a mismatch. A token
 * with one mismatch is a suspect: it may be a rebasing token, and is checked again. A second mismatch, at
 * another block, marks it as rebasing for good, even if later checks agree.
 *
 * The book also counts, over different addresses, which balances the contract confirms at all. A token that invents
 * transfers answers 0, or not at all, for addresses that hold tokens by the logs.
 */
import type { BalanceCheckRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';

/** Largest number of remembered differences. */
const KNOWN_MAX = 20_000;

export interface HeldToken {
  readonly token: Hex;
  readonly holder: Hex;
}

/**
 * One balance as of one block, in raw units: the sum of the logs, and the contract's answer. The answer is null if it
 * is not usable.
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
   * Number of tokens with a new mismatch that are not marked as rebasing yet. Their balances are checked again soon.
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
  /** Last difference of each checked balance. The balance that was checked longest ago comes first. */
  private readonly known = new Map<string, Difference>();
  private readonly tokens: Map<Hex, TokenCheck>;
  /** Balances that already count as held, oldest first. */
  private readonly held = new Set<string>();
  /**
   * Balances with a mismatch in the last check, for tokens that are not marked as rebasing. The next check compares
   * them again first.
   */
  private doubted: HeldToken[] = [];

  /** `stored` has the results of earlier runs. */
  constructor(stored: readonly TokenCheck[] = []) {
    this.tokens = new Map(stored.map((check) => [check.token, check]));
  }

  /** Tokens that are marked as rebasing. Further mismatches do not change the mark. */
  marked(): Hex[] {
    return [...this.tokens.values()].filter(({ rebasing }) => rebasing).map(({ token }) => token);
  }

  /**
   * At most `max` balances to check again. Balances of suspects come first, then the balances that were checked
   * longest ago.
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

  /** Records one check at one block. `partial` means that the stored history starts after the chain's first
   * block. */
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

  /** Counts a balance that is positive by the logs, once per holder and token. */
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

  /** Whether the comparison is a mismatch. Also remembers the difference. */
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

  /** Counts one comparison for its token. Returns `wrong` unchanged. */
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
