/** One decoded log of a contract or a transaction. */
import { contractHash, transactionHash } from '../core/app.ts';
import { h } from '../core/dom.ts';
import type { LogEntry } from '../core/explorerAnswers.ts';
import { formatCount, formatTime, shortHex } from '../core/format.ts';
import { ago } from '../core/pieces.ts';
import { scaledAmount, type Emitter } from './scaledAmount.ts';

/**
 * `emitter` scales the amounts, if the contract of the log is known. `name` names it, where the view shows logs of
 * several contracts.
 */
export function eventItem(
  entry: LogEntry,
  emitter: Emitter | null,
  name: HTMLElement | null = null,
): HTMLElement {
  const { decoded } = entry;
  return h(
    'li',
    {},
    h(
      'div',
      { class: 'event-head' },
      h(
        'strong',
        { title: decoded?.signature ?? 'Not decoded: no known ABI fits' },
        decoded?.name ?? shortHex(entry.topics[0] ?? '0x'),
      ),
      name,
      h('span', { class: 'muted' }, `block ${formatCount(entry.block_number)} · log ${entry.log_index}`),
      h(
        'a',
        { class: 'mono muted', href: transactionHash(entry.tx_hash), title: entry.tx_hash },
        shortHex(entry.tx_hash),
      ),
      h('span', { class: 'spring' }),
      entry.timestamp === null
        ? null
        : h('span', { title: formatTime(entry.timestamp) }, ago(entry.timestamp)),
    ),
    decoded === null
      ? h('pre', { class: 'raw' }, [...entry.topics, entry.data].join('\n'))
      : h(
          'dl',
          { class: 'args' },
          ...decoded.args.map((arg) =>
            argument(arg, emitter === null ? null : scaledAmount(decoded.signature, arg, emitter)),
          ),
        ),
  );
}

type Argument = NonNullable<LogEntry['decoded']>['args'][number];

/** An amount is shown in whole tokens, with its raw integer in the tooltip. */
function argument(arg: Argument, amount: string | null): HTMLElement {
  const text = typeof arg.value === 'string' ? arg.value : JSON.stringify(arg.value);
  const isAddress = arg.type === 'address' && /^0x[0-9a-f]{40}$/.test(text);
  return h(
    'div',
    {},
    h('dt', { title: `${arg.type}${arg.indexed ? ', indexed' : ''}` }, arg.name === '' ? arg.type : arg.name),
    h(
      'dd',
      { class: 'mono', title: amount === null ? null : `${text} raw` },
      isAddress ? h('a', { href: contractHash(text) }, text) : (amount ?? text),
    ),
  );
}
