/** One endpoint of the docs page: its description, parameters, form, examples, fields and statuses. */
import { h } from '../core/dom.ts';
import { sampleOf, schemaTree } from './docsSchema.ts';
import type { Samples } from './docsSamples.ts';
import { createTryPanel, type TryPanel } from './docsTry.ts';
import { prose } from './prose.ts';
import {
  answerTypes,
  boundsOf,
  typeOf,
  type Endpoint,
  type OpenApi,
  type Parameter,
} from './openapiDocument.ts';

/** A part of the page that the filter shows or hides as a whole. */
export interface Entry {
  readonly element: HTMLElement;
  readonly id: string;
  readonly group: string;
  /** Name in the list of contents. */
  readonly name: string;
  /** The text that the filter searches. */
  readonly words: string;
  /**
   * Adds the parts below the heading; called once. Returns the panels with the elements that show them. A panel sends its
   * call when its element comes into view.
   */
  fill(): ReadonlyMap<Element, TryPanel>;
  /** Within the entry, shows only the rows that match the words of the filter. */
  narrow?(words: readonly string[]): void;
}

export function groupOf({ operation }: Endpoint): string {
  return operation.tags?.[0] ?? 'other';
}

/** The text of an endpoint that the filter searches. */
export function wordsOf({ method, path, operation }: Endpoint): string {
  const { summary = '', description = '', tags = [] } = operation;
  return [method, path, summary, description, ...tags].join(' ');
}

export function endpointEntry(
  document: OpenApi,
  endpoint: Endpoint,
  samples: Samples,
  signal: AbortSignal,
): Entry {
  const { operation, id, path, method } = endpoint;
  const summary = h('p', { class: 'lead' }, operation.summary ?? '');
  const element = h('section', { class: 'endpoint card', id }, headingOf(id, method, path), summary);
  return {
    element,
    id,
    group: groupOf(endpoint),
    name: `${method === 'POST' ? 'POST ' : ''}${path.replace(/^\/api\/v1(?=.)/, '')}`,
    words: wordsOf(endpoint),
    fill() {
      const panel = panelOf(document, endpoint, samples, signal);
      const answer = Object.values(operation.responses?.['200']?.content ?? {})[0]?.schema;
      const hasTree = answer !== undefined && answer.type !== 'string';
      const parts = [
        h('p', {}, ...prose(operation.description ?? '')),
        parametersTable(operation.parameters ?? []),
        panel.element,
        hasTree && foldedPart('Fields of the answer', schemaTree(document, answer)),
        foldedPart('Statuses and errors', statusTable(endpoint)),
      ];
      element.append(...parts.filter((part) => part instanceof Node));
      return new Map([[element, panel]]);
    },
  };
}

export function panelOf(
  document: OpenApi,
  endpoint: Endpoint,
  samples: Samples,
  signal: AbortSignal,
): TryPanel {
  const { operation, path, method } = endpoint;
  const body = operation.requestBody?.content?.['application/json']?.schema;
  const triedCall = {
    method,
    path,
    parameters: operation.parameters ?? [],
    types: answerTypes(endpoint),
    ...(body === undefined ? {} : { json: JSON.stringify(sampleOf(document, body), null, 2) }),
  };
  return createTryPanel(triedCall, samples, signal);
}

export function headingOf(id: string, method: string, path: string): HTMLElement {
  return h(
    'h2',
    {},
    h('span', { class: 'method' }, method),
    h('code', {}, path),
    h('a', { class: 'anchor', href: `#${id}`, 'aria-label': `Link to ${method} ${path}` }, '#'),
  );
}

export function foldedPart(title: string, content: HTMLElement): HTMLElement {
  return h('details', { class: 'shape' }, h('summary', {}, title), content);
}

export function parametersTable(parameters: readonly Parameter[]): HTMLElement | null {
  if (parameters.length === 0) return null;
  const rows = parameters.map(({ name, in: parameterIn, required, description, schema = {} }) =>
    h(
      'tr',
      {},
      h('td', {}, h('code', {}, name), required === true && h('i', {}, ' required')),
      h('td', {}, parameterIn),
      h('td', {}, typeOf(schema)),
      h('td', { class: 'bounds' }, boundsOf(schema)),
      h('td', {}, schema.default === undefined ? '' : h('code', {}, String(schema.default))),
      h('td', { class: 'words' }, ...prose(description ?? '')),
    ),
  );
  const names = ['Parameter', 'In', 'Type', 'Allowed', 'Default', 'Meaning'];
  return h(
    'div',
    { class: 'table-scroll', tabindex: '0' },
    h(
      'table',
      { class: 'parameters' },
      h('thead', {}, h('tr', {}, ...names.map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, ...rows),
    ),
  );
}

export function statusTable({ operation }: Endpoint): HTMLElement {
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
