/** Shows the cost of moving the price of a token. */
import type { Audit } from '../../wire/audit';
import { h } from '../core/dom.ts';
import { moveCostText, wholeUsd } from './moveCostText.ts';

const MOVES = [
  ['p2', '2 %'],
  ['p10', '10 %'],
  ['p50', '50 %'],
] as const;

export function moveCost(audit: Audit): HTMLElement {
  const costs = audit.manipulation_cost_usd;
  const text = moveCostText(audit);
  if (costs === null) return h('p', { class: 'move-cost' }, text);
  const costLine = (direction: string, costByMove: typeof costs.up): string =>
    `${direction}: ${MOVES.map(([key, name]) => `${name} ${wholeUsd(costByMove[key])}`).join(', ')}.`;
  return h(
    'p',
    { class: 'move-cost', title: 'The least that an attacker loses within one block; a lower bound' },
    text,
    ' ',
    h('small', {}, `${costLine('Up', costs.up)} ${costLine('Down', costs.down)}`),
  );
}
