/** The panel of the risks of a token or pair. */
import { getAnswer } from '../core/api.ts';
import { contractPath } from '../core/app.ts';
import type { ContractRecord } from '../core/explorerAnswers.ts';
import { h } from '../core/dom.ts';
import { riskFacts, type RiskFields, type Verified } from './riskFacts.ts';

interface RiskOptions {
  readonly item: RiskFields;
  /** The token whose source code counts. */
  readonly token: { readonly address: string };
  readonly verified: Verified;
  readonly hasLpToken: boolean;
}

export function riskPanel({ item, token, verified, hasLpToken }: RiskOptions): HTMLElement {
  const rows = riskFacts(item, verified, hasLpToken).map(({ name, text, tone }) => {
    const value =
      name === 'Source code'
        ? h('a', { href: contractPath(token.address), class: `risk ${tone}` }, text)
        : h('span', { class: `risk ${tone}` }, text);
    return h('div', { class: 'fact' }, h('dt', {}, name), h('dd', {}, value));
  });
  return h(
    'section',
    { class: 'card rail-card risk-card' },
    h('h2', {}, 'Risks'),
    h('dl', { class: 'facts' }, ...rows),
  );
}

/** Asks once whether the source of a contract is verified. Calls back if the answer is known. */
export function askVerified(
  address: string,
  signal: AbortSignal,
  onanswer: (verified: boolean) => void,
): void {
  getAnswer<{ readonly data: ContractRecord }>(`/contracts/${address}`, {}, signal).then(
    ({ data }) => onanswer(data.verified),
    // Without an explorer, it stays unknown.
    () => undefined,
  );
}
