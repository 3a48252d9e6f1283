/** The page of one transaction: its block and its decoded logs, in the order of the chain. */
import { getAnswer } from '../core/api.ts';
import type { View } from '../core/app.ts';
import { h } from '../core/dom.ts';
import type { ContractRecord, ListAnswer, LogEntry } from '../core/explorerAnswers.ts';
import { formatCount, formatTime, shortHex } from '../core/format.ts';
import { emptyNotice, loaded, skeleton } from '../core/panel.ts';
import { addressLink, ago, copyButton, fact, facts } from '../core/pieces.ts';
import { eventItem } from '../list/eventItem.ts';
import type { Emitter } from '../list/scaledAmount.ts';

/** Most logs shown. */
const LOGS_MAX = 200;
/** Most contracts that are read for the decimals of their tokens. */
const EMITTERS_MAX = 12;

export const transactionView: View = (app, place, main, signal) => {
  const hash = place.path[1]?.toLowerCase() ?? '';
  app.setTitle(`Transaction ${shortHex(hash)}`);
  const logs = loaded({
    load: async (life) => {
      const query = { tx_hash: hash, order: 'asc', limit: LOGS_MAX };
      const { data } = await getAnswer<ListAnswer<LogEntry>>('/logs', query, life);
      return { logs: data, emitters: await readEmitters(data, life) };
    },
    render: ({ logs, emitters }) => transaction(logs, emitters),
    skeleton: () => skeleton(400, 8),
    signal,
  });
  main.replaceChildren(
    h('h1', {}, 'Transaction'),
    h('p', { class: 'wallet-name' }, h('span', { class: 'mono' }, hash), copyButton(hash)),
    logs.element,
  );
};

/** The contracts of the logs, for the decimals of their tokens. Contracts that cannot be read are missing. */
async function readEmitters(
  logs: readonly LogEntry[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Emitter>> {
  const addresses = [...new Set(logs.map(({ address }) => address))].slice(0, EMITTERS_MAX);
  const found = await Promise.all(
    addresses.map(async (address): Promise<[string, Emitter][]> => {
      try {
        const { data } = await getAnswer<{ data: ContractRecord }>(`/contracts/${address}`, {}, signal);
        return [[address, data]];
      } catch (error) {
        if (signal.aborted) throw error;
        return [];
      }
    }),
  );
  return new Map(found.flat());
}

function transaction(logs: readonly LogEntry[], emitters: ReadonlyMap<string, Emitter>): HTMLElement {
  const [first] = logs;
  if (first === undefined) return emptyNotice('This transaction has no indexed logs');
  return h(
    'section',
    { class: 'card contract-card' },
    facts(
      fact('Block', formatCount(first.block_number)),
      first.timestamp === null
        ? null
        : fact('Time', h('span', { title: formatTime(first.timestamp) }, ago(first.timestamp))),
      fact('Logs', logs.length < LOGS_MAX ? String(logs.length) : `the first ${LOGS_MAX}`),
    ),
    h(
      'ol',
      { class: 'events' },
      ...logs.map((entry) =>
        eventItem(entry, emitters.get(entry.address) ?? null, addressLink(entry.address, 'contract')),
      ),
    ),
  );
}
