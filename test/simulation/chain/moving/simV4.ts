/**
 * Uniswap V4 pools of the simulated chain, and CL pools of PancakeSwap Infinity. A manager emits all events, and topic 1 is the
 * id of the pool.
 */
import type { Hex } from '../../../../src/domain/hex';
import type { Random } from '../../../support/random';
import type { Birth, Moved, MovingPool } from './movingPool';
import { dataOf, digest, topicOf, type Draft } from '../../../support/plainLogs';

export const V4_MANAGER: Hex = `0x${'fc'.repeat(20)}`;

export const INFINITY_CL_MANAGER: Hex = `0x${'f0'.repeat(20)}`;

const MODIFY: Hex = '0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec';
const DONATE: Hex = '0x29ef05caaff9404b7cb6d1c0e9bbae9eaa7ab2541feba1a9c4248594c08156cb';
/** The managers, with the topics that differ between them. */
const MANAGERS = {
  v4: {
    address: V4_MANAGER,
    initialize: '0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438',
    swap: '0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f',
  },
  infinity: {
    address: INFINITY_CL_MANAGER,
    initialize: '0x426cc62fe6a33a40ba2788c2c87a9c34ee4582b95bc9fa5a7bb7ae70b750b99c',
    swap: '0x04206ad2b7c0f463bff3dd4f33c5735b0f2957a351e4f79763a4fa9e775dd237',
  },
} as const satisfies Record<string, Record<string, Hex>>;

const ZERO: Hex = `0x${'0'.repeat(40)}`;
const DYNAMIC_FEE = 0x800000n;
const FEE_MAX = 1_000_000n;

/** Permissions of hooks: before and after a swap, and the same with amounts of its own. */
const HOOK_BITS = {
  /** In the last digits of the hook's address. */
  v4: [0x0080, 0x0040, 0x0080 | 0x0008, 0x0040 | 0x0004],
  /** In the parameters of the pool. */
  infinity: [0x0040, 0x0080, 0x0040 | 0x0400, 0x0080 | 0x0800],
};
const SPACING = 60n;

interface Place {
  readonly sqrtPrice: bigint;
  readonly tick: number;
}

interface V4Facts {
  readonly kind: keyof typeof MANAGERS;
  readonly id: Hex;
  readonly token0: Hex;
  readonly token1: Hex;
  readonly hooks: Hex;
  readonly hookBits: number;
  readonly isDynamic: boolean;
}

export class V4Pool implements MovingPool {
  constructor(
    private readonly facts: V4Facts,
    private readonly place: Place,
  ) {}

  static create(birth: Birth): Moved {
    return createIn('v4', birth);
  }

  static createInfinity(birth: Birth): Moved {
    return createIn('infinity', birth);
  }

  get address(): Hex {
    return `0x${this.facts.id.slice(-40)}`;
  }

  get key(): string {
    return `v4 ${this.facts.id}`;
  }

  initialize(random: Random): Draft {
    const { kind, id, token0, token1, hooks, hookBits, isDynamic } = this.facts;
    const { sqrtPrice, tick } = this.place;
    const fee = isDynamic ? DYNAMIC_FEE : BigInt(random.pick([100, 500, 3_000, 10_000, 1_000_000]));
    const terms = kind === 'v4' ? [fee, SPACING, hooks] : [hooks, fee, (SPACING << 16n) | BigInt(hookBits)];
    return {
      address: MANAGERS[kind].address,
      topics: [MANAGERS[kind].initialize, id, topicOf(token0), topicOf(token1)],
      data: dataOf(...terms, sqrtPrice, BigInt(tick)),
    };
  }

  move(random: Random): Moved {
    const sender = topicOf(digest(`trader ${random.int(0, 5)}`, 20));
    const { kind, id } = this.facts;
    const draft = (topic: Hex, ...values: bigint[]): Draft => ({
      address: MANAGERS[kind].address,
      topics: [topic, id, sender],
      data: dataOf(...values),
    });
    if (random.chance(0.08)) return { drafts: [this.oddity(random, draft)], after: this };
    if (random.chance(0.05)) return { drafts: [draft(DONATE, random.big(60), random.big(60))], after: this };
    if (random.chance(0.35)) {
      const lower = random.pick([-600, 60 * Math.floor(this.place.tick / 60), 60 * random.int(-50, 50)]);
      const upper = lower + 60 * random.int(1, 20);
      // A change of 0 collects fees.
      const change = random.pick([1n, 1n, -1n, 0n]) * random.big(100);
      return {
        drafts: [draft(MODIFY, BigInt(lower), BigInt(upper), change, 0n)],
        after: this,
      };
    }
    const place = drawPlace(random);
    const [a, b] = [random.big(100), random.big(100)];
    // The trader pays the negative amount.
    const amounts = random.chance(0.5) ? [-a, b] : [a, -b];
    const fee = BigInt(random.pick([0, 100, 3_000, 3_500, random.int(0, 1_000_000)]));
    const words = [...amounts, place.sqrtPrice, random.big(110), BigInt(place.tick), fee];
    const swap = draft(MANAGERS[kind].swap, ...words, ...this.ofProtocol);
    return { drafts: [swap], after: new V4Pool(this.facts, place) };
  }

  /** The last word of a swap of Infinity: the protocol's part of the fee. */
  private get ofProtocol(): readonly bigint[] {
    return this.facts.kind === 'v4' ? [] : [100n];
  }

  /** Logs without effect: malformed events, events of another manager or pool, and a second creation. */
  private oddity(random: Random, draft: (topic: Hex, ...values: bigint[]) => Draft): Draft {
    const stranger = digest(`stranger ${random.int(0, 9)}`, 20);
    const { kind } = this.facts;
    const swapOf = (root: bigint, fee: bigint): Draft =>
      draft(MANAGERS[kind].swap, -5n, 7n, root, 1n, 0n, fee, ...this.ofProtocol);
    const swap = swapOf(1n << 96n, 3_000n);
    return random.pick([
      swapOf(1n << 96n, FEE_MAX + 1n),
      swapOf(1n << 160n, 3_000n),
      draft(MODIFY, 60n, -60n, 5n, 0n),
      draft(MODIFY, -60n, 60n, 5n),
      { ...swap, address: stranger },
      { ...swap, topics: [MANAGERS[kind].swap, digest(`no pool ${stranger}`, 32), swap.topics[2]!] },
      this.initialize(random),
    ]);
  }

  answer(): null {
    return null;
  }
}

function createIn(kind: V4Facts['kind'], { random, moment, token }: Birth): Moved {
  const id = digest(`${kind} ${moment.id}`, 32);
  // The zero address is the native coin.
  const token0 = random.chance(0.25) ? ZERO : token(random.int(0, 5));
  const token1 = token(random.int(6, 11));
  const hookBits = random.pick(HOOK_BITS[kind]);
  const bits = (kind === 'v4' ? hookBits : 0).toString(16).padStart(4, '0');
  const hooks: Hex = random.chance(0.5) ? ZERO : `0x${digest(`hook ${id}`, 18).slice(2)}${bits}`;
  const facts = { kind, id, token0, token1, hooks, hookBits, isDynamic: random.chance(0.3) };
  const pool = new V4Pool(facts, drawPlace(random));
  return { drafts: [pool.initialize(random)], after: pool };
}

/** A price near the tick, so that the ranges of the positions decide what they hold. */
function drawPlace(random: Random): Place {
  const tick = random.int(-700, 700);
  return { tick, sqrtPrice: BigInt(Math.round(1.0001 ** ((tick + random.next()) / 2) * 2 ** 96)) };
}
