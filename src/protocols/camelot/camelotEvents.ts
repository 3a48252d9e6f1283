/** Decodes the two events that only Camelot pools have. */
import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import type { CurveSwitchEvent, FeeEvent } from '../protocol';
import { loadData, uintAt } from '../words';

/** Topic of FeePercentUpdated(uint16 token0FeePercent, uint16 token1FeePercent). */
export const FEE_PERCENT_UPDATED: Hex = '0xa4877b8ecb5a00ba277e4bceeeb187a669e7113649774dfbea05c259ce27f17b';
/** Topic of SetStableSwap(bool prevStableSwap, bool stableSwap). */
const SET_STABLE_SWAP: Hex = '0xb6a86710bde53aa7fb1b3856279e2af5b476d53e2dd0902cf17a0911b5a43a8b';

export const CAMELOT_CHANGES: readonly Hex[] = [FEE_PERCENT_UPDATED, SET_STABLE_SWAP];

/** MAX_FEE_PERCENT: 2 %, in units of 1/100,000. */
export const FEE_UNITS_MAX = 2_000n;
/** Pips in one unit of the contract, which is 1/100,000. */
export const PIPS_PER_UNIT = 10;

/** Null for another topic or a malformed layout. */
export function decodeCamelotChange({
  topics,
  data,
}: Pick<ChainLog, 'topics' | 'data'>): FeeEvent | CurveSwitchEvent | null {
  const [topic] = topics;
  if (topic === undefined || !CAMELOT_CHANGES.includes(topic)) return null;
  if (topics.length !== 1 || !loadData(data, 2)) return null;
  const [first, second] = [uintAt(0), uintAt(1)];
  if (topic === SET_STABLE_SWAP)
    return first > 1n || second > 1n ? null : { kind: 'curve', isStable: second === 1n };
  if (first > FEE_UNITS_MAX || second > FEE_UNITS_MAX) return null;
  return { kind: 'fee', fee0Pips: Number(first) * PIPS_PER_UNIT, fee1Pips: Number(second) * PIPS_PER_UNIT };
}
