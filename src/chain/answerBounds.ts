/**
 * Bounds on what nodes answer: bytes and values of one answer, and bytes in flight over all connections of the process.
 * They hold while an answer arrives, before anything is parsed.
 */
import type { RpcCall } from './rpcTransport';

const MIB = 2 ** 20;
/** Bytes of one answer. */
export const ANSWER_BYTES_MAX = 64 * MIB;
/**
 * Structural bytes of one answer. JSON.parse spends up to 100 bytes of heap and 200 ns on each; 15 MiB of logs have as
 * many.
 */
const STRUCTURE_MAX = 500_000;
const IN_FLIGHT_MAX = 96 * MIB;
/** Bytes around one result in a batch. */
const ENVELOPE_BYTES = 256;

/** What honest answers to a method stay below. Other methods have the bound of the transport. */
const BYTES_BY_METHOD: Readonly<Record<string, number>> = {
  eth_chainId: 1_024,
  eth_blockNumber: 1_024,
  eth_getBalance: 1_024,
  eth_getStorageAt: 1_024,
  eth_getCode: MIB,
  eth_call: MIB,
};

/** Bytes that the answer to these calls may have; null: as many as the transport takes. */
export function boundOf(calls: readonly RpcCall[], transportMax: number): number | null {
  let sum = 0;
  for (const { method, answerBytesMax } of calls) {
    sum += (answerBytesMax ?? BYTES_BY_METHOD[method] ?? transportMax) + ENVELOPE_BYTES;
  }
  return sum < transportMax ? sum : null;
}

export function tooLargeText(bytesMax: number): string {
  return `the answer is larger than ${bytesMax} bytes`;
}

/** Counts the bytes in flight. When they are too many, the largest answer is cut, so small ones always arrive. */
export class ByteBudget {
  readonly #open = new Set<AnswerMeter>();

  constructor(private readonly max: number) {}

  enter(meter: AnswerMeter): void {
    this.#open.add(meter);
  }

  leave(meter: AnswerMeter): void {
    this.#open.delete(meter);
  }

  /** Cuts the largest answers until the rest fits. */
  check(): void {
    let sum = 0;
    for (const { bytes } of this.#open) sum += bytes;
    while (sum > this.max) {
      const [largest] = [...this.#open].sort((a, b) => b.bytes - a.bytes);
      if (largest === undefined) return;
      sum -= largest.bytes;
      largest.cut(`the answers in flight are larger than ${this.max} bytes`);
    }
  }
}

/** The budget of the process: all endpoints of all chains share it. */
export const sharedBudget = new ByteBudget(IN_FLIGHT_MAX);

const IS_STRUCTURE = new Uint8Array(256);
for (const character of '{[,:') IS_STRUCTURE[character.charCodeAt(0)] = 1;

/** Measures one answer while it arrives. */
export class AnswerMeter {
  bytes = 0;
  #structure = 0;
  /** Pieces that are not counted yet: an answer this small cannot have too many values. */
  #uncounted: Uint8Array[] = [];
  #isOpen = true;

  /**
   * `onCut` is called at most once, possibly while another answer arrives. `bySize`: the answer passed `bytesMax`, not a
   * bound of the process.
   */
  constructor(
    private readonly bytesMax: number,
    private readonly onCut: (why: string, bySize: boolean) => void,
    private readonly budget: ByteBudget = sharedBudget,
  ) {
    budget.enter(this);
  }

  /** Cuts an answer whose header promises too many bytes; NaN: it promises nothing. */
  announce(bytes: number): void {
    if (bytes > this.bytesMax) this.cut(tooLargeText(this.bytesMax), true);
  }

  add(piece: Uint8Array): void {
    if (!this.#isOpen) return;
    this.bytes += piece.length;
    this.announce(this.bytes);
    if (!this.#isOpen) return;
    this.#uncounted.push(piece);
    if (this.bytes > STRUCTURE_MAX) {
      for (const each of this.#uncounted) this.#structure += countStructure(each);
      this.#uncounted = [];
    }
    if (this.#structure > STRUCTURE_MAX) this.cut(`the answer has more than ${STRUCTURE_MAX} values`);
    else this.budget.check();
  }

  /** The next answer begins on the same connection. */
  restart(): void {
    this.bytes = 0;
    this.#structure = 0;
    this.#uncounted = [];
  }

  cut(why: string, bySize = false): void {
    if (!this.#isOpen) return;
    this.close();
    this.onCut(why, bySize);
  }

  close(): void {
    this.#isOpen = false;
    this.#uncounted = [];
    this.budget.leave(this);
  }
}

function countStructure(piece: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < piece.length; at += 1) count += IS_STRUCTURE[piece[at] ?? 0] ?? 0;
  return count;
}
