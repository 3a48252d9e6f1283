/** Camelot V2 pools of the simulated chain: fees by direction, and a curve that the owner switches. */
import type { Hex } from '../../../../src/domain/hex';
import type { Random } from '../../../support/random';
import { selectorOf, type Birth, type Moved, type MovingPool } from './movingPool';
import { dataOf, digest, topicOf, type Draft } from '../../../support/plainLogs';
import { simDecimals } from '../simTokens';

export const CAMELOT_FACTORY: Hex = `0x${'f8'.repeat(20)}`;

const TOPIC = {
  pairCreated: '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9',
  sync: '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  swap: '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
  mint: '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f',
  burn: '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496',
  fees: '0xa4877b8ecb5a00ba277e4bceeeb187a669e7113649774dfbea05c259ce27f17b',
  curve: '0xb6a86710bde53aa7fb1b3856279e2af5b476d53e2dd0902cf17a0911b5a43a8b',
} as const satisfies Record<string, Hex>;

const CALL = {
  token0: selectorOf('token0()'),
  token1: selectorOf('token1()'),
  reserves: selectorOf('getReserves()'),
  stable: selectorOf('stableSwap()'),
  unit0: selectorOf('precisionMultiplier0()'),
  unit1: selectorOf('precisionMultiplier1()'),
  getPair: selectorOf('getPair(address,address)'),
};

/** Nodes are asked at different blocks, so the answers of a pool never change. They count for older pools only. */
interface Answers {
  /** In units of 1/100,000. */
  readonly fees: readonly [bigint, bigint];
  readonly isStable: boolean;
  readonly tellsUnits: boolean;
}

export class CamelotPool implements MovingPool {
  constructor(
    readonly address: Hex,
    readonly token0: Hex,
    readonly token1: Hex,
    readonly answers: Answers,
    private readonly isStable = false,
  ) {}

  static create({ random, moment, token }: Birth): Moved {
    const address = digest(`camelot ${moment.id}`, 20);
    const [token0, token1] = [token(random.int(0, 5)), token(random.int(6, 11))];
    const answers = {
      fees: [drawFee(random), drawFee(random)] as const,
      isStable: random.chance(0.4),
      tellsUnits: random.chance(0.85),
    };
    const topics = [TOPIC.pairCreated, topicOf(token0), topicOf(token1)];
    const draft = { address: CAMELOT_FACTORY, topics, data: dataOf(address, 1n) };
    return { drafts: [draft], after: new CamelotPool(address, token0, token1, answers) };
  }

  get key(): string {
    return `camelot ${this.token0} ${this.token1}`;
  }

  move(random: Random): Moved {
    const { address } = this;
    const own = (topics: readonly Hex[], ...values: bigint[]): Draft => ({
      address,
      topics,
      data: dataOf(...values),
    });
    const stay = (...drafts: readonly Draft[]): Moved => ({ drafts, after: this });
    const trader = topicOf(digest(`trader ${random.int(0, 5)}`, 20));
    if (random.chance(0.06))
      return stay(
        random.pick([
          own([TOPIC.fees], 5n, 5n, 5n),
          own([TOPIC.fees, trader], 5n, 5n),
          own([TOPIC.curve], 0n, 2n),
          own([TOPIC.sync], 5n, 7n, 9n),
          own([TOPIC.swap, trader], 5n, 0n, 0n, 7n),
        ]),
      );
    if (random.chance(0.15)) return stay(own([TOPIC.fees], drawFee(random), drawFee(random)));
    if (random.chance(0.15)) {
      const isStable = random.chance(0.5);
      const draft = own([TOPIC.curve], this.isStable ? 1n : 0n, isStable ? 1n : 0n);
      const after = new CamelotPool(address, this.token0, this.token1, this.answers, isStable);
      return { drafts: [draft], after };
    }
    const sync = own([TOPIC.sync], random.big(100), random.big(100));
    const [a, b] = [random.big(90), random.big(90)];
    if (random.chance(0.1)) return stay(sync, own([TOPIC.mint, trader], a, b));
    if (random.chance(0.1)) return stay(sync, own([TOPIC.burn, trader, topicOf(digest('payee', 20))], a, b));
    const amounts = random.chance(0.5) ? [a, 0n, 0n, b] : [0n, a, b, 0n];
    const swap = own([TOPIC.swap, trader, topicOf(digest('payee', 20))], ...amounts);
    // Sometimes a swap has no Sync event, and therefore no price.
    if (random.chance(0.05)) return stay(swap);
    // The fee of a swap is the one before its Sync.
    const fees = own([TOPIC.fees], drawFee(random), drawFee(random));
    return random.chance(0.05) ? stay(sync, fees, swap) : stay(sync, swap);
  }

  answer(to: Hex, data: Hex): Hex | 'revert' | null {
    const { address, token0, token1, answers } = this;
    const called = data.slice(0, 10);
    if (to === CAMELOT_FACTORY)
      return data === `${CALL.getPair}${dataOf(token0, token1).slice(2)}` ? dataOf(address) : null;
    if (to !== address) return null;
    switch (called) {
      case CALL.token0:
        return dataOf(token0);
      case CALL.token1:
        return dataOf(token1);
      case CALL.reserves:
        return dataOf(0n, 0n, ...answers.fees);
      case CALL.stable:
        return dataOf(answers.isStable ? 1n : 0n);
      case CALL.unit0:
      case CALL.unit1: {
        const decimals = simDecimals(called === CALL.unit0 ? token0 : token1);
        return answers.tellsUnits ? dataOf(10n ** BigInt(decimals)) : 'revert';
      }
      default:
        return 'revert';
    }
  }
}

const drawFee = (random: Random): bigint => BigInt(random.pick([1, 30, 300, 2_000, random.int(1, 2_000)]));
