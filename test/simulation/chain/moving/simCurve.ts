/**
 * StableSwap pools of the simulated chain: Pancake's port, StableSwap-NG, and the older contracts of Curve. Their events follow
 * the contracts exactly.
 */
import type { Hex } from '../../../../src/domain/hex';
import {
  ampAt,
  exchange,
  FEE_UNIT,
  isPrecise,
  isRegistered,
  moved,
  removeOne,
  termsAt,
  toXp,
  virtualPrice,
  type CurveBooks,
} from '../../../support/oracle/curveContract';
import { contractD, findContractD } from '../../../support/oracle/stableSwap';
import type { Random } from '../../../support/random';
import type { Birth, Moment, Moved, MovingPool } from './movingPool';
import { answerCurve, type CurveFacts } from './simCurveAnswers';
import { curveLogs, exchangeTopic, type CurveAction } from './simCurveLogs';
import { fromLent, lendingRate, lendingToken, toLent, usedAgain, withInterest } from './simLending';
import { arrayData, dataOf, digest, topicOf, type Draft } from '../../../support/plainLogs';
import { usualAmount } from '../simStable';
import { simDecimals } from '../simTokens';

export const CURVE_FACTORY: Hex = `0x${'fd'.repeat(20)}`;

const TOPIC = {
  newPair: '0x48dc7a1b156fe3e70ed5ed0afcb307661905edf536f15bb5786e327ea1933532',
  plainPool: '0xd1d60d4611e4091bb2e5f699eeb79136c21ac2305ad609f3de569afc3471eecc',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  owner: '0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0',
  plainPool2021: '0x5b4a28c940282b5bf183df6a046b8119cf6edeb62859f75e835eb7ba834cce8d',
  metaPool: '0x01f31cd2abdeb4e5e10ba500f2db0f937d9e8c735ab04681925441b4ea37eda5',
  poolAdded: '0xe485c16479ab7092c0b3fc4649843c06be7f072194675261590c84473ab0aea9',
} as const satisfies Record<string, Hex>;

const ZERO: Hex = `0x${'0'.repeat(40)}`;
/** Newer contracts count A with two more digits. */
const AMP_UNIT = 100n;
const HOUR = 3_600n;
/** The number for which `usualAmount` is about 537,000 whole tokens. */
const EQUAL = 1n << 29n;

export class CurvePool implements MovingPool {
  constructor(
    readonly facts: CurveFacts,
    readonly books: CurveBooks,
  ) {}

  static create(birth: Birth): Moved {
    const { random, moment } = birth;
    const base = random.chance(0.3) ? random.pick([null, ...moment.pools.filter(isBase)]) : null;
    if (base !== null) return createMeta(birth, base);
    const drawn = random.pick(['pancake', 'ng', 'ng', 'registry', 'fixed', 'factory'] as const);
    return createPlain(birth, drawn);
  }

  /** A pool of a lending token whose rate grows. */
  static createLending(birth: Birth): Moved {
    // The transaction may also create another pool.
    const moment = { ...birth.moment, id: `${birth.moment.id} lending` };
    return createPlain({ ...birth, moment }, 'fixed', true);
  }

  get address(): Hex {
    return this.facts.address;
  }

  get key(): string {
    return `curve ${this.books.kind === 'pancake' ? [...this.facts.tokens].sort().join(' ') : this.address}`;
  }

  get base(): Hex | null {
    return this.books.base;
  }

  /** The constructor of the pool logs before its factory does. */
  creation(): Draft[] {
    const { address, share, tokens } = this.facts;
    const { kind, base, ramp, fee } = this.books;
    const nobody = topicOf(0n);
    const factory = topicOf(CURVE_FACTORY);
    // A registry adds a pool that is older.
    if (isRegistered(kind))
      return [{ address: CURVE_FACTORY, topics: [TOPIC.poolAdded, topicOf(address)], data: dataOf(32n, 0n) }];
    if (kind !== 'pancake') {
      const isNg = kind === 'ng';
      const terms = [ramp[0], fee, BigInt(CURVE_FACTORY)];
      const holder = isNg ? factory : topicOf(address);
      const coins = base === null ? [...tokens, ZERO, ZERO].slice(0, 4) : [tokens[0]!, base];
      const data = isNg ? arrayData([tokens], ...terms) : dataOf(...coins, ...terms);
      const topics = [isNg ? TOPIC.plainPool : base === null ? TOPIC.plainPool2021 : TOPIC.metaPool];
      return [
        { address, topics: [TOPIC.transfer, nobody, holder], data: dataOf(0n) },
        { address: CURVE_FACTORY, topics, data },
      ];
    }
    const coins = [...tokens, ZERO].slice(0, 3);
    return [
      { address, topics: [TOPIC.owner, nobody, factory], data: '0x' },
      { address: CURVE_FACTORY, topics: [TOPIC.newPair, topicOf(address)], data: dataOf(...coins, share) },
    ];
  }

  move(random: Random, moment: Moment): Moved {
    const { address, bornIn, tokens } = this.facts;
    const { kind, base } = this.books;
    const isNewborn = bornIn === moment.blockId;
    // The product finds such a pool by its first event, and asks for its books before that block.
    if ((isRegistered(kind) || base !== null) && isNewborn) return { drafts: [], after: this };
    const self = this.atRates(moment);
    if (self === null) return { drafts: [], after: this };
    const trader = topicOf(digest(`trader ${random.int(0, 5)}`, 20));
    if (random.chance(0.05)) return { drafts: [oddity(random, address, kind, trader)], after: this };
    const action = self.draw(random, moment, isNewborn);
    if (action === null) return { drafts: [], after: this };
    const isUsedAgain = action.after.lentUnit !== undefined && moment.rateRandom!.chance(0.15);
    const after = new CurvePool(this.facts, isUsedAgain ? usedAgain(action.after) : action.after);
    return { drafts: curveLogs(address, trader, tokens, action), after };
  }

  /**
   * A meta pool counts the LP tokens of its base pool by their virtual price, and a lending token has interest. Null if the base
   * pool has no price.
   */
  private atRates({ pools, timestamp }: Moment): CurvePool | null {
    const { books, facts } = this;
    if (books.lentUnit !== undefined)
      return new CurvePool(facts, withInterest(books, facts.tokens[0]!, timestamp));
    const base = pools.find(({ address }) => address === books.base);
    if (!(base instanceof CurvePool)) return this;
    const price = virtualPrice(base.books, timestamp);
    return price === null ? null : new CurvePool(this.facts, { ...books, rates: [books.rates[0]!, price] });
  }

  /**
   * The node tells the settings at the end of the block of the creation, so no event changes them in that block. Null if the
   * contract takes no first deposit.
   */
  private draw(random: Random, moment: Moment, isNewborn: boolean): CurveAction | null {
    const { books } = this;
    const { timestamp, rateRandom } = moment;
    if (!isNewborn && random.chance(0.15)) return this.drawSetting(random, timestamp);
    // A contract that finds no D only pays out all tokens at once.
    if (!this.findsD(books.balances, timestamp)) return this.payOut(books.supply / 2n);
    const isEmpty = books.balances.some((balance) => balance === 0n);
    if (isEmpty || random.chance(0.15)) return this.drawAdd(random, timestamp, isEmpty);
    if (random.chance(0.15)) return this.drawRemove(random, timestamp);
    const i = random.int(0, books.balances.length - 1);
    const j = (i + random.int(1, books.balances.length - 1)) % books.balances.length;
    const drawn = 1n + (random.big(90) % (books.balances[i]! / 3n + 1n));
    const namesLent = books.lentUnit !== undefined && rateRandom!.chance(0.5);
    const paid = namesLent && i === 0 ? toLent(books, drawn) : drawn;
    const sold = namesLent && i === 0 ? fromLent(books, paid) : drawn;
    const done = exchange(books, i, j, sold, timestamp);
    if (done === null || done.out <= 0n) return this.drawAdd(random, timestamp, false);
    const { out, adminFee } = done;
    const balances = books.balances.map((balance, index) =>
      index === i ? balance + done.counted : index === j ? balance - out - adminFee : balance,
    );
    const lent = namesLent ? { sold: paid, bought: j === 0 ? toLent(books, out) : out } : null;
    // A yToken mints some units fewer than the pool counts.
    const minted = namesLent && i === 0 && sold > 2n ? sold - BigInt(rateRandom!.int(0, 2)) : sold;
    return { kind: 'exchange', i, j, sold: minted, bought: out, lent, after: { ...books, balances } };
  }

  private drawSetting(random: Random, timestamp: number): CurveAction {
    const { books } = this;
    const [now, amp] = [BigInt(timestamp), ampAt(books, BigInt(timestamp))];
    // Contracts without a ramp set A together with the fees.
    switch (books.kind === 'fixed' ? -1 : random.int(0, 4)) {
      case 0: {
        const ramp = [amp, amp, now, now] as const;
        return { kind: 'stop', after: { ...books, ramp } };
      }
      case 1: {
        const next = BigInt(random.int(1, 2_000)) * (isPrecise(books.kind) ? AMP_UNIT : 1n);
        const end = now + BigInt(random.int(1, 48)) * HOUR;
        return { kind: 'ramp', after: { ...books, ramp: [amp, next, now, end] } };
      }
      case 2:
        if (books.kind === 'ng') {
          // The fees of the owner become balances, and no event tells how many.
          const balances = books.balances.map((balance) => balance + balance / 1_000n);
          return { kind: 'donate', after: { ...books, balances } };
        }
        if (books.kind === 'pancake') return { kind: 'kill', after: { ...books, isKilled: !books.isKilled } };
        break;
    }
    const changes: Readonly<Partial<Record<CurveBooks['kind'], Partial<CurveBooks>>>> = {
      ng: { offpeg: random.pick([0n, 2n * FEE_UNIT]) },
      pancake: { adminFee: random.pick([0n, FEE_UNIT / 2n]) },
      registry: { adminFee: random.pick([0n, FEE_UNIT / 2n]) },
      fixed: { adminFee: random.pick([0n, FEE_UNIT / 2n]), ramp: [amp * 2n, amp * 2n, 0n, 0n] },
    };
    return { kind: 'fees', after: { ...books, fee: drawFee(random), ...changes[books.kind] } };
  }

  /** An LP token of a base pool has 18 decimals. */
  private usualAmount(index: number, number: bigint): bigint {
    const amount = usualAmount(this.facts.tokens[index]!, number);
    return this.books.base === null || index === 0 ? amount : (1n + (number % EQUAL)) * 10n ** 15n;
  }

  private findsD(balances: readonly bigint[], timestamp: number): boolean {
    const { books } = this;
    const xp = toXp(books, balances);
    return xp.some((x) => x <= 0n) || findContractD(xp, termsAt(books, timestamp)) !== null;
  }

  private drawAdd(random: Random, timestamp: number, isFirst: boolean): CurveAction | null {
    const { books, facts } = this;
    const drawn = facts.tokens.map((_, index) => this.usualAmount(index, random.big(60)));
    const noFees = drawn.map(() => 0n);
    // An empty pool with too unequal amounts would have no D, so it gets equal ones.
    const isUsable = books.supply > 0n || this.findsD(this.counted(drawn, noFees), timestamp);
    const amounts = isUsable ? drawn : facts.tokens.map((_, index) => this.usualAmount(index, EQUAL));
    const fees = amounts.map((amount) => (isFirst ? 0n : amount / 2_000n));
    const balances = moved(books, amounts, fees);
    const supply = books.supply + random.big(80) + 1_000_000n;
    if (!this.findsD(this.counted(amounts, fees), timestamp))
      return books.supply > 0n ? this.payOut(books.supply / 2n) : null;
    return {
      kind: 'add',
      amounts,
      fees: books.kind === 'ng' && isFirst ? [] : fees,
      invariant: this.loggedD(amounts, fees, timestamp),
      after: { ...books, balances, supply },
    };
  }

  /** The balances of which an event logs D: StableSwap-NG counts without all fees, the others with them. */
  private counted(amounts: readonly bigint[], fees: readonly bigint[]): bigint[] {
    const { balances, kind } = this.books;
    return balances.map((balance, index) => balance + amounts[index]! - (kind === 'ng' ? fees[index]! : 0n));
  }

  private loggedD(amounts: readonly bigint[], fees: readonly bigint[], timestamp: number): bigint {
    return contractD(toXp(this.books, this.counted(amounts, fees)), termsAt(this.books, timestamp));
  }

  private drawRemove(random: Random, timestamp: number): CurveAction {
    const { books } = this;
    const burned = (books.supply * BigInt(random.int(1, 300))) / 1_000n;
    const supply = books.supply - burned;
    const kind = random.pick(['remove', 'remove', 'one', 'imbalance'] as const);
    if (kind === 'one' && books.kind !== 'fixed') {
      const i = random.int(0, books.balances.length - 1);
      const { out, adminFee } = removeOne(books, i, burned, timestamp) ?? { out: 0n, adminFee: 0n };
      const balances = books.balances.map((balance, index) =>
        index === i ? balance - out - adminFee : balance,
      );
      if (out > 0n && balances[i]! > 0n)
        return { kind, coin: i, shares: burned, amount: out, after: { ...books, balances, supply } };
    }
    if (kind === 'imbalance') {
      const outs = books.balances.map((balance) => (balance * BigInt(random.int(0, 200))) / 1_000n);
      const fees = outs.map((out) => out / 2_000n);
      const negative = outs.map((out) => -out);
      if (!this.findsD(this.counted(negative, fees), timestamp)) return this.payOut(burned);
      const invariant = this.loggedD(negative, fees, timestamp);
      const balances = moved(books, negative, fees);
      return { kind, amounts: outs, fees, invariant, after: { ...books, balances, supply } };
    }
    return this.payOut(burned);
  }

  /** The same part of each balance leaves the pool. */
  private payOut(burned: bigint): CurveAction {
    const { books } = this;
    const amounts = books.balances.map((balance) => (balance * burned) / books.supply);
    const balances = books.balances.map((balance, index) => balance - amounts[index]!);
    const fees = books.kind === 'ng' ? [] : amounts.map(() => 0n);
    const after = { ...books, balances, supply: books.supply - burned };
    return { kind: 'remove', amounts, fees, invariant: 0n, after };
  }

  answer(to: Hex, data: Hex): Hex | 'revert' | null {
    return answerCurve(CURVE_FACTORY, this.facts, this.books, to, data);
  }
}

/** A pool whose coins are no LP tokens. `grows`: its first coin is a lending token whose rate grows. */
function createPlain({ random, moment, token }: Birth, drawn: CurveBooks['kind'], grows = false): Moved {
  const isNg = drawn === 'ng';
  const address = digest(`curve ${moment.id}`, 20);
  const count = random.int(2, drawn === 'pancake' ? 3 : 4);
  // A pool of two coins of the factory of 2021 may have either rounding.
  const kind = drawn === 'factory' && count === 2 && random.chance(0.5) ? 'pair' : drawn;
  const tokens = new Set<Hex>();
  while (tokens.size < count) {
    const one = token(random.int(0, 11));
    // The contracts accept tokens of at most 18 decimals.
    if (simDecimals(one) <= 18) tokens.add(one);
  }
  const coins = grows ? [lendingToken(moment.id), ...[...tokens].slice(1)] : [...tokens];
  const amp = BigInt(random.int(1, 2_000)) * (isPrecise(kind) ? AMP_UNIT : 1n);
  const lends = grows || (kind === 'fixed' && random.chance(0.5));
  const books: CurveBooks = {
    kind,
    base: null,
    isKilled: false,
    ramp: [amp, amp, 0n, 0n],
    fee: drawFee(random),
    adminFee: FEE_UNIT / 2n,
    offpeg: isNg ? random.pick([0n, 2n * FEE_UNIT, 5n * FEE_UNIT]) : 0n,
    supply: 0n,
    rates: coins.map((coin, index) => {
      const unit = 10n ** BigInt(18 - simDecimals(coin));
      return unit * (lends && index === 0 ? lendingRate(coin) : 10n ** 18n);
    }),
    ...(grows && { lentUnit: 10n ** BigInt(18 - simDecimals(coins[0]!)) }),
    balances: coins.map(() => 0n),
  };
  const hasShare = kind === 'pancake' || isRegistered(kind);
  const share = hasShare ? digest(`curve share ${moment.id}`, 20) : address;
  const facts = {
    address,
    share,
    tokens: coins,
    hasRates: lends || (isNg && random.chance(0.15)),
    bornIn: moment.blockId,
  };
  const pool = new CurvePool(facts, books);
  return { drafts: pool.creation(), after: pool };
}

/** Whether meta pools may hold the LP tokens of this pool. Each change of such a pool has an event that explains it. */
function isBase(pool: MovingPool): pool is CurvePool {
  return pool instanceof CurvePool && !['ng', 'fixed'].includes(pool.books.kind) && pool.books.base === null;
}

/** A meta pool of the factory of 2021: of a token, and of the LP token of another pool. */
function createMeta({ random, moment, token }: Birth, base: CurvePool): Moved {
  let coin = token(0);
  while (simDecimals(coin) > 18) coin = token(random.int(1, 11));
  const address = digest(`curve ${moment.id}`, 20);
  const amp = BigInt(random.int(1, 2_000)) * AMP_UNIT;
  const books: CurveBooks = {
    kind: random.chance(0.5) ? 'pair' : 'factory',
    base: base.address,
    isKilled: false,
    ramp: [amp, amp, 0n, 0n],
    fee: drawFee(random),
    adminFee: FEE_UNIT / 2n,
    offpeg: 0n,
    supply: 0n,
    rates: [10n ** BigInt(36 - simDecimals(coin)), 10n ** 18n],
    balances: [0n, 0n],
  };
  const tokens = [coin, base.facts.share];
  const pool = new CurvePool(
    { address, share: address, tokens, hasRates: false, bornIn: moment.blockId },
    books,
  );
  return { drafts: pool.creation(), after: pool };
}

/** A whole number of pips. */
const drawFee = (random: Random): bigint =>
  BigInt(random.pick([1, 4, 30, 400, random.int(1, 5_000)])) * 10_000n;

/** Malformed events of the pool, and an event of another kind of contract. */
function oddity(random: Random, address: Hex, kind: CurveBooks['kind'], trader: Hex): Draft {
  const topics = [exchangeTopic(kind), trader];
  return random.pick<Draft>([
    { address, topics, data: dataOf(0n, 5n, 0n, 7n) },
    { address, topics, data: dataOf(0n, 5n, 9n, 7n) },
    { address, topics, data: dataOf(0n, 5n, 1n) },
    { address, topics: topics.slice(0, 1), data: dataOf(0n, 5n, 1n, 7n) },
    { address, topics: [TOPIC.owner, topicOf(0n), trader], data: '0x' },
  ]);
}
