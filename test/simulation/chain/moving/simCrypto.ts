/** CryptoSwap-NG pools of the simulated chain, of two and three tokens. Their events follow the contracts exactly. */
import type { Hex } from '../../../../src/domain/hex';
import {
  atScale,
  cryptoExchange,
  cryptoRemoveOne,
  dAt,
  feeAt,
  isRamping,
  scaled,
  shapeAt,
  solveD,
  type CryptoBooks,
} from '../../../support/oracle/cryptoContract';
import type { Random } from '../../../support/random';
import { selectorOf, type Birth, type Moment, type Moved, type MovingPool } from './movingPool';
import { dataOf, digest, topicOf, type Draft } from '../../../support/plainLogs';
import { simDecimals } from '../simTokens';

export const CRYPTO_FACTORY: Hex = `0x${'fe'.repeat(20)}`;

const TWO_CREATED: Hex = '0x8152a3037e3dc54154ad0d2cadb1cf7e1d1b9e2b625faa3dfb4fe03d609102ca';
const THREE_CREATED: Hex = '0xa307f5d0802489baddec443058a63ce115756de9020e2b07d3e2cd2f21269e2a';
/** Topics of pools of two tokens, and of three. */
const EXCHANGE: Hex = '0x143f1f8e861fbdeddd5b46e844b7d3ac7b86a122f36e8c463859ee6811b1f29c';
const TOPIC = {
  add: [
    '0x7196cbf63df1f2ec20638e683ebe51d18260be510592ee1e2efe3f3cfd4c33e9',
    '0xe1b60455bd9e33720b547f60e4e0cfbf1252d0f2ee0147d53029945f39fe3c1a',
  ],
  remove: [
    '0xdd3c0336a16f1b64f172b7bb0dad5b2b3c7c76f91e8c4aafd6aae60dce800153',
    '0xd6cc314a0b1e3b2579f8e64248e82434072e8271290eef8ad0886709304195f5',
  ],
  claim: [
    '0x3bbd5f2f4711532d6e9ee88dfdf2f1468e9a4c3ae5e14d2e1a67bf4242d008d0',
    '0x6059a38198b1dc42b3791087d1ff0fbd72b3179553c25f678cd246f52ffaaf59',
  ],
  fees: [
    '0x1c65bbdc939f346e5d6f0bde1f072819947438d4fc7b182cc59c2f6dc5504087',
    '0xa32137411fc7c20db359079cd84af0e2cad58cd7a182a8a5e23e08e554e88bf0',
  ],
} as const satisfies Record<string, readonly [Hex, Hex]>;
const REMOVE_ONE: Hex = '0xe200e24d4a4c7cd367dd9befe394dc8a14e6d58c88ff5e2f512d65a9e0aa9c5c';
const DONATION: Hex = '0xc05458c16b884817a70d3d18223db5fe4adb4cb541a5573bef0daae7a6f20542';
const RAMP: Hex = '0xe35f0559b0642164e286b30df2077ec3a05426617a25db7578fd20ba39a6cd05';
const STOP: Hex = '0x5f0e7fba3d100c9e19446e1c92fe436f0a9a22fe99669360e4fdd6d3de2fc284';

const COINS_OF = selectorOf('get_coins(address)');
const PRICE_AT = selectorOf('price_scale(uint256)');
const BALANCE_AT = selectorOf('balances(uint256)');

const ONE = 10n ** 18n;
const HOUR = 3_600n;
/** A and γ of real pools: the first ones of three tokens, and of two, some with tokens of equal value. */
const SHAPES = [
  { amp: 1_707_629n, gamma: 11_809_167_828_997n },
  { amp: 540_000n, gamma: 80_500_000_000_000n },
  { amp: 20_000_000n, gamma: 20_000_000_000_000_000n },
  { amp: 270_000n, gamma: 1_300_000_000_000_000n },
];
/** No balance is a smaller part of the value of all balances. */
const PART_MIN = 12n;
const HALF_BITS = 128n;

interface CryptoFacts {
  readonly address: Hex;
  readonly tokens: readonly Hex[];
  readonly bornIn: number;
}

/** An event without its provider, and the pool after it. */
interface CryptoAction {
  readonly topic: Hex;
  readonly words: readonly bigint[];
  readonly after: CryptoBooks;
  /** Whether the event names no provider. */
  readonly isSetting?: boolean;
}

export class CryptoPool implements MovingPool {
  constructor(
    readonly facts: CryptoFacts,
    readonly books: CryptoBooks,
    /** Time of the last trade, unix seconds. */
    private readonly tradedAt: number,
  ) {}

  static create({ random, moment, token }: Birth): Moved {
    const kind = random.pick(['three', 'two', 'new'] as const);
    const tokens = new Set<Hex>();
    while (tokens.size < (kind === 'three' ? 3 : 2)) {
      const one = token(random.int(0, 11));
      // The contracts accept tokens of at most 18 decimals.
      if (simDecimals(one) <= 18) tokens.add(one);
    }
    const coins = [...tokens];
    const shape = random.pick(SHAPES);
    const facts = { address: digest(`crypto ${moment.id}`, 20), tokens: coins, bornIn: moment.blockId };
    const books: CryptoBooks = {
      kind,
      ramp: { from: shape, to: shape, begin: 0n, end: 0n },
      ...drawFees(random),
      supply: 0n,
      d: 0n,
      precisions: coins.map((coin) => 10n ** BigInt(18 - simDecimals(coin))),
      priceScale: coins.slice(1).map(() => random.pick([ONE, 40n * ONE, 3_000n * ONE, ONE / 25n])),
      balances: coins.map(() => 0n),
    };
    const pool = new CryptoPool(facts, books, moment.timestamp);
    return { drafts: [pool.creation()], after: pool };
  }

  get address(): Hex {
    return this.facts.address;
  }

  get key(): string {
    return `crypto ${this.address}`;
  }

  /** The event has a name and a symbol of one word each at its end. */
  private creation(): Draft {
    const { address, tokens } = this.facts;
    const isThree = this.books.kind === 'three';
    const before: Hex[] = isThree ? [`0x${'0'.repeat(40)}`] : [];
    const rest = Array.from({ length: isThree ? 8 : 9 }, () => 0n);
    const heads = BigInt(3 + before.length + tokens.length + rest.length);
    const text = [4n, 0x53494d00n << 224n];
    const data = dataOf(
      ...[address, 32n * heads, 32n * (heads + 2n), ...before, ...tokens],
      ...[...rest, ...text, ...text],
    );
    return { address: CRYPTO_FACTORY, topics: [isThree ? THREE_CREATED : TWO_CREATED], data };
  }

  move(random: Random, moment: Moment): Moved {
    const { address, bornIn } = this.facts;
    const trader = digest(`trader ${random.int(0, 5)}`, 20);
    if (random.chance(0.05)) return { drafts: [oddity(random, address, topicOf(trader))], after: this };
    const { topic, words, after, isSetting = false } = this.draw(random, moment, bornIn === moment.blockId);
    const isPlain = isSetting || this.books.kind === 'new';
    const draft: Draft = {
      address,
      topics: isPlain ? [topic] : [topic, topicOf(trader)],
      data: isPlain && !isSetting ? dataOf(trader, ...words) : dataOf(...words),
    };
    const isTrade = topic === EXCHANGE || topic === REMOVE_ONE || topic === TOPIC.add[this.place];
    const tradedAt = isTrade ? moment.timestamp : this.tradedAt;
    return { drafts: [draft], after: new CryptoPool(this.facts, after, tradedAt) };
  }

  /** The node tells the settings at the end of the block of the creation, so no event changes them in that block. */
  private draw(random: Random, { timestamp }: Moment, isNewborn: boolean): CryptoAction {
    const { books } = this;
    if (!isNewborn && random.chance(0.12)) return this.drawSetting(random, timestamp);
    if (books.supply === 0n) return this.drawAdd(random, timestamp, isNewborn)!;
    if (!isNewborn && random.chance(0.08)) {
      const claim = this.drawClaim(random, timestamp);
      if (claim !== null) return claim;
    }
    const action = random.chance(0.15)
      ? this.drawAdd(random, timestamp, isNewborn)
      : random.chance(0.12)
        ? this.drawRemoveOne(random, timestamp, isNewborn)
        : random.chance(0.1)
          ? null
          : this.drawExchange(random, timestamp, isNewborn);
    // What the contract refuses, or what makes the balances too unequal, becomes a balanced withdrawal.
    return action ?? this.payOut((books.supply * BigInt(random.int(1, 300))) / 1_000n);
  }

  private drawExchange(random: Random, timestamp: number, isNewborn: boolean): CryptoAction | null {
    const { books } = this;
    const i = random.int(0, books.balances.length - 1);
    const j = (i + random.int(1, books.balances.length - 1)) % books.balances.length;
    const sold = 1n + (books.balances[i]! * BigInt(random.int(1, 1_000))) / 10_000n;
    const done = cryptoExchange(books, i, j, sold, timestamp);
    if (done === null || done.bought <= 0n) return null;
    const { bought, fee } = done;
    const moves = books.balances.map((_, index) => (index === i ? sold : index === j ? -bought : 0n));
    const after = this.settled(random, this.moved(moves), null, timestamp, isNewborn);
    const words = [BigInt(i), sold, BigInt(j), bought, fee, packed(after ?? books)];
    return after === null ? null : { topic: EXCHANGE, words, after };
  }

  private drawAdd(random: Random, timestamp: number, isNewborn: boolean): CryptoAction | null {
    const { books, facts } = this;
    const value = random.int(1_000, 10_000_000) / 1_000;
    const isEven = books.supply === 0n || random.chance(0.5);
    const amounts = facts.tokens.map((token, k) => {
      const price = k === 0 ? 1 : Number(books.priceScale[k - 1]) / 1e18;
      const share = isEven ? 0.9 + 0.2 * random.next() : 0.2 * random.next();
      return (
        BigInt(Math.ceil(((1_000_000 + value) * share * 1e6) / price)) * 10n ** BigInt(simDecimals(token))
      );
    });
    const given = amounts.map((amount) => amount / 1_000_000n + 1n);
    const next = { ...books, balances: this.moved(given).balances };
    const d = solveD(shapeAt(books, timestamp), scaled(next));
    const before = books.supply === 0n ? 0n : dAt(books, timestamp);
    const minted = before === 0n ? d / 2n : (books.supply * d) / before - books.supply;
    const kept = before === 0n ? 0n : minted / 1_000n + 1n;
    if (minted <= kept) return null;
    const supplied = { ...next, supply: books.supply + minted - kept };
    const after = this.settled(random, supplied, d, timestamp, isNewborn || before === 0n);
    const words = [...given, kept, supplied.supply, packed(after ?? books)];
    return after === null ? null : { topic: TOPIC.add[this.place], words, after };
  }

  private drawRemoveOne(random: Random, timestamp: number, isNewborn: boolean): CryptoAction | null {
    const { books } = this;
    const coin = random.int(0, books.balances.length - 1);
    const shares = (books.supply * BigInt(random.int(1, 60))) / 1_000n;
    // The contract of 2025 has another function.
    const done = books.kind === 'new' ? null : cryptoRemoveOne(books, coin, shares, timestamp);
    if (done === null || done.amount <= 0n) return null;
    const moves = books.balances.map((_, index) => (index === coin ? -done.amount : 0n));
    const next = { ...this.moved(moves), supply: books.supply - shares };
    const after = this.settled(random, next, done.d, timestamp, isNewborn, done.xs);
    const words = [shares, BigInt(coin), done.amount, 0n, packed(after ?? books)];
    return after === null ? null : { topic: REMOVE_ONE, words, after };
  }

  private payOut(burned: bigint): CryptoAction {
    const { books } = this;
    const [supply, counted] = [books.supply - burned, burned - 1n];
    const amounts = books.balances.map((balance) => (balance * counted) / books.supply);
    const d = books.d - (books.d * counted) / books.supply;
    const after = { ...this.moved(amounts.map((amount) => -amount)), supply, d };
    return { topic: TOPIC.remove[this.place], words: [...amounts, supply], after };
  }

  /** The owner gets LP tokens of a pool of three tokens, and tokens of another one. Sometimes there is a donation instead. */
  private drawClaim(random: Random, timestamp: number): CryptoAction | null {
    const { books } = this;
    if (books.kind === 'three') {
      const minted = books.supply / 10_000n + 1n;
      const d = solveD(shapeAt(books, timestamp), scaled(books));
      const after = { ...books, supply: books.supply + minted, d };
      return { topic: TOPIC.claim[1], words: [minted], after };
    }
    if (books.kind === 'new' && random.chance(0.5)) {
      const given = books.balances.map((balance) => balance / 1_000n);
      const next = this.moved(given);
      const d = solveD(shapeAt(books, timestamp), scaled(next));
      // The donation counts as LP tokens of nobody, which no event tells.
      const after = { ...next, d, supply: books.supply + books.supply / 1_000n };
      return { topic: DONATION, words: given, after };
    }
    // The amounts must tell the part of D, which the event does not name.
    if (isRamping(books, timestamp) || !books.precisions.includes(1n)) return null;
    const shares = books.supply / BigInt(random.int(1_000, 9_000));
    const amounts = books.balances.map((balance) => (balance * shares) / (books.supply + shares));
    const largest = amounts.reduce((best, each, index) => (each > amounts[best]! ? index : best), 0);
    const d = books.d - (books.d * amounts[largest]!) / books.balances[largest]!;
    const after = { ...this.moved(amounts.map((amount) => -amount)), d };
    return { topic: TOPIC.claim[0], words: amounts, after };
  }

  private drawSetting(random: Random, timestamp: number): CryptoAction {
    const { books } = this;
    const [now, from] = [BigInt(timestamp), shapeAt(books, timestamp)];
    const isSetting = true;
    if (random.chance(0.4)) {
      const fees = drawFees(random);
      const isLong = books.kind === 'two';
      const words = [fees.midFee, fees.outFee, fees.feeGamma, 0n, 0n, 0n, ...(isLong ? [0n] : [])];
      return { topic: TOPIC.fees[isLong ? 0 : 1], words, after: { ...books, ...fees }, isSetting };
    }
    if (random.chance(0.4)) {
      const after = { ...books, ramp: { from, to: from, begin: now, end: now } };
      return { topic: STOP, words: [from.amp, from.gamma, now], after, isSetting };
    }
    const part = (value: bigint): bigint => (value * BigInt(random.int(80, 125))) / 100n;
    const to = { amp: part(from.amp), gamma: part(from.gamma) };
    const end = now + BigInt(random.int(1, 48)) * HOUR;
    const words = [from.amp, to.amp, from.gamma, to.gamma, now, end];
    return { topic: RAMP, words, after: { ...books, ramp: { from, to, begin: now, end } }, isSetting };
  }

  /** The place of the topics of this pool. */
  private get place(): 0 | 1 {
    return this.books.kind === 'three' ? 1 : 0;
  }

  private moved(moves: readonly bigint[]): CryptoBooks {
    const { books } = this;
    return { ...books, balances: books.balances.map((balance, index) => balance + moves[index]!) };
  }

  /** The books with their D, sometimes at a new price scale. Null if the balances are too unequal. */
  private settled(
    random: Random,
    books: CryptoBooks,
    known: bigint | null,
    timestamp: number,
    keepsScale: boolean,
    xs = scaled(books),
  ): CryptoBooks | null {
    const sum = xs.reduce((total, x) => total + x, 0n);
    if (xs.some((x) => x * PART_MIN < sum)) return null;
    const isMoving = !keepsScale && random.chance(0.25);
    const priceScale = isMoving
      ? books.priceScale.map((price) => (price * BigInt(random.int(9_950, 10_050))) / 10_000n)
      : books.priceScale;
    return atScale(books, priceScale, xs, known, timestamp);
  }

  answer(to: Hex, data: Hex): Hex | 'revert' | null {
    const { address, tokens } = this.facts;
    if (to === CRYPTO_FACTORY)
      return data === `${COINS_OF}${dataOf(address).slice(2)}` ? dataOf(...tokens) : null;
    return to === address ? (this.answerOfPool(data) ?? 'revert') : null;
  }

  private answerOfPool(data: Hex): Hex | null {
    const { books } = this;
    const { kind, ramp, balances, priceScale } = books;
    const [called, index] = [data.slice(0, 10), Number(`0x${data.slice(10, 74) || '0'}`)];
    if (called === BALANCE_AT) return dataOf(balances[index]!);
    if (called === PRICE_AT) return kind === 'three' ? dataOf(priceScale[index]!) : null;
    const isEmpty = balances.every((balance) => balance === 0n);
    const values: Readonly<Record<string, bigint | null>> = {
      'initial_A_gamma()': (ramp.from.amp << HALF_BITS) | ramp.from.gamma,
      'future_A_gamma()': (ramp.to.amp << HALF_BITS) | ramp.to.gamma,
      'initial_A_gamma_time()': ramp.begin,
      'future_A_gamma_time()': ramp.end,
      'mid_fee()': books.midFee,
      'out_fee()': books.outFee,
      'fee_gamma()': books.feeGamma,
      'totalSupply()': books.supply,
      'D()': books.d,
      'fee()': isEmpty ? null : feeAt(books, scaled(books)),
      'price_scale()': kind === 'three' ? null : priceScale[0]!,
      'last_timestamp()': kind === 'three' ? null : BigInt(this.tradedAt),
      'last_prices_timestamp()': kind === 'three' ? BigInt(this.tradedAt) : null,
      'decimals()': 18n,
    };
    if (called === PRECISIONS) return dataOf(...books.precisions);
    const value = values[NAMES.get(called) ?? ''] ?? null;
    return value === null ? null : dataOf(value);
  }
}

const PRECISIONS = selectorOf('precisions()');
const NAMES = new Map(
  ['initial_A_gamma()', 'future_A_gamma()', 'initial_A_gamma_time()', 'future_A_gamma_time()']
    .concat('mid_fee()', 'out_fee()', 'fee_gamma()', 'totalSupply()', 'D()', 'fee()', 'decimals()')
    .concat('price_scale()', 'last_timestamp()', 'last_prices_timestamp()')
    .map((name) => [selectorOf(name), name]),
);

function drawFees(random: Random): Pick<CryptoBooks, 'midFee' | 'outFee' | 'feeGamma'> {
  const midFee = BigInt(random.int(100, 5_000)) * 10_000n;
  return {
    midFee,
    outFee: random.pick([midFee, 2n * midFee, 45_000_000n + midFee]),
    feeGamma: random.pick([10n ** 14n, 5n * 10n ** 15n, 10n ** 16n]),
  };
}

/** The word with the price scale in an event. */
function packed({ priceScale: [first, second = 0n] }: CryptoBooks): bigint {
  return (second << HALF_BITS) | first!;
}

/** Malformed events. */
function oddity(random: Random, address: Hex, trader: Hex): Draft {
  return random.pick<Draft>([
    { address, topics: [EXCHANGE, trader], data: dataOf(0n, 5n, 0n, 7n, 1n, ONE) },
    { address, topics: [EXCHANGE, trader], data: dataOf(0n, 5n, 9n, 7n, 1n, ONE) },
    { address, topics: [EXCHANGE, trader], data: dataOf(0n, 5n, 1n, 7n) },
    { address, topics: [EXCHANGE], data: dataOf(0n, 5n, 1n, 7n) },
    { address, topics: [STOP], data: dataOf(5n) },
  ]);
}
