/** The cost of moving the price of a token, as a sentence. Pure. */
import type { Audit } from '../../wire/audit';

/** 14200 as $14,200 */
export function wholeUsd(value: number): string {
  if (value < 1) return value === 0 ? 'nothing' : 'less than $1';
  return `$${Math.round(value).toLocaleString('en-US')}`;
}

/** The sentence about a move of 10 % in the cheaper direction. */
export function moveCostText(audit: Pick<Audit, 'manipulation_cost_usd' | 'method'>): string {
  const { manipulation_cost_usd: costs, method } = audit;
  if (costs !== null) {
    const [up, down] = [costs.up.p10, costs.down.p10];
    const direction = up === down ? '' : up < down ? ' (up)' : ' (down)';
    return `Moving this price by 10 % costs about ${wholeUsd(Math.min(up, down))}${direction}.`;
  }
  if (method === 'stable_anchor') return 'Trades do not move this price: it is configured.';
  return 'What it costs to move this price is unknown.';
}
