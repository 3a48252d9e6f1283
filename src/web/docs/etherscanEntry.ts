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
  const dialect = endpoints.find(({ operation }) => operation['x-actions'] !== undefined);
  if (dialect === undefined) return null;
  const { id, path, operation } = dialect;
  const actions = operation['x-actions'] ?? [];
  const getEndpoints = endpoints.filter(({ method, path: getPath }) => method === 'GET' && getPath !== path);
  const aliases = getEndpoints.filter((getEndpoint) => getEndpoint.operation['x-alias-of'] === path);
  const otherEndpoints = getEndpoints.filter((getEndpoint) => !aliases.includes(getEndpoint));
  const answer = operation.responses?.['200']?.content?.['application/json']?.schema;
  const summary = h('p', { class: 'lead' }, operation.summary ?? '');
  const element = h('section', { class: 'endpoint card', id }, headingOf(id, 'GET or POST', path), summary);
  const wordsOfAction = (action: ActionDoc): string =>
    [nameOf(action), action.module, action.action, action.description].join(' ').toLowerCase();
  let rowsByAction: ReadonlyMap<ActionDoc, ActionRows> = new Map();
  let shownWords: readonly string[] = [];
  const narrow = (words: readonly string[]): void => {
    shownWords = words;
    const matchingActions = actions.filter((action) =>
      words.every((word) => wordsOfAction(action).includes(word)),
    );
    for (const [action, { row, exampleRow }] of rowsByAction) {
      row.hidden = matchingActions.length > 0 && !matchingActions.includes(action);
      exampleRow.hidden = row.hidden || row.dataset['open'] !== 'true';
    }
  };
  return {
    element,
    id,
    group: groupOf(dialect),
    name: 'Etherscan dialect',
    words: [...[dialect, ...aliases, ...otherEndpoints].map(wordsOf), ...actions.map(wordsOfAction)].join(
      ' ',
    ),
    fill() {
      rowsByAction = new Map(actions.map((action) => [action, actionRows(action, dialect, samples, signal)]));
      narrow(shownWords);
      const parts = otherEndpoints.map((otherEndpoint) =>
        otherPart(otherEndpoint, panelOf(document, otherEndpoint, samples, signal)),
      );
      const answerTree =
        answer === undefined ? [] : [foldedPart('Fields of the answer', schemaTree(document, answer))];
      element.append(
        h('p', {}, ...prose(operation.description ?? '')),
        h('p', {}, 'These paths are aliases of ', h('code', {}, path), ' with the same actions and answers:'),
        h(
          'ul',
          { class: 'aliases' },
          ...aliases.map((getEndpoint) => h('li', { id: getEndpoint.id }, h('code', {}, getEndpoint.path))),
        ),
        parametersTable(operation.parameters ?? []) ?? '',
        h('h3', {}, 'Actions'),
        actionTable(rowsByAction),
        ...parts.map(([section]) => section),
        ...answerTree,
        foldedPart('Statuses and errors', statusTable(dialect)),
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
  /** The row with the form, below `row`. Its form is made when the user opens it. */
  readonly exampleRow: HTMLTableRowElement;
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
      h('tbody', {}, ...[...rows.values()].flatMap(({ row, exampleRow }) => [row, exampleRow])),
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
  return { row, exampleRow };
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
      prefilled: action.parameters.some(({ required }) => required) ? [] : ['address'],
    },
    samples,
    signal,
  );
}
