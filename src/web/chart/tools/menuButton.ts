/** A button that opens a small panel of controls. Escape, a click elsewhere and the button itself close the panel. */
import { button, h } from '../../core/dom.ts';

/** `listMore` creates the first controls when the panel opens for the first time, so that they do not delay the page. */
export function menuButton(
  label: string,
  title: string,
  content: readonly Node[],
  listMore: () => readonly Node[],
  signal: AbortSignal,
): HTMLElement {
  const panel = h(
    'div',
    { class: 'menu-panel', role: 'group', 'aria-label': title, hidden: true },
    ...content,
  );
  let isFilled = false;
  const setOpen = (isOpen: boolean): void => {
    if (isOpen && !isFilled) panel.prepend(...listMore());
    isFilled ||= isOpen;
    panel.hidden = !isOpen;
    opener.setAttribute('aria-expanded', String(isOpen));
  };
  const opener = button(label, () => setOpen(panel.hidden !== false), {
    class: 'button quiet menu-opener',
    'aria-expanded': 'false',
    title,
  });
  const menu = h('div', { class: 'chart-menu' }, opener, panel);
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || panel.hidden) return;
    event.stopPropagation();
    setOpen(false);
    opener.focus();
  });
  document.addEventListener(
    'pointerdown',
    ({ target }) => {
      if (target instanceof Node && !menu.contains(target)) setOpen(false);
    },
    { signal },
  );
  return menu;
}

export function menuSection(title: string, ...content: readonly (Node | string)[]): HTMLElement {
  return h('div', { class: 'menu-section' }, h('h3', {}, title), ...content);
}

export function checkbox(
  label: string,
  isChecked: boolean,
  onchange: (isChecked: boolean) => void,
  title: string | null = null,
): HTMLElement {
  const input = h('input', { type: 'checkbox', checked: isChecked });
  input.addEventListener('change', () => onchange(input.checked));
  return h('label', { class: 'check', title }, input, label);
}
