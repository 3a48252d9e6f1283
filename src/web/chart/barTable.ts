/** The bars of a chart as a table, for people who cannot use a canvas: with indicators and the trades of a maker. */
import type { Bar } from '../../wire/ticks';
import { h } from '../core/dom.ts';
import { formatPrice } from '../core/format.ts';
import { priceIn, volumeIn, type ChartUnit } from './chartLegend.ts';
import type { TradeMark } from './tradeMarks.ts';
import type { StudyLine } from './study/studies.ts';
import { formatMinute, zoneName, type Zone } from './timeZones.ts';

/** Number of rows in the table of bars. */
const TABLE_ROWS = 200;

interface TableContent {
  readonly bars: readonly Bar[];
  readonly lines: readonly StudyLine[];
  /** Null if no maker is chosen. */
  readonly marks: readonly TradeMark[] | null;
  readonly unit: ChartUnit;
  readonly zone: Zone;
}

export function barTable({ bars, lines, marks, unit, zone }: TableContent): HTMLElement {
  const titles = [
    `Time (${zoneName(zone)})`,
    ...['Open', 'High', 'Low', 'Close'],
    ...['Volume', 'Trades'],
    ...lines.map(({ column }) => column.replaceAll('_', ' ').toUpperCase()),
    ...(marks === null ? [] : ['Maker']),
  ];
  const cellsOf = (bar: Bar, index: number): string[] => [
    formatMinute(bar.time, zone),
    ...[bar.open, bar.high, bar.low, bar.close].map((price) => priceIn(unit, price)),
    volumeIn(unit, bar),
    String(bar.trades),
    ...lines.map(({ values }) => formatPrice(values[index] ?? null)),
    ...(marks === null ? [] : [marksText(marks, bar)]),
  ];
  const rows = bars.map((bar, index) => ({ bar, index })).slice(-TABLE_ROWS);
  return h(
    'table',
    { class: 'data plain' },
    h(
      'thead',
      {},
      h('tr', {}, ...titles.map((name, index) => h('th', { scope: 'col', class: columnClass(index) }, name))),
    ),
    h(
      'tbody',
      {},
      ...rows
        .reverse()
        .map(({ bar, index }) =>
          h(
            'tr',
            {},
            ...cellsOf(bar, index).map((text, columnIndex) =>
              h('td', { class: columnClass(columnIndex) }, text),
            ),
          ),
        ),
    ),
  );
}

const columnClass = (columnIndex: number): string | null => (columnIndex === 0 ? 'left' : null);

function marksText(marks: readonly TradeMark[], bar: Bar): string {
  const barMarks = marks.filter(({ time }) => time === bar.time);
  const sideNames = { buy: ['buy', 'buys'], sell: ['sell', 'sells'] } as const;
  return barMarks.map(({ side, count }) => `${count} ${sideNames[side][count === 1 ? 0 : 1]}`).join(', ');
}
