/**
 * Fetches a long range of blocks in chunks, several in parallel, and yields them in order. The number and
 * size of the chunks limit the memory in use.
 */
import type { BlockSource } from '../../node/blocks/blockSource';
import type { ChainBlock } from '../../domain/block';
import type { Hex } from '../../domain/hex';

interface FetchAheadOptions {
  readonly signal: AbortSignal;
  /** Largest number of blocks per chunk; at most 512. */
  readonly blocksMax?: number;
  /**
   * Hash of the block before the range, if it is known to be right. An endpoint with another hash for this block
   * is benched.
   */
  readonly parent?: Hex;
}

const CHUNKS_IN_FLIGHT = 4;
/** Number of logs at which a chunk is large enough. */
const CHUNK_LOGS = 6_000;
const FIRST_CHUNK_BLOCKS = 16;
const CHUNK_BLOCKS_MAX = 512;

/**
 * Yields verified chunks of consecutive blocks, ascending. If a block cannot be had, yields the blocks before it, then
 * rejects.
 */
export async function* fetchAhead(
  source: BlockSource,
  from: number,
  to: number,
  options: FetchAheadOptions,
): AsyncGenerator<ChainBlock[]> {
  const { signal, blocksMax = Infinity, parent } = options;
  const chunkBlocksMax = Math.min(CHUNK_BLOCKS_MAX, blocksMax);
  const inFlight: { readonly end: number; readonly blocks: Promise<ChainBlock[]> }[] = [];
  let nextBlock = from;
  /** Time of the last block of the previous chunk, unix seconds. */
  let notBefore = 0;
  let chunkBlocks = Math.min(FIRST_CHUNK_BLOCKS, chunkBlocksMax);
  const launch = (): void => {
    while (inFlight.length < CHUNKS_IN_FLIGHT && nextBlock <= to) {
      const end = Math.min(to, nextBlock + chunkBlocks - 1);
      const parentOption = nextBlock === from && parent !== undefined ? { parent } : {};
      const blocks = source.fetchRange(nextBlock, end, { signal, partial: true, ...parentOption });
      // A later chunk may fail while the caller waits for an earlier chunk. The error is thrown when the
      // caller reaches the failed chunk.
      blocks.catch(() => undefined);
      inFlight.push({ end, blocks });
      nextBlock = end + 1;
    }
  };
  for (;;) {
    launch();
    const chunk = inFlight.shift();
    if (chunk === undefined) return;
    let blocks = await chunk.blocks;
    const [firstBlock, lastBlock] = [blocks[0], blocks.at(-1)];
    // A chunk is verified before the time of the previous chunk is known. If block times decrease between two
    // chunks, the error names the endpoint that sent the wrong time.
    if (firstBlock !== undefined && lastBlock !== undefined && firstBlock.timestamp < notBefore)
      blocks = await source.fetchRange(firstBlock.number, lastBlock.number, { signal, notBefore });
    notBefore = blocks.at(-1)?.timestamp ?? notBefore;
    const logs = blocks.reduce((sum, block) => sum + block.logs.length, 0);
    const logsPerBlock = Math.max(logs / Math.max(blocks.length, 1), CHUNK_LOGS / chunkBlocksMax);
    chunkBlocks = Math.max(
      1,
      Math.min(chunkBlocks * 2, chunkBlocksMax, Math.round(CHUNK_LOGS / logsPerBlock)),
    );
    yield blocks;
    // One block could not be had: what lies before it is of use already. The next request names the reason.
    const lastReceived = blocks.at(-1)?.number ?? chunk.end;
    if (lastReceived >= chunk.end) continue;
    inFlight.unshift({
      end: chunk.end,
      blocks: source.fetchRange(lastReceived + 1, chunk.end, { signal, partial: true }),
    });
  }
}
