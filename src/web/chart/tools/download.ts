/** Offers data of the page as a file. */
import { h } from '../../core/dom.ts';
import { cssColor } from '../../core/themeSwitch.ts';

export function downloadBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Height of the heading above the picture, in pixels of the screen. */
const HEADING_PX = 30;

/** Downloads a picture of the chart as PNG, with a heading above it and the background of the theme. */
export function downloadPicture(chart: HTMLCanvasElement, heading: string, name: string): void {
  const pixelRatio = window.devicePixelRatio;
  const canvas = h('canvas', { width: chart.width, height: chart.height + HEADING_PX * pixelRatio });
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.fillStyle = cssColor('--card');
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = cssColor('--text');
  context.font = `${13 * pixelRatio}px ${getComputedStyle(document.body).fontFamily}`;
  context.fillText(heading, 12 * pixelRatio, 20 * pixelRatio, canvas.width - 24 * pixelRatio);
  context.drawImage(chart, 0, HEADING_PX * pixelRatio);
  canvas.toBlob((blob) => {
    if (blob !== null) downloadBlob(blob, name);
  }, 'image/png');
}
