/** Examples of a call as tabs: one tab per language, with one choice of the language for the whole page. */
import { h } from '../core/dom.ts';
import { copyButton } from '../core/pieces.ts';
import { readStored, writeStored } from '../core/stored.ts';
import { LANGUAGES, writeExample, type Call, type Language } from './examples.ts';

const STORAGE_KEY = 'docs-language';

interface CodeTabs {
  readonly element: HTMLElement;
  /** Writes the examples again, because the call changed. */
  refresh(): void;
}

let chosenLanguage: Language =
  LANGUAGES.find(([language]) => language === readStored(STORAGE_KEY))?.[0] ?? 'curl';
let tabsCount = 0;
/** All tabs of the page. They stay until the user leaves the page. */
const redraws = new Set<() => void>();

function chooseLanguage(language: Language): void {
  chosenLanguage = language;
  writeStored(STORAGE_KEY, language);
  for (const redraw of redraws) redraw();
}

/** `label` names the call for screen readers. */
export function codeTabs(label: string, callOf: () => Call): CodeTabs {
  tabsCount += 1;
  const id = `example-${tabsCount}`;
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
        onclick: () => chooseLanguage(language),
      },
      name,
    ),
  );
  const list = h('div', { class: 'code-tabs', role: 'tablist', 'aria-label': `Example: ${label}` }, ...tabs);
  list.addEventListener('keydown', (event) => moveFocus(tabs, event));
  const refresh = (): void => {
    code.textContent = writeExample(chosenLanguage, callOf());
    panel.setAttribute('aria-labelledby', `${id}-${chosenLanguage}`);
    for (const tab of tabs) {
      const isChosen = tab.dataset['language'] === chosenLanguage;
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
function moveFocus(tabs: readonly HTMLButtonElement[], event: KeyboardEvent): void {
  const focusedIndex = tabs.findIndex((tab) => tab === document.activeElement);
  const lastIndex = tabs.length - 1;
  const nextIndex = {
    ArrowRight: focusedIndex === lastIndex ? 0 : focusedIndex + 1,
    ArrowLeft: focusedIndex === 0 ? lastIndex : focusedIndex - 1,
    Home: 0,
    End: lastIndex,
  }[event.key];
  if (focusedIndex < 0 || nextIndex === undefined) return;
  event.preventDefault();
  tabs[nextIndex]?.click();
  tabs[nextIndex]?.focus();
}
