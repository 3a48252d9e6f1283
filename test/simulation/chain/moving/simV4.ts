/** Uniswap V4 pools of the simulated chain. The manager emits all events, and topic 1 is the id of the pool. */
import type { Hex } from '../../../../src/domain/hex';
import type { Random } from '../../../support/random';
import type { Birth, Moved, MovingPool } from './movingPool';
import { dataOf, digest, topicOf, type Draft } from '../simLogs';

export const V4_MANAGER: Hex = `0x${'fc'.repeat(20)}`;

const TOPIC = {
  initialize: '0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438',
  swap: '0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f',
  modify: '0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec',
  donate: '0x29ef05caaff9404b7cb6d1c0e9bbae9eaa7ab2541feba1a9c4248594c08156cb',
} as const satisfies Record<string, Hex>;

const ZERO: Hex = `0x${'0'.repeat(40)}`;
const DYNAMIC_FEE = 0x800000n;
const FEE_MAX = 1_000_000n;

/** Permissions in the last digits of a hook's address: before and after a swap, and the same with amounts of its own. */
const HOOK_BITS = [0x0080, 0x0040, 0x0080 | 0x0008, 0x0040 | 0x0004];

interface Place {
  readonly sqrtPrice: bigint;
  readonly tick: number;
}

export class V4Pool implements MovingPool {
  constructor(
    readonly id: Hex,
    private readonly token0: Hex,
    private readonly token1: Hex,
    private readonly hooks: Hex,
    private readonly isDynamic: boolean,
    private readonly place: Place,
  ) {}

  static create({ random, moment, token }: Birth): Moved {
    const id = digest(`v4 ${moment.id}`, 32);
    // The zero address is the native coin.
    const token0 = random.chance(0.25) ? ZERO : token(random.int(0, 5));
    const token1 = token(random.int(6, 11));
    const bits = random.pick(HOOK_BITS).toString(16).padStart(4, '0');
    const hooks: Hex = random.chance(0.5) ? ZERO : `0x${digest(`hook ${id}`, 18).slice(2)}${bits}`;
    const pool = new V4Pool(id, token0, token1, hooks, random.chance(0.3), drawPlace(random));
    return { drafts: [pool.initialize(random)], after: pool };
  }

  get address(): Hex {
    return `0x${this.id.slice(-40)}`;
  }

  get key(): string {
    return `v4 ${this.id}`;
  }

  private initialize(random: Random, id = this.id): Draft {
    const { token0, token1, hooks, isDynamic, place } = this;
    const fee = isDynamic ? DYNAMIC_FEE : BigInt(random.pick([100, 500, 3_000, 10_000, 1_000_000]));
    return {
      address: V4_MANAGER,
      topics: [TOPIC.initialize, id, topicOf(token0), topicOf(token1)],
      data: dataOf(fee, 60n, hooks, place.sqrtPrice, BigInt(place.tick)),
    };
  }

  move(random: Random): Moved {
    const sender = topicOf(digest(`trader ${random.int(0, 5)}`, 20));
    const draft = (topic: Hex, ...values: bigint[]): Draft => ({
      address: V4_MANAGER,
      topics: [topic, this.id, sender],
      data: dataOf(...values),
    });
    if (random.chance(0.08)) return { drafts: [this.oddity(random, draft)], after: this };
    if (random.chance(0.05))
      return { drafts: [draft(TOPIC.donate, random.big(60), random.big(60))], after: this };
    if (random.chance(0.35)) {
      const lower = random.pick([-600, 60 * Math.floor(this.place.tick / 60), 60 * random.int(-50, 50)]);
      const upper = lower + 60 * random.int(1, 20);
      // A change of 0 collects fees.
      const change = random.pick([1n, 1n, -1n, 0n]) * random.big(100);
      return {
        drafts: [draft(TOPIC.modify, BigInt(lower), BigInt(upper), change, 0n)],
        after: this,
      };
    }
    const place = drawPlace(random);
    const [a, b] = [random.big(100), random.big(100)];
    // The trader pays the negative amount.
    const amounts = random.chance(0.5) ? [-a, b] : [a, -b];
    const fee = BigInt(random.pick([0, 100, 3_000, 3_500, random.int(0, 1_000_000)]));
    const swap = draft(TOPIC.swap, ...amounts, place.sqrtPrice, random.big(110), BigInt(place.tick), fee);
    const after = new V4Pool(this.id, this.token0, this.token1, this.hooks, this.isDynamic, place);
    return { drafts: [swap], after };
  }

  /** Logs without effect: malformed events, events of another manager or pool, and a pool whose id ends like this one. */
  private oddity(random: Random, draft: (topic: Hex, ...values: bigint[]) => Draft): Draft {
    const stranger = digest(`stranger ${random.int(0, 9)}`, 20);
    const swap = draft(TOPIC.swap, -5n, 7n, 1n << 96n, 1n, 0n, 3_000n);
    return random.pick([
      draft(TOPIC.swap, -5n, 7n, 1n << 96n, 1n, 0n, FEE_MAX + 1n),
      draft(TOPIC.swap, -5n, 7n, 1n << 160n, 1n, 0n, 3_000n),
      draft(TOPIC.modify, 60n, -60n, 5n, 0n),
      draft(TOPIC.modify, -60n, 60n, 5n),
      { ...swap, address: stranger },
      { ...swap, topics: [TOPIC.swap, digest(`no pool ${stranger}`, 32), swap.topics[2]!] },
      this.initialize(random, `${digest(`twin ${this.id}`, 12)}${this.id.slice(-40)}`),
      this.initialize(random),
    ]);
  }

  answer(): null {
    return null;
  }
}

/** A price near the tick, so that the ranges of the positions decide what they hold. */
function drawPlace(random: Random): Place {
  const tick = random.int(-700, 700);
  return { tick, sqrtPrice: BigInt(Math.round(1.0001 ** ((tick + random.next()) / 2) * 2 ** 96)) };
}
