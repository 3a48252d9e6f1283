/** Offers data of the page as a file. */
import { h } from '../../core/dom.ts';
import { cssColor } from '../../core/themeSwitch.ts';

export function downloadBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The heading above the picture: its height, its text and the space on both sides, in pixels of the screen. */
const HEADING_PX = 30;
const TEXT_PX = 13;
const BASELINE_PX = 20;
const SIDE_PX = 12;

/** Downloads a picture of the chart as PNG, with a heading above it and the background of the theme. */
export function downloadPicture(chart: HTMLCanvasElement, heading: string, name: string): void {
  const pixelRatio = window.devicePixelRatio;
  const canvas = h('canvas', { width: chart.width, height: chart.height + HEADING_PX * pixelRatio });
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.fillStyle = cssColor('--card');
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = cssColor('--text');
  context.font = `${TEXT_PX * pixelRatio}px ${getComputedStyle(document.body).fontFamily}`;
  const textWidth = canvas.width - 2 * SIDE_PX * pixelRatio;
  context.fillText(heading, SIDE_PX * pixelRatio, BASELINE_PX * pixelRatio, textWidth);
  context.drawImage(chart, 0, HEADING_PX * pixelRatio);
  canvas.toBlob((blob) => {
    if (blob !== null) downloadBlob(blob, name);
  }, 'image/png');
}
