/** Shows decoded values of calls, answers and logs. Addresses are links; nested values are nested lists. */
import { h } from '../core/dom.ts';
import { copyButton } from '../core/pieces.ts';
import type { AbiPart, AbiValue } from './abiCoder.ts';
import { addressOf } from './links.ts';

/** A value with its name and type: a text, or a list of values. */
export interface ShownValue {
  readonly label: string;
  readonly type: string;
  readonly value: string | readonly ShownValue[];
  /** A text shown instead of the value; the value is then the tooltip. */
  readonly replacement?: string | null;
}

/** Longest text that is shown whole, and most items of a list. A button copies the rest. */
const TEXT_MAX = 1_026;
const ITEMS_MAX = 200;

export function shownPart({ label, type }: AbiPart, value: AbiValue): ShownValue {
  const common = { label, type: type.name };
  if (typeof value !== 'object') return { ...common, value: String(value) };
  const items = value.map((item, index): ShownValue => {
    if (type.kind === 'tuple') {
      const part = type.parts[index];
      return part === undefined ? { label: '', type: '', value: String(item) } : shownPart(part, item);
    }
    return type.kind === 'array'
      ? shownPart({ label: String(index), type: type.item }, item)
      : { label: '', type: '', value: String(item) };
  });
  return { ...common, value: items };
}

export function valueList(values: readonly ShownValue[], chain: string | null): HTMLElement {
  const rows = values.slice(0, ITEMS_MAX).map((shownValue) => valueRow(shownValue, chain));
  const moreCount = values.length - rows.length;
  return h(
    'dl',
    { class: 'args' },
    ...rows,
    moreCount > 0 && h('div', {}, h('dt', {}, '…'), h('dd', { class: 'muted' }, `${moreCount} more`)),
  );
}

function valueRow(shownValue: ShownValue, chain: string | null): HTMLElement {
  const { label, type, value } = shownValue;
  return h(
    'div',
    {},
    h(
      'dt',
      { title: type },
      label === '' ? type : h('bdi', {}, label),
      label === '' ? null : h('span', { class: 'type' }, typeof value === 'string' ? ` ${type}` : ''),
    ),
    typeof value === 'string'
      ? h(
          'dd',
          { class: 'mono', title: shownValue.replacement == null ? null : `${value} raw` },
          textNode(shownValue, value, chain),
        )
      : h(
          'dd',
          {},
          value.length === 0 ? h('span', { class: 'muted' }, 'empty list') : valueList(value, chain),
        ),
  );
}

function textNode({ type, replacement }: ShownValue, text: string, chain: string | null): Node {
  if (replacement != null) return document.createTextNode(replacement);
  if (type === 'address' && /^0x[0-9a-f]{40}$/.test(text)) return addressOf(text, chain, 'whole');
  const isLong = text.length > TEXT_MAX;
  const shownText = isLong ? `${text.slice(0, TEXT_MAX)}…` : text;
  const isHex = /^bytes/.test(type) && text.length > 2;
  return h('bdi', {}, shownText === '' ? '“”' : shownText, isLong || isHex ? copyButton(text) : null);
}
