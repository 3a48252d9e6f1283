/** The /docs page: renders /openapi.json with all parameters, limits and errors, and shows real answers. */
import { byId, h } from '../core/dom.ts';
import { schemaTree } from './docsSchema.ts';
import { createTryPanel, isStream, type TryPanel } from './docsTry.ts';
import {
  boundsOf,
  listEndpoints,
  loadOpenApi,
  typeOf,
  type Endpoint,
  type OpenApi,
  type Parameter,
} from './openapiDocument.ts';
import { loaded, skeleton } from '../core/panel.ts';
import { setUpTheme } from '../core/themeSwitch.ts';

const TAGS: Readonly<Record<string, string>> = {
  market: 'Market',
  stream: 'Live stream',
  udf: 'TradingView UDF',
  dexscreener: 'DEX Screener',
  etherscan: 'Etherscan',
  explorer: 'Explorer',
  service: 'Service',
};

function start(): void {
  setUpTheme(byId('theme'));
  // This signal is never aborted, because the page exists until the user leaves.
  const { signal } = new AbortController();
  const view = loaded({
    load: loadOpenApi,
    render: (document) => renderDocument(document, signal),
    skeleton: () => h('div', {}, skeleton(90), skeleton(620, 12)),
    signal,
  });
  byId('main').replaceChildren(view.element);
}

function renderDocument(document: OpenApi, signal: AbortSignal): HTMLElement {
  const endpoints = listEndpoints(document);
  const panels = new Map<Element, TryPanel>();
  const sections = endpoints.map((endpoint) => {
    const panel = createTryPanel(endpoint, signal);
    const section = renderEndpoint(document, endpoint, panel);
    // A stream would stay open, so only the user starts it.
    if (!isStream(endpoint)) panels.set(section, panel);
    return section;
  });
  const links = renderContents(endpoints);
  watchSections(sections, panels, links);
  requestAnimationFrame(() => window.document.getElementById(location.hash.slice(1))?.scrollIntoView());
  return h(
    'div',
    {},
    h('h1', {}, `${document.info.title} API`),
    h('p', { class: 'lead' }, document.info.description ?? ''),
    h(
      'p',
      { class: 'lead' },
      'This page shows ',
      h('a', { href: '/openapi.json' }, '/openapi.json'),
      '. The answers below are real: the page requests them from this server as you scroll.',
    ),
    ...sections,
  );
}

function groupOf({ operation }: Endpoint): string {
  return operation.tags?.[0] ?? 'other';
}

function renderContents(endpoints: readonly Endpoint[]): ReadonlyMap<string, HTMLElement> {
  const links = new Map<string, HTMLElement>();
  const groups = [...new Set(endpoints.map(groupOf))];
  const parts = groups.flatMap((group) => {
    const items = endpoints
      .filter((endpoint) => groupOf(endpoint) === group)
      .map((endpoint) => {
        const link = h('a', { href: `#${endpoint.id}` }, endpoint.path.replace('/api/v1', ''));
        links.set(endpoint.id, link);
        return h('li', {}, link);
      });
    return [h('h3', {}, TAGS[group] ?? group), h('ul', {}, ...items)];
  });
  byId('contents').replaceChildren(...parts);
  return links;
}

/** Sends the example call of each endpoint once when the endpoint comes into view, and highlights the current
 * section in the contents. */
function watchSections(
  sections: readonly HTMLElement[],
  panels: ReadonlyMap<Element, TryPanel>,
  links: ReadonlyMap<string, HTMLElement>,
): void {
  const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) panels.get(target)?.run();
  });
  const here = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) links.get(target.id)?.setAttribute('aria-current', 'true');
        else links.get(target.id)?.removeAttribute('aria-current');
      }
    },
    { rootMargin: '-20% 0px -70% 0px' },
  );
  for (const section of sections) {
    near.observe(section);
    here.observe(section);
  }
}

function renderEndpoint(document: OpenApi, endpoint: Endpoint, panel: TryPanel): HTMLElement {
  const { operation, id, path, method } = endpoint;
  const parameters = operation.parameters ?? [];
  const answer = Object.values(operation.responses?.['200']?.content ?? {})[0]?.schema;
  const hasTree = answer !== undefined && answer.type !== 'string';
  return h(
    'section',
    { class: 'endpoint card', id },
    h(
      'h2',
      {},
      h('span', { class: 'method' }, method),
      h('code', {}, path),
      h('a', { class: 'anchor', href: `#${id}`, 'aria-label': `Link to ${path}` }, '#'),
    ),
    h('p', { class: 'lead' }, operation.summary ?? ''),
    operation.description === undefined ? null : h('p', {}, operation.description),
    parameters.length === 0 ? null : renderParameters(parameters),
    panel.element,
    hasTree &&
      h(
        'details',
        { class: 'shape' },
        h('summary', {}, 'Fields of the answer'),
        schemaTree(document, answer),
      ),
    h('details', { class: 'shape' }, h('summary', {}, 'Statuses and errors'), renderStatuses(endpoint)),
  );
}

function renderParameters(parameters: readonly Parameter[]): HTMLElement {
  const rows = parameters.map(({ name, in: where, required, description, schema = {} }) =>
    h(
      'tr',
      {},
      h('td', {}, h('code', {}, name), required === true && h('i', {}, ' required')),
      h('td', {}, where),
      h('td', {}, typeOf(schema)),
      h('td', { class: 'bounds' }, boundsOf(schema)),
      h('td', {}, schema.default === undefined ? '' : h('code', {}, String(schema.default))),
      h('td', { class: 'words' }, description ?? ''),
    ),
  );
  const names = ['Parameter', 'In', 'Type', 'Allowed', 'Default', 'Meaning'];
  return h(
    'div',
    { class: 'table-scroll' },
    h(
      'table',
      { class: 'parameters' },
      h('thead', {}, h('tr', {}, ...names.map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, ...rows),
    ),
  );
}

function renderStatuses({ operation }: Endpoint): HTMLElement {
  const rows = Object.entries(operation.responses ?? {}).map(([status, { description, content }]) =>
    h(
      'tr',
      {},
      h('td', {}, h('code', {}, status)),
      h('td', {}, description ?? ''),
      h('td', { class: 'muted' }, Object.keys(content ?? {}).join(', ')),
    ),
  );
  return h('table', { class: 'parameters' }, h('tbody', {}, ...rows));
}

start();
