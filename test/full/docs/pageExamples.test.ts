/** The examples of the docs page: run for real, they send exactly the values of the form, whatever the values are. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { LANGUAGES, writeExample, type Call, type Language } from '../../../src/web/docs/examples';
import { canRun, runExample } from '../../support/runExample';

const HOSTILE = [
  `it's "quoted"`,
  'a\\b\\n\\',
  'line one\nline two\r\n\ttab',
  '$HOME ${HOME} $(touch hacked) `touch hacked`',
  '%41 %s & ? # = + ; | < > * ! ~ [x] {y,z} @file',
  "'; touch hacked; echo '",
  '"); touch("hacked") #',
  '${process.exit(1)} </script> <!--',
  'Ünï 漢字 🕯 \u2028 \u2029 \u0085 \u00a0',
  'half a pair \ud83d end',
];
/** Half of a surrogate pair has no form in UTF-8. */
const asSent = (value: string): string => value.replace('\ud83d ', '\ufffd ');

interface Received {
  readonly method: string;
  readonly path: string;
  readonly params: readonly (readonly [string, string])[];
  readonly type: string;
  readonly body: string;
}

let server: Server;
let base = '';
let folder = '';
let received: Received[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'examples-'));
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const { pathname, searchParams } = new URL(url, 'http://localhost');
      const type = headers['content-type'] ?? '';
      received.push({ method, path: pathname, params: [...searchParams], type, body });
      response.setHeader('Content-Type', 'application/json');
      response.end('{"ok": "yes"}');
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await new Promise((resolve) => void server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => void (received = []));

const languages = LANGUAGES.map(([language]) => language);

/** Runs the example, and returns what the server got and the output. Null if the machine cannot run the language. */
async function send(language: Language, call: Call): Promise<(Received & { output: string }) | null> {
  if (!canRun(language)) return null;
  const { status, output, errors } = await runExample(language, writeExample(language, call), folder);
  expect([language, status, status === 0 ? '' : errors]).toEqual([language, 0, '']);
  const [only, ...others] = received;
  expect(others).toEqual([]);
  return { ...only!, output };
}

test.each(languages)(
  'an example in %s sends hostile values in the path and the query unchanged',
  async (language) => {
    const params = HOSTILE.map((value, index) => [`p${index}`, value] as const);
    const path = HOSTILE.map((value) => encodeURIComponent(asSent(value))).join('/');
    const sent = await send(language, { method: 'GET', url: `${base}/${path}`, params, answer: 'json' });
    if (sent === null) return;
    expect(sent.method).toBe('GET');
    expect(sent.params).toEqual(params.map(([name, value]) => [name, asSent(value)]));
    expect(sent.path.slice(1).split('/').map(decodeURIComponent)).toEqual(HOSTILE.map(asSent));
    expect(sent.output).toContain('ok');
    expect(readdirSync(folder)).toEqual([]);
  },
);

test.each(languages)('an example in %s sends hostile values in a form unchanged', async (language) => {
  const params = HOSTILE.map((value, index) => [`p${index}`, value] as const);
  const sent = await send(language, { method: 'POST', url: `${base}/api`, params, answer: 'json' });
  if (sent === null) return;
  expect([sent.method, sent.path, sent.params]).toEqual(['POST', '/api', []]);
  expect(sent.type).toContain('application/x-www-form-urlencoded');
  expect([...new URLSearchParams(sent.body)]).toEqual(params.map(([name, value]) => [name, asSent(value)]));
  expect(readdirSync(folder)).toEqual([]);
});

test.each(languages)('an example in %s sends a hostile JSON body unchanged', async (language) => {
  const json = JSON.stringify({ '@': HOSTILE.map(asSent), ['__proto__']: [true, null, 1e300] }, null, 2);
  const call: Call = { method: 'POST', url: `${base}/verify`, params: [], json, answer: 'json' };
  const sent = await send(language, call);
  if (sent === null) return;
  expect([sent.method, sent.type, sent.body]).toEqual(['POST', 'application/json', json]);
  expect(readdirSync(folder)).toEqual([]);
});

test.each(languages)('an example in %s prints a text, stores a file and needs no query', async (language) => {
  const text = await send(language, { method: 'GET', url: `${base}/text`, params: [], answer: 'text' });
  expect(text?.output.trim() ?? '{"ok": "yes"}').toBe('{"ok": "yes"}');
  received = [];
  const file = 'bars.parquet';
  const stored = await send(language, {
    method: 'GET',
    url: `${base}/file`,
    params: [],
    answer: 'file',
    file,
  });
  // In a browser, the example has no file system, so it only counts the bytes.
  if (language === 'javascript') expect(stored?.output.trim()).toBe('13');
  else if (stored !== null) expect(readFileSync(join(folder, file), 'utf8')).toBe('{"ok": "yes"}');
  rmSync(join(folder, file), { force: true });
});

test('each value in JavaScript and Python is one string on one line, which JSON reads back', () => {
  const params = HOSTILE.map((value, index) => [`p${index}`, value] as const);
  for (const language of ['javascript', 'python'] as const) {
    const text = writeExample(language, { method: 'GET', url: base, params, answer: 'json' });
    const values = [...text.matchAll(/^ +"p\d+": (".*"),$/gm)].map(([, quoted = '']): unknown =>
      JSON.parse(quoted),
    );
    expect(values).toEqual(HOSTILE.map(asSent));
  }
});

test('an example of a stream opens an EventSource in JavaScript, and does not buffer in curl and Python', () => {
  const call: Call = {
    method: 'GET',
    url: 'http://host/stream',
    params: [['token', "0x'1"]],
    answer: 'stream',
  };
  expect(writeExample('curl', call)).toBe("curl -N 'http://host/stream?token=0x%271'");
  expect(writeExample('javascript', call)).toBe(
    `const params = new URLSearchParams({
  "token": "0x'1",
});
const events = new EventSource("http://host/stream?" + params);
for (const kind of ["swap", "mint", "burn", "sync", "reorg", "gap"])
  events.addEventListener(kind, ({ data }) => console.log(kind, JSON.parse(data)));`,
  );
  expect(writeExample('python', call)).toContain('print(line.decode(), end="", flush=True)');
});
