/** Chooses the block of an audit: a field, the blocks before and after, and back to the newest block. */
import { button, h } from '../core/dom.ts';

interface BlockPicker {
  readonly element: HTMLElement;
  /** Shows the block of the answer. */
  show(block: number): void;
}

export function blockPicker(
  initialBlock: number | null,
  onchoice: (block: number | null) => void,
): BlockPicker {
  let shownBlock = initialBlock ?? 0;
  const field = h('input', {
    type: 'text',
    inputmode: 'numeric',
    maxlength: 15,
    'aria-label': 'Block of the audit',
    autocomplete: 'off',
    value: initialBlock ?? '',
  });
  const choose = (block: number | null): void => {
    newestButton.disabled = block === null;
    if (block !== null) field.value = String(block);
    onchoice(block);
  };
  const newestButton = button('Newest', () => choose(null), { class: 'button quiet' });
  newestButton.disabled = initialBlock === null;
  const changeBlock = (change: 1 | -1): void => {
    if (shownBlock + change >= 0) choose(shownBlock + change);
  };
  const form = h(
    'form',
    { class: 'block-picker' },
    h('span', { class: 'muted' }, 'Block'),
    button('‹', () => changeBlock(-1), { 'aria-label': 'Block before' }),
    field,
    button('›', () => changeBlock(1), { 'aria-label': 'Block after' }),
    newestButton,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = field.value.replace(/[\s,.#]/g, '');
    const isNumber = /^\d{1,15}$/.test(text);
    field.setAttribute('aria-invalid', String(!isNumber));
    if (isNumber) choose(Number(text));
  });
  return {
    element: form,
    show(block) {
      shownBlock = block;
      // The user may be typing.
      if (document.activeElement !== field || field.value === '') field.value = String(block);
    },
  };
}
