/** Fetches blocks with eth_getBlockByNumber and eth_getBlockReceipts, a whole range in one batch. */
import type { ChainLog, ChainTransaction } from '../../domain/block';
import { numberToHex } from '../../domain/hex';
import { AppError, errorText } from '../../errors';
import type { RawBlock } from '../proof/blockProof';
import type { Endpoint } from '../rpc/endpoint';
import { parseHeader, parseReceipts, type BlockHeader } from './parseBlock';
import { RpcError, type RpcErrorKind } from '../rpc/rpcError';
import { isRecord, type RpcCall } from '../rpc/rpcTransport';
import { checkNumber } from './checkBlocks';

/** Errors with which a node refuses a method that it does not have. */
export const REFUSED_KINDS: ReadonlySet<RpcErrorKind> = new Set(['method_missing', 'invalid']);

/**
 * A block whose header and receipts belong together. Log order, bloom and parent hash are not checked yet.
 */
export interface UncheckedBlock {
  readonly header: BlockHeader;
  readonly transactions: readonly ChainTransaction[];
  readonly logs: readonly ChainLog[];
  /** What the node sent. */
  readonly raw: RawBlock;
}

/**
 * Headers whose receipts are still missing, and receipts whose headers are still missing. They are kept, so
 * that they need not be fetched again.
 */
export class BlockHalves {
  readonly headers = new Map<number, unknown>();
  readonly receipts = new Map<number, unknown>();

  get size(): number {
    return this.headers.size + this.receipts.size;
  }

  has(number: number): boolean {
    return this.headers.has(number) || this.receipts.has(number);
  }
}

/**
 * Makes one attempt to fetch blocks. Returns each block or its error. Uses headers and receipts of earlier
 * attempts in `halves`, and adds the new ones. @throws RpcError `method_missing` or `invalid` if the node
 * lacks eth_getBlockReceipts
 */
export async function fetchByReceipts(
  endpoint: Endpoint,
  numbers: readonly number[],
  halves: BlockHalves,
  signal: AbortSignal,
  withBodies: boolean,
): Promise<(UncheckedBlock | AppError)[]> {
  const missingHalves: {
    readonly number: number;
    readonly halvesByNumber: Map<number, unknown>;
    readonly call: RpcCall;
  }[] = [];
  for (const number of numbers) {
    const blockTag = numberToHex(number);
    if (!halves.headers.has(number))
      missingHalves.push({
        number,
        halvesByNumber: halves.headers,
        call: { method: 'eth_getBlockByNumber', params: [blockTag, withBodies] },
      });
    if (!halves.receipts.has(number))
      missingHalves.push({
        number,
        halvesByNumber: halves.receipts,
        call: { method: 'eth_getBlockReceipts', params: [blockTag] },
      });
  }
  const answers = await endpoint.attempt(
    missingHalves.map(({ call }) => call),
    (result, index) => requirePart(endpoint, result, `block ${missingHalves[index]?.number ?? 0}`),
    signal,
  );
  const errors = new Map<number, RpcError>();
  for (const [index, answer] of answers.entries()) {
    const half = missingHalves[index];
    if (half === undefined) continue;
    if ('value' in answer) half.halvesByNumber.set(half.number, answer.value);
    else if (REFUSED_KINDS.has(answer.error.kind)) throw answer.error;
    else errors.set(half.number, answer.error);
  }
  return numbers.map((number) => errors.get(number) ?? joinHalves(endpoint, number, halves));
}

function joinHalves(endpoint: Endpoint, number: number, halves: BlockHalves): UncheckedBlock | AppError {
  const [header, receipts] = [halves.headers.get(number), halves.receipts.get(number)];
  halves.headers.delete(number);
  halves.receipts.delete(number);
  try {
    const parsed = parseHeader(header);
    checkNumber(parsed.header, number);
    const raw = { header: asRecord(header), receipts: Array.isArray(receipts) ? receipts : null };
    return { header: parsed.header, ...parseReceipts(receipts, parsed), raw };
  } catch (error) {
    if (error instanceof AppError) return error;
    return new RpcError('bad_answer', `${endpoint.name}: ${errorText(error)}`, { cause: error });
  }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/**
 * Returns the answer. Nodes answer null for a block or a receipt that they do not have yet; then throws. @throws RpcError
 * `unknown_block`
 */
export function requirePart(endpoint: Endpoint, result: unknown, what: string): unknown {
  if (result !== null && result !== undefined) return result;
  throw new RpcError('unknown_block', `${endpoint.name}: the node does not have ${what}`);
}
