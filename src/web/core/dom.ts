/**
 * Creates DOM elements. Nothing here parses HTML: names from the chain may be malicious, so text is always inserted as
 * text.
 */

import { inChain } from './pageChain.ts';

type Child = Node | string | null | false;
type Listener = (event: Event) => void;
type Value = string | number | boolean | null | Listener;
type Props = Readonly<Record<string, Value>>;

const SVG_SPACE = 'http://www.w3.org/2000/svg';

function fillElement(element: Element, props: Props, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (name === 'href') element.setAttribute(name, inChain(String(value)));
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== false));
}

/**
 * Creates an HTML element. An attribute such as `onclick: f` adds a listener; null and false leave out an attribute. A
 * local link leads to the chain of the page.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fillElement(element, props, children);
  return element;
}

/** Creates an SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG_SPACE, tag);
  fillElement(element, props, children);
  return element;
}

/**
 * Makes these nodes the children of `parent`. A node that stays is moved only if the order changes. The node with the focus
 * or the selection is never moved, because a moved node loses both.
 */
export function setChildren(parent: Node, nodes: readonly Node[]): void {
  const wantedNodes = new Set(nodes);
  for (const child of [...parent.childNodes]) if (!wantedNodes.has(child)) child.remove();
  const usedNodes = [document.activeElement, getSelection()?.anchorNode ?? null];
  const fixedIndex = nodes.findIndex(
    (node) =>
      node.parentNode === parent &&
      usedNodes.some((usedNode) => usedNode !== null && node.contains(usedNode)),
  );
  arrange(parent, nodes.slice(0, Math.max(0, fixedIndex)), parent.firstChild);
  arrange(
    parent,
    nodes.slice(fixedIndex + 1),
    fixedIndex < 0 ? parent.firstChild : (nodes[fixedIndex]?.nextSibling ?? null),
  );
}

/** Places the nodes one after the other, before `startNode`. */
function arrange(parent: Node, nodes: readonly Node[], startNode: Node | null): void {
  let followingNode = startNode;
  for (const node of nodes) {
    if (node === followingNode) followingNode = node.nextSibling;
    else parent.insertBefore(node, followingNode);
  }
}

/**
 * Makes these elements the children of `parent`. A shown child with the same key stays, and only its changed parts are
 * replaced, so that focus, selection and hover stay.
 */
export function showKeyed<T extends HTMLElement>(
  parent: Element,
  wantedNodes: readonly T[],
  keyOf: (child: HTMLElement) => string | undefined,
): void {
  const childByKey = new Map<string | undefined, ChildNode>();
  for (const child of parent.children) if (child instanceof HTMLElement) childByKey.set(keyOf(child), child);
  const children = wantedNodes.map((wantedNode): Node => {
    const key = keyOf(wantedNode);
    const child = key === undefined ? undefined : childByKey.get(key);
    return child === undefined ? wantedNode : replaceChanged(child, wantedNode);
  });
  setChildren(parent, children);
}

/** Makes `wantedNode` the only child of `parent`. Equal parts of the shown child stay, so they keep focus and selection. */
export function showIn(parent: Element, wantedNode: Node): void {
  const { firstChild } = parent;
  if (firstChild === null) parent.append(wantedNode);
  else replaceChanged(firstChild, wantedNode);
}

/**
 * Returns the node that is shown in the end. An element with other attributes is replaced as a whole, because its listeners
 * may belong to these attributes.
 */
function replaceChanged(shownNode: ChildNode, wantedNode: Node): Node {
  if (shownNode === wantedNode || shownNode.isEqualNode(wantedNode)) return shownNode;
  const [shownChildren, wantedChildren] = [[...shownNode.childNodes], [...wantedNode.childNodes]];
  if (
    shownChildren.length === 0 ||
    shownChildren.length !== wantedChildren.length ||
    !shownNode.cloneNode().isEqualNode(wantedNode.cloneNode())
  ) {
    shownNode.replaceWith(wantedNode);
    return wantedNode;
  }
  wantedChildren.forEach((wantedChild, index) => {
    const child = shownChildren[index];
    if (child !== undefined) replaceChanged(child, wantedChild);
  });
  return shownNode;
}

/** A text for screen readers only. */
export const screenReaderText = (text: string): HTMLElement => h('span', { class: 'visually-hidden' }, text);

/** Joins class names and skips empty ones. */
export function joinClasses(...names: readonly (string | false | null)[]): string {
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
    const pressedButton = buttons.find((candidate) => candidate === event.target);
    const chosenValue = options.values.find(([value]) => value === pressedButton?.dataset['value'])?.[0];
    if (pressedButton === undefined || chosenValue === undefined) return;
    for (const other of buttons) other.setAttribute('aria-pressed', String(other === pressedButton));
    options.onchange(chosenValue);
  });
  group.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const focusedIndex = buttons.findIndex((candidate) => candidate === document.activeElement);
    if (step === 0 || focusedIndex < 0) return;
    event.preventDefault();
    buttons[(focusedIndex + step + buttons.length) % buttons.length]?.focus();
  });
  return group;
}
