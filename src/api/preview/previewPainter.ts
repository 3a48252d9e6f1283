/**
 * Renders SVG as PNG with resvg, outside of the event loop. The work is bounded: a process renders a few pictures per second,
 * one after another.
 */
import { dirname, join } from 'node:path';

import { findPackageRoot } from '../../clickhouse/client/packageRoot';
import { steadyNow } from '../../domain/time/steadyTime';
import { pngFile } from './pngFile';

/** Pictures that a process begins per second. */
export const PICTURES_PER_SECOND = 4;
/** Pictures that may wait. On a busy machine, a picture may take longer than a quarter of a second. */
const WAITING_MAX = 8;

const FONT_PACKAGE = '@expo-google-fonts/questrial';
const FONT_FILE = join('400Regular', 'Questrial_400Regular.ttf');
/** The build unpacks this font. It has all scripts and emoji, as pixels. */
const WIDE_FONT = join('dist', 'fonts', 'unifontex.ttf');
const NOT_ASCII = /[^\x20-\x7e]/;

export interface PreviewPainter {
  /** Reserves one of the pictures of this second; false if none is left, or too many wait. */
  reservePicture(): boolean;
  paint(svg: string): Promise<Buffer>;
}

export function createPreviewPainter(
  now: () => number = steadyNow,
  paint: (svg: string) => Promise<Buffer> = renderSvg,
): PreviewPainter {
  let picturesLeft = PICTURES_PER_SECOND;
  let filledAt = now();
  let waitingPictures = 0;
  let queue: Promise<unknown> = Promise.resolve();
  return {
    reservePicture() {
      const nowMs = now();
      picturesLeft = Math.min(
        PICTURES_PER_SECOND,
        picturesLeft + ((nowMs - filledAt) / 1_000) * PICTURES_PER_SECOND,
      );
      filledAt = nowMs;
      if (picturesLeft < 1 || waitingPictures >= WAITING_MAX) return false;
      picturesLeft -= 1;
      return true;
    },
    paint(svg) {
      waitingPictures += 1;
      const paintedPicture = queue.then(() => paint(svg)).finally(() => (waitingPictures -= 1));
      queue = paintedPicture.catch(() => undefined);
      return paintedPicture;
    },
  };
}

/** Loads resvg with the first picture, so that a platform without it still serves everything else. */
async function renderSvg(svg: string): Promise<Buffer> {
  const { renderAsync } = await import('@resvg/resvg-js');
  const fontFiles = [join(dirname(require.resolve(`${FONT_PACKAGE}/package.json`)), FONT_FILE)];
  // resvg takes a character from the second font if the first one lacks it. To read the large font takes some 60 ms.
  if (NOT_ASCII.test(svg)) fontFiles.push(join(findPackageRoot(), WIDE_FONT));
  const image = await renderAsync(svg, {
    font: { loadSystemFonts: false, fontFiles, defaultFontFamily: 'Questrial' },
  });
  return pngFile(image.pixels, image.width, image.height);
}
