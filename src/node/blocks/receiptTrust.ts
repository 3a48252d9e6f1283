/**
 * Records which endpoints cannot be trusted with eth_getBlockReceipts: an endpoint may lack the method, or answer
 * wrongly for certain blocks although its other methods are right.
 */
import type { Logger } from '../../log';
import type { Clock } from '../rpc/clock';
import type { Endpoint } from '../rpc/endpoint';

/** After this time in ms, the method is tried again, because the node behind a URL may change. */
const AVOIDED_MS = 600_000;
/** After this many blocks that only other methods return, the endpoint is asked by eth_getLogs for AVOIDED_MS. */
const WRONG_MAX = 3;
/** After this many right blocks in a row, earlier wrong blocks are forgotten. */
const RIGHT_MIN = 100;

interface Doubt {
  wrong: number;
  right: number;
}

export class ReceiptTrust {
  private readonly avoidedUntil = new Map<number, number>();
  private readonly doubts = new Map<number, Doubt>();

  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Whether blocks are read by eth_getBlockReceipts. */
  isUsed(endpoint: Endpoint): boolean {
    return this.clock.now() >= (this.avoidedUntil.get(endpoint.id) ?? -Infinity);
  }

  /** Whether the method answered wrongly for a recent block. Such a block is not asked for repeatedly. */
  isDoubted(endpoint: Endpoint): boolean {
    return this.doubts.has(endpoint.id);
  }

  noteMissing(endpoint: Endpoint, error: Error): void {
    this.avoid(endpoint, {
      error: error.message,
      why: 'the endpoint does not support eth_getBlockReceipts; using eth_getLogs',
    });
  }

  /** Call when other methods returned a block that verifies, after eth_getBlockReceipts failed with `error`. */
  noteWrong(endpoint: Endpoint, block: number, error: Error): void {
    const doubt = this.doubts.get(endpoint.id) ?? { wrong: 0, right: 0 };
    this.doubts.set(endpoint.id, { wrong: doubt.wrong + 1, right: 0 });
    endpoint.record.noteUntrusted({ method: 'eth_getBlockReceipts', block });
    if (doubt.wrong === 0)
      this.log.warn(
        { endpoint: endpoint.name, block, error: error.message },
        'eth_getBlockReceipts fails for a block that other methods of the endpoint return',
      );
    if (doubt.wrong + 1 < WRONG_MAX) return;
    this.doubts.delete(endpoint.id);
    this.avoid(endpoint, {
      block,
      error: error.message,
      why: 'eth_getBlockReceipts of the endpoint fails for several blocks; using eth_getLogs',
    });
  }

  /** Call when blocks that eth_getBlockReceipts returned pass verification. */
  noteRight(endpoint: Endpoint, blocks: number): void {
    const doubt = this.doubts.get(endpoint.id);
    if (doubt === undefined) return;
    doubt.right += blocks;
    if (doubt.right >= RIGHT_MIN) this.doubts.delete(endpoint.id);
  }

  private avoid(
    endpoint: Endpoint,
    { why, ...facts }: { readonly why: string; readonly error: string; readonly block?: number },
  ): void {
    this.avoidedUntil.set(endpoint.id, this.clock.now() + AVOIDED_MS);
    this.log.info({ endpoint: endpoint.name, ...facts }, why);
  }
}
