/** Links proven blocks to the block of TRUSTED_BLOCK by parent hashes, and describes what the proof rests on. */
import type { BlockSource } from '../../node/blocks/blockSource';
import type { BlockRef, ProofOptions } from '../../domain/block';
import { AppError } from '../../errors';

/** Headers per request. */
const STEP = 500;
/** If the trusted block is more than this number of blocks away, the headers in between are not read. */
const DISTANCE_MAX = 200_000;

interface Ends {
  readonly first: BlockRef;
  readonly last: BlockRef;
}

/**
 * Links the blocks to the trusted block by parent hashes. Returns a sentence about what the proof rests on.
 * @throws AppError `node_failed` if a parent hash does not fit
 */
export async function linkToTrusted(
  source: BlockSource,
  trusted: ProofOptions['trusted'],
  { first, last }: Ends,
  signal: AbortSignal,
): Promise<string> {
  if (trusted === null)
    return `The proof rests on the hash of block ${last.number}, ${last.hash}, as the node says it: TRUSTED_BLOCK is not set.`;
  const { number } = trusted;
  const distance = Math.max(number - last.number, first.number - number, 0);
  if (distance > DISTANCE_MAX)
    return `TRUSTED_BLOCK ${number} is ${distance} blocks away, too far to link to: the proof rests on the hash of block ${last.number}, ${last.hash}, as the node says it.`;
  // The hash of the trusted block needs no check here: the source refuses any other block at its height.
  if (number > last.number) await readLinked(source, last, number, signal);
  if (number < first.number) {
    const lastHeader = await readLinked(source, null, first.number - 1, signal, number);
    if (lastHeader !== null && lastHeader.hash !== first.parentHash) throw parentHashError(lastHeader, first);
  }
  return `Parent hashes link the blocks to TRUSTED_BLOCK ${number}, ${trusted.hash}.`;
}

/**
 * Reads the headers up to block `to`, starting after `last`, or at block `from` without `last`. Checks their
 * parent hashes, and returns the last header.
 */
async function readLinked(
  source: BlockSource,
  last: BlockRef | null,
  to: number,
  signal: AbortSignal,
  from = (last?.number ?? 0) + 1,
): Promise<BlockRef | null> {
  let parent = last;
  for (let pageStart = from; pageStart <= to; pageStart += STEP) {
    const headers = await source.fetchHeaders(pageStart, Math.min(to, pageStart + STEP - 1), { signal });
    const [first] = headers;
    if (parent !== null && first !== undefined && first.parentHash !== parent.hash)
      throw parentHashError(parent, first);
    parent = headers.at(-1) ?? parent;
  }
  return parent;
}

function parentHashError(parent: BlockRef, child: BlockRef): AppError {
  return new AppError(
    'node_failed',
    `the parentHash of block ${child.number} is ${child.parentHash}, but block ${parent.number} has the hash ${parent.hash}`,
  );
}
