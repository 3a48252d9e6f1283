/** The /docs page: a quick start, and every endpoint of /openapi.json with a filter, forms, examples and real answers. */
import { byId, h } from '../core/dom.ts';
import { afterPaint, nextTask } from '../core/nextTask.ts';
import { loadingPanel, skeleton } from '../core/panel.ts';
import { setUpTheme } from '../core/themeSwitch.ts';
import { setUpChainSwitch } from '../market/chainSwitch.ts';
import { createFilter } from './docsFilter.ts';
import { loadSamples, type Samples } from './docsSamples.ts';
import type { TryPanel } from './docsTry.ts';
import { endpointEntry, groupOf, type Entry } from './endpointSection.ts';
import { etherscanEntry, isEtherscan } from './etherscanEntry.ts';
import { listEndpoints, loadOpenApi, type OpenApi } from './openapiDocument.ts';
import { quickStart } from './quickStart.ts';

/** Groups by tag, in the order of the page. */
const GROUPS: Readonly<Record<string, string>> = {
  market: 'Market',
  stream: 'Live stream',
  explorer: 'Explorer',
  etherscan: 'Etherscan',
  udf: 'TradingView UDF',
  dexscreener: 'DEX Screener',
  service: 'Service',
};

/** Longest time in ms for which one task fills entries. */
const PORTION_MS = 8;

async function start(): Promise<void> {
  // The browser first lays out the header of the page.
  await nextTask();
  setUpTheme(byId('theme'));
  void setUpChainSwitch(byId('chain')).catch(() => undefined);
  // This signal is never aborted, because the page exists until the user leaves.
  const { signal } = new AbortController();
  const samples = loadSamples(signal);
  const intro = loadingPanel({
    load: async () => samples,
    render: (loadedSamples) => h('div', {}, h('h1', {}, 'Candlehouse API'), quickStart(loadedSamples)),
    skeleton: () => h('div', {}, skeleton(90), skeleton(1_500, 12)),
    signal,
  });
  const reference = loadingPanel({
    load: async (loadSignal) => Promise.all([loadOpenApi(loadSignal), samples]),
    render: ([document, loadedSamples]) => renderReference(document, loadedSamples, intro.element, signal),
    skeleton: () => skeleton(620, 12),
    signal,
  });
  byId('main').replaceChildren(intro.element, reference.element);
}

/** The part below the quick start. The filter hides the quick start (`intro`). */
function renderReference(
  document: OpenApi,
  samples: Samples,
  intro: HTMLElement,
  signal: AbortSignal,
): HTMLElement {
  const entries = listEntries(document, samples, signal);
  const links = renderContents(entries);
  const conventions = h(
    'details',
    { class: 'shape' },
    h('summary', {}, 'Conventions of all answers'),
    h('p', {}, document.info.description ?? ''),
  );
  const quickStartPart = intro.querySelector<HTMLElement>('#quick-start');
  const filter = createFilter({
    entries,
    links,
    unfilteredParts: quickStartPart === null ? [conventions] : [quickStartPart, conventions],
  });
  byId('contents').prepend(filter.box);
  const elements = entries.map((entry) => entry.element);
  const element = h('div', { 'aria-busy': 'true' }, conventions, filter.noMatchNotice, ...elements);
  void fillEntries(entries, watchEntries(entries, links)).then(() => {
    element.removeAttribute('aria-busy');
    window.document.getElementById(location.hash.slice(1))?.scrollIntoView();
  });
  return element;
}

/** Fills the entries in portions, each laid out in its own frame. The first paint needs only the headings. */
async function fillEntries(
  entries: readonly Entry[],
  watchPanels: (panels: ReadonlyMap<Element, TryPanel>) => void,
): Promise<void> {
  await afterPaint();
  let portionEnd = performance.now() + PORTION_MS;
  for (const entry of entries) {
    watchPanels(entry.fill());
    if (performance.now() < portionEnd) continue;
    await afterPaint();
    portionEnd = performance.now() + PORTION_MS;
  }
}

function listEntries(document: OpenApi, samples: Samples, signal: AbortSignal): Entry[] {
  const endpoints = listEndpoints(document);
  const groups = [...new Set([...Object.keys(GROUPS), ...endpoints.map(groupOf)])];
  return groups.flatMap((group) => {
    const groupEndpoints = endpoints.filter((endpoint) => groupOf(endpoint) === group);
    const dialect = etherscanEntry(document, groupEndpoints.filter(isEtherscan), samples, signal);
    if (dialect !== null) return [dialect];
    return groupEndpoints.map((endpoint) => endpointEntry(document, endpoint, samples, signal));
  });
}

function renderContents(entries: readonly Entry[]): ReadonlyMap<string, HTMLElement> {
  const links = new Map<string, HTMLElement>();
  const groups = [...new Set(entries.map(({ group }) => group))];
  const parts = groups.flatMap((group) => {
    const items = entries
      .filter((entry) => entry.group === group)
      .map(({ id, name }) => {
        const link = h('a', { href: `#${id}` }, name);
        links.set(id, link);
        return h('li', {}, link);
      });
    const title = GROUPS[group] ?? group;
    return [h('h3', { 'data-group': group }, title), h('ul', {}, ...items)];
  });
  byId('contents').replaceChildren(...parts);
  return links;
}

/**
 * Highlights the current entry in the contents. Returns a function that sends the example call of each given panel once
 * when it comes into view.
 */
function watchEntries(
  entries: readonly Entry[],
  links: ReadonlyMap<string, HTMLElement>,
): (panels: ReadonlyMap<Element, TryPanel>) => void {
  const panelByElement = new Map<Element, TryPanel>();
  const nearObserver = new IntersectionObserver((changes) => {
    for (const { isIntersecting, target } of changes) if (isIntersecting) panelByElement.get(target)?.run();
  });
  const currentObserver = new IntersectionObserver(
    (changes) => {
      for (const { isIntersecting, target } of changes) {
        if (isIntersecting) links.get(target.id)?.setAttribute('aria-current', 'true');
        else links.get(target.id)?.removeAttribute('aria-current');
      }
    },
    { rootMargin: '-20% 0px -70% 0px' },
  );
  for (const { element } of entries) currentObserver.observe(element);
  return (panels) => {
    for (const [element, panel] of panels) {
      panelByElement.set(element, panel);
      nearObserver.observe(element);
    }
  };
}

void start();
