/** Buffers of wrappers in the Balancer V3 vault of the simulated chain. */
import type { Hex } from '../../../../src/domain/hex';
import { BUFFER_TOPIC, bufferOf, type BufferBooks } from '../../../support/oracle/oracleBuffers';
import { dataOf, topicOf, type Draft } from '../../../support/plainLogs';
import type { Random } from '../../../support/random';
import { selectorOf, type Birth, type Moment, type Moved, type MovingPool } from './movingPool';
import { V3_VAULT } from './simBalancerV3';
import { usualAmount } from '../simStable';

const GET_ASSET = selectorOf('getERC4626BufferAsset(address)');
const E18 = 10n ** 18n;
/** The vault packs a balance into 128 bits. */
const BALANCE_END = 2n ** 128n;

interface BufferFacts {
  readonly address: Hex;
  /** The asset, then the wrapper. */
  readonly tokens: readonly [asset: Hex, wrapper: Hex];
}

export class BufferPool implements MovingPool {
  constructor(
    readonly facts: BufferFacts,
    readonly books: BufferBooks,
    /** Raw units of the asset per raw unit of the wrapper; 1e18 means 1. */
    private readonly rate: bigint,
  ) {}

  static create({ random, token }: Birth): Moved {
    // A wrapper has one asset on every branch. 5 · index + 3 is never the index itself, modulo 12.
    const index = random.int(0, 11);
    const tokens = [token((5 * index + 3) % 12), token(index)] as const;
    const facts = { address: bufferOf(tokens[1]) as Hex, tokens };
    const added = tokens.map((one) => usualAmount(one, random.big(60)));
    const rate = (E18 * added[0]!) / added[1]! + 1n;
    const empty = new BufferPool(facts, { balances: [0n, 0n] }, rate);
    return empty.log('added', added, added);
  }

  get address(): Hex {
    return this.facts.address;
  }

  get key(): string {
    return `buffer ${this.facts.tokens[1]}`;
  }

  move(random: Random, _moment: Moment): Moved {
    const [held, wrapped] = this.books.balances as [bigint, bigint];
    if (random.chance(0.05)) return { drafts: [this.oddity(random)], after: this };
    const part = BigInt(random.int(1, 300));
    const share = [(held * part) / 1_000n, (wrapped * part) / 1_000n];
    // Liquidity is added in proportion, so an empty buffer gets none.
    const isEmpty = held + wrapped === 0n;
    if (!isEmpty && random.chance(0.1))
      return this.log('added', share, [held + share[0]!, wrapped + share[1]!]);
    if (random.chance(0.1)) return this.log('removed', share, [held - share[0]!, wrapped - share[1]!]);
    const grown = new BufferPool(
      this.facts,
      this.books,
      random.chance(0.5) ? this.rate : this.rate + this.rate / BigInt(random.int(2, 10 ** 6)),
    );
    return grown.exchange(random);
  }

  /** As in Vault.sol. An exchange beyond the balances leaves the buffer as the wrapper fills it. */
  private exchange(random: Random): Moved {
    const { tokens } = this.facts;
    const [held, wrapped] = this.books.balances as [bigint, bigint];
    const paid = 10n + usualAmount(tokens[0], random.big(60));
    const [wrap, unwrap] = [((paid - 1n) * E18) / this.rate - 1n, ((paid + 1n) * E18) / this.rate + 2n];
    const refilled = [usualAmount(tokens[0], random.big(60)), usualAmount(tokens[1], random.big(60))];
    if (random.chance(0.5)) {
      const minted = wrap < 0n ? 0n : wrap;
      return this.log('wrap', [paid, minted], minted <= wrapped ? [held + paid, wrapped - minted] : refilled);
    }
    return this.log('unwrap', [unwrap, paid], paid <= held ? [held - paid, wrapped + unwrap] : refilled);
  }

  private log(kind: keyof typeof BUFFER_TOPIC, amounts: readonly bigint[], after: readonly bigint[]): Moved {
    if ([...amounts, ...after].some((value) => value >= BALANCE_END)) return { drafts: [], after: this };
    const packed = (after[1]! << 128n) | after[0]!;
    const topics = [BUFFER_TOPIC[kind] as Hex, topicOf(this.facts.tokens[1])];
    const draft = { address: V3_VAULT, topics, data: dataOf(...amounts, packed) };
    return { drafts: [draft], after: new BufferPool(this.facts, { balances: after }, this.rate) };
  }

  /** Malformed events, and an event of another vault. */
  private oddity(random: Random): Draft {
    const topics = [BUFFER_TOPIC.wrap as Hex, topicOf(this.facts.tokens[1])];
    const wrap = { address: V3_VAULT, topics, data: dataOf(9n, 9n, 9n) };
    return random.pick<Draft>([
      { ...wrap, address: this.facts.tokens[1] },
      { ...wrap, topics: topics.slice(0, 1) },
      { ...wrap, data: dataOf(9n, 9n) },
      { ...wrap, data: dataOf(2n ** 128n, 9n, 9n) },
    ]);
  }

  answer(to: Hex, data: Hex): Hex | 'revert' | null {
    const [asset, wrapper] = this.facts.tokens;
    const isAsked = to === V3_VAULT && data === `${GET_ASSET}${topicOf(wrapper).slice(2)}`;
    return isAsked ? dataOf(asset) : null;
  }
}
