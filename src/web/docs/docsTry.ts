/** The "Try it" form of an endpoint: its parameters, the request and the real answer. */
import { button, h } from '../core/dom.ts';
import { loadSamples, NO_SAMPLES, type Samples } from './docsSamples.ts';
import type { Endpoint, Parameter } from './openapiDocument.ts';
import { copyButton } from '../core/pieces.ts';

/** Length limit of a shown answer, in characters. */
const SHOWN_MAX = 20_000;
/** Most events of a stream that are shown, and the longest wait for them in ms. */
const EVENTS_MAX = 5;
const STREAM_MS = 15_000;
const HEADERS = ['X-Indexed-Block', 'ETag', 'Cache-Control', 'Server-Timing', 'X-RateLimit-Remaining'];

export interface TryPanel {
  readonly element: HTMLElement;
  /** Sends the request once, with the current values. */
  run(): void;
}

type Field = HTMLInputElement | HTMLSelectElement;

export function createTryPanel(endpoint: Endpoint, signal: AbortSignal): TryPanel {
  const parameters = endpoint.operation.parameters ?? [];
  const fields = new Map<Parameter, Field>(parameters.map((parameter) => [parameter, fieldFor(parameter)]));
  const call = h('code', { class: 'call' });
  const copy = h('span', {});
  const status = h('span', { class: 'status', role: 'status' });
  const output = h(
    'pre',
    { class: 'output', tabindex: 0, 'aria-label': 'Answer' },
    'The answer appears here',
  );
  let hasRun = false;
  let running: AbortController | null = null;

  const send = async (): Promise<void> => {
    running?.abort();
    const own = new AbortController();
    running = own;
    const url = urlFor(endpoint.path, fields);
    const line = `curl '${location.origin}${url}'`;
    call.textContent = line;
    copy.replaceChildren(copyButton(line));
    status.textContent = 'loading …';
    const life = AbortSignal.any([own.signal, signal]);
    try {
      if (isStream(endpoint)) await showStream(url, output, status, life);
      else await showAnswer(url, output, status, life);
    } catch (error) {
      if (life.aborted) return;
      status.textContent = 'no answer';
      output.textContent = error instanceof Error ? error.message : 'The server does not answer';
    }
  };
  const run = async (): Promise<void> => {
    hasRun = true;
    const isOpen = parameters.some(({ required }) => required === true);
    const samples = isOpen ? await loadSamples() : NO_SAMPLES;
    for (const [parameter, field] of fields) fillIn(endpoint, parameter, field, samples);
    await send();
  };
  const form = formOf(fields);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    hasRun = true;
    void send();
  });
  return {
    element: h(
      'div',
      { class: 'try' },
      h('h3', {}, 'Try it'),
      form,
      h('div', { class: 'try-line' }, call, copy, status),
      output,
    ),
    run: () => {
      if (!hasRun) void run();
    },
  };
}

function formOf(fields: ReadonlyMap<Parameter, Field>): HTMLFormElement {
  const inputs = [...fields].map(([{ name, required }, field]) => {
    const title = h('span', {}, name, required === true && h('i', {}, ' required'));
    return h('label', { class: 'try-field' }, title, field);
  });
  const send = button('Send', () => undefined, { type: 'submit', class: 'button main' });
  return h('form', { class: 'try-form' }, ...inputs, send);
}

export function isStream({ operation }: Endpoint): boolean {
  return operation.responses?.['200']?.content?.['text/event-stream'] !== undefined;
}

function fieldFor(parameter: Parameter): Field {
  const { schema = {}, name } = parameter;
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

/** Fills required parameters with values that exist in the database. */
function fillIn(endpoint: Endpoint, parameter: Parameter, field: Field, samples: Samples): void {
  if (field.value !== '') return;
  if (parameter.name === 'limit' && parameter.in === 'query') field.value = '2';
  if (parameter.required !== true) return;
  const { schema = {}, name } = parameter;
  field.value = samples.valueFor(endpoint.path, name) ?? String(schema.example ?? schema.default ?? '');
}

function urlFor(path: string, fields: ReadonlyMap<Parameter, Field>): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const [parameter, field] of fields) {
    const value = field.value.trim();
    if (parameter.in === 'path') filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (value !== '') query.set(parameter.name, value);
  }
  const text = query.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

async function showAnswer(
  url: string,
  output: HTMLElement,
  status: HTMLElement,
  signal: AbortSignal,
): Promise<void> {
  const started = performance.now();
  const response = await fetch(url, { signal });
  const text = await response.text();
  const took = Math.round(performance.now() - started);
  const headers = HEADERS.map((name) => [name, response.headers.get(name)] as const).filter(
    ([, value]) => value !== null,
  );
  status.textContent = `${response.status} · ${took} ms · ${text.length.toLocaleString('en')} characters`;
  status.dataset['ok'] = String(response.ok);
  const lines = headers.map(([name, value]) => h('span', { class: 'j-head' }, `${name}: ${value ?? ''}\n`));
  output.replaceChildren(...lines, '\n', ...paintJson(text));
}

/** Highlights JSON; other text is shown unchanged. */
function paintJson(text: string): (Node | string)[] {
  let pretty: string;
  try {
    pretty = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return [text.slice(0, SHOWN_MAX)];
  }
  const shown = pretty.slice(0, SHOWN_MAX);
  const parts: (Node | string)[] = [];
  let last = 0;
  for (const match of shown.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g)) {
    parts.push(shown.slice(last, match.index));
    const kind = match[2] !== undefined ? 'j-key' : match[1] !== undefined ? 'j-text' : 'j-value';
    parts.push(h('span', { class: kind }, match[0]));
    last = match.index + match[0].length;
  }
  parts.push(shown.slice(last));
  if (pretty.length > SHOWN_MAX) parts.push('\n… truncated: the answer is longer');
  return parts;
}

/** Shows the first events of a stream, then closes it. */
function showStream(
  url: string,
  output: HTMLElement,
  status: HTMLElement,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const source = new EventSource(url);
    let count = 0;
    const stop = (): void => {
      source.close();
      clearTimeout(timer);
      status.textContent = `${count} events received, stream closed`;
      resolve();
    };
    const timer = setTimeout(stop, STREAM_MS);
    signal.addEventListener('abort', stop);
    output.replaceChildren('waiting for events …\n\n');
    for (const kind of ['swap', 'mint', 'burn', 'sync', 'reorg', 'gap']) {
      source.addEventListener(kind, (event) => {
        count += 1;
        output.append(
          `id: ${event.lastEventId}\nevent: ${kind}\ndata: `,
          ...paintJson(String(event.data)),
          '\n\n',
        );
        if (count >= EVENTS_MAX) stop();
      });
    }
    source.addEventListener('error', () => {
      if (source.readyState === EventSource.CLOSED) stop();
    });
  });
}
