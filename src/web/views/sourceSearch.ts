/** Search through the sources of all verified contracts, by text or regular expression. */
import { getAnswer } from '../core/api.ts';
import type { App } from '../core/app.ts';
import { button, h, segments } from '../core/dom.ts';
import type { ListAnswer, SourceHit } from '../core/explorerAnswers.ts';
import { shortHex } from '../core/format.ts';
import { emptyNotice, isMissing, loadingPanel, skeleton } from '../core/panel.ts';
import { sourcePath } from '../core/sourcePath.ts';

const PAGE_HITS = 25;
type Mode = 'text' | 'regex';

export function sourceSearch(chain: string | null, text: string, app: App, signal: AbortSignal): HTMLElement {
  let mode: Mode = 'text';
  const results = h('div', {});
  const input = h('input', {
    type: 'search',
    value: text,
    placeholder: 'mintFee, require(…), 0x…',
    'aria-label': 'Search in sources',
    class: 'mono',
  });
  const search = (): void => {
    const searchText = input.value.trim();
    app.remember({ q: searchText, chainId: chain });
    if (searchText === '')
      return results.replaceChildren(emptyNotice('Searches all lines in the sources of verified contracts.'));
    results.replaceChildren(sourceHits(searchText, mode, chain, signal));
  };
  const form = h(
    'form',
    { class: 'source-form' },
    input,
    button('Search', () => undefined, { type: 'submit', class: 'button main' }),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    search();
  });
  const modeButtons = segments<Mode>({
    label: 'Kind of search',
    values: [
      ['text', 'Text'],
      ['regex', 'Regex'],
    ],
    value: mode,
    onchange: (value) => {
      mode = value;
      search();
    },
  });
  search();
  return h(
    'section',
    { class: 'card source-card' },
    h(
      'div',
      { class: 'card-bar' },
      h('h2', {}, 'Source search'),
      h('span', { class: 'spring' }),
      modeButtons,
    ),
    form,
    results,
  );
}

export function sourceHits(
  searchText: string,
  mode: Mode,
  chain: string | null,
  signal: AbortSignal,
): HTMLElement {
  return loadingPanel({
    load: (loadSignal) =>
      getAnswer<ListAnswer<SourceHit>>(
        '/source-search',
        { q: searchText, mode, chainId: chain, limit: PAGE_HITS },
        loadSignal,
      ),
    render: ({ data }) =>
      data.length === 0
        ? emptyNotice('No matching lines')
        : h('ol', { class: 'source-hits' }, ...data.map((hit) => hitItem(hit, chain))),
    skeleton: () => skeleton(240, 6),
    explain: (error) => (isMissing(error) ? 'This service has no source search' : null),
    signal,
  }).element;
}

function hitItem(sourceHit: SourceHit, chain: string | null): HTMLElement {
  return h(
    'li',
    {},
    h(
      'div',
      { class: 'event-head' },
      h(
        'a',
        {
          href: sourcePath(sourceHit.address, {
            chain,
            path: sourceHit.path,
            line: sourceHit.line,
          }),
        },
        sourceHit.contract_name ?? shortHex(sourceHit.address),
      ),
      h('span', { class: 'muted' }, `${sourceHit.path}:${sourceHit.line}:${sourceHit.column}`),
    ),
    h('pre', { class: 'raw' }, sourceHit.snippet),
  );
}
