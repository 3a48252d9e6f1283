/**
 * Sends hostile calls to every endpoint of the OpenAPI document: each parameter with each kind of hostile value, and
 * random combinations. Expects no 500, no internal details in an answer, and unchanged data.
 */
import { request } from 'node:http';

import fc from 'fast-check';

import { ERROR_STATUS } from '../../../src/errors';
import { startSimApi, type SimApi } from '../../simulation/chain/simApi';
import { runsOf } from '../../support/run/runs';

/** The seeds are fixed. Each seed gives 150 cases. */
const SEEDS = [1, 20_260_101, 369, 7_777_777];
const CASES_A_SEED = runsOf(150);
const PARALLEL = 8;

/**
 * Signs of internal details in an answer. Payloads contain none of these words, so an echoed payload is not
 * reported as a leak.
 */
const LEAKS =
  /DB::Exception|Code: \d+|clickhouse|candlehouse_test|SELECT\b|\bFROM\s|node_modules|\.[cm]?[jt]s:\d|\n\s+at |\/work\/|\/home\/|\/root\/|ECONNREFUSED|ZodError|TypeError|password|__proto__/;

const PAYLOADS: readonly string[] = [
  "' OR 1=1 --",
  "'; DrOp TaBlE swaps; --",
  '1) UnIoN AlL SeLeCt * FrOm system.users --',
  '{pair:String}',
  "\\' OR sleep(3) --",
  "unhex('00') FoRmAt JSON",
  "file('/etc/passwd')",
  '\0',
  'a\0b',
  '%00',
  '\r\nX-Injected: yes',
  '%0d%0aX-Injected:%20yes',
  '../../../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '....//....//etc/passwd',
  'C:\\windows\\win.ini',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '${7*7}',
  '{{7*7}}',
  '$(id)',
  '`id`',
  '; cat /etc/passwd',
  '1e999',
  '-1',
  '0',
  'NaN',
  'Infinity',
  '99999999999999999999999999999999',
  '-9223372036854775808',
  '18446744073709551616',
  '0x1p1023',
  '٣٤',
  '１',
  '\u202eabc',
  '\ufeff',
  '\ud83d\ude00'.repeat(20),
  'Ａ'.repeat(70),
  'a\u0300'.repeat(300),
  'x'.repeat(3_000),
  ','.repeat(200),
  '0x' + 'f'.repeat(40),
  '0X' + 'F'.repeat(40),
  '0x' + 'g'.repeat(40),
  '0xa1077a294dDE1B09bB078844df40758a5D0f9a27',
  '%',
  '_',
  '%25%25',
  '\\',
  '(.*)*$',
  '[',
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  '{"$gt":""}',
  '__proto__',
  'constructor',
  'toString',
  ' ',
  '\t',
  '',
];

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
}

interface Endpoint {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Valid parameter values. */
  readonly good: URLSearchParams;
  readonly goodPath: string;
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

let api: SimApi;
let endpoints: readonly Endpoint[];
let before: string;
/** The number of answers by status. */
const statuses = new Map<number, number>();

beforeAll(async () => {
  api = await startSimApi(5, 160);
  const document_ = JSON.parse((await send('/openapi.json')).body) as {
    paths: Record<string, { get?: { parameters: Parameter[]; 'x-example-call'?: string } }>;
  };
  endpoints = Object.entries(document_.paths).flatMap(([path, { get }]) => {
    if (get === undefined) return [];
    const example = new URL(get['x-example-call'] ?? path, 'http://x');
    return [{ path, parameters: get.parameters, good: example.searchParams, goodPath: example.pathname }];
  });
  before = await fingerprint();
});

afterAll(async () => {
  await api?.stop();
});

/** A hash of the stored data, and the list of tables. */
async function fingerprint(): Promise<string> {
  const rows = await api.db.select(
    'fingerprint',
    'SELECT table, sum(rows) AS rows FROM system.parts WHERE database = currentDatabase() AND active GROUP BY table ORDER BY table',
  );
  return JSON.stringify(rows);
}

/** Closes streams as soon as they have started. */
function send(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> {
  const { hostname, port } = new URL(api.url);
  return new Promise((resolve, reject) => {
    const call = request({ hostname, port, path, headers, method, agent: false }, (answer) => {
      const reply = { status: answer.statusCode ?? 0, headers: answer.headers };
      if (String(answer.headers['content-type']).startsWith('text/event-stream')) {
        call.destroy();
        resolve({ ...reply, body: '' });
        return;
      }
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve({ ...reply, body: Buffer.concat(chunks).toString() }));
    });
    call.on('error', reject);
    call.end();
  });
}

/** A path segment as a hostile client writes it. Only characters that a URL cannot contain are escaped. */
const segment = (text: string): string => encodeURIComponent(text).replaceAll('%25', '%');

function urlOf(endpoint: Endpoint, texts: ReadonlyMap<string, readonly string[]>): string {
  const query = new URLSearchParams(endpoint.good);
  let path = endpoint.goodPath;
  for (const [name, values] of texts) {
    const parameter = endpoint.parameters.find((each) => each.name === name);
    if (parameter?.in === 'path') {
      const at = endpoint.path.split('/').indexOf(`{${name}}`);
      path = path
        .split('/')
        .map((piece, i) => (i === at ? segment(values[0] ?? '') : piece))
        .join('/');
      continue;
    }
    query.delete(name);
    for (const value of values) query.append(name, value);
  }
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Paths that may answer 503: the test chain's head is old, and the page may not be built. */
const MAY_BE_AWAY = /^\/(readyz([?].*)?)?$/;

/** Look-ups of the Sourcify and Blockscout dialects. Without a chain or an address their path does not exist. */
const OTHER_WORDS = /^(\/v2\/(contracts?|verify)\/|(\/[^/]+)?\/api\/v2\/smart-contracts(\/|\?|$))/;

function missingHeader(headers: Reply['headers']): string | null {
  if (headers['x-content-type-options'] !== 'nosniff' || headers['referrer-policy'] === undefined)
    return 'no security headers';
  return String(headers['content-security-policy']).includes('frame-ancestors') ? null : 'no frame-ancestors';
}

/** Checks the rules for every answer. Returns the violation, or null. */
function faultOf(reply: Reply, path = ''): string | null {
  const { status, headers, body } = reply;
  if (status === 503 && MAY_BE_AWAY.test(path)) return null;
  const otherWords = OTHER_WORDS.test(path);
  if (![200, 204, 304, 400, 404, 405, 431].includes(status) && !(otherWords && status === 422))
    return `status ${status}`;
  const leak = LEAKS.exec(body.replaceAll(/__proto__/gi, ''));
  if (status >= 400 && leak !== null) return `leak ${leak[0]}`;
  if ('x-injected' in headers || /X-Injected: yes\r?\n/.test(body)) return 'injected header';
  if (status === 431) return null;
  const missing = missingHeader(headers);
  if (missing !== null || status < 400) return missing;
  // Sourcify's and Blockscout's clients expect these error bodies.
  if (otherWords && /^\{"(message|errors|customCode|results)":/.test(body)) return null;
  const error = JSON.parse(body) as { success: unknown; error: unknown; code: keyof typeof ERROR_STATUS };
  if (error.success !== false || typeof error.error !== 'string') return 'the body is not an error body';
  if (ERROR_STATUS[error.code] !== status) return `code ${error.code} with status ${status}`;
  return error.error.length > 1_000 ? 'an error that repeats all it was sent' : null;
}

/** Sends all calls, a few at a time, and returns the faults. */
async function attack(calls: readonly (readonly [string, Record<string, string>])[]): Promise<string[]> {
  const faults: string[] = [];
  const queue = [...calls];
  const work = async (): Promise<void> => {
    for (let call = queue.pop(); call !== undefined; call = queue.pop()) {
      const [path, headers] = call;
      const reply = await send(path, headers);
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
      const fault = faultOf(reply, path);
      if (fault !== null)
        faults.push(`${fault}: ${path.slice(0, 200)} ${JSON.stringify(headers)} ${reply.body.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return faults;
}

async function expectUnharmed(): Promise<void> {
  for (const path of ['/healthz', '/api/v1/overview', '/api/v1/pairs', '/api/v1/activity'])
    expect([path, (await send(path)).status]).toEqual([path, 200]);
  expect(await fingerprint()).toBe(before);
  const failed = api.log.filter((line) => {
    const level = (JSON.parse(line) as { level: number }).level;
    return level >= 50;
  });
  expect(failed).toEqual([]);
}

test('each parameter of each endpoint, with each hostile value, gives a valid answer or error', async () => {
  const calls = endpoints.flatMap((endpoint) =>
    endpoint.parameters.flatMap(({ name }) =>
      PAYLOADS.flatMap((payload, i) => {
        const one = [urlOf(endpoint, new Map([[name, [payload]]])), {}] as const;
        if (i > 0) return [one];
        const twice = urlOf(endpoint, new Map([[name, [payload, 'b']]]));
        const list = new Map([
          [`${name}[]`, [payload]],
          [`${name}[a][b]`, ['c']],
        ]);
        return [one, [twice, {}] as const, [urlOf(endpoint, list), {}] as const];
      }),
    ),
  );
  expect(calls.length).toBeGreaterThan(3_000);
  expect(await attack(calls)).toEqual([]);
  // The calls passed the first check, and many were answered and many were refused.
  for (const status of [200, 400, 404])
    expect([status, (statuses.get(status) ?? 0) > 50]).toEqual([status, true]);
  await expectUnharmed();
}, 600_000);

const hostile = fc.oneof(
  fc.constantFrom(...PAYLOADS),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.bigInt().map(String),
  fc.double().map(String),
  fc.string({ unit: fc.constantFrom('0', 'x', 'f', 'F', ',', '-', "'", '%', '\\'), maxLength: 200 }),
  fc.tuple(fc.constantFrom(...PAYLOADS), fc.constantFrom(...PAYLOADS)).map((both) => both.join('')),
);

/** Text for request headers, limited to the characters that Node sends. */
const headerText = fc
  .oneof(fc.constantFrom(...PAYLOADS), fc.string({ maxLength: 60 }))
  .map((text) => text.replace(/[^\t\x20-\x7e]/g, '?'));

test.each(SEEDS)('random hostile calls give a valid answer or error, seed %i', async (seed) => {
  const arbitrary = fc.record({
    endpoint: fc.nat(),
    values: fc.array(fc.tuple(fc.nat(), hostile), { minLength: 1, maxLength: 5 }),
    headers: fc.dictionary(
      fc.constantFrom(
        'Accept',
        'If-None-Match',
        'Last-Event-ID',
        'X-Request-Id',
        'Origin',
        'X-Forwarded-For',
        'Range',
      ),
      headerText,
    ),
  });
  console.log(`seed ${seed}`);
  const cases = fc.sample(arbitrary, { seed, numRuns: CASES_A_SEED });
  const calls = cases.map(({ endpoint, values, headers }) => {
    const chosen = endpoints[endpoint % endpoints.length]!;
    const { parameters } = chosen;
    const texts = new Map<string, string[]>();
    for (const [i, text] of values) {
      const name = parameters.length === 0 ? 'q' : parameters[i % parameters.length]!.name;
      texts.set(name, [...(texts.get(name) ?? []), text.replace(/[\ud800-\udfff]/g, '?')]);
    }
    return [urlOf(chosen, texts), headers] as const;
  });
  expect(await attack(calls)).toEqual([]);
  await expectUnharmed();
});

test('unknown paths and other methods are refused with the error body of the API', async () => {
  const paths = PAYLOADS.flatMap((payload) => [
    `/${segment(payload)}`,
    `/api/v1/${segment(payload)}`,
    `/udf/${segment(payload)}`,
  ]);
  expect(await attack(paths.map((path) => [path, {}] as const))).toEqual([]);
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND']) {
    const reply = await send('/api/v1/pairs', {}, method);
    expect([method, reply.status, faultOf(reply)]).toEqual([method, 405, null]);
  }
  await expectUnharmed();
});
