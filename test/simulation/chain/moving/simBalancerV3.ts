/** Pools of a Balancer V3 vault of the simulated chain, weighted and stable. Their tokens have no rates. */
import type { Hex } from '../../../../src/domain/hex';
import { v3Out, V3_REGISTERED, type V3Books } from '../../../support/oracle/oracleBalancerV3';
import type { Random } from '../../../support/random';
import { selectorOf, type Birth, type Moment, type Moved, type MovingPool } from './movingPool';
import { arrayData, dataOf, digest, topicOf, type Draft } from '../../../support/plainLogs';
import { usualAmount } from '../simStable';
import { simDecimals } from '../simTokens';
import { randomWeights } from '../simVault';

export const V3_VAULT: Hex = `0x${'bb'.repeat(20)}`;

const TOPIC = {
  swap: '0x0874b2d545cb271cdbda4e093020c452328b24af12382ed62c4d00f5c26709db',
  mint: '0xa26a52d8d53702bba7f137907b8e1f99ff87f6d450144270ca25e72481cca871',
  burn: '0xfbe5b0d79fb94f1e81c0a92bf86ae9d3a19e9d1bf6202c0d3e75120f65d5d8a5',
  swapFee: '0x89d41522342fabac1471ca6073a5623e5caf367b03ca6e9a001478d0cf8be4a1',
  keptPart: '0xe4d371097beea42453a37406e2aef4c04f3c548f84ac50e72578662c0dcd7354',
  recovery: '0xc2354cc2f78ea57777e55ddd43a7f22b112ce98868596880edaeb22b4f9c73a9',
  amp: '0xa0d01593e47e69d07e0ccd87bece09411e07dd1ed40ca8f2e7af2976542a0233',
} as const satisfies Record<string, Hex>;

/** Calls to the vault, each with the address of a pool, and calls to a pool. */
const CALL = {
  tokens: selectorOf('getPoolTokens(address)'),
  info: selectorOf('getPoolTokenInfo(address)'),
  rates: selectorOf('getPoolTokenRates(address)'),
  hooks: selectorOf('getHooksConfig(address)'),
  config: selectorOf('getPoolConfig(address)'),
  weights: selectorOf('getNormalizedWeights()'),
  amp: selectorOf('getAmplificationParameter()'),
};

const ONE = 10n ** 18n;
const AMP_UNIT = 1_000n;
/** Words of PoolRegistered before the list of tokens. */
const HEADS = 21;

interface V3Facts {
  readonly address: Hex;
  readonly tokens: readonly Hex[];
  readonly bornIn: number;
}

export class BalancerV3Pool implements MovingPool {
  constructor(
    readonly facts: V3Facts,
    readonly books: V3Books,
  ) {}

  static create({ random, moment, token }: Birth): Moved {
    const isStable = random.chance(0.4);
    const tokens = new Set<Hex>();
    for (const count = random.int(2, 4); tokens.size < count;) {
      const one = token(random.int(0, 11));
      // The vault accepts tokens of at most 18 decimals.
      if (simDecimals(one) <= 18) tokens.add(one);
    }
    const coins = [...tokens].sort();
    const books: V3Books = {
      weights: isStable ? [] : randomWeights(random, coins.length),
      amp: isStable ? drawAmp(random) : 0n,
      factors: coins.map((coin) => 10n ** BigInt(18 - simDecimals(coin))),
      swapFee: drawFee(random),
      keptPart: random.pick([0n, ONE / 2n, ONE / 10n]),
      isRecovering: false,
      balances: coins.map(() => 0n),
    };
    const facts = { address: digest(`balancer v3 ${moment.id}`, 20), tokens: coins, bornIn: moment.blockId };
    const pool = new BalancerV3Pool(facts, books);
    return { drafts: [pool.registration()], after: pool };
  }

  get address(): Hex {
    return this.facts.address;
  }

  get key(): string {
    return `balancer v3 ${this.address}`;
  }

  private registration(): Draft {
    const { address, tokens } = this.facts;
    const heads = [BigInt(32 * HEADS), this.books.swapFee, ...Array.from({ length: HEADS - 2 }, () => 0n)];
    // Type, rate provider and yield fees of a token are 0.
    const list = tokens.flatMap((token) => [token, 0n, 0n, 0n]);
    const topics = [V3_REGISTERED as Hex, topicOf(address), topicOf(digest('v3 factory', 20))];
    return { address: V3_VAULT, topics, data: dataOf(...heads, BigInt(tokens.length), ...list) };
  }

  move(random: Random, moment: Moment): Moved {
    const { books, facts } = this;
    const trader = topicOf(digest(`trader ${random.int(0, 5)}`, 20));
    if (random.chance(0.05)) return { drafts: [this.oddity(random, trader)], after: this };
    if (facts.bornIn !== moment.blockId && random.chance(0.12)) return this.set(random);
    const isEmpty = books.balances.some((balance) => balance === 0n);
    if (isEmpty || random.chance(0.15)) {
      const amounts = facts.tokens.map((token) => usualAmount(token, random.big(60)));
      return this.change('mint', trader, amounts, isEmpty);
    }
    if (random.chance(0.15)) {
      const part = BigInt(random.int(1, 300));
      const amounts = books.balances.map((balance) => (balance * part) / 1_000n);
      return this.change('burn', trader, amounts, random.chance(0.5));
    }
    return this.swap(random);
  }

  private swap(random: Random): Moved {
    const { books } = this;
    const { address, tokens } = this.facts;
    const i = random.int(0, tokens.length - 1);
    const j = (i + random.int(1, tokens.length - 1)) % tokens.length;
    const sold = 1n + (books.balances[i]! * BigInt(random.int(1, 300))) / 1_000n;
    // A hook may choose the fee of a swap.
    const fee = random.chance(0.2) ? drawFee(random) : books.swapFee;
    const fair = v3Out(books, i, j, sold, fee);
    const isUnfair = random.chance(0.01) && sold > 1_000n && fair > 1_000n;
    const bought = isUnfair ? fair / 2n : fair;
    const taken = (sold * fee + ONE - 1n) / ONE;
    const moves = tokens.map((_, index) =>
      index === i ? sold - this.keptOf(taken) : index === j ? -bought : 0n,
    );
    const topics = [TOPIC.swap, topicOf(address), topicOf(tokens[i]!), topicOf(tokens[j]!)];
    const draft = { address: V3_VAULT, topics, data: dataOf(sold, bought, fee, taken) };
    return { drafts: [draft], after: this.moved(moves) };
  }

  private change(kind: 'mint' | 'burn', trader: Hex, amounts: readonly bigint[], isFree: boolean): Moved {
    const fees = amounts.map((amount) => (isFree ? 0n : amount / 2_000n));
    const moves = amounts.map(
      (amount, index) => (kind === 'mint' ? amount : -amount) - this.keptOf(fees[index]!),
    );
    const topics = [TOPIC[kind], topicOf(this.address), trader, topicOf(1n)];
    const second = BigInt(32 * (4 + amounts.length));
    const count = BigInt(amounts.length);
    const data = dataOf(5n * ONE, 96n, second, count, ...amounts, count, ...fees);
    return { drafts: [{ address: V3_VAULT, topics, data }], after: this.moved(moves) };
  }

  private set(random: Random): Moved {
    const { books, facts } = this;
    const name = random.pick(['swapFee', 'keptPart', 'recovery', 'amp'] as const);
    const changed = (value: bigint, after: Partial<V3Books>): Moved => ({
      drafts: [{ address: V3_VAULT, topics: [TOPIC[name], topicOf(facts.address)], data: dataOf(value) }],
      after: new BalancerV3Pool(facts, { ...books, ...after }),
    });
    if (name === 'amp') {
      if (books.weights.length > 0) return { drafts: [], after: this };
      const amp = drawAmp(random);
      const draft = { address: facts.address, topics: [TOPIC.amp], data: dataOf(amp) };
      return { drafts: [draft], after: new BalancerV3Pool(facts, { ...books, amp }) };
    }
    if (name === 'recovery')
      return changed(books.isRecovering ? 0n : 1n, { isRecovering: !books.isRecovering });
    const value = name === 'swapFee' ? drawFee(random) : random.pick([0n, ONE / 2n, ONE / 10n]);
    return changed(value, { [name]: value });
  }

  private keptOf(fee: bigint): bigint {
    return this.books.isRecovering ? 0n : (fee * this.books.keptPart) / ONE;
  }

  private moved(moves: readonly bigint[]): BalancerV3Pool {
    const { books } = this;
    const balances = books.balances.map((balance, index) => balance + moves[index]!);
    return new BalancerV3Pool(this.facts, { ...books, balances });
  }

  /** Malformed events, and events of another vault or pool. */
  private oddity(random: Random, trader: Hex): Draft {
    const { address, tokens } = this.facts;
    const stranger = digest(`stranger ${random.int(0, 9)}`, 20);
    const swap = {
      address: V3_VAULT,
      topics: [TOPIC.swap, topicOf(address), topicOf(tokens[0]!), topicOf(tokens[1]!)],
      data: dataOf(5n, 7n, ONE / 100n, 1n),
    };
    return random.pick<Draft>([
      { ...swap, address: stranger },
      { ...swap, topics: [TOPIC.swap, topicOf(stranger), ...swap.topics.slice(2)] },
      { ...swap, topics: swap.topics.slice(0, 3) },
      { ...swap, data: dataOf(5n, 7n, 2n * ONE, 1n) },
      { address: V3_VAULT, topics: [TOPIC.mint, topicOf(address), trader, topicOf(1n)], data: dataOf(5n) },
      { address: V3_VAULT, topics: [TOPIC.amp], data: dataOf(5n) },
    ]);
  }

  answer(to: Hex, data: Hex): Hex | 'revert' | null {
    const { address } = this.facts;
    const called = data.slice(0, 10);
    if (to === V3_VAULT)
      return data.slice(10) === topicOf(address).slice(2) ? this.answerOfVault(called) : null;
    if (to !== address) return null;
    const { weights, amp } = this.books;
    if (called === CALL.weights) return weights.length > 0 ? arrayData([weights]) : 'revert';
    if (called === CALL.amp) return weights.length > 0 ? 'revert' : dataOf(amp, 0n, AMP_UNIT);
    return 'revert';
  }

  private answerOfVault(called: string): Hex | 'revert' {
    const { tokens } = this.facts;
    const { balances, factors, swapFee, keptPart, isRecovering } = this.books;
    const zeros = (length: number): bigint[] => Array.from({ length }, () => 0n);
    switch (called) {
      case CALL.tokens:
        return arrayData([tokens]);
      case CALL.info: {
        const count = BigInt(tokens.length);
        const infosAt = 128n + 32n * (1n + count);
        const balancesAt = infosAt + 32n * (1n + 3n * count);
        const offsets = [128n, infosAt, balancesAt, balancesAt + 32n * (1n + count)];
        const infos = zeros(3 * tokens.length);
        return dataOf(...offsets, count, ...tokens, count, ...infos, count, ...balances, count, ...balances);
      }
      case CALL.rates:
        return arrayData([factors, factors.map(() => ONE)]);
      case CALL.hooks:
        return dataOf(...zeros(12));
      case CALL.config:
        return dataOf(...zeros(4), swapFee, keptPart, ...zeros(6), isRecovering ? 1n : 0n);
      default:
        return 'revert';
    }
  }
}

const drawAmp = (random: Random): bigint => AMP_UNIT * BigInt(random.int(1, 5_000));

/** At most 9 %, not always a whole number of pips. */
const drawFee = (random: Random): bigint =>
  random.pick([3n * 10n ** 15n, 10n ** 12n, BigInt(random.int(1, 900)) * 10n ** 14n + random.big(40)]);
