/** Offers data of the page as a file. */
import { h } from '../../core/dom.ts';
import { cssColor } from '../../core/themeSwitch.ts';

export function downloadBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Height of the heading above the picture, in pixels of the screen. */
const HEADING = 30;

/** Downloads a picture of the chart as PNG, with a heading above it and the background of the theme. */
export function downloadPicture(chart: HTMLCanvasElement, heading: string, name: string): void {
  const ratio = window.devicePixelRatio;
  const canvas = h('canvas', { width: chart.width, height: chart.height + HEADING * ratio });
  const pen = canvas.getContext('2d');
  if (pen === null) return;
  pen.fillStyle = cssColor('--card');
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = cssColor('--text');
  pen.font = `${13 * ratio}px ${getComputedStyle(document.body).fontFamily}`;
  pen.fillText(heading, 12 * ratio, 20 * ratio, canvas.width - 24 * ratio);
  pen.drawImage(chart, 0, HEADING * ratio);
  canvas.toBlob((blob) => {
    if (blob !== null) downloadBlob(blob, name);
  }, 'image/png');
}
