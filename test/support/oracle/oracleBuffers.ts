/**
 * The oracle for the buffers of a Balancer V3 vault: each event names what the buffer holds. Shares no code with the product.
 * The tokens of a buffer come from the simulated chain.
 */
import { id } from 'ethers';

import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import { BooksOracle, type BooksPool } from './booksOracle';
import type { LegSwap } from './oracleVault';
import { parsePlain, plainEvents, type PlainEvent } from './plainEvents';

const AMOUNTS = 'address indexed,uint128,uint128,bytes32';
const NAMES = {
  wrap: 'Wrap',
  unwrap: 'Unwrap',
  added: 'LiquidityAddedToBuffer',
  removed: 'LiquidityRemovedFromBuffer',
} as const;
/** Amounts above 128 bits are malformed, so the plain parser reads them as this type. */
const PARSED = plainEvents(Object.entries(NAMES).map(([name, event]) => [name, `${event}(${AMOUNTS})`]));
const topicOf = (event: string): string => id(`${event}(address,uint256,uint256,bytes32)`);
export const BUFFER_TOPIC = {
  wrap: topicOf(NAMES.wrap),
  unwrap: topicOf(NAMES.unwrap),
  added: topicOf(NAMES.added),
  removed: topicOf(NAMES.removed),
} as const;
const EVENTS = new Map(
  [...PARSED.values()].map((event) => [BUFFER_TOPIC[event.name as keyof typeof BUFFER_TOPIC], event]),
);
const STABLE_TYPE = 5;

export interface BufferBooks {
  readonly balances: readonly bigint[];
}

type Pool = BooksPool<BufferBooks>;

/** The address that the product gives the buffer of a wrapper: all digits subtracted from f. */
export function bufferOf(wrapper: string): string {
  const digits = [...wrapper.slice(2)].map((digit) => (15 - parseInt(digit, 16)).toString(16));
  return `0x${digits.join('')}`;
}

export class BufferOracle extends BooksOracle<BufferBooks> {
  protected override keyOf({ address, topics: [, wrapper] }: ChainLog): string {
    return address === this.factory && wrapper !== undefined ? bufferOf(`0x${wrapper.slice(26)}`) : '';
  }

  /** More liquidity in an older buffer does not make it known. The next exchange does, from its block on. */
  override read(block: ChainBlock, log: ChainLog): LegSwap | null {
    const key = this.keyOf(log);
    const pool = this.find(key);
    if (pool?.isListed === false && log.topics[0] === BUFFER_TOPIC.added) {
      const isNaming = (one: ChainLog): boolean =>
        this.keyOf(one) === key && EVENTS.has(one.topics[0] ?? '') && one.topics[0] !== BUFFER_TOPIC.added;
      const naming = block.logs.find(isNaming);
      if (naming === undefined || block.number < this.firstBlock) return null;
      this.list(pool, block, naming, null);
    }
    return super.read(block, log);
  }

  protected isEvent(topic: string): boolean {
    return EVENTS.has(topic);
  }

  protected findCreated(_block: ChainBlock, log: ChainLog): string | null {
    const event = log.topics[0] === BUFFER_TOPIC.added ? parsePlain(log, EVENTS) : null;
    const [, ...amounts] = event?.args ?? [];
    const isFirst = event !== null && [0, 1].every((at) => amounts[at] === unpack(amounts[2]!)[at]);
    return isFirst ? this.keyOf(log) : null;
  }

  protected emptied(): BufferBooks {
    return { balances: [0n, 0n] };
  }

  protected typeOf(): number {
    return STABLE_TYPE;
  }

  protected feeOf(): number {
    return 0;
  }

  protected override storesTold(): boolean {
    return false;
  }

  /** The first event is a mint, and makes no other row. */
  protected override note(pool: Pool, block: ChainBlock, log: ChainLog, kind: string): void {
    if (kind !== 'register') super.note(pool, block, log, kind);
  }

  protected readEvent(log: ChainLog): PlainEvent | null {
    return parsePlain(log, EVENTS);
  }

  protected apply(pool: Pool, { name, args }: PlainEvent, block: ChainBlock, log: ChainLog): null {
    const [, first, second, packed] = args;
    pool.books = { balances: unpack(packed!) };
    const amounts = [BigInt(String(first)), BigInt(String(second))];
    if (name === 'wrap' || name === 'unwrap') this.note(pool, block, log, 'collect');
    else this.move(pool, block, log, name === 'added' ? 'mint' : 'burn', amounts);
    return null;
  }
}

function unpack(packed: unknown): bigint[] {
  const word = BigInt(String(packed));
  return [word % 2n ** 128n, word >> 128n];
}
