/** The fact that says how far this service has proven a stored block, on the pages of blocks and transactions. */
import type { ChainItem } from '../../wire/chains';
import { fact } from '../core/pieces.ts';

/** What each level of proof covers. */
const PROOF_TEXTS: Readonly<Record<string, string>> = {
  full: 'The hash of the header, the transactions and the receipts are proven',
  receipts: 'The hash of the header and the receipts with all logs are proven, the transactions are not',
  headers: 'The hash of the header is proven',
  bloom: 'The logs fit the bloom of the header',
  none: 'Nothing is proven: the bloom of the header is empty',
};

export function proofFact(
  blockNumber: number,
  isStored: boolean,
  chainItem: ChainItem | undefined,
): HTMLElement {
  const proof = isStored ? proofOf(blockNumber, chainItem) : 'not stored yet';
  return fact('Proof', proof, PROOF_TEXTS[proof] ?? 'How far this service has proven the stored block');
}

/** The chain's newest blocks have one level of proof; older ones have a weaker one. */
function proofOf(blockNumber: number, chainItem: ChainItem | undefined): string {
  const { level = null, proven_from: provenFrom = null } = chainItem?.proof ?? {};
  if (level === null || provenFrom === null) return 'unknown';
  if (blockNumber < (chainItem?.first_block ?? 0)) return 'not stored: before the first indexed block';
  // The list of chains may be older than the block. New blocks have the level of the newest one.
  return blockNumber >= provenFrom ? level : `weaker than ${level}`;
}
