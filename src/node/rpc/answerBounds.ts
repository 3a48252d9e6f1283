/**
 * Limits the size of node answers: the bytes of one answer, and the bytes of all answers that the process is
 * receiving. The limits are enforced while an answer arrives. slicedJson.ts limits the parsed values.
 */
import type { RpcCall } from './rpcTransport';

const MIB = 2 ** 20;
/** Size limit of one answer, in bytes. */
export const ANSWER_BYTES_MAX = 64 * MIB;
/** Size limit of all answers that are being received, in bytes. */
const IN_FLIGHT_MAX = 80 * MIB;
/** Number of bytes that a batch answer needs around each result. */
const ENVELOPE_BYTES = 256;

/**
 * Size limits of answers in bytes, by method. Every honest answer is smaller. For other methods, the general
 * limit of the transport applies.
 */
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
  /** Which limit was exceeded: `call` is the limit of the caller, `answer` is the general limit. */
  readonly cut: 'call' | 'answer';
}

export function boundOf(calls: readonly RpcCall[], transportMax: number): AnswerBound {
  let sum = 0;
  for (const { method, answerBytesMax } of calls) {
    sum += (answerBytesMax ?? BYTES_BY_METHOD[method] ?? transportMax) + ENVELOPE_BYTES;
  }
  const isCallerLimit =
    sum < transportMax && calls.some(({ answerBytesMax }) => answerBytesMax !== undefined);
  return { bytesMax: Math.min(sum, transportMax), cut: isCallerLimit ? 'call' : 'answer' };
}

export function tooLargeText(bytesMax: number): string {
  return `the answer is larger than ${bytesMax} bytes`;
}

/**
 * Limits the total bytes of all answers that are being received. Above the limit, the largest answer is cut
 * off, so that small answers always arrive.
 */
export class ByteBudget {
  private readonly openMeters = new Set<AnswerMeter>();

  constructor(private readonly bytesMax: number) {}

  enter(meter: AnswerMeter): void {
    this.openMeters.add(meter);
  }

  leave(meter: AnswerMeter): void {
    this.openMeters.delete(meter);
  }

  /** Cuts off the largest answers until the remaining ones fit. */
  check(): void {
    let sum = 0;
    for (const { bytes } of this.openMeters) sum += bytes;
    while (sum > this.bytesMax) {
      const [largest] = [...this.openMeters].sort((a, b) => b.bytes - a.bytes);
      if (largest === undefined) return;
      sum -= largest.bytes;
      largest.cut(`all answers in progress together exceed ${this.bytesMax} bytes`);
    }
  }
}

/** The limit of bytes in node answers under way, shared by all endpoints and chains of the process. */
const sharedBudget = new ByteBudget(IN_FLIGHT_MAX);

export class AnswerMeter {
  bytes = 0;
  private isOpen = true;

  /**
   * Measures one answer. `onCut` is called at most once if the answer must be cut off, possibly while another
   * answer arrives. `isAloneTooLarge` is false if only all answers together are too large.
   */
  constructor(
    private readonly bytesMax: number,
    private readonly onCut: (why: string, isAloneTooLarge: boolean) => void,
    private readonly budget: ByteBudget = sharedBudget,
  ) {
    budget.enter(this);
  }

  /** Cuts off an answer whose Content-Length is too large. NaN means that the header is missing. */
  announce(bytes: number): void {
    if (bytes > this.bytesMax) this.cut(tooLargeText(this.bytesMax), true);
  }

  add(piece: Uint8Array): void {
    if (!this.isOpen) return;
    this.bytes += piece.length;
    this.announce(this.bytes);
    this.budget.check();
  }

  /** Begins the next answer on the same connection: its bytes are counted from zero. */
  restart(): void {
    this.bytes = 0;
  }

  cut(why: string, isAloneTooLarge = false): void {
    if (!this.isOpen) return;
    this.close();
    this.onCut(why, isAloneTooLarge);
  }

  close(): void {
    this.isOpen = false;
    this.budget.leave(this);
  }
}
