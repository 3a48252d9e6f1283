/** One log of a contract, a transaction or a search, decoded if an ABI fits. */
import { h } from '../core/dom.ts';
import type { LogEntry } from '../core/explorerAnswers.ts';
import { formatTime, shortHex } from '../core/format.ts';
import { ago, copyButton } from '../core/pieces.ts';
import { scaledAmount, type Emitter } from '../list/scaledAmount.ts';
import { blockNumber, logsPath, topicOf, transactionOf } from './links.ts';
import { valueList, type ShownValue } from './shownValue.ts';

/**
 * `emitter` scales the amounts, if the contract of the log is known. `contractName` names the contract, if the
 * view shows logs of several contracts.
 */
export function logItem(
  entry: LogEntry,
  chain: string | null,
  emitter: Emitter | null = null,
  contractName: HTMLElement | null = null,
): HTMLElement {
  const { decoded, topics, timestamp } = entry;
  const topic = topics[0] ?? null;
  return h(
    'li',
    { 'data-id': entry.id },
    h(
      'div',
      { class: 'event-head' },
      h(
        'strong',
        { title: decoded?.signature ?? 'Not decoded: no known ABI fits' },
        topic === null
          ? 'no topic'
          : h('a', { href: logsPath({ topic0: topic, chainId: chain }) }, decoded?.name ?? shortHex(topic)),
      ),
      contractName,
      h(
        'span',
        { class: 'muted' },
        'block ',
        blockNumber(entry.block_number, chain),
        ` · log ${entry.log_index}`,
      ),
      entry.tx_hash === null
        ? h('span', { class: 'muted' }, 'no transaction')
        : transactionOf(entry.tx_hash, chain),
      h('span', { class: 'spring' }),
      timestamp === null ? null : h('span', { title: formatTime(timestamp) }, ago(timestamp)),
    ),
    decoded === null
      ? rawLog(entry, chain)
      : valueList(
          decoded.args.map((arg) => shownArgument(decoded.signature, arg, emitter)),
          chain,
        ),
  );
}

function rawLog({ topics, data }: LogEntry, chain: string | null): HTMLElement {
  return h(
    'div',
    { class: 'raw' },
    ...topics.map((topic, topicIndex) => h('div', {}, topicOf(topic, topicIndex, chain))),
    h(
      'div',
      {},
      data === '0x' ? h('span', { class: 'muted' }, 'no data') : data,
      data === '0x' ? null : copyButton(data),
    ),
  );
}

type Argument = NonNullable<LogEntry['decoded']>['args'][number];

/** An amount is shown in whole tokens, with its raw integer in the tooltip. */
function shownArgument(signature: string, arg: Argument, emitter: Emitter | null): ShownValue {
  const shownAmount = emitter === null ? null : scaledAmount(signature, arg, emitter);
  return { ...shownNested(arg.name, arg.type, arg.value), replacement: shownAmount };
}

/** A list of an argument has plain items, and a tuple has items with name, type and value. */
function shownNested(label: string, type: string, value: unknown): ShownValue {
  if (!Array.isArray(value))
    return { label, type, value: typeof value === 'string' ? value : JSON.stringify(value) };
  const itemType = type.replace(/\[\d*\]$/, '');
  const items = value.map((item: unknown, index): ShownValue => {
    if (typeof item !== 'object' || item === null || !('value' in item))
      return shownNested(String(index), itemType, item);
    const {
      name,
      type: itemOwnType,
      value: itemValue,
    }: { name?: unknown; type?: unknown; value: unknown } = item;
    return shownNested(String(name ?? index), String(itemOwnType ?? ''), itemValue);
  });
  return { label, type, value: items };
}
