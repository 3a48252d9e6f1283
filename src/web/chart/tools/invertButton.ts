/** The button that exchanges the two tokens of a chart, beside the row of currencies. */
import { button } from '../../core/dom.ts';

/** Chooses the currency `inverse` in the row, or the currency before it. At first, that is the first of the row. */
export function invertButton<C extends string>(
  currencies: HTMLElement,
  inverse: C,
  current: () => C,
): HTMLElement {
  let upright: C | null = null;
  const invert = button(
    'Invert',
    () => {
      const otherChoice = current() === inverse ? upright : inverse;
      const choice = otherChoice === null ? 'button' : `[data-value="${otherChoice}"]`;
      currencies.querySelector<HTMLElement>(choice)?.click();
    },
    { class: 'button quiet', title: 'Show the price of the other token' },
  );
  const showState = (): void => {
    if (current() !== inverse) upright = current();
    invert.setAttribute('aria-pressed', String(current() === inverse));
  };
  // The row of currencies has made its choice when the click arrives here.
  currencies.addEventListener('click', showState);
  showState();
  return invert;
}
