/** The legend above the chart: its title, and the values of one bar in the currency of the chart. */
import type { Bar } from '../../wire/ticks';
import { h } from '../core/dom.ts';
import { formatAmount, formatPrice, formatUsd, formatUsdPrice } from '../core/format.ts';
import type { StudyLine } from './study/studies.ts';

/** The unit of the prices of a chart. */
export interface ChartUnit {
  /** Symbol of the token whose price the chart shows. */
  readonly token: string;
  /** Symbol of the currency. */
  readonly currency: string;
  readonly isUsd: boolean;
}

export const priceIn = ({ isUsd }: ChartUnit, price: number): string =>
  isUsd ? formatUsdPrice(price) : formatPrice(price);

/** The volume is in USD on a chart in USD. On other charts, and without a USD price, it is an amount of the token. */
export function volumeIn(unit: ChartUnit, bar: Bar): string {
  return unit.isUsd && bar.volume_usd !== null
    ? formatUsd(bar.volume_usd)
    : `${formatAmount(bar.volume)} ${unit.token}`;
}

export function legendOf(
  bar: Bar,
  index: number,
  unit: ChartUnit,
  title: string,
  lines: readonly StudyLine[],
): Node[] {
  const upOrDown = bar.close >= bar.open ? 'up' : 'down';
  const legendItem = (name: string, value: string): Node =>
    h('span', {}, h('i', {}, name), h('b', { class: upOrDown }, value));
  const changePercent = bar.open === 0 ? 0 : (bar.close / bar.open - 1) * 100;
  return [
    h('span', { class: 'legend-title' }, title),
    legendItem('O', priceIn(unit, bar.open)),
    legendItem('H', priceIn(unit, bar.high)),
    legendItem('L', priceIn(unit, bar.low)),
    legendItem('C', priceIn(unit, bar.close)),
    h('span', { class: upOrDown }, `${changePercent >= 0 ? '+' : '−'}${Math.abs(changePercent).toFixed(2)}%`),
    legendItem('Vol', volumeIn(unit, bar)),
    legendItem('Trades', String(bar.trades)),
    ...lines.map((line) => studyItem(line, index, unit)),
  ];
}

function studyItem({ study, column, label, values }: StudyLine, index: number, unit: ChartUnit): Node {
  const value = values[index] ?? null;
  const text = value === null ? '—' : study === 'rsi' ? value.toFixed(1) : priceIn(unit, value);
  return h(
    'span',
    { class: `study-${study}`, 'data-column': column },
    label !== '' && h('i', {}, label),
    h('b', {}, text),
  );
}
