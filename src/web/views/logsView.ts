/** Logs of any contracts with filters. The address bar holds the filters. */
import { getAnswer } from '../core/api.ts';
import type { App, View } from '../core/app.ts';
import { button, h } from '../core/dom.ts';
import type { ListAnswer, LogEntry } from '../core/explorerAnswers.ts';
import { formatCount } from '../core/format.ts';
import { emptyNotice } from '../core/panel.ts';
import type { Place } from '../core/place.ts';
import { findChain } from '../explorer/contractReads.ts';
import { addressOf, logsPath } from '../explorer/links.ts';
import { logItem } from '../explorer/logItem.ts';
import { pagedList } from '../explorer/pagedList.ts';

const PAGE_LOGS = 50;

interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly toQuery: (text: string) => Readonly<Record<string, string>>;
}

const field = (
  name: string,
  label: string,
  hint: string,
  toQuery = (text: string): Readonly<Record<string, string>> => ({ [name]: text }),
): Field => ({ name, label, hint, toQuery });

const topic = (topicIndex: number): Field =>
  field(`topic${topicIndex}`, `Topic ${topicIndex}`, '32 bytes, an address or an integer', (text) => ({
    [`topic${topicIndex}`]: toTopic(text),
  }));

const FIELDS: readonly Field[] = [
  field('address', 'Contract', '0x…, or a comma list'),
  field('topic0', 'Event', 'Transfer, Transfer(address,address,uint256) or topic 0', eventQuery),
  topic(1),
  topic(2),
  topic(3),
  field('tx_hash', 'Transaction', '0x…'),
  field('from_block', 'From block', '0'),
  field('to_block', 'To block', 'newest'),
];

/** The name or the signature of an event, or its topic. */
function eventQuery(text: string): Readonly<Record<string, string>> {
  return /^0x/i.test(text) ? { topic0: text } : { event: text.replace(/\s/g, '') };
}

/** A topic holds an address or an integer in 32 bytes. Other texts stay as they are, and the API checks them. */
function toTopic(text: string): string {
  const topics = text.split(',').map((topicText) => {
    const trimmed = topicText.trim();
    if (/^0[xX][0-9a-fA-F]{40}$/.test(trimmed)) return `0x${trimmed.slice(2).padStart(64, '0')}`;
    if (/^\d{1,77}$/.test(trimmed)) return `0x${BigInt(trimmed).toString(16).padStart(64, '0')}`;
    return trimmed;
  });
  return topics.join(',');
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
  const orderSelect = h(
    'select',
    { name: 'order' },
    h('option', { value: 'desc' }, 'Newest first'),
    h('option', { value: 'asc', selected: isOldestFirst }, 'Oldest first'),
  );
  const form = h(
    'form',
    { class: 'card log-filters' },
    ...FIELDS.map(({ label }, index) => h('label', {}, h('span', {}, label), inputs[index] ?? null)),
    h('label', {}, h('span', {}, 'Order'), orderSelect),
    button('Search', () => undefined, { type: 'submit', class: 'button main' }),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const filters = FIELDS.map(({ name }, index): [string, string] => [
      name,
      inputs[index]?.value.trim() ?? '',
    ]);
    app.go(
      logsPath({
        ...Object.fromEntries(filters),
        order: orderSelect.value === 'asc' ? 'asc' : null,
        chainId: chain,
      }),
    );
  });
  const filterQueries = FIELDS.map(({ name, toQuery }) => toQuery((place.query.get(name) ?? '').trim()));
  const query = {
    ...Object.assign({}, ...filterQueries),
    order: isOldestFirst ? 'asc' : 'desc',
    limit: PAGE_LOGS,
    chainId: chain,
  };
  main.replaceChildren(
    h('h1', {}, 'Logs'),
    form,
    missingLogs(chain),
    h('section', { class: 'card list-card' }, logPages(app, place, query, chain, isOldestFirst, signal)),
  );
};

/** Says if the chain is not indexed, and from which block on all logs are stored, if earlier blocks lack some. */
function missingLogs(chain: string | null): HTMLElement {
  const noticeBox = h('div', {});
  void findChain(chain).then((chainItem) => {
    if (chainItem === undefined && chain !== null)
      return noticeBox.replaceChildren(emptyNotice(`This service does not index chain ${chain}`));
    const logsFrom = chainItem?.logs_from_block ?? 0;
    if (logsFrom > (chainItem?.first_block ?? 0))
      noticeBox.replaceChildren(
        emptyNotice(`Blocks before ${formatCount(logsFrom)} are stored with only some of their logs.`),
      );
  });
  return noticeBox;
}

/** Pages by cursor, which is in the address bar. */
function logPages(
  app: App,
  place: Place,
  query: Readonly<Record<string, string | number | null>>,
  chain: string | null,
  isOldestFirst: boolean,
  signal: AbortSignal,
): HTMLElement {
  return pagedList({
    firstCursor: place.query.get('cursor'),
    onturn: (cursor) => app.remember({ cursor }),
    load: (cursor, loadSignal) => getAnswer<ListAnswer<LogEntry>>('/logs', { ...query, cursor }, loadSignal),
    render: ({ data, meta }) => {
      const nextCursor = meta?.next_cursor ?? null;
      const total = meta?.total ?? 0;
      const orMoreText = meta?.total_relation === 'gte' ? ' or more' : '';
      const noMatchText =
        nextCursor === null
          ? 'No logs match'
          : 'No logs match in this part of the chain. The search can go on.';
      return {
        element:
          data.length === 0
            ? emptyNotice(noMatchText)
            : h(
                'ol',
                { class: 'events tab-body' },
                ...data.map((entry) => logItem(entry, chain, null, addressOf(entry.address, chain))),
              ),
        nextCursor,
        rangeText: total === 0 ? '' : `${formatCount(total)}${orMoreText} matching logs`,
      };
    },
    names: isOldestFirst ? ['Older logs', 'Newer logs'] : ['Newer logs', 'Older logs'],
    signal,
  }).element;
}
