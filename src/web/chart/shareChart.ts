/** Market share of the DEXes over time: stacked columns per day. The legend shows the day under the pointer. */
import type { DexDetail } from '../../wire/dexes';
import { h, s } from '../core/dom.ts';
import { formatDay, formatShare, formatUsd } from '../core/format.ts';

export interface ShareSeries {
  readonly name: string;
  readonly label: string;
  readonly days: readonly { readonly time: number; readonly volume: number }[];
}

export type ShareMode = 'share' | 'volume';

/** Most DEXes with a colour of their own; the others are combined. */
const SERIES_MAX = 6;
/** Least width in pixels between two labels of days. */
const LABEL_WIDTH_PX = 90;
/** Height of the picture, and of the labels of days at its bottom, in pixels. */
const CHART_HEIGHT = 190;
const AXIS_HEIGHT = 20;

export function toSeries(
  details: readonly Pick<DexDetail, 'dex_name' | 'display_name' | 'history'>[],
): ShareSeries[] {
  const series = details.map(({ dex_name, display_name, history }) => ({
    name: dex_name,
    label: display_name,
    days: history.map(({ time, volume_usd }) => ({ time, volume: volume_usd })),
  }));
  const totalOf = ({ days }: ShareSeries): number => days.reduce((sum, { volume }) => sum + volume, 0);
  series.sort((a, b) => totalOf(b) - totalOf(a));
  if (series.length <= SERIES_MAX) return series;
  const otherDays = series.slice(SERIES_MAX - 1).flatMap(({ days }) => days);
  const volumeByTime = new Map<number, number>();
  for (const { time, volume } of otherDays) volumeByTime.set(time, (volumeByTime.get(time) ?? 0) + volume);
  const days = [...volumeByTime].map(([time, volume]) => ({ time, volume }));
  return [...series.slice(0, SERIES_MAX - 1), { name: 'others', label: 'Others', days }];
}

interface Day {
  readonly time: number;
  readonly volumes: readonly number[];
  readonly total: number;
}

function toDays(series: readonly ShareSeries[]): Day[] {
  const times = [...new Set(series.flatMap(({ days }) => days.map(({ time }) => time)))].sort(
    (a, b) => a - b,
  );
  const volumeMaps = series.map(({ days }) => new Map(days.map(({ time, volume }) => [time, volume])));
  return times.map((time) => {
    const volumes = volumeMaps.map((volumeByTime) => volumeByTime.get(time) ?? 0);
    return { time, volumes, total: volumes.reduce((sum, volume) => sum + volume, 0) };
  });
}

/** Draws the chart and follows the width of its element. */
export function shareChart(
  series: readonly ShareSeries[],
  mode: ShareMode,
  signal: AbortSignal,
): HTMLElement {
  const days = toDays(series);
  const latestIndex = days.length - 1;
  const shareTexts = series.map(() => h('b'));
  const dayName = h('span', { class: 'share-day' });
  const legend = h(
    'div',
    { class: 'share-legend' },
    dayName,
    ...series.map(({ label }, index) =>
      h('span', {}, h('i', { class: `series-${index}` }), `${label} `, shareTexts[index] ?? null),
    ),
  );
  const box = h('div', { class: 'share-box' });
  const showDay = (index: number): void => {
    const day = days[index];
    if (day === undefined) return;
    dayName.textContent = `${formatDay(day.time)}${index === latestIndex ? ' (so far)' : ''} · ${formatUsd(day.total)}`;
    day.volumes.forEach((volume, seriesIndex) => {
      const valueText = shareTexts[seriesIndex];
      if (valueText === undefined) return;
      const share = day.total === 0 ? null : (volume / day.total) * 100;
      valueText.textContent = mode === 'share' ? formatShare(share) : formatUsd(volume);
    });
  };
  const redraw = (): void => {
    if (box.clientWidth > 0) box.replaceChildren(drawDays(series, days, mode, box.clientWidth, showDay));
  };
  const resizeObserver = new ResizeObserver(redraw);
  resizeObserver.observe(box);
  signal.addEventListener('abort', () => resizeObserver.disconnect());
  box.addEventListener('pointerleave', () => showDay(latestIndex));
  showDay(latestIndex);
  return h('div', { class: 'share-chart' }, legend, box);
}

function drawDays(
  series: readonly ShareSeries[],
  days: readonly Day[],
  mode: ShareMode,
  width: number,
  showDay: (index: number) => void,
): SVGElement {
  const highestTotal = Math.max(...days.map(({ total }) => total), 1);
  const dayWidth = width / Math.max(1, days.length);
  const gap = dayWidth > 8 ? 2 : 0.5;
  const plotHeight = CHART_HEIGHT - AXIS_HEIGHT;
  const columns = days.map((day, index) => {
    const fullVolume = mode === 'share' ? day.total : highestTotal;
    let partTop = plotHeight;
    const parts = day.volumes.map((volume, seriesIndex) => {
      const height = fullVolume === 0 ? 0 : (volume / fullVolume) * plotHeight;
      partTop -= height;
      return s('rect', {
        x: index * dayWidth + gap / 2,
        y: partTop,
        width: dayWidth - gap,
        height,
        class: `series-${seriesIndex}`,
      });
    });
    const label = day.volumes
      .map(
        (volume, seriesIndex) =>
          `${series[seriesIndex]?.label ?? ''} ${formatShare(day.total === 0 ? null : (volume / day.total) * 100)}`,
      )
      .join(', ');
    const hoverArea = s('rect', {
      x: index * dayWidth,
      y: 0,
      width: dayWidth,
      height: plotHeight,
      class: 'sensor',
      tabindex: 0,
      role: 'img',
    });
    hoverArea.setAttribute('aria-label', `${formatDay(day.time)}: ${label}`);
    hoverArea.addEventListener('pointerenter', () => showDay(index));
    hoverArea.addEventListener('focus', () => showDay(index));
    return s('g', { class: 'column' }, ...parts, hoverArea);
  });
  const labelEvery = Math.max(1, Math.ceil(days.length / Math.max(2, Math.floor(width / LABEL_WIDTH_PX))));
  const dayLabels = days
    .map((day, index) => ({ day, index }))
    .filter(({ index }) => index % labelEvery === 0)
    .map(({ day, index }) =>
      s(
        'text',
        { x: index * dayWidth + dayWidth / 2, y: CHART_HEIGHT - 5, class: 'axis', 'text-anchor': 'middle' },
        formatDay(day.time).slice(5),
      ),
    );
  return s(
    'svg',
    {
      width,
      height: CHART_HEIGHT,
      viewBox: `0 0 ${width} ${CHART_HEIGHT}`,
      class: 'share-svg',
      role: 'group',
      'aria-label': 'Market share by day',
    },
    ...columns,
    ...dayLabels,
  );
}
