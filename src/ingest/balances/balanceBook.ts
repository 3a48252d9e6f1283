/**
 * What comparing balances with balanceOf has shown so far, and what follows from it: which tokens' logs do not tell their
 * balances. Pure: asking and storing is balanceChecker's.
 *
 * With the whole history stored, balanceOf must be what the logs add up to. A history that begins later lacks what holders
 * had before, which is the same at every check: then only a difference that has changed is a mismatch. One mismatch makes
 * a suspect; a second one, as of another block, marks the token for good: later agreement does not take that back.
 */
import type { BalanceCheckRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';

/** Balances of which the last difference is remembered. */
const KNOWN_MAX = 20_000;

export interface HeldToken {
  readonly token: Hex;
  readonly holder: Hex;
}

/** One balance as of one block, raw units: what the logs add up to, and what the contract says. */
export interface ComparedBalance extends HeldToken {
  readonly logs: bigint;
  readonly node: bigint;
}

/** What is known of one token. */
export type TokenCheck = Pick<
  BalanceCheckRow,
  'token' | 'checked_block' | 'holders_checked' | 'mismatches' | 'mismatch_block' | 'rebasing'
>;

export interface Findings {
  /** The tokens that were checked, as they are known now. */
  readonly tokens: readonly TokenCheck[];
  readonly mismatches: number;
  /** Tokens with a mismatch that are not marked: another look, soon, will tell. */
  readonly suspects: number;
}

interface Difference extends HeldToken {
  /** What balanceOf said beyond the logs, modulo 2^256 and signed. */
  readonly difference: bigint;
  readonly block: number;
}

const keyOf = ({ token, holder }: HeldToken): string => token + holder.slice(2);

export class BalanceBook {
  /** The longest not looked at first. */
  readonly #known = new Map<string, Difference>();
  readonly #tokens: Map<Hex, TokenCheck>;
  /** Suspects of the last findings, with a holder to look at again. */
  #doubted: HeldToken[] = [];

  /** `stored`: what is known of tokens from before. */
  constructor(stored: readonly TokenCheck[] = []) {
    this.#tokens = new Map(stored.map((check) => [check.token, check]));
  }

  /** Tokens that are marked already: there is nothing more to find out. */
  marked(): Hex[] {
    return [...this.#tokens.values()].filter(({ rebasing }) => rebasing).map(({ token }) => token);
  }

  /** Balances to look at again, at most so many: those in doubt, then those that were not looked at for longest. */
  listAgain(max: number): HeldToken[] {
    const again = new Map<string, HeldToken>();
    for (const pair of [...this.#doubted, ...this.#known.values()]) {
      if (again.size >= max) break;
      if (this.#tokens.get(pair.token)?.rebasing === true) continue;
      again.set(keyOf(pair), { token: pair.token, holder: pair.holder });
    }
    return [...again.values()];
  }

  /** Takes what one check found as of one block. `partial`: the history begins in the middle. */
  note(block: number, compared: readonly ComparedBalance[], partial: boolean): Findings {
    const touched = new Set<Hex>();
    const doubted: HeldToken[] = [];
    let mismatches = 0;
    for (const balance of compared) {
      const wrong = this.#isWrong(block, balance, partial);
      touched.add(balance.token);
      if (wrong) mismatches += 1;
      if (this.#count(block, balance.token, wrong)) doubted.push(balance);
    }
    this.#doubted = doubted.filter(({ token }) => this.#tokens.get(token)?.rebasing !== true);
    const tokens = [...touched].flatMap((token) => this.#tokens.get(token) ?? []);
    return { tokens, mismatches, suspects: new Set(this.#doubted.map(({ token }) => token)).size };
  }

  /** Whether the balance is a mismatch; remembers its difference. */
  #isWrong(block: number, balance: ComparedBalance, partial: boolean): boolean {
    const key = keyOf(balance);
    const before = this.#known.get(key);
    const difference = BigInt.asIntN(256, balance.node - balance.logs);
    this.#known.delete(key);
    this.#known.set(key, { token: balance.token, holder: balance.holder, difference, block });
    if (this.#known.size > KNOWN_MAX) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    if (!partial) return difference !== 0n;
    return before !== undefined && before.block !== block && before.difference !== difference;
  }

  /** Counts one comparison of a token; true for one that is, or stays, in doubt by it. */
  #count(block: number, token: Hex, wrong: boolean): boolean {
    const before = this.#tokens.get(token);
    const mismatchBlock = before?.mismatch_block ?? 0;
    const repeated = wrong && mismatchBlock !== 0 && mismatchBlock !== block;
    this.#tokens.set(token, {
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
