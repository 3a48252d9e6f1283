/**
 * Creates DOM elements. Nothing here parses HTML: names from the chain may be malicious, so text is always inserted as
 * text.
 */

type Child = Node | string | null | false;
type Listener = (event: Event) => void;
type Value = string | number | boolean | null | Listener;
type Props = Readonly<Record<string, Value>>;

const SVG_SPACE = 'http://www.w3.org/2000/svg';

function apply(element: Element, props: Props, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== false));
}

/** Creates an HTML element. `onclick: f` adds a listener; null and false omit an attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, props, children);
  return element;
}

/** Creates an SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG_SPACE, tag);
  apply(element, props, children);
  return element;
}

/** Joins class names and skips empty ones. */
export function classes(...names: readonly (string | false | null)[]): string {
  return names.filter((name) => name !== false && name !== null && name !== '').join(' ');
}

/** The element with this id. Throws if it is missing; pages and modules are built together. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

export function button(label: string, onclick: () => void, props: Props = {}): HTMLButtonElement {
  return h('button', { type: 'button', class: 'button', onclick, ...props }, label);
}

/** A row of buttons, exactly one of them selected. */
export function segments<T extends string>(options: {
  readonly label: string;
  readonly values: readonly (readonly [value: T, label: string])[];
  readonly value: T;
  readonly onchange: (value: T) => void;
}): HTMLElement {
  const buttons = options.values.map(([value, label]) =>
    h(
      'button',
      { type: 'button', 'data-value': value, 'aria-pressed': String(value === options.value) },
      label,
    ),
  );
  const group = h('div', { class: 'segments', role: 'group', 'aria-label': options.label }, ...buttons);
  group.addEventListener('click', (event) => {
    const pressed = buttons.find((candidate) => candidate === event.target);
    const chosen = options.values.find(([value]) => value === pressed?.dataset['value']);
    if (pressed === undefined || chosen === undefined) return;
    for (const other of buttons) other.setAttribute('aria-pressed', String(other === pressed));
    options.onchange(chosen[0]);
  });
  group.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const at = buttons.findIndex((candidate) => candidate === document.activeElement);
    if (step === 0 || at < 0) return;
    event.preventDefault();
    buttons[(at + step + buttons.length) % buttons.length]?.focus();
  });
  return group;
}
