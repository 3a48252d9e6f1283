/** The blocks of a range that one endpoint has sent so far. */
import type { ChainBlock } from '../../domain/block';
import { AppError } from '../../errors';
import { BlockHalves } from './fetchByReceipts';

/** Blocks of a range from one endpoint: verified blocks, and headers or receipts of others. */
export interface Fetched {
  readonly verified: Map<number, ChainBlock>;
  readonly halves: BlockHalves;
  /** How often the endpoint failed to send each block. */
  readonly failures: Map<number, number>;
  /** Numbers of blocks for which `fetchAlone` of pieceFetcher.ts was called before. */
  readonly failedAlone: Set<number>;
  /** Largest number of headers and receipts so far: a block is two. */
  mostHalves: number;
}

export function newFetched(): Fetched {
  return {
    verified: new Map(),
    halves: new BlockHalves(),
    failures: new Map(),
    failedAlone: new Set(),
    mostHalves: 0,
  };
}

/** Adds the blocks that pass verification to `verified`. Returns the errors of the blocks that fail. */
export function keepVerified(
  checked: readonly (ChainBlock | AppError)[],
  verified: Map<number, ChainBlock>,
): AppError[] {
  const errors: AppError[] = [];
  for (const block of checked) {
    if (block instanceof AppError) errors.push(block);
    else verified.set(block.number, block);
  }
  return errors;
}

/** The fetched blocks from number `from` on, up to the first missing block. */
export function consecutiveFrom(blocks: ReadonlyMap<number, ChainBlock>, from: number): ChainBlock[] {
  const consecutive: ChainBlock[] = [];
  for (let block = blocks.get(from); block !== undefined; block = blocks.get(from + consecutive.length))
    consecutive.push(block);
  return consecutive;
}
