/** Full screen for one element. A browser without full screen for elements fills its window instead. */
import { button, s } from '../../core/dom.ts';

const FILLS_CLASS = 'fills-window';
/** Four corners of a frame, as an SVG path. */
const CORNERS_ICON = 'M1 5V1H5M9 1H13V5M13 9V13H9M5 13H1V9';

/** A button that toggles full screen of the element. Escape ends it. */
export function fullScreenButton(getTarget: () => HTMLElement, signal: AbortSignal): HTMLElement {
  const isFull = (): boolean =>
    document.fullscreenElement === getTarget() || getTarget().classList.contains(FILLS_CLASS);
  const showState = (): void => toggleButton.setAttribute('aria-pressed', String(isFull()));
  const fillWindow = (isFilling: boolean): void => {
    getTarget().classList.toggle(FILLS_CLASS, isFilling);
    showState();
  };
  const toggleFullScreen = (): void => {
    if (getTarget().classList.contains(FILLS_CLASS)) return fillWindow(false);
    if (document.fullscreenElement !== null) return void document.exitFullscreen();
    if (!document.fullscreenEnabled) return fillWindow(true);
    getTarget()
      .requestFullscreen()
      .catch(() => fillWindow(true));
  };
  const toggleButton = button('', toggleFullScreen, {
    class: 'button quiet icon',
    'aria-pressed': 'false',
    'aria-label': 'Full screen',
    title: 'Full screen; Escape ends it',
  });
  toggleButton.append(
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
      if (key === 'Escape' && getTarget().classList.contains(FILLS_CLASS)) fillWindow(false);
    },
    { signal },
  );
  return toggleButton;
}
