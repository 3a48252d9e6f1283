/** The menus of the chart: indicators, and the settings of the scale, the time zone, the lines and one maker's trades. */
import { button, h, segments } from '../../core/dom.ts';
import { formatPrice } from '../../core/format.ts';
import { isPrice, LINES_MAX, STUDY_NAMES, type ChartSettings, type Scale } from '../chartSettings.ts';
import { STUDY_TITLES } from '../study/studies.ts';
import { zoneName, type Zone } from '../timeZones.ts';
import { checkbox, menuButton, menuSection } from './menuButton.ts';

interface SettingsAccess {
  readonly get: () => ChartSettings;
  readonly set: (changed: Partial<ChartSettings>) => void;
}

export function indicatorMenu({ get, set }: SettingsAccess, signal: AbortSignal): HTMLElement {
  const listCheckboxes = (): HTMLElement[] =>
    STUDY_NAMES.map((name) => {
      const [label, explanation] = STUDY_TITLES[name];
      const setChosen = (isChosen: boolean): void =>
        set({
          studies: STUDY_NAMES.filter((study) => (study === name ? isChosen : get().studies.includes(study))),
        });
      return checkbox(label, get().studies.includes(name), setChosen, explanation);
    });
  return menuButton('Indicators', 'Indicators', [], listCheckboxes, signal);
}

const SCALE_LABELS: readonly (readonly [Scale, string])[] = [
  ['linear', 'Linear'],
  ['log', 'Log'],
  ['percent', 'Percent'],
];

/** Scale, direction, opening prices and time zone. */
export function appearanceSections({ get, set }: SettingsAccess): HTMLElement[] {
  const scales = segments<Scale>({
    label: 'Scale',
    values: SCALE_LABELS,
    value: get().scale,
    onchange: (scale) => set({ scale }),
  });
  const zones = segments<Zone>({
    label: 'Time zone',
    values: [
      ['utc', 'UTC'],
      ['local', zoneName('local') === 'UTC' ? 'Local' : zoneName('local')],
    ],
    value: get().zone,
    onchange: (zone) => set({ zone }),
  });
  return [
    menuSection(
      'Scale',
      scales,
      checkbox('Upside down', get().upsideDown, (upsideDown) => set({ upsideDown })),
    ),
    menuSection(
      'Bars',
      checkbox(
        'Open at the last close',
        get().continuous,
        (continuous) => set({ continuous }),
        'Each bar opens at the close of the bar before it, so that the chart has no gaps. Otherwise a bar opens at the price after its first trade',
      ),
    ),
    menuSection('Time zone', zones),
  ];
}

interface LineList {
  readonly element: HTMLElement;
  show(prices: readonly number[]): void;
}

/** The horizontal lines as a list, with a field for the price of a new line. */
export function lineList(onchange: (prices: readonly number[]) => void): LineList {
  let shownPrices: readonly number[] = [];
  const list = h('ul', { class: 'line-list' });
  const field = h('input', {
    type: 'text',
    inputmode: 'decimal',
    placeholder: 'Price',
    'aria-label': 'Price of a new line',
    autocomplete: 'off',
  });
  const form = h('form', { class: 'menu-form' }, field, h('button', { class: 'button' }, 'Add line'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const price = Number(field.value.trim());
    if (!isPrice(price)) return field.setAttribute('aria-invalid', 'true');
    field.removeAttribute('aria-invalid');
    field.value = '';
    onchange([...shownPrices, price]);
  });
  const element = menuSection('Horizontal lines', list, form);
  return {
    element,
    show(prices) {
      shownPrices = prices;
      const rows = prices.map((price, index) =>
        h(
          'li',
          { 'data-price': price },
          formatPrice(price),
          button('Remove', () => onchange(prices.filter((_, otherIndex) => otherIndex !== index)), {
            class: 'button quiet',
            'aria-label': `Remove the line at ${formatPrice(price)}`,
          }),
        ),
      );
      list.replaceChildren(...rows);
      form.hidden = prices.length >= LINES_MAX;
    },
  };
}

interface MakerField {
  readonly element: HTMLElement;
  showStatus(text: string): void;
  /** Shows the chosen maker in the field. */
  show(maker: string | null): void;
}

const ADDRESS = /^0x[0-9a-f]{40}$/;

/** The field for the maker whose trades are shown. An empty field shows no trades. */
export function makerField(maker: string | null, onmaker: (maker: string | null) => void): MakerField {
  const field = h('input', {
    type: 'search',
    placeholder: '0x…',
    'aria-label': 'Address of the maker',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  field.value = maker ?? '';
  const status = h('p', { class: 'menu-note', role: 'status' });
  const form = h('form', { class: 'menu-form' }, field, h('button', { class: 'button' }, 'Show trades'));
  let statusText = '';
  // An error stays until the next attempt, even if trades arrive meanwhile.
  let errorText = '';
  const updateStatus = (): void => void (status.textContent = errorText === '' ? statusText : errorText);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const address = field.value.trim().toLowerCase();
    const isValid = address === '' || ADDRESS.test(address);
    errorText = isValid ? '' : 'An address has 0x and 40 hexadecimal digits.';
    updateStatus();
    if (isValid) onmaker(address === '' ? null : address);
  });
  return {
    element: menuSection('Trades of one maker', form, status),
    show: (shownMaker) => void (field.value = shownMaker ?? ''),
    showStatus(text) {
      statusText = text;
      updateStatus();
    },
  };
}
