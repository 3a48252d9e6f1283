/** Full screen for one element. A browser without full screen for elements fills its window instead. */
import { button, s } from '../../core/dom.ts';

const FILLS_CLASS = 'fills-window';
/** Four corners of a frame, as an SVG path. */
const CORNERS_ICON = 'M1 5V1H5M9 1H13V5M13 9V13H9M5 13H1V9';

/** A button that toggles full screen of the element. Escape ends it. */
export function fullScreenButton(target: () => HTMLElement, signal: AbortSignal): HTMLElement {
  const isFull = (): boolean =>
    document.fullscreenElement === target() || target().classList.contains(FILLS_CLASS);
  const showState = (): void => toggle.setAttribute('aria-pressed', String(isFull()));
  const fill = (fills: boolean): void => {
    target().classList.toggle(FILLS_CLASS, fills);
    showState();
  };
  const toggleFull = (): void => {
    if (target().classList.contains(FILLS_CLASS)) return fill(false);
    if (document.fullscreenElement !== null) return void document.exitFullscreen();
    if (!document.fullscreenEnabled) return fill(true);
    target()
      .requestFullscreen()
      .catch(() => fill(true));
  };
  const toggle = button('', toggleFull, {
    class: 'button quiet icon',
    'aria-pressed': 'false',
    'aria-label': 'Full screen',
    title: 'Full screen; Escape ends it',
  });
  toggle.append(
    s(
      'svg',
      { width: 14, height: 14, viewBox: '0 0 14 14', 'aria-hidden': 'true' },
      s('path', { d: CORNERS_ICON }),
    ),
  );
  document.addEventListener('fullscreenchange', showState, { signal });
  document.addEventListener(
    'keydown',
    ({ key }) => {
      if (key === 'Escape' && target().classList.contains(FILLS_CLASS)) fill(false);
    },
    { signal },
  );
  return toggle;
}
