/** Logs of any contracts with filters. The address bar holds the filters. */
import { getAnswer } from '../core/api.ts';
import type { App, View } from '../core/app.ts';
import { button, h } from '../core/dom.ts';
import type { ListAnswer, LogEntry } from '../core/explorerAnswers.ts';
import { formatCount } from '../core/format.ts';
import { emptyNotice, loaded, skeleton } from '../core/panel.ts';
import type { Place } from '../core/place.ts';
import { findChain } from '../explorer/contractReads.ts';
import { keccakOfText } from '../explorer/keccak.ts';
import { addressOf, logsPath } from '../explorer/links.ts';
import { logItem } from '../explorer/logItem.ts';

const PAGE = 50;

interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly asSent: (text: string) => string;
}

const asIs = (text: string): string => text;
const FIELDS: readonly Field[] = [
  { name: 'address', label: 'Contract', hint: '0x…, or a comma list', asSent: asIs },
  { name: 'topic0', label: 'Event', hint: 'Transfer(address,address,uint256) or topic 0', asSent: asTopic0 },
  { name: 'topic1', label: 'Topic 1', hint: '32 bytes, an address or an integer', asSent: asTopic },
  { name: 'topic2', label: 'Topic 2', hint: '32 bytes, an address or an integer', asSent: asTopic },
  { name: 'topic3', label: 'Topic 3', hint: '32 bytes, an address or an integer', asSent: asTopic },
  { name: 'tx_hash', label: 'Transaction', hint: '0x…', asSent: asIs },
  { name: 'from_block', label: 'From block', hint: '0', asSent: asIs },
  { name: 'to_block', label: 'To block', hint: 'newest', asSent: asIs },
];

/** The hash of an event's signature. Other texts stay as they are, and the API checks them. */
function asTopic0(text: string): string {
  const plain = text.replace(/\s/g, '').replace(/\b(u?int)(?=[,)[])/g, '$1256');
  return /^[A-Za-z_$][\w$]*\([\w$,()[\]]*\)$/.test(plain) ? keccakOfText(plain) : text;
}

/** A topic holds an address or an integer in 32 bytes. Other texts stay as they are, and the API checks them. */
function asTopic(text: string): string {
  const words = text.split(',').map((word) => {
    const given = word.trim();
    if (/^0[xX][0-9a-fA-F]{40}$/.test(given)) return `0x${given.slice(2).padStart(64, '0')}`;
    if (/^\d{1,77}$/.test(given)) return `0x${BigInt(given).toString(16).padStart(64, '0')}`;
    return given;
  });
  return words.join(',');
}

export const logsView: View = (app, place, main, signal) => {
  const chain = place.query.get('chainId');
  const isOldestFirst = place.query.get('order') === 'asc';
  app.setTitle('Logs');
  const inputs = FIELDS.map(({ name, hint }) =>
    h('input', {
      name,
      value: place.query.get(name) ?? '',
      placeholder: hint,
      class: 'mono',
      autocomplete: 'off',
    }),
  );
  const order = h(
    'select',
    { name: 'order' },
    h('option', { value: 'desc' }, 'Newest first'),
    h('option', { value: 'asc', selected: isOldestFirst }, 'Oldest first'),
  );
  const form = h(
    'form',
    { class: 'card log-filters' },
    ...FIELDS.map(({ label }, index) => h('label', {}, h('span', {}, label), inputs[index] ?? null)),
    h('label', {}, h('span', {}, 'Order'), order),
    button('Search', () => undefined, { type: 'submit', class: 'button main' }),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const given = FIELDS.map(({ name }, index): [string, string] => [
      name,
      inputs[index]?.value.trim() ?? '',
    ]);
    app.go(
      logsPath({
        ...Object.fromEntries(given),
        order: order.value === 'asc' ? 'asc' : null,
        chainId: chain,
      }),
    );
  });
  const filters = Object.fromEntries(
    FIELDS.map(({ name, asSent }): [string, string] => {
      const text = (place.query.get(name) ?? '').trim();
      return [name, text === '' ? '' : asSent(text)];
    }),
  );
  const query = { ...filters, order: isOldestFirst ? 'asc' : 'desc', limit: PAGE, chainId: chain };
  main.replaceChildren(
    h('h1', {}, 'Logs'),
    form,
    missingLogs(chain),
    h('section', { class: 'card list-card' }, logPages(app, place, query, chain, isOldestFirst, signal)),
  );
};

/** Says from which block on the logs of all contracts are stored, if earlier blocks lack some. */
function missingLogs(chain: string | null): HTMLElement {
  const place = h('div', {});
  void findChain(chain).then((known) => {
    const from = known?.logs_from_block ?? 0;
    if (from > (known?.first_block ?? 0))
      place.replaceChildren(
        emptyNotice(`Blocks before ${formatCount(from)} are stored with only some of their logs.`),
      );
  });
  return place;
}

/** Pages by cursor, which is in the address bar. The list remembers the cursors of earlier pages, so that it can go back. */
function logPages(
  app: App,
  place: Place,
  query: Readonly<Record<string, string | number | null>>,
  chain: string | null,
  isOldestFirst: boolean,
  signal: AbortSignal,
): HTMLElement {
  const first = place.query.get('cursor');
  const cursors: (string | null)[] = first === null ? [null] : [null, first];
  const turn = (): void => {
    app.remember({ cursor: cursors.at(-1) ?? null });
    list.reload();
  };
  const list = loaded({
    load: (life) =>
      getAnswer<ListAnswer<LogEntry>>('/logs', { ...query, cursor: cursors.at(-1) ?? null }, life),
    render: ({ data, meta }) => {
      const next = meta?.next_cursor ?? null;
      const total = meta?.total ?? 0;
      const relation = meta?.total_relation === 'gte' ? ' or more' : '';
      const back = (): void => {
        cursors.pop();
        turn();
      };
      const forth = (): void => {
        cursors.push(next);
        turn();
      };
      const [before, after] = isOldestFirst ? ['Older logs', 'Newer logs'] : ['Newer logs', 'Older logs'];
      return h(
        'div',
        {},
        data.length === 0
          ? emptyNotice(
              next === null
                ? 'No logs match'
                : 'No logs match in this part of the chain. The search can go on.',
            )
          : h(
              'ol',
              { class: 'events tab-body' },
              ...data.map((entry) => logItem(entry, chain, null, addressOf(entry.address, chain))),
            ),
        h(
          'div',
          { class: 'pager' },
          h('span', { class: 'range' }, total === 0 ? '' : `${formatCount(total)}${relation} matching logs`),
          h('span', { class: 'spring' }),
          button('‹', back, { disabled: cursors.length === 1, 'aria-label': before }),
          button('›', forth, { disabled: next === null, 'aria-label': after }),
        ),
      );
    },
    skeleton: () => skeleton(400, 8),
    signal,
  });
  return list.element;
}
