/** The fact that says how far this service has proven a stored block, on the pages of blocks and transactions. */
import type { ChainItem } from '../../wire/chains';
import { fact } from '../core/pieces.ts';

/** What each level of proof covers. */
const PROOFS: Readonly<Record<string, string>> = {
  full: 'The hash of the header, the transactions and the receipts are proven',
  receipts: 'The hash of the header and the receipts with all logs are proven, the transactions are not',
  headers: 'The hash of the header is proven',
  bloom: 'The logs fit the bloom of the header',
  none: 'Nothing is proven: the bloom of the header is empty',
};

export function proofFact(number: number, isStored: boolean, known: ChainItem | undefined): HTMLElement {
  const proof = isStored ? proofOf(number, known) : 'not stored yet';
  return fact('Proof', proof, PROOFS[proof] ?? 'How far this service has proven the stored block');
}

/** The chain's newest blocks have one level of proof; older ones have a weaker one. */
function proofOf(number: number, known: ChainItem | undefined): string {
  const { level = null, proven_from: from = null } = known?.proof ?? {};
  if (level === null || from === null) return 'unknown';
  if (number < (known?.first_block ?? 0)) return 'not stored: before the first indexed block';
  // The list of chains may be older than the block. New blocks have the level of the newest one.
  return number >= from ? level : `weaker than ${level}`;
}
