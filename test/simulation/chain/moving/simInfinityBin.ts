/** Bin pools of PancakeSwap Infinity of the simulated chain. The manager emits all events, and topic 1 is the id of the pool. */
import type { Hex } from '../../../../src/domain/hex';
import type { Random } from '../../../support/random';
import type { Birth, Moved, MovingPool } from './movingPool';
import { drawId, MIDDLE_ID, pack } from './simBook';
import { dataOf, digest, topicOf, type Draft } from '../../../support/plainLogs';

export const INFINITY_BIN_MANAGER: Hex = `0x${'f1'.repeat(20)}`;

const TOPIC = {
  initialize: '0xddfde5903015c0eb1671976c6c8f760f1328bec57f15286b6bdab2f955cab9c9',
  swap: '0x3e8aae37f890eb1f9d63dd4d2062f3f0be757848a0f0760e4f3e53dad556e861',
  mint: '0x7b6bc49b385af8644341f07a67cd976bf9daf2bdd5d71668e651a3a792e318e1',
  burn: '0x16d40aa4e497175b58e47cbf101544758de8c01d92a760c738943044c758df8a',
  donate: '0xfc18146d5586318640b3febea90b094b834f09982812258534a1c07bdda12954',
} as const satisfies Record<string, Hex>;

const ZERO: Hex = `0x${'0'.repeat(40)}`;
const DYNAMIC_FEE = 0x800000n;
const FEE_MAX = 1_000_000n;
/** Permissions of a hook, from the lowest bit on: before a swap, after it, and the same with amounts of its own. */
const HOOK_BITS = [0x0040, 0x0080, 0x0040 | 0x0400, 0x0080 | 0x0800];

export class InfinityBinPool implements MovingPool {
  constructor(
    readonly id: Hex,
    private readonly creation: Draft,
  ) {}

  static create({ random, moment, token }: Birth): Moved {
    const id = digest(`infinity bin ${moment.id}`, 32);
    // The zero address is the native coin.
    const token0 = random.chance(0.25) ? ZERO : token(random.int(0, 5));
    const token1 = token(random.int(6, 11));
    const hooks = random.chance(0.5) ? ZERO : digest(`hook ${id}`, 20);
    const fee = random.chance(0.3) ? DYNAMIC_FEE : BigInt(random.int(1, 100_000));
    const parameters = (random.pick([1n, 5n, 10n, 25n, 100n]) << 16n) | BigInt(random.pick(HOOK_BITS));
    const creation = {
      address: INFINITY_BIN_MANAGER,
      topics: [TOPIC.initialize, id, topicOf(token0), topicOf(token1)],
      data: dataOf(hooks, fee, parameters, BigInt(drawId(random))),
    };
    return { drafts: [creation], after: new InfinityBinPool(id, creation) };
  }

  get address(): Hex {
    return `0x${this.id.slice(-40)}`;
  }

  get key(): string {
    return `infinity bin ${this.id}`;
  }

  move(random: Random): Moved {
    const sender = topicOf(digest(`trader ${random.int(0, 5)}`, 20));
    const topics = (topic: Hex): Hex[] => [topic, this.id, sender];
    const draft = (topic: Hex, data: Hex): Draft => ({
      address: INFINITY_BIN_MANAGER,
      topics: topics(topic),
      data,
    });
    const stay = (one: Draft): Moved => ({ drafts: [one], after: this });
    const [a, b, id] = [random.big(90), random.big(90), BigInt(drawId(random))];
    if (random.chance(0.08)) {
      const swap = draft(TOPIC.swap, dataOf(-5n, 7n, id, 3_000n, 0n));
      return stay(
        random.pick([
          draft(TOPIC.swap, dataOf(-5n, 7n, id, FEE_MAX + 1n, 0n)),
          draft(TOPIC.swap, dataOf(-5n, 7n, id, 3_000n)),
          draft(TOPIC.donate, dataOf(5n, 7n, id)),
          { ...swap, address: digest(`stranger ${random.int(0, 9)}`, 20) },
          { ...swap, topics: [TOPIC.swap, digest(`no pool ${id}`, 32), sender] },
          this.creation,
        ]),
      );
    }
    if (random.chance(0.3)) {
      const amounts = Array.from({ length: random.int(1, 4) }, () => pack(random.big(90), random.big(90)));
      const ids = amounts.map((_, index) => BigInt(MIDDLE_ID + index));
      const isMint = random.chance(0.6);
      return stay(draft(isMint ? TOPIC.mint : TOPIC.burn, binsData(ids, amounts, isMint ? 2 : 0)));
    }
    if (random.chance(0.1)) return stay(draft(TOPIC.donate, dataOf(-a, -b, id)));
    // The trader pays the negative amount.
    const amounts = random.chance(0.5) ? [-a, b] : [a, -b];
    const fee = BigInt(random.pick([0, 100, 3_000, random.int(0, 1_000_000)]));
    const ofProtocol = fee === 0n ? 0n : BigInt(random.int(0, Math.min(Number(fee), 4_000)));
    return stay(draft(TOPIC.swap, dataOf(...amounts, id, fee, ofProtocol)));
  }

  answer(): null {
    return null;
  }
}

/** Ids, a salt, amounts, and further words. */
function binsData(ids: readonly bigint[], amounts: readonly bigint[], rest: number): Hex {
  const heads = 3 + rest;
  const count = BigInt(ids.length);
  const second = BigInt(32 * heads) + 32n * (1n + count);
  const zeros = Array.from({ length: rest }, () => 0n);
  return dataOf(BigInt(32 * heads), 0n, second, ...zeros, count, ...ids, count, ...amounts);
}
