/** Sends a call of the docs page and shows its real answer. */
import { h } from '../core/dom.ts';
import { EVENT_KINDS, urlOf, type Call } from './examples.ts';

/** Length limit of a shown answer, in characters. */
const SHOWN_MAX = 20_000;
/** Most events of a stream that are shown, and the longest wait for them in ms. */
const EVENTS_MAX = 5;
const STREAM_MS = 15_000;
const HEADERS = ['X-Indexed-Block', 'ETag', 'Cache-Control', 'Server-Timing', 'X-RateLimit-Remaining'];

interface AnswerElements {
  readonly output: HTMLElement;
  readonly status: HTMLElement;
}

export async function showAnswer(call: Call, target: AnswerElements, signal: AbortSignal): Promise<void> {
  const { output, status } = target;
  status.textContent = 'loading …';
  try {
    if (call.answer === 'stream') await showStream(urlOf(call), target, signal);
    else await showResponse(call, target, signal);
  } catch (error) {
    if (signal.aborted) return;
    status.textContent = 'no answer';
    output.textContent = error instanceof Error ? error.message : 'The server does not answer';
  }
}

function send({ method, json, params }: Call, url: string, signal: AbortSignal): Promise<Response> {
  if (method === 'GET') return fetch(url, { signal });
  const form = new URLSearchParams(params.map(([name, value]) => [name, value]));
  if (json === undefined) return fetch(url, { method, signal, body: form });
  return fetch(url, { method, signal, body: json, headers: { 'Content-Type': 'application/json' } });
}

async function showResponse(
  call: Call,
  { output, status }: AnswerElements,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = performance.now();
  const response = await send(call, urlOf(call), signal);
  const text = await response.text();
  const tookMs = Math.round(performance.now() - startedAt);
  const headers = HEADERS.map((name) => [name, response.headers.get(name)] as const).filter(
    ([, value]) => value !== null,
  );
  status.textContent = `${response.status} · ${tookMs} ms · ${text.length.toLocaleString('en')} characters`;
  status.dataset['ok'] = String(response.ok);
  const lines = headers.map(([name, value]) => h('span', { class: 'j-head' }, `${name}: ${value ?? ''}\n`));
  output.replaceChildren(...lines, '\n', ...paintJson(text));
}

/** Highlights JSON; other text is shown unchanged. */
function paintJson(text: string): (Node | string)[] {
  let indentedText: string;
  try {
    indentedText = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return [text.slice(0, SHOWN_MAX)];
  }
  const shownText = indentedText.slice(0, SHOWN_MAX);
  const parts: (Node | string)[] = [];
  let lastEnd = 0;
  for (const match of shownText.matchAll(
    /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g,
  )) {
    parts.push(shownText.slice(lastEnd, match.index));
    const [token, quotedText, colon] = match;
    const kind = colon !== undefined ? 'j-key' : quotedText !== undefined ? 'j-text' : 'j-value';
    parts.push(h('span', { class: kind }, token));
    lastEnd = match.index + token.length;
  }
  parts.push(shownText.slice(lastEnd));
  if (indentedText.length > SHOWN_MAX) parts.push('\n… truncated: the answer is longer');
  return parts;
}

/** Shows the first events of a stream, then closes it. */
function showStream(url: string, { output, status }: AnswerElements, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const source = new EventSource(url);
    let eventCount = 0;
    const finish = (): void => {
      source.close();
      clearTimeout(timer);
      status.textContent = `${eventCount} events received, stream closed`;
      resolve();
    };
    const timer = setTimeout(finish, STREAM_MS);
    signal.addEventListener('abort', finish);
    output.replaceChildren('waiting for events …\n\n');
    for (const kind of EVENT_KINDS) {
      source.addEventListener(kind, (event) => {
        eventCount += 1;
        output.append(
          `id: ${event.lastEventId}\nevent: ${kind}\ndata: `,
          ...paintJson(String(event.data)),
          '\n\n',
        );
        if (eventCount >= EVENTS_MAX) finish();
      });
    }
    source.addEventListener('error', () => {
      if (source.readyState === EventSource.CLOSED) finish();
    });
  });
}
