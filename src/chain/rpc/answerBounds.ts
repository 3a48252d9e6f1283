/**
 * Bounds on what nodes answer: bytes of one answer, and bytes in flight over all connections of the process. They hold
 * while an answer arrives. The bounds on its values are those of slicedJson.ts.
 */
import type { RpcCall } from './rpcTransport';

const MIB = 2 ** 20;
/** Bytes of one answer. */
export const ANSWER_BYTES_MAX = 64 * MIB;
const IN_FLIGHT_MAX = 80 * MIB;
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

export interface AnswerBound {
  readonly bytesMax: number;
  /** Whose bound it is: that of the callers, or ours, which an honest node keeps. */
  readonly cut: 'call' | 'answer';
}

/** The bound on the answer to these calls. */
export function boundOf(calls: readonly RpcCall[], transportMax: number): AnswerBound {
  let sum = 0;
  for (const { method, answerBytesMax } of calls) {
    sum += (answerBytesMax ?? BYTES_BY_METHOD[method] ?? transportMax) + ENVELOPE_BYTES;
  }
  const isOwn = sum < transportMax && calls.some(({ answerBytesMax }) => answerBytesMax !== undefined);
  return { bytesMax: Math.min(sum, transportMax), cut: isOwn ? 'call' : 'answer' };
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

/** Measures one answer while it arrives. */
export class AnswerMeter {
  bytes = 0;
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
    this.budget.check();
  }

  /** The next answer begins on the same connection. */
  restart(): void {
    this.bytes = 0;
  }

  cut(why: string, bySize = false): void {
    if (!this.#isOpen) return;
    this.close();
    this.onCut(why, bySize);
  }

  close(): void {
    this.#isOpen = false;
    this.budget.leave(this);
  }
}
