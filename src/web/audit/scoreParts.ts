/** Explains the parts of the confidence score of a price. */
import type { Audit, AuditHop } from '../../wire/audit';
import { h } from '../core/dom.ts';
import { formatChange, formatCount, formatUsd } from '../core/format.ts';
import type { AuditNames } from './auditNames.ts';

const LEVEL_TEXTS: Readonly<Record<Audit['confidence'], string>> = {
  high: 'high, because it is 0.9 or more. Volume, liquidity and totals use this price.',
  medium: 'medium, because it is 0.5 or more. Volume, liquidity and totals use this price.',
  low: 'low, because it is below 0.5. Volume, liquidity and totals leave out values by this price.',
  none: 'none, because the token has no price.',
};

/** Whether the reader opened the explanation, which stays open when a newer audit arrives. */
export interface OpenState {
  isOpen: boolean;
}

export function scoreParts(audit: Audit, names: AuditNames, openState: OpenState): HTMLElement {
  const { confidence, confidence_score: score, hops } = audit;
  const scoreDetails = h(
    'details',
    { class: 'score-parts', open: openState.isOpen },
    h('summary', {}, `Score ${score} of 1: what it is made of`),
    h('p', {}, `The confidence is ${LEVEL_TEXTS[confidence]}`),
    hops.length > 0 && h('p', {}, STEP_TEXT),
    hops.length > 0 && stepTable(hops, names),
    hops.length > 1 &&
      h('p', {}, `The score is the product of the steps: ${hops.map((hop) => hop.confidence).join(' × ')}.`),
    h('ul', {}, ...factsOf(audit).map((text) => h('li', {}, text))),
  );
  scoreDetails.addEventListener('toggle', () => (openState.isOpen = scoreDetails.open));
  return scoreDetails;
}

const STEP_TEXT =
  'The score of a step is depth × agreement × freshness: how much liquidity its pools hold, how close their prices ' +
  'are to each other, and how recently they moved.';

function stepTable(hops: readonly AuditHop[], names: AuditNames): HTMLElement {
  const columnTitles = ['Step', 'Score', 'Pools', 'Largest difference of prices'];
  return h(
    'div',
    { class: 'table-scroll', tabindex: '0' },
    h(
      'table',
      { class: 'data score-table', 'aria-label': 'Scores of the steps' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...columnTitles.map((name, index) =>
            h('th', { scope: 'col', class: index === 0 ? 'left' : null }, name),
          ),
        ),
      ),
      h(
        'tbody',
        {},
        ...hops.map((hop) =>
          h(
            'tr',
            {},
            h('td', { class: 'left' }, `${names.symbolOf(hop.from_token)} → ${names.symbolOf(hop.to_token)}`),
            h('td', {}, String(hop.confidence)),
            h('td', {}, formatCount(hop.pools.length)),
            h('td', {}, spreadOf(hop)),
          ),
        ),
      ),
    ),
  );
}

/** Distance of the highest price of a pool from the lowest. */
function spreadOf({ pools }: AuditHop): string {
  if (pools.length < 2) return 'only one pool';
  const prices = pools.map(({ implied_price }) => Number(implied_price));
  return formatChange((Math.max(...prices) / Math.min(...prices) - 1) * 100).replace('+', '');
}

function factsOf(audit: Audit): string[] {
  const { depth_usd: depthUsd, price_age_blocks: ageBlocks, manipulation_cost_usd: cost, method } = audit;
  return [
    method === 'stable_anchor' ? 'The price of an anchor is given, so its score is always 0.99.' : null,
    depthUsd === null ? null : `${formatUsd(depthUsd)} move the price of the narrowest step by 2 %.`,
    ageBlocks === null
      ? null
      : ageBlocks === 0
        ? 'A pool of the price changed in this block.'
        : `The newest change of a pool of the price is ${formatCount(ageBlocks)} ${ageBlocks === 1 ? 'block' : 'blocks'} old.`,
    cost === null
      ? null
      : `Whoever moves the price by 10 % for one block loses at least ${formatUsd(cost.up.p10)} upwards, or ${formatUsd(cost.down.p10)} downwards.`,
  ].filter((text) => text !== null);
}
