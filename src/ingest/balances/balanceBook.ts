/**
 * Finds tokens whose balances do not follow from their Transfer logs, by comparing both with the contract's
 * balanceOf. Pure: balanceChecker.ts calls the node and the database.
 *
 * If the whole history is stored, balanceOf must equal the sum of the logs. If the stored history starts
 * later, the earlier transfers are missing from the sum. The missing amount is the same at every check, so
 * only a changed difference between balanceOf and the sum is a mismatch.
 *
 * The mark "rebasing" follows the evidence. A holder with a mismatch becomes the witness of its token. If the
 * witness has a mismatch in the next check too, at another block, the token is marked. The mark is removed
 * after AGREEING_MIN checks in a row in which the witness and all other compared holders agree. Witnesses are
 * stored, so a restart neither removes a mark nor makes it permanent.
 *
 * The book also counts, over different addresses, which balances the contract confirms at all. For a token
 * with invented Transfer logs, the contract answers 0 or nothing for addresses that hold tokens according to
 * the logs.
 */
import type { BalanceCheckRow } from '../../clickhouse/schema/tables';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';

/** Largest number of differences kept in memory, and of holders that are counted as checked. */
const KNOWN_MAX = 20_000;
/** Number of checks in a row that must agree before the mark of a token is removed. */
export const AGREEING_MIN = 3;
/** Most witnesses of marked tokens, and most unconfirmed holders, that one check compares again. */
const MARKED_AGAIN_MAX = 10;
const UNCONFIRMED_AGAIN_MAX = 10;
/**
 * Number of positive balances of one token in one check from which the check replaces the counts of an earlier run of
 * the program. Fewer are enough if the earlier run counted fewer.
 */
const RECOUNT_MIN = 4;

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
  /** The checked tokens with their new state. */
  readonly tokens: readonly TokenCheck[];
  readonly mismatches: number;
  /** Number of tokens that have a witness and are not marked. Their witnesses are compared again soon. */
  readonly suspects: number;
  /** Whether a mark changed, or a token was sampled for the first time. */
  readonly isNews: boolean;
}

interface Difference extends HeldToken {
  /** balanceOf minus the sum of the logs, modulo 2^256, signed. */
  readonly difference: bigint;
}

/** One compared balance. */
interface Judged {
  readonly holder: Hex;
  /** The difference that the transfers explain. Null if this is the first comparison in a history that begins late. */
  readonly baseline: bigint | null;
  readonly isWrong: boolean;
}

const NO_WITNESS = { witness: ZERO_ADDRESS, witness_baseline: 0n, agreed: 0 } as const;

/** State of a token before its first check. */
export const NO_CHECK = {
  checked_block: 0,
  holders_checked: 0,
  mismatches: 0,
  mismatch_block: 0,
  rebasing: false,
  held_checked: 0,
  unconfirmed: 0,
  sampled_block: 0,
  sampled_holders: 0,
  ...NO_WITNESS,
} as const;

const keyOf = ({ token, holder }: HeldToken): string => token + holder.slice(2);

const hasWitness = ({ witness }: TokenCheck): boolean => witness !== ZERO_ADDRESS;

export class BalanceBook {
  /** Last difference of each checked balance, ordered by the time of the check, oldest first. */
  private readonly lastDifferences = new Map<string, Difference>();
  private readonly tokens: Map<Hex, TokenCheck>;
  /** Tokens with a witness or a mark, by the time of their last check, oldest first. */
  private readonly watched = new Set<Hex>();
  /** Holders that are counted in `held_checked`, oldest first. The value is true if the contract does not confirm the holder. */
  private readonly countedHolders = new Map<string, boolean>();
  /** Unconfirmed holders, by the time of their last check, oldest first. */
  private readonly unconfirmed = new Map<string, HeldToken>();
  /** Tokens with unconfirmed holders that an earlier run of the program counted. The holders are not known any more. */
  private readonly inherited: Set<Hex>;

  /** `stored` contains the results of earlier runs of the program. */
  constructor(stored: readonly TokenCheck[] = []) {
    this.tokens = new Map(stored.map((check) => [check.token, check]));
    for (const check of stored) if (check.rebasing || hasWitness(check)) this.watched.add(check.token);
    this.inherited = new Set(stored.flatMap(({ token, unconfirmed }) => (unconfirmed > 0 ? [token] : [])));
  }

  /** Tokens that are marked as rebasing. */
  marked(): Hex[] {
    return [...this.watched].filter((token) => this.tokens.get(token)?.rebasing === true);
  }

  /** At most `max` tokens whose holders must be sampled again, because an earlier run found them unconfirmed. */
  listInherited(max: number): Hex[] {
    return [...this.inherited].slice(0, max);
  }

  /**
   * At most `max` balances to check again: witnesses of suspects, then some witnesses of marked tokens and some
   * unconfirmed holders, then the balances whose last check is longest ago.
   */
  listAgain(max: number): HeldToken[] {
    const witnesses = [...this.watched].flatMap((token) => {
      const check = this.tokens.get(token);
      return check !== undefined && hasWitness(check) ? [check] : [];
    });
    const toHeldToken = ({ token, witness }: TokenCheck): HeldToken => ({ token, holder: witness });
    const suspects = witnesses.filter(({ rebasing }) => !rebasing).map(toHeldToken);
    const markedBalances = witnesses.filter(({ rebasing }) => rebasing).map(toHeldToken);
    const priorityBalances = [
      ...suspects,
      ...markedBalances.slice(0, MARKED_AGAIN_MAX),
      ...[...this.unconfirmed.values()].slice(0, UNCONFIRMED_AGAIN_MAX),
    ];
    const toCheckAgain = new Map<string, HeldToken>();
    for (const { token, holder } of priorityBalances)
      if (toCheckAgain.size < max) toCheckAgain.set(keyOf({ token, holder }), { token, holder });
    for (const { token, holder } of this.lastDifferences.values()) {
      if (toCheckAgain.size >= max) break;
      if (this.tokens.get(token)?.rebasing !== true)
        toCheckAgain.set(keyOf({ token, holder }), { token, holder });
    }
    return [...toCheckAgain.values()];
  }

  /**
   * Records the results of one check at one block. `partial` means that the stored history starts after the
   * chain's first block. `samples` has the number of holders of each token whose holders were sampled for this check.
   */
  note(
    block: number,
    compared: readonly ComparedBalance[],
    partial: boolean,
    samples: ReadonlyMap<Hex, number> = new Map(),
  ): Findings {
    const balancesByToken = new Map<Hex, ComparedBalance[]>([...samples.keys()].map((token) => [token, []]));
    for (const balance of compared) {
      const tokenBalances = balancesByToken.get(balance.token);
      if (tokenBalances === undefined) balancesByToken.set(balance.token, [balance]);
      else tokenBalances.push(balance);
    }
    const tokens: TokenCheck[] = [];
    let [mismatches, isNews] = [0, false];
    for (const [token, balances] of balancesByToken) {
      const checkBefore = this.tokens.get(token) ?? { ...NO_CHECK, token };
      const checkAfter = this.checkToken(checkBefore, block, balances, {
        partial,
        sample: samples.get(token),
      });
      if (checkAfter === null) continue;
      this.tokens.set(token, checkAfter);
      this.watched.delete(token);
      if (checkAfter.rebasing || hasWitness(checkAfter)) this.watched.add(token);
      tokens.push(checkAfter);
      mismatches += checkAfter.mismatches - checkBefore.mismatches;
      const isFirst = checkBefore.sampled_holders === 0 && checkAfter.sampled_holders > 0;
      isNews ||= isFirst || checkBefore.rebasing !== checkAfter.rebasing;
    }
    const suspects = this.watched.size - this.marked().length;
    return { tokens, mismatches, suspects, isNews };
  }

  /** The state of a token after a check. Null if the check says nothing about the token. */
  private checkToken(
    checkBefore: TokenCheck,
    block: number,
    balances: readonly ComparedBalance[],
    { partial, sample }: { readonly partial: boolean; readonly sample: number | undefined },
  ): TokenCheck | null {
    const judgedBalances = balances.flatMap((balance) =>
      balance.node === null ? [] : [this.judge(checkBefore, balance, balance.node, partial)],
    );
    const counts = partial ? {} : this.countHeld(checkBefore, balances);
    const isCounted = counts.held_checked !== undefined;
    if (judgedBalances.length === 0 && !isCounted && sample === undefined) return null;
    const wrongBalances = checkBefore.rebasing ? [] : judgedBalances.filter(({ isWrong }) => isWrong);
    return {
      ...checkBefore,
      ...counts,
      ...(block === checkBefore.checked_block ? {} : weigh(checkBefore, judgedBalances)),
      sampled_block: sample === undefined ? checkBefore.sampled_block : block,
      sampled_holders: sample === undefined || !isCounted ? checkBefore.sampled_holders : sample,
      checked_block: judgedBalances.length > 0 ? block : checkBefore.checked_block,
      holders_checked: checkBefore.holders_checked + judgedBalances.length,
      mismatches: checkBefore.mismatches + wrongBalances.length,
      mismatch_block: wrongBalances.length > 0 ? block : checkBefore.mismatch_block,
    };
  }

  /** Compares one balance with the contract, and remembers the difference. */
  private judge(check: TokenCheck, balance: ComparedBalance, node: bigint, partial: boolean): Judged {
    const { token, holder, logs } = balance;
    const key = keyOf(balance);
    const difference = BigInt.asIntN(256, node - logs);
    const lastDifference = this.lastDifferences.get(key)?.difference ?? null;
    const witnessBaseline = check.witness === holder ? check.witness_baseline : null;
    const baseline = partial ? (witnessBaseline ?? lastDifference) : 0n;
    this.lastDifferences.delete(key);
    this.lastDifferences.set(key, { token, holder, difference });
    dropOldest(this.lastDifferences);
    return { holder, baseline, isWrong: baseline !== null && difference !== baseline };
  }

  /** Counts balances that are positive according to the logs, once per holder and token. */
  private countHeld(
    checkBefore: TokenCheck,
    balances: readonly ComparedBalance[],
  ): Partial<Pick<TokenCheck, 'held_checked' | 'unconfirmed'>> {
    const positiveBalances = balances.filter(({ logs }) => logs > 0n);
    if (positiveBalances.length === 0) return {};
    let { held_checked: heldCount, unconfirmed: unconfirmedCount } = checkBefore;
    if (
      this.inherited.has(checkBefore.token) &&
      positiveBalances.length >= Math.min(RECOUNT_MIN, heldCount)
    ) {
      this.inherited.delete(checkBefore.token);
      const heldOfToken = [...this.countedHolders].filter(([key]) => key.startsWith(checkBefore.token));
      [heldCount, unconfirmedCount] = [
        heldOfToken.length,
        heldOfToken.filter(([, isUnconfirmed]) => isUnconfirmed).length,
      ];
    }
    for (const { token, holder, node } of positiveBalances) {
      const key = keyOf({ token, holder });
      const wasUnconfirmed = this.countedHolders.get(key);
      const isUnconfirmed = node === null || node === 0n;
      if (wasUnconfirmed === undefined) heldCount += 1;
      unconfirmedCount += Number(isUnconfirmed) - Number(wasUnconfirmed ?? false);
      this.countedHolders.delete(key);
      this.countedHolders.set(key, isUnconfirmed);
      this.unconfirmed.delete(key);
      if (isUnconfirmed) this.unconfirmed.set(key, { token, holder });
      dropOldest(this.countedHolders);
      dropOldest(this.unconfirmed);
    }
    return { held_checked: heldCount, unconfirmed: unconfirmedCount };
  }
}

/** Decides about the mark and the witness of a token, after a check at a new block. */
function weigh(
  checkBefore: TokenCheck,
  judgedBalances: readonly Judged[],
): Partial<Pick<TokenCheck, 'rebasing' | 'witness' | 'witness_baseline' | 'agreed'>> {
  const witness = judgedBalances.find(({ holder }) => holder === checkBefore.witness);
  const wrongBalance = judgedBalances.find(({ isWrong }) => isWrong);
  if (witness?.isWrong === true) return { rebasing: true, agreed: 0 };
  if (wrongBalance !== undefined)
    return { witness: wrongBalance.holder, witness_baseline: wrongBalance.baseline ?? 0n, agreed: 0 };
  if (!checkBefore.rebasing) return witness === undefined ? {} : NO_WITNESS;
  // A mark without a witness comes from an earlier version of the program.
  const isEvidence = hasWitness(checkBefore)
    ? witness !== undefined
    : judgedBalances.some(({ baseline }) => baseline !== null);
  if (!isEvidence) return {};
  return checkBefore.agreed + 1 < AGREEING_MIN
    ? { agreed: checkBefore.agreed + 1 }
    : { rebasing: false, ...NO_WITNESS };
}

function dropOldest(map: Map<string, unknown>): void {
  if (map.size <= KNOWN_MAX) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
