/** The "Try it" form of a call: its parameters, examples with the values of the form, and the real answer. */
import { button, h } from '../core/dom.ts';
import { codeTabs } from './codeTabs.ts';
import { showAnswer } from './docsAnswer.ts';
import type { Samples } from './docsSamples.ts';
import type { Call } from './examples.ts';
import type { Parameter } from './openapiDocument.ts';

/** What a form calls. */
interface Tried {
  readonly method: Call['method'];
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Parameters that the form does not show. */
  readonly fixed?: readonly (readonly [name: string, value: string])[];
  /** Media types of the answer. */
  readonly types: readonly string[];
  /** First text of a JSON body. */
  readonly json?: string;
  /** Key of the samples; by default the path. */
  readonly sampleKey?: string;
  /** Optional parameters that have a value at first. */
  readonly filled?: readonly string[];
}

export interface TryPanel {
  readonly element: HTMLElement;
  /** Sends the call once, if the form has all required values. */
  run(): void;
}

type Field = HTMLInputElement | HTMLSelectElement;
type Fields = ReadonlyMap<Parameter, Field>;

export function createTryPanel(tried: Tried, samples: Samples, signal: AbortSignal): TryPanel {
  const fields: Fields = new Map(tried.parameters.map((each) => [each, fieldFor(tried, each, samples)]));
  const body = tried.json === undefined ? null : bodyField(tried.json);
  const callOf = (): Call => readCall(tried, fields, body?.value);
  const code = codeTabs(`${tried.sampleKey ?? tried.path}`, callOf);
  const status = h('span', { class: 'status', role: 'status' });
  const output = h(
    'pre',
    {
      class: 'output',
      tabindex: 0,
      role: 'region',
      'aria-label': `Answer of ${tried.sampleKey ?? tried.path}`,
    },
    'The answer appears here',
  );
  let running: AbortController | null = null;
  const send = (): void => {
    running?.abort();
    running = new AbortController();
    void showAnswer(callOf(), { output, status }, AbortSignal.any([running.signal, signal]));
  };
  const form = formOf(fields, body);
  form.addEventListener('input', () => code.refresh());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send();
  });
  const isComplete = (): boolean =>
    [...fields].every(([{ required }, { value }]) => required !== true || value !== '');
  return {
    element: h(
      'div',
      { class: 'try' },
      h('h3', {}, 'Try it'),
      form,
      code.element,
      h('div', { class: 'try-line' }, h('h3', {}, 'Answer'), status),
      output,
    ),
    run: () => {
      // Only the user starts a stream, which stays open, and a POST, which changes something.
      if (running === null && tried.method === 'GET' && kindOf(tried, '') !== 'stream' && isComplete())
        send();
    },
  };
}

function formOf(fields: Fields, body: HTMLTextAreaElement | null): HTMLFormElement {
  const inputs = [...fields].map(([{ name, required }, field]) => {
    const title = h('span', {}, name, required === true && h('i', {}, ' required'));
    return h('label', { class: 'try-field' }, title, field);
  });
  const bodyField = body === null ? null : h('label', { class: 'try-field whole' }, 'JSON body', body);
  const send = button('Send', () => undefined, { type: 'submit', class: 'button main' });
  return h('form', { class: 'try-form' }, ...inputs, bodyField, send);
}

function bodyField(text: string): HTMLTextAreaElement {
  const field = h('textarea', { rows: 8, spellcheck: 'false', class: 'mono', 'aria-label': 'JSON body' });
  field.value = text;
  return field;
}

function fieldFor(tried: Tried, parameter: Parameter, samples: Samples): Field {
  const field = emptyField(parameter);
  const { name, required, in: where, schema = {}, example } = parameter;
  const isPageSize =
    name === 'limit' || (name === 'offset' && tried.parameters.some((other) => other.name === 'page'));
  if (required === true || tried.filled?.includes(name) === true) {
    const sample = samples.valueFor(tried.sampleKey ?? tried.path, name);
    field.value = String(example ?? sample ?? schema.example ?? schema.default ?? '');
  } else if (isPageSize && where === 'query') field.value = '2';
  return field;
}

function emptyField({ schema = {}, name }: Parameter): Field {
  const values = schema.type === 'boolean' ? ['true', 'false'] : schema.enum?.map(String);
  if (values !== undefined) {
    const absent = schema.default === undefined ? 'not set' : `not set (default ${String(schema.default)})`;
    return h(
      'select',
      { 'aria-label': name },
      h('option', { value: '' }, absent),
      ...values.map((value) => h('option', { value }, value)),
    );
  }
  const placeholder = schema.default === undefined ? '' : String(schema.default);
  return h('input', {
    type: 'text',
    placeholder,
    'aria-label': name,
    spellcheck: 'false',
    autocomplete: 'off',
    class: 'mono',
  });
}

const FILES = ['parquet', 'arrow'];

function kindOf({ types }: Tried, format: string): Call['answer'] {
  if (FILES.includes(format)) return 'file';
  if (types.includes('text/event-stream')) return 'stream';
  return types.includes('application/json') && format !== 'csv' ? 'json' : 'text';
}

function readCall(tried: Tried, fields: Fields, json: string | undefined): Call {
  const params = [...(tried.fixed ?? [])];
  let { path } = tried;
  let format = '';
  for (const [{ name, in: where }, field] of fields) {
    const value = field.value.trim();
    if (value === '') continue;
    if (where === 'path') path = path.replace(`{${name}}`, () => encodeURIComponent(value));
    else params.push([name, value]);
    if (name === 'format') format = value;
  }
  return {
    method: tried.method,
    url: `${location.origin}${path}`,
    params,
    answer: kindOf(tried, format),
    file: `${tried.path.split('/').at(-1) ?? 'answer'}.${format}`,
    ...(json === undefined ? {} : { json }),
  };
}
