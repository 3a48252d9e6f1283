/** The "Try it" form of a call: its parameters, examples with the values of the form, and the real answer. */
import { pathInChain } from '../core/api.ts';
import { button, h } from '../core/dom.ts';
import { codeTabs } from './codeTabs.ts';
import { showAnswer } from './docsAnswer.ts';
import type { Samples } from './docsSamples.ts';
import type { Call } from './examples.ts';
import type { Parameter } from './openapiDocument.ts';

/** The call of a form. */
interface TriedCall {
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
  readonly prefilled?: readonly string[];
}

export interface TryPanel {
  readonly element: HTMLElement;
  /** Sends the call once, if the form has all required values. */
  run(): void;
}

type Field = HTMLInputElement | HTMLSelectElement;
type Fields = ReadonlyMap<Parameter, Field>;

export function createTryPanel(triedCall: TriedCall, samples: Samples, signal: AbortSignal): TryPanel {
  const fields: Fields = new Map(
    triedCall.parameters.map((parameter) => [parameter, fieldFor(triedCall, parameter, samples)]),
  );
  const body = triedCall.json === undefined ? null : bodyField(triedCall.json);
  const callOf = (): Call => readCall(triedCall, fields, body?.value);
  const code = codeTabs(`${triedCall.sampleKey ?? triedCall.path}`, callOf);
  const status = h('span', { class: 'status', role: 'status' });
  const output = h(
    'pre',
    {
      class: 'output',
      tabindex: 0,
      role: 'region',
      'aria-label': `Answer of ${triedCall.sampleKey ?? triedCall.path}`,
    },
    'The answer appears here',
  );
  let runningRequest: AbortController | null = null;
  const send = (): void => {
    runningRequest?.abort();
    runningRequest = new AbortController();
    void showAnswer(callOf(), { output, status }, AbortSignal.any([runningRequest.signal, signal]));
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
      if (
        runningRequest === null &&
        triedCall.method === 'GET' &&
        answerKindOf(triedCall, '') !== 'stream' &&
        isComplete()
      )
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

function fieldFor(triedCall: TriedCall, parameter: Parameter, samples: Samples): Field {
  const field = emptyField(parameter);
  const { name, required, in: parameterIn, schema = {}, example } = parameter;
  const isPageSize =
    name === 'limit' || (name === 'offset' && triedCall.parameters.some((other) => other.name === 'page'));
  if (required === true || triedCall.prefilled?.includes(name) === true) {
    const sample = samples.valueFor(triedCall.sampleKey ?? triedCall.path, name);
    field.value = String(example ?? sample ?? schema.example ?? schema.default ?? '');
  } else if (isPageSize && parameterIn === 'query') field.value = '2';
  return field;
}

function emptyField({ schema = {}, name }: Parameter): Field {
  const values = schema.type === 'boolean' ? ['true', 'false'] : schema.enum?.map(String);
  if (values !== undefined) {
    const unsetText =
      schema.default === undefined ? 'not set' : `not set (default ${String(schema.default)})`;
    return h(
      'select',
      { 'aria-label': name },
      h('option', { value: '' }, unsetText),
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

const FILE_FORMATS = ['parquet', 'arrow'];

function answerKindOf({ types }: TriedCall, format: string): Call['answer'] {
  if (FILE_FORMATS.includes(format)) return 'file';
  if (types.includes('text/event-stream')) return 'stream';
  return types.includes('application/json') && format !== 'csv' ? 'json' : 'text';
}

function readCall(triedCall: TriedCall, fields: Fields, json: string | undefined): Call {
  const params = [...(triedCall.fixed ?? [])];
  let { path } = triedCall;
  let format = '';
  for (const [{ name, in: parameterIn }, field] of fields) {
    const value = field.value.trim();
    if (value === '') continue;
    if (parameterIn === 'path') path = path.replace(`{${name}}`, () => encodeURIComponent(value));
    else params.push([name, value]);
    if (name === 'format') format = value;
  }
  return {
    method: triedCall.method,
    url: location.origin + pathInChain(path),
    params,
    answer: answerKindOf(triedCall, format),
    file: `${triedCall.path.split('/').at(-1) ?? 'answer'}.${format}`,
    ...(json === undefined ? {} : { json }),
  };
}
