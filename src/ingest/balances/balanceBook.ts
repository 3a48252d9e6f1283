/**
 * Decides which tokens' logs do not explain their balances, from comparisons with balanceOf. Pure:
 * balanceChecker calls the node and the database.
 *
 * With the whole history stored, balanceOf must equal the sum of the logs. A history that starts later lacks
 * the earlier balances. They are the same at every check, so only a changed difference is a mismatch. One
 * mismatch makes a token suspect. A second one, at another block, marks the token for good, even if later
 * checks agree.
 */
import type { BalanceCheckRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';

/** Bounds the number of remembered differences. */
const KNOWN_MAX = 20_000;

export interface HeldToken {
  readonly token: Hex;
  readonly holder: Hex;
}

/** One balance as of one block, raw units: the sum of the logs, and the contract's answer. */
export interface ComparedBalance extends HeldToken {
  readonly logs: bigint;
  readonly node: bigint;
}

type TokenCheck = Pick<
  BalanceCheckRow,
  'token' | 'checked_block' | 'holders_checked' | 'mismatches' | 'mismatch_block' | 'rebasing'
>;

interface Findings {
  /** The checked tokens with their updated counts. */
  readonly tokens: readonly TokenCheck[];
  readonly mismatches: number;
  /** Tokens with a new mismatch that are not marked yet. They are checked again soon. */
  readonly suspects: number;
}

interface Difference extends HeldToken {
  /** balanceOf minus the logs, modulo 2^256, signed. */
  readonly difference: bigint;
  readonly block: number;
}

const keyOf = ({ token, holder }: HeldToken): string => token + holder.slice(2);

export class BalanceBook {
  /** Least recently checked first. */
  private readonly known = new Map<string, Difference>();
  private readonly tokens: Map<Hex, TokenCheck>;
  /** Suspects of the last check, each with a holder to check again. */
  private doubted: HeldToken[] = [];

  /** `stored`: results of earlier runs. */
  constructor(stored: readonly TokenCheck[] = []) {
    this.tokens = new Map(stored.map((check) => [check.token, check]));
  }

  /** Tokens marked as rebasing. They need no further checks. */
  marked(): Hex[] {
    return [...this.tokens.values()].filter(({ rebasing }) => rebasing).map(({ token }) => token);
  }

  /** At most `max` balances to check again: suspects first, then the least recently checked. */
  listAgain(max: number): HeldToken[] {
    const again = new Map<string, HeldToken>();
    for (const pair of [...this.doubted, ...this.known.values()]) {
      if (again.size >= max) break;
      if (this.tokens.get(pair.token)?.rebasing === true) continue;
      again.set(keyOf(pair), { token: pair.token, holder: pair.holder });
    }
    return [...again.values()];
  }

  /** Records one check as of one block. `partial`: the stored history starts after the chain's first block. */
  note(block: number, compared: readonly ComparedBalance[], partial: boolean): Findings {
    const touched = new Set<Hex>();
    const doubted: HeldToken[] = [];
    let mismatches = 0;
    for (const balance of compared) {
      const wrong = this.isWrong(block, balance, partial);
      touched.add(balance.token);
      if (wrong) mismatches += 1;
      if (this.count(block, balance.token, wrong)) doubted.push(balance);
    }
    this.doubted = doubted.filter(({ token }) => this.tokens.get(token)?.rebasing !== true);
    const tokens = [...touched].flatMap((token) => this.tokens.get(token) ?? []);
    return { tokens, mismatches, suspects: new Set(this.doubted.map(({ token }) => token)).size };
  }

  /** Whether the balance is a mismatch. Remembers the difference. */
  private isWrong(block: number, balance: ComparedBalance, partial: boolean): boolean {
    const key = keyOf(balance);
    const before = this.known.get(key);
    const difference = BigInt.asIntN(256, balance.node - balance.logs);
    this.known.delete(key);
    this.known.set(key, { token: balance.token, holder: balance.holder, difference, block });
    if (this.known.size > KNOWN_MAX) {
      const [oldest] = this.known.keys();
      if (oldest !== undefined) this.known.delete(oldest);
    }
    if (!partial) return difference !== 0n;
    return before !== undefined && before.block !== block && before.difference !== difference;
  }

  /** Counts one comparison of a token. Returns `wrong`. */
  private count(block: number, token: Hex, wrong: boolean): boolean {
    const before = this.tokens.get(token);
    const mismatchBlock = before?.mismatch_block ?? 0;
    const repeated = wrong && mismatchBlock !== 0 && mismatchBlock !== block;
    this.tokens.set(token, {
      token,
      checked_block: block,
      holders_checked: (before?.holders_checked ?? 0) + 1,
      mismatches: (before?.mismatches ?? 0) + (wrong ? 1 : 0),
      mismatch_block: wrong ? block : mismatchBlock,
      rebasing: repeated || before?.rebasing === true,
    });
    return wrong;
  }
}
