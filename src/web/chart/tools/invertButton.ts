/** The button that exchanges the two tokens of a chart, beside the row of currencies. */
import { button } from '../../core/dom.ts';

/** Chooses the currency `inverse` in the row. If it is chosen, chooses the currency that was chosen before, or else the first. */
export function invertButton<C extends string>(
  currencies: HTMLElement,
  inverse: C,
  getCurrency: () => C,
): HTMLElement {
  let uninvertedCurrency: C | null = null;
  const toggleButton = button(
    'Invert',
    () => {
      const otherCurrency = getCurrency() === inverse ? uninvertedCurrency : inverse;
      const selector = otherCurrency === null ? 'button' : `[data-value="${otherCurrency}"]`;
      currencies.querySelector<HTMLElement>(selector)?.click();
    },
    { class: 'button quiet', title: 'Show the price of the other token' },
  );
  const showState = (): void => {
    if (getCurrency() !== inverse) uninvertedCurrency = getCurrency();
    toggleButton.setAttribute('aria-pressed', String(getCurrency() === inverse));
  };
  // The row of currencies has made its choice when the click arrives here.
  currencies.addEventListener('click', showState);
  showState();
  return toggleButton;
}
