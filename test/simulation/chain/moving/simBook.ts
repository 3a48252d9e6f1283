/** Liquidity Book pools of the simulated chain. token0 is tokenX, whatever its address. */
import type { Hex } from '../../../../src/domain/hex';
import type { Random } from '../../../support/random';
import { selectorOf, type Birth, type Moved, type MovingPool } from './movingPool';
import { arrayData, dataOf, digest, topicOf, type Draft } from '../../../support/plainLogs';

export const BOOK_FACTORY: Hex = `0x${'f9'.repeat(20)}`;

const TOPIC = {
  created: '0x2c8d104b27c6b7f4492017a6f5cf3803043688934ebcaa6a03540beeaf976aff',
  swap: '0xad7d6f97abf51ce18e17a38f4d70e975be9c0708474987bb3e26ad21bd93ca70',
  deposited: '0x87f1f9dcf5e8089a3e00811b6a008d8f30293a3da878cb1fe8c90ca376402f8a',
  withdrawn: '0xa32e146844d6144a22e94c586715a1317d58a8aa3581ec33d040113ddcb24350',
  flashLoan: '0xd126bd9d94daca8e55ffd8283fac05394aec8326c6b1639e1e8a445fbe8bbc7d',
} as const satisfies Record<string, Hex>;

const CALL = {
  tokenX: selectorOf('getTokenX()'),
  tokenY: selectorOf('getTokenY()'),
  binStep: selectorOf('getBinStep()'),
  reserves: selectorOf('getReserves()'),
  activeId: selectorOf('getActiveId()'),
  staticFees: selectorOf('getStaticFeeParameters()'),
  variableFees: selectorOf('getVariableFeeParameters()'),
  information: selectorOf('getLBPairInformation(address,address,uint256)'),
};

/** The bin with the price 1. */
export const MIDDLE_ID = 2 ** 23;
/** Bins near the middle, whose exact prices are short fractions. */
const NEAR = 300;

/** Nodes are asked at different blocks, so the answers of a pool never change. They count for older pools only. */
interface Answers {
  readonly reserves: readonly [bigint, bigint];
  readonly activeId: number;
  readonly baseFactor: bigint;
}

export class BookPool implements MovingPool {
  constructor(
    readonly address: Hex,
    readonly tokenX: Hex,
    readonly tokenY: Hex,
    readonly binStep: number,
    readonly answers: Answers,
  ) {}

  static create({ random, moment, token }: Birth): Moved {
    const address = digest(`book ${moment.id}`, 20);
    const tokens = [token(random.int(0, 5)), token(random.int(6, 11))] as const;
    const [tokenX, tokenY] = random.chance(0.5) ? tokens : ([tokens[1], tokens[0]] as const);
    const answers = {
      reserves: [random.big(90), random.big(90)] as const,
      activeId: drawId(random),
      // A base fee above 10 % counts as unknown.
      baseFactor: random.chance(0.05) ? 1n << 30n : BigInt(random.int(1, 20_000)),
    };
    const pool = new BookPool(address, tokenX, tokenY, random.pick([1, 5, 10, 25, 100]), answers);
    const topics = [TOPIC.created, topicOf(tokenX), topicOf(tokenY), topicOf(BigInt(pool.binStep))];
    return { drafts: [{ address: BOOK_FACTORY, topics, data: dataOf(address, 1n) }], after: pool };
  }

  get key(): string {
    return `book ${[this.tokenX, this.tokenY].sort().join(' ')} ${this.binStep}`;
  }

  move(random: Random): Moved {
    const parties = [0, 1].map(() => topicOf(digest(`trader ${random.int(0, 5)}`, 20)));
    const draft = (topic: Hex, data: Hex): Moved => ({
      drafts: [{ address: this.address, topics: [topic, ...parties], data }],
      after: this,
    });
    if (random.chance(0.06)) return draft(TOPIC.swap, dataOf(5n, 7n));
    if (random.chance(0.3)) {
      const count = random.int(1, 4);
      const amounts = Array.from({ length: count }, () => pack(random.big(90), random.big(90)));
      const ids = amounts.map((_, index) => BigInt(MIDDLE_ID + index));
      return draft(random.chance(0.6) ? TOPIC.deposited : TOPIC.withdrawn, arrayData([ids, amounts]));
    }
    const [a, b] = [random.big(60) + 100n, random.big(60)];
    const fee = a / BigInt(random.int(10, 1_000));
    const kept = fee / 4n;
    if (random.chance(0.1)) {
      const values = [pack(a, b), pack(fee, 0n), pack(kept, 0n)];
      return draft(TOPIC.flashLoan, dataOf(BigInt(MIDDLE_ID), ...values));
    }
    // A swap that crosses bins has a log for each.
    const id = drawId(random);
    const count = random.int(1, 3);
    const swaps = Array.from({ length: count }, (_, index) => this.swap(random, parties, id + index));
    return { drafts: swaps, after: this };
  }

  /** The amount that stays in the bin has no part for the protocol. */
  private swap(random: Random, parties: readonly Hex[], id: number): Draft {
    const [amountIn, out] = [random.big(80), random.big(80)];
    const fee = (amountIn * BigInt(random.int(0, 100))) / 1_000n;
    const kept = fee / BigInt(random.int(1, 8));
    const isXIn = random.chance(0.5);
    const side = (value: bigint, isX: boolean): bigint => (isX ? pack(value, 0n) : pack(0n, value));
    const data = dataOf(
      BigInt(id),
      side(amountIn - kept, isXIn),
      side(out, !isXIn),
      BigInt(random.int(0, 1_000)),
      side(fee, isXIn),
      side(kept, isXIn),
    );
    return { address: this.address, topics: [TOPIC.swap, ...parties], data };
  }

  answer(to: Hex, data: Hex): Hex | 'revert' | null {
    const { address, tokenX, tokenY, binStep, answers } = this;
    if (to === BOOK_FACTORY) {
      const asked = `${CALL.information}${dataOf(tokenX, tokenY, BigInt(binStep)).slice(2)}`;
      return data === asked ? dataOf(BigInt(binStep), address, 1n, 0n) : null;
    }
    if (to !== address) return null;
    switch (data.slice(0, 10)) {
      case CALL.tokenX:
        return dataOf(tokenX);
      case CALL.tokenY:
        return dataOf(tokenY);
      case CALL.binStep:
        return dataOf(BigInt(binStep));
      case CALL.reserves:
        return dataOf(...answers.reserves);
      case CALL.activeId:
        return dataOf(BigInt(answers.activeId));
      case CALL.staticFees:
        return dataOf(answers.baseFactor, 0n, 0n, 0n, 0n, 0n, 0n);
      case CALL.variableFees:
        return dataOf(0n, 0n, 0n, 1n);
      default:
        return 'revert';
    }
  }
}

/** The bins at the ends have no price. */
export function drawId(random: Random): number {
  return random.chance(0.03) ? random.pick([1, 2 ** 24 - 8]) : MIDDLE_ID + random.int(-NEAR, NEAR);
}

export const pack = (x: bigint, y: bigint): bigint => (y << 128n) | x;
