/** Examples of a call as tabs: one tab per language, with one choice of the language for the whole page. */
import { h } from '../core/dom.ts';
import { copyButton } from '../core/pieces.ts';
import { readStored, writeStored } from '../core/stored.ts';
import { LANGUAGES, writeExample, type Call, type Language } from './examples.ts';

const KEY = 'docs-language';

interface CodeTabs {
  readonly element: HTMLElement;
  /** Writes the examples again, because the call changed. */
  refresh(): void;
}

let chosen: Language = LANGUAGES.find(([language]) => language === readStored(KEY))?.[0] ?? 'curl';
let count = 0;
/** All tabs of the page. They stay until the user leaves the page. */
const redraws = new Set<() => void>();

function choose(language: Language): void {
  chosen = language;
  writeStored(KEY, language);
  for (const show of redraws) show();
}

/** `label` names the call for screen readers. */
export function codeTabs(label: string, callOf: () => Call): CodeTabs {
  count += 1;
  const id = `example-${count}`;
  const code = h('code', {});
  const panel = h('pre', { id, class: 'code-text', role: 'tabpanel', tabindex: 0 }, code);
  const tabs = LANGUAGES.map(([language, name]) =>
    h(
      'button',
      {
        id: `${id}-${language}`,
        type: 'button',
        role: 'tab',
        'aria-controls': id,
        'data-language': language,
        onclick: () => choose(language),
      },
      name,
    ),
  );
  const list = h('div', { class: 'code-tabs', role: 'tablist', 'aria-label': `Example: ${label}` }, ...tabs);
  list.addEventListener('keydown', (event) => moveBetween(tabs, event));
  const refresh = (): void => {
    code.textContent = writeExample(chosen, callOf());
    panel.setAttribute('aria-labelledby', `${id}-${chosen}`);
    for (const tab of tabs) {
      const isChosen = tab.dataset['language'] === chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
  };
  redraws.add(refresh);
  refresh();
  const copy = copyButton(() => code.textContent, `Copy the example: ${label}`);
  return {
    element: h('div', { class: 'code' }, h('div', { class: 'code-bar' }, list, copy), panel),
    refresh,
  };
}

/** The arrow keys, Home and End choose a tab, as in other tab lists. */
function moveBetween(tabs: readonly HTMLButtonElement[], event: KeyboardEvent): void {
  const at = tabs.findIndex((tab) => tab === document.activeElement);
  const last = tabs.length - 1;
  const next = {
    ArrowRight: at === last ? 0 : at + 1,
    ArrowLeft: at === 0 ? last : at - 1,
    Home: 0,
    End: last,
  }[event.key];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  tabs[next]?.click();
  tabs[next]?.focus();
}
