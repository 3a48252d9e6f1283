/** The note of the market page while pools from before the first indexed block may be missing. Pure. */
import type { OverviewAnswer } from '../../wire/overview';

/** Empty if nothing is missing. */
export function historyNote(history: OverviewAnswer['data']['history']): string {
  const {
    complete,
    searching,
    start_block: startBlock,
    done_pct: donePercent,
    older_pools: olderPoolCount,
  } = history;
  if (complete) return '';
  const foundText = `${olderPoolCount.toLocaleString('en-US')} found`;
  const olderPools = `pools from before block ${startBlock}`;
  return searching
    ? `Lists and liquidity are incomplete: ${olderPools} are being searched, ${Math.floor(donePercent)} % done, ${foundText} so far.`
    : `Lists and liquidity may be incomplete: the node has no older logs, so ${olderPools} may be missing, ${foundText}.`;
}
