/**
 * Bounds the size of node answers: bytes of one answer, and bytes in flight over all connections of the
 * process. The bounds are enforced while an answer arrives. slicedJson.ts bounds the parsed values.
 */
import type { RpcCall } from './rpcTransport';

const MIB = 2 ** 20;
/** Bytes of one answer. */
export const ANSWER_BYTES_MAX = 64 * MIB;
const IN_FLIGHT_MAX = 80 * MIB;
/** Bytes around one result in a batch. */
const ENVELOPE_BYTES = 256;

/** Upper bounds of honest answers by method. Other methods have the transport's bound. */
const BYTES_BY_METHOD: Readonly<Record<string, number>> = {
  eth_chainId: 1_024,
  eth_blockNumber: 1_024,
  eth_getBalance: 1_024,
  eth_getStorageAt: 1_024,
  eth_getCode: MIB,
  eth_call: MIB,
};

interface AnswerBound {
  readonly bytesMax: number;
  /** The source of the bound: `call` if the caller set it, `answer` if it is the general bound. */
  readonly cut: 'call' | 'answer';
}

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

/** Bounds the bytes in flight. Beyond the bound the largest answer is cut, so small ones always arrive. */
export class ByteBudget {
  private readonly open = new Set<AnswerMeter>();

  constructor(private readonly max: number) {}

  enter(meter: AnswerMeter): void {
    this.open.add(meter);
  }

  leave(meter: AnswerMeter): void {
    this.open.delete(meter);
  }

  /** Cuts the largest answers until the rest fits. */
  check(): void {
    let sum = 0;
    for (const { bytes } of this.open) sum += bytes;
    while (sum > this.max) {
      const [largest] = [...this.open].sort((a, b) => b.bytes - a.bytes);
      if (largest === undefined) return;
      sum -= largest.bytes;
      largest.cut(`all answers in progress together exceed ${this.max} bytes`);
    }
  }
}

/** Shared by all endpoints of all chains in the process. */
const sharedBudget = new ByteBudget(IN_FLIGHT_MAX);

export class AnswerMeter {
  bytes = 0;
  private isOpen = true;

  /**
   * `onCut` is called at most once, possibly while another answer arrives. `bySize`: the answer exceeded
   * `bytesMax`, not the shared budget.
   */
  constructor(
    private readonly bytesMax: number,
    private readonly onCut: (why: string, bySize: boolean) => void,
    private readonly budget: ByteBudget = sharedBudget,
  ) {
    budget.enter(this);
  }

  /** Cuts an answer whose Content-Length is too large. NaN: no Content-Length. */
  announce(bytes: number): void {
    if (bytes > this.bytesMax) this.cut(tooLargeText(this.bytesMax), true);
  }

  add(piece: Uint8Array): void {
    if (!this.isOpen) return;
    this.bytes += piece.length;
    this.announce(this.bytes);
    this.budget.check();
  }

  /** Call when the next answer begins on the same connection. */
  restart(): void {
    this.bytes = 0;
  }

  cut(why: string, bySize = false): void {
    if (!this.isOpen) return;
    this.close();
    this.onCut(why, bySize);
  }

  close(): void {
    this.isOpen = false;
    this.budget.leave(this);
  }
}
