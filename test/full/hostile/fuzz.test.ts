/**
 * Sends hostile calls to every endpoint of the OpenAPI document: each parameter with hostile values, and random
 * combinations. Then malformed requests, slow clients, compression bombs and hostile expressions. Expects no 500, no
 * internal details in an answer, and unchanged data. `npm run attack` tries every value in every parameter;
 * `npm test` tries a part of the values in each parameter.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import fc from 'fast-check';

import { ERROR_STATUS } from '../../../src/errors';
import { startSimApi, type SimApi } from '../../simulation/chain/simApi';
import { EXPRESSIONS, LEAKS, MALFORMED, makeBombs, PAYLOADS } from '../../support/hostile/httpPayloads';
import { IS_FULL_ATTACK, runsOf } from '../../support/run/runs';
import { SEED } from '../../support/run/seed';

/** The seeds are fixed, unless SEED gives another one. Each seed gives 150 cases. */
const SEEDS = process.env['SEED'] === undefined ? [1, 20_260_101, 369, 7_777_777] : [SEED];
const CASES_A_SEED = runsOf(150);
/** Each parameter gets every PAYLOAD_STEP-th payload. The next parameter starts with another payload. */
const PAYLOAD_STEP = IS_FULL_ATTACK ? 1 : 6;
const PARALLEL = 8;

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
  // This process is also the attacker. Its own work must not make the service refuse calls, which would hide the answers.
  api = await startSimApi(5, 160, { SHED_LOOP_DELAY_MS: '0' });
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

test('each parameter of each endpoint, with hostile values, gives a valid answer or error', async () => {
  let parameters = 0;
  const calls = endpoints.flatMap((endpoint) =>
    endpoint.parameters.flatMap(({ name }) => {
      parameters += 1;
      return PAYLOADS.flatMap((payload, i) => {
        if ((i + parameters) % PAYLOAD_STEP !== 0) return [];
        const one = [urlOf(endpoint, new Map([[name, [payload]]])), {}] as const;
        if (i >= PAYLOAD_STEP) return [one];
        const twice = urlOf(endpoint, new Map([[name, [payload, 'b']]]));
        const list = new Map([
          [`${name}[]`, [payload]],
          [`${name}[a][b]`, ['c']],
          [`${name}[gte]`, [payload]],
        ]);
        return [one, [twice, {}] as const, [urlOf(endpoint, list), {}] as const];
      });
    }),
  );
  const names = endpoints.flatMap((endpoint) => endpoint.parameters.map(({ name }) => name));
  expect(names).toEqual(expect.arrayContaining(['event', 'base', 'topic3', 'tx_hash']));
  expect(parameters).toBeGreaterThan(100);
  expect(calls.length).toBeGreaterThan((parameters * PAYLOADS.length) / PAYLOAD_STEP);
  console.log(`${calls.length} calls for ${parameters} parameters`);
  expect(await attack(calls)).toEqual([]);
  // Many calls must be answered (200) and many must be refused (400, 404), otherwise the payloads did not reach the
  // code behind the validation.
  for (const status of [200, 400, 404])
    expect([status, (statuses.get(status) ?? 0) > 50]).toEqual([status, true]);
  await expectUnharmed();
});

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

/** Sends bytes and collects the answer until the server closes the connection, or is silent for this time (0: ever). */
async function sendBytes(bytes: string | Buffer, silenceMs: number): Promise<string> {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('data', (piece: Buffer) => (answer += piece.toString('latin1')));
  socket.on('error', () => undefined);
  socket.write(bytes);
  socket.setTimeout(silenceMs, () => socket.destroy());
  await once(socket, 'close');
  return answer;
}

test('bytes that are no valid HTTP request are refused and are never read as two requests', async () => {
  const attacks = Object.entries(MALFORMED);
  expect(attacks).toHaveLength(37);
  const answers = await Promise.all(
    attacks.map(async ([name, bytes]) => [name, await sendBytes(bytes, 1_500)] as const),
  );
  for (const [name, answer] of answers) {
    const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status));
    expect([name, statuses.filter((status) => status >= 500)]).toEqual([name, []]);
    expect([name, answer.includes('smuggled')]).toEqual([name, false]);
    expect([name, LEAKS.exec(answer)?.[0]]).toEqual([name, undefined]);
  }
  await expectUnharmed();
});

/** A busy machine may make a request this much slower than one before it. */
const ALONE_MAX = 20;

/** Time of a request in ms. Its status must be one of these. */
async function timeOf(path: string, ...statuses: readonly number[]): Promise<number> {
  const began = performance.now();
  const { status } = await send(path);
  expect([path, status]).toEqual([path, statuses.find((each) => each === status) ?? statuses]);
  return performance.now() - began;
}

test('many clients that send their request slowly do not hinder others', async () => {
  const { hostname, port } = new URL(api.url);
  const alone = await timeOf('/api/v1/pairs', 200);
  const sockets: Socket[] = [];
  const answers: string[] = [];
  for (let i = 0; i < 200; i += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.on('data', (piece: Buffer) => answers.push(piece.toString('latin1')));
    const isBody = i % 2 === 0;
    socket.write(
      isBody ? 'POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\nmodule=' : 'GET / HTTP/1.1\r\nX-',
    );
    sockets.push(socket);
  }
  const end = performance.now() + (IS_FULL_ATTACK ? 40_000 : 1_000);
  while (performance.now() < end) {
    // A client that had to wait for the slow ones would wait until the program closes them, for 10 s.
    expect(await timeOf('/api/v1/pairs', 200)).toBeLessThan(8_000 + ALONE_MAX * alone);
    sockets.forEach((socket) => socket.writable && socket.write('a'));
    await delay(200);
  }
  const open = sockets.filter((socket) => !socket.destroyed).length;
  if (IS_FULL_ATTACK) {
    expect(open).toBe(0);
    expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 408')).length).toBeGreaterThan(50);
  }
  for (const socket of sockets) socket.destroy();
  await expectUnharmed();
});

test('a small compressed body that becomes 64 MB is refused before it fills the memory', async () => {
  const bombs = makeBombs();
  const before_ = process.memoryUsage().rss;
  let most = before_;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 10).unref();
  for (const [encoding, body] of bombs) {
    for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
      for (const path of ['/api', '/api?module=contract&action=verifysourcecode', '/api/v1/pairs']) {
        const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Encoding: ${encoding}\r\n`;
        const length = `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
        const answer = await sendBytes(Buffer.concat([Buffer.from(`${head}${length}`), body]), 0);
        expect([encoding, path, answer]).toEqual([
          encoding,
          path,
          expect.stringMatching(/^HTTP\/1\.1 (200|4\d\d)/),
        ]);
        expect(answer).not.toMatch(/"status":"1"/);
      }
    }
  }
  clearInterval(watch);
  expect(most - before_).toBeLessThan(300e6);
  await expectUnharmed();
});

test('a hostile expression for the source search is answered or refused at once', async () => {
  const search = (expression: string): Promise<number> =>
    timeOf(`/api/v1/source-search?mode=regex&q=${encodeURIComponent(expression)}`, 200, 400);
  const usual = await search('transfer');
  for (const expression of EXPRESSIONS) {
    const ms = await search(expression);
    // An expression that backtracks takes minutes.
    expect([expression, ms < 5_000 + ALONE_MAX * usual]).toEqual([expression, true]);
  }
  await expectUnharmed();
});
