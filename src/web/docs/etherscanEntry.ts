/**
 * The Etherscan dialect as one entry: its paths once, and a table of its actions. An action opens a form with examples.
 */
import type { ActionDoc } from '../../wire/dialects/etherscan';
import { button, h } from '../core/dom.ts';
import type { Samples } from './docsSamples.ts';
import { createTryPanel, type TryPanel } from './docsTry.ts';
import {
  foldedPart,
  groupOf,
  headingOf,
  panelOf,
  parametersTable,
  statusTable,
  wordsOf,
  type Entry,
} from './endpointSection.ts';
import { prose } from './prose.ts';
import { schemaTree } from './docsSchema.ts';
import { answerTypes, type Endpoint, type OpenApi } from './openapiDocument.ts';

const nameOf = ({ module, action }: ActionDoc): string => `${module}.${action}`;

/** Whether the endpoint belongs to the entry of the Etherscan dialect. */
export const isEtherscan = (endpoint: Endpoint): boolean => groupOf(endpoint) === 'etherscan';

/** `endpoints` holds the endpoints of the dialect: the one with the actions, its aliases, and the list of chains. */
export function etherscanEntry(
  document: OpenApi,
  endpoints: readonly Endpoint[],
  samples: Samples,
  signal: AbortSignal,
): Entry | null {
  const first = endpoints.find(({ operation }) => operation['x-actions'] !== undefined);
  if (first === undefined) return null;
  const { id, path, operation } = first;
  const actions = operation['x-actions'] ?? [];
  const gets = endpoints.filter(({ method, path: other }) => method === 'GET' && other !== path);
  const aliases = gets.filter((each) => each.operation['x-alias-of'] === path);
  const otherGets = gets.filter((each) => !aliases.includes(each));
  const answer = operation.responses?.['200']?.content?.['application/json']?.schema;
  const lead = h('p', { class: 'lead' }, operation.summary ?? '');
  const element = h('section', { class: 'endpoint card', id }, headingOf(id, 'GET or POST', path), lead);
  const wordsOfAction = (action: ActionDoc): string =>
    [nameOf(action), action.module, action.action, action.description].join(' ').toLowerCase();
  let rows: ReadonlyMap<ActionDoc, ActionRows> = new Map();
  let narrowedTo: readonly string[] = [];
  const narrow = (words: readonly string[]): void => {
    narrowedTo = words;
    const matching = actions.filter((action) => words.every((word) => wordsOfAction(action).includes(word)));
    for (const [action, { row, more }] of rows) {
      row.hidden = matching.length > 0 && !matching.includes(action);
      more.hidden = row.hidden || row.dataset['open'] !== 'true';
    }
  };
  return {
    element,
    id,
    group: groupOf(first),
    name: 'Etherscan dialect',
    words: [...[first, ...aliases, ...otherGets].map(wordsOf), ...actions.map(wordsOfAction)].join(' '),
    fill() {
      rows = new Map(actions.map((action) => [action, actionRows(action, first, samples, signal)]));
      narrow(narrowedTo);
      const parts = otherGets.map((other) => otherPart(other, panelOf(document, other, samples, signal)));
      const tree =
        answer === undefined ? [] : [foldedPart('Fields of the answer', schemaTree(document, answer))];
      element.append(
        h('p', {}, ...prose(operation.description ?? '')),
        h('p', {}, 'These paths are aliases of ', h('code', {}, path), ' with the same actions and answers:'),
        h(
          'ul',
          { class: 'aliases' },
          ...aliases.map((each) => h('li', { id: each.id }, h('code', {}, each.path))),
        ),
        parametersTable(operation.parameters ?? []) ?? '',
        h('h3', {}, 'Actions'),
        actionTable(rows),
        ...parts.map(([section]) => section),
        ...tree,
        foldedPart('Statuses and errors', statusTable(first)),
      );
      return new Map(parts);
    },
    narrow,
  };
}

/** An endpoint of the dialect that is no alias. */
function otherPart({ id, path, operation }: Endpoint, panel: TryPanel): [HTMLElement, TryPanel] {
  const section = h(
    'div',
    { class: 'part', id },
    h('h3', {}, `${operation.summary ?? ''}: GET `, h('code', {}, path)),
    h('p', {}, ...prose(operation.description ?? '')),
    panel.element,
  );
  return [section, panel];
}

interface ActionRows {
  readonly row: HTMLTableRowElement;
  /** The row with the form, below `row`. */
  readonly more: HTMLTableRowElement;
}

function actionTable(rows: ReadonlyMap<ActionDoc, ActionRows>): HTMLElement {
  const names = ['Module', 'Action', 'Answer', 'Parameters', 'Example'];
  return h(
    'div',
    { class: 'table-scroll', tabindex: '0' },
    h(
      'table',
      { class: 'parameters actions', 'aria-label': 'Actions of the Etherscan dialect' },
      h('thead', {}, h('tr', {}, ...names.map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, ...[...rows.values()].flatMap(({ row, more }) => [row, more])),
    ),
  );
}

function actionRows(action: ActionDoc, dialect: Endpoint, samples: Samples, signal: AbortSignal): ActionRows {
  const exampleRow = h('tr', { hidden: true, class: 'more' });
  const exampleButton = button('Example', () => {
    const isOpen = row.dataset['open'] !== 'true';
    row.dataset['open'] = String(isOpen);
    exampleButton.setAttribute('aria-expanded', String(isOpen));
    exampleRow.hidden = !isOpen;
    if (!isOpen || exampleRow.firstChild !== null) return;
    const panel = actionPanel(action, dialect, samples, signal);
    exampleRow.append(h('td', { colspan: 5 }, panel.element));
    panel.run();
  });
  exampleButton.setAttribute('aria-expanded', 'false');
  exampleButton.setAttribute('aria-label', `Example of ${nameOf(action)}`);
  const parameters = action.parameters.flatMap(({ name, required, description }) => [
    h('dt', {}, h('code', {}, name), required && h('i', {}, ' required')),
    h('dd', {}, ...prose(description)),
  ]);
  const row = h(
    'tr',
    { id: `etherscan-${nameOf(action)}` },
    h('td', {}, h('code', {}, action.module)),
    h('td', {}, h('code', {}, action.action)),
    h('td', { class: 'words' }, action.description),
    h('td', {}, parameters.length === 0 ? 'none' : h('dl', {}, ...parameters)),
    h('td', {}, exampleButton),
  );
  return { row, more: exampleRow };
}

function actionPanel(action: ActionDoc, dialect: Endpoint, samples: Samples, signal: AbortSignal): TryPanel {
  return createTryPanel(
    {
      method: action.method === 'post' ? 'POST' : 'GET',
      path: dialect.path,
      parameters: action.parameters.map((parameter) => ({ ...parameter, in: 'query' })),
      fixed: [
        ['module', action.module],
        ['action', action.action],
      ],
      types: answerTypes(dialect),
      sampleKey: nameOf(action),
      // An action without a required parameter, such as getlogs, finds too much or nothing without an address.
      filled: action.parameters.some(({ required }) => required) ? [] : ['address'],
    },
    samples,
    signal,
  );
}
