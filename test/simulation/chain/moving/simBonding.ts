/**
 * Bonding curves of the simulated chain, as those of Virtuals Protocol. Their events name no trader, and Transfers tell their
 * balances. A curve ends in a transaction that moves all its tokens into a new V2 pair.
 */
import type { Hex } from '../../../../src/domain/hex';
import type { Random } from '../../../support/random';
import { selectorOf, type Birth, type Moment, type Moved, type MovingPool } from './movingPool';
import { dataOf, digest, topicOf, type Draft } from '../../../support/plainLogs';
import { simDecimals } from '../simTokens';

export const BONDING_FACTORY: Hex = `0x${'ef'.repeat(20)}`;
/** Tax of a sale, which the factory tells for all its pools, and pips per percent. */
const SELL_TAX = 3n;
export const BONDING_FEE_PIPS = 30_000;

const TOPIC = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  pairCreated: '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9',
  mint: '0xcc9c58b575eabd3f6a1ee653e91fcea3ff546867ffc3782a3bbca1f9b6dbb8df',
  swap: '0x298c349c742327269dc8de6ad66687767310c948ea309df826f5bd103e19d207',
  v2Sync: '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  v2Mint: '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f',
} as const satisfies Record<string, Hex>;

const CALL = {
  tokenA: selectorOf('tokenA()'),
  tokenB: selectorOf('tokenB()'),
  reserves: selectorOf('getReserves()'),
  balance: selectorOf('balanceOf(address)'),
  getPair: selectorOf('getPair(address,address)'),
  sellTax: selectorOf('sellTax()'),
};

/** Above this product of the virtual reserves, √price and liquidity tell them exactly enough. */
const PRODUCT_MIN = 10n ** 36n;

type Amounts = readonly [bigint, bigint];

interface BondingFacts {
  readonly address: Hex;
  readonly token0: Hex;
  readonly token1: Hex;
  /** The first virtual reserves. Nodes answer them for an older pool, because they are asked at different blocks. */
  readonly first: Amounts;
}

interface BondingBooks {
  readonly stage: 'new' | 'open' | 'ended';
  readonly virtual: Amounts;
  readonly balances: Amounts;
}

export class BondingPool implements MovingPool {
  constructor(
    readonly facts: BondingFacts,
    private readonly books: BondingBooks,
  ) {}

  static create({ random, moment, token }: Birth): Moved {
    const address = digest(`bonding ${moment.id}`, 20);
    const tokens = { token0: token(0), token1: token(6) };
    let first: Amounts = [0n, 0n];
    while (first[0] * first[1] < PRODUCT_MIN) {
      Object.assign(tokens, { token0: token(random.int(0, 5)), token1: token(random.int(6, 11)) });
      const amountOf = (one: Hex): bigint =>
        BigInt(random.int(1_000, 90_000_000)) * 10n ** BigInt(simDecimals(one));
      first = [amountOf(tokens.token0), amountOf(tokens.token1)];
    }
    const books = { stage: 'new', virtual: first, balances: [0n, 0n] } as const;
    const pool = new BondingPool({ address, ...tokens, first }, books);
    const topics = [TOPIC.pairCreated, topicOf(tokens.token0), topicOf(tokens.token1)];
    const created = { address: BONDING_FACTORY, topics, data: dataOf(address, 1n) };
    if (random.chance(0.2)) return { drafts: [created], after: pool };
    const { drafts, after } = pool.open(digest('launcher', 20));
    return { drafts: [created, ...drafts], after };
  }

  get address(): Hex {
    return this.facts.address;
  }

  get key(): string {
    return `bonding ${this.facts.token0} ${this.facts.token1}`;
  }

  move(random: Random, { v2Factory }: Moment): Moved {
    const { books, facts } = this;
    const trader = digest(`trader ${random.int(0, 5)}`, 20);
    if (random.chance(0.06)) return { drafts: [this.oddity(random)], after: this };
    if (random.chance(0.1) || books.stage === 'ended') {
      // A gift, which no event tells.
      const isToken0 = random.chance(0.5);
      const gift = facts.first[isToken0 ? 0 : 1] / BigInt(random.int(100, 10_000)) + 1n;
      return this.moved([], isToken0 ? [gift, 0n] : [0n, gift], trader);
    }
    if (books.stage === 'new') return this.open(trader);
    const isBuy = random.chance(0.6);
    const bought = isBuy ? null : this.sell(random, trader);
    if (bought !== null) return bought;
    const buy = this.buy(random, trader);
    if (!random.chance(0.04)) return buy;
    const end = buy.after.end(trader, v2Factory);
    return { drafts: [...buy.drafts, ...end.drafts], after: end.after };
  }

  /** The first virtual reserves. The token comes from the launcher. */
  private open(launcher: Hex): { readonly drafts: readonly Draft[]; readonly after: BondingPool } {
    const { first } = this.facts;
    const mint = { address: this.address, topics: [TOPIC.mint], data: dataOf(...first) };
    return this.moved([mint], [first[0], 0n], launcher, { stage: 'open' });
  }

  private buy(random: Random, trader: Hex) {
    const [virtual0, virtual1] = this.books.virtual;
    const paid = (virtual1 * BigInt(random.int(1, 200))) / 1_000n + 1n;
    const out = (virtual0 * paid) / (virtual1 + paid);
    return this.trade([0n, out, paid, 0n], [-out, paid], trader);
  }

  /** Null if the pool cannot pay. */
  private sell(random: Random, trader: Hex) {
    const { virtual, balances } = this.books;
    const sold = (virtual[0] * BigInt(random.int(1, 100))) / 1_000n + 1n;
    const out = (virtual[1] * sold) / (virtual[0] + sold);
    return out > balances[1] ? null : this.trade([sold, 0n, 0n, out], [sold, -out], trader);
  }

  private trade(words: readonly bigint[], deltas: Amounts, trader: Hex) {
    const { virtual } = this.books;
    const swap = { address: this.address, topics: [TOPIC.swap], data: dataOf(...words) };
    const after: Amounts = [virtual[0] + deltas[0], virtual[1] + deltas[1]];
    return this.moved([swap], deltas, trader, { virtual: after });
  }

  /** All tokens leave the pool, and open a pair of the DEX. */
  private end(launcher: Hex, v2Factory: Hex): Moved {
    const { address, token0, token1 } = this.facts;
    const [balance0, balance1] = this.books.balances;
    const pair = digest(`ended ${address}`, 20);
    const topics = [TOPIC.pairCreated, topicOf(token0), topicOf(token1)];
    const opened = { address: v2Factory, topics, data: dataOf(pair, 1n) };
    const own = (topic: Hex, others: readonly Hex[]): Draft => ({
      address: pair,
      topics: [topic, ...others],
      data: dataOf(balance0, balance1),
    });
    const { drafts, after } = this.moved([], [-balance0, -balance1], launcher, { stage: 'ended' });
    const mint = own(TOPIC.v2Mint, [topicOf(launcher)]);
    return { drafts: [...drafts, opened, own(TOPIC.v2Sync, []), mint], after };
  }

  /** These events, after the Transfers of both amounts from the trader or to it. */
  private moved(events: readonly Draft[], deltas: Amounts, trader: Hex, changes: Partial<BondingBooks> = {}) {
    const { address, token0, token1 } = this.facts;
    const { balances } = this.books;
    const transfer = (token: Hex, amount: bigint): Draft[] => {
      const [from, to] = amount > 0n ? [trader, address] : [address, trader];
      const data = dataOf(amount > 0n ? amount : -amount);
      const topics = [TOPIC.transfer, topicOf(from), topicOf(to)];
      return amount === 0n ? [] : [{ address: token, topics, data }];
    };
    const after: Amounts = [balances[0] + deltas[0], balances[1] + deltas[1]];
    return {
      // The asset moves before the token.
      drafts: [...transfer(token1, deltas[1]), ...transfer(token0, deltas[0]), ...events],
      after: new BondingPool(this.facts, { ...this.books, balances: after, ...changes }),
    };
  }

  /** Malformed events, and a second Mint, which has no effect. */
  private oddity(random: Random): Draft {
    const { address } = this;
    const drafts: Draft[] = [
      { address, topics: [TOPIC.swap], data: dataOf(5n, 0n, 0n) },
      { address, topics: [TOPIC.swap, topicOf(address)], data: dataOf(5n, 0n, 0n, 7n) },
      { address, topics: [TOPIC.swap], data: dataOf(1n << 128n, 0n, 0n, 7n) },
      { address, topics: [TOPIC.mint], data: dataOf(0n, 7n) },
    ];
    return random.pick(drafts);
  }

  answer(to: Hex, data: Hex): Hex | 'revert' | null {
    const { address, token0, token1, first } = this.facts;
    const called = data.slice(0, 10);
    if (to === BONDING_FACTORY) {
      if (called === CALL.sellTax) return dataOf(SELL_TAX);
      return data === `${CALL.getPair}${dataOf(token0, token1).slice(2)}` ? dataOf(address) : null;
    }
    if (data === `${CALL.balance}${dataOf(address).slice(2)}` && (to === token0 || to === token1))
      return dataOf(bondingBalances(first)[to === token0 ? 0 : 1]);
    if (to !== address) return null;
    switch (called) {
      case CALL.tokenA:
        return dataOf(token0);
      case CALL.tokenB:
        return dataOf(token1);
      case CALL.reserves:
        return dataOf(...first);
      default:
        return 'revert';
    }
  }
}

/** What nodes answer as balances of an older pool: more than leaves it by trades. */
export const bondingBalances = ([first0, first1]: Amounts): Amounts => [4n * first0, 4n * first1];
