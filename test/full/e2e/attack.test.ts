/**
 * Six parallel attacks on a service under normal load: latency and memory stay low, and answers stay correct. Each
 * attack is possible for one client, one node or one contract.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import {
  LONG_EMITTER,
  startAttackWorld,
  UNVERIFIED,
  type AttackWorld,
} from '../../support/hostile/attackWorld';
import { quantile, startHealthProbe } from '../../support/server/healthProbe';
import { startNormalLoad } from '../../support/server/normalLoad';

const ATTACK_MS = 20_000;
/**
 * Bounds so wide that only a defect breaks them, also on a busy machine: a quiet one measures a tenth of the first. An answer
 * that is parsed or built as a whole takes the thread for seconds, and a flood that is read as a whole takes gigabytes.
 */
const BUSY_P99_MAX_MS = 1_000;
const RSS_MAX = 2 * 1024 ** 3;
const VERSION = '0.8.30';

let world: AttackWorld;

beforeAll(async () => {
  world = await startAttackWorld();
});

afterAll(() => world?.stop());

/** Sends a request and discards the answer. Returns null if the connection broke. */
function send(path: string, body?: { readonly type: string; readonly text: string }): Promise<number | null> {
  return new Promise((resolve) => {
    const headers =
      body === undefined ? {} : { 'Content-Type': body.type, 'Content-Length': Buffer.byteLength(body.text) };
    const method = body === undefined ? 'GET' : 'POST';
    const call = request(`${world.program.url}${path}`, { method, headers, agent: false }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode ?? null));
      answer.once('error', () => resolve(null));
    });
    call.once('error', () => resolve(null));
    call.end(body?.text);
  });
}

/** The main thread may compute for this long while /healthz waits. */
const HEALTH_BUSY_MAX_MS = 500;
const BODY_CHARACTERS = 4_800_000;

/** A standard JSON input of 4.8 MB that is nested, and has as many parts, as an input may be. */
function largeInput(salt: string, unit: string): object {
  const files = 1_500;
  const nested = Array.from({ length: 24 }).reduce<unknown>(
    (inner) => ({ [salt]: inner }),
    Array.from({ length: 12_000 }, (_, at) => at),
  );
  const settings = { nested };
  const room = BODY_CHARACTERS - 90_000 - files * 40;
  const content = unit.repeat(Math.floor(room / (files * (JSON.stringify(unit).length - 2))));
  const sources = Object.fromEntries(
    Array.from({ length: files }, (_, at) => [`${salt}${at}.sol`, { content }]),
  );
  return { language: 'Solidity', sources, settings };
}

const VERIFY_CALL = {
  module: 'contract',
  action: 'verifysourcecode',
  contractaddress: UNVERIFIED,
  codeformat: 'solidity-standard-json-input',
  contractname: 'a.sol:A',
  compilerversion: `v${VERSION}`,
};
const JSON_TYPE = 'application/json';

/** Path, media type and body of a request with nested sources. The text of `unit` fills the sources. */
const LARGE_BODIES: readonly (readonly [
  name: string,
  path: string,
  type: string,
  unit: string,
  body: (input: object, salt: string) => string,
])[] = [
  [
    'JSON of Etherscan',
    '/api',
    JSON_TYPE,
    'contract C {} ',
    (input) => JSON.stringify({ ...VERIFY_CALL, sourceCode: JSON.stringify(input) }),
  ],
  [
    'a form of Etherscan',
    '/api',
    'application/x-www-form-urlencoded',
    'contractC',
    (input) => new URLSearchParams({ ...VERIFY_CALL, sourceCode: JSON.stringify(input) }).toString(),
  ],
  [
    'standard JSON of Sourcify',
    `/v2/verify/369/${UNVERIFIED}`,
    JSON_TYPE,
    '"',
    (input) =>
      JSON.stringify({ compilerVersion: VERSION, contractIdentifier: 'a.sol:A', stdJsonInput: input }),
  ],
  [
    'metadata of Sourcify',
    `/v2/verify/metadata/369/${UNVERIFIED}`,
    JSON_TYPE,
    'contract C {} ',
    (input, salt) => JSON.stringify({ metadata: {}, sources: { [salt]: JSON.stringify(input) } }),
  ],
  [
    'sources in metadata of Sourcify',
    `/v2/verify/metadata/369/${UNVERIFIED}`,
    JSON_TYPE,
    'contract C {} ',
    (input, salt) => {
      const content = JSON.stringify(input);
      const sources = { [salt]: { keccak256: `0x${'00'.repeat(32)}`, content } };
      const settings = { compilationTarget: { [salt]: 'A' } };
      const metadata = {
        compiler: { version: VERSION },
        language: 'Solidity',
        output: { abi: [] },
        settings,
        sources,
      };
      return JSON.stringify({ metadata, sources: {} });
    },
  ],
  [
    'blanks',
    `/v2/verify/369/${UNVERIFIED}`,
    JSON_TYPE,
    'x',
    (_input, salt) => `${' '.repeat(BODY_CHARACTERS)}{"a":"${salt}"}`,
  ],
];

test.each(LARGE_BODIES)(
  'four bodies of 4.8 MB of nested sources at once do not hold up /healthz: %s',
  async (name, path, type, unit, bodyOf) => {
    const { url, process: child } = world.program;
    const bodies = [0, 1, 2, 3].map((at) => bodyOf(largeInput(`${name}${at}`, unit), `${at}`));
    for (const body of bodies) {
      expect(Buffer.byteLength(body)).toBeGreaterThan(4_000_000);
      expect(Buffer.byteLength(body)).toBeLessThan(5 * 2 ** 20);
    }
    const probe = startHealthProbe(url, child.pid ?? 0);
    const statuses = await Promise.all(bodies.map((text) => send(path, { type, text })));
    // The compilation of accepted sources begins after the answer.
    await delay(1_000);
    const { times, busy, failures } = await probe.stop();
    process.stdout.write(
      `${name}: ${statuses.join()}, /healthz took at most ${quantile(times, 1).toFixed()} ms, the program computed for ` +
        `${quantile(busy, 1).toFixed()} ms of this\n`,
    );
    expect([failures, statuses.filter((status) => status === null || status >= 500)]).toEqual([0, []]);
    expect(quantile(busy, 1)).toBeLessThan(HEALTH_BUSY_MAX_MS);
  },
);

/** Repeats an action until the time is over. */
type Attack = (isOver: () => boolean) => Promise<void>;

const atOnce = (count: number, work: (index: number) => Promise<void>): Promise<void> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index))).then(() => undefined);

/** Four clients request pages of one-megabyte logs, each time another page. */
const longLogs: Attack = (isOver) =>
  atOnce(4, async (client) => {
    for (let turn = 0; !isOver(); turn += 1) {
      const offset = (client * 40 + turn) % 180;
      await send(`/api/v1/logs?address=${LONG_EMITTER}&limit=60&offset=${offset}`);
    }
  });

/** Forty sockets request a hundred streams each and close. */
const pipelinedStreams: Attack = async (isOver) => {
  const { hostname, port } = new URL(world.program.url);
  const asked = 'GET /api/v1/activity/stream HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100);
  while (!isOver()) {
    await atOnce(40, async () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.write(asked);
      await Promise.race([once(socket, 'data').catch(() => undefined), delay(1_000)]);
      socket.destroy();
    });
    await delay(500);
  }
};

/** JSON request bodies with megabytes of brackets and of nested keys. */
const deepBodies: Attack = async (isOver) => {
  const json = `{"module":"logs","a":${'['.repeat(2_400_000)}${']'.repeat(2_400_000)}}`;
  const form = `module=logs&${'a[a][a][a]=1&'.repeat(90_000)}`;
  while (!isOver()) {
    await send('/api', { type: 'application/json', text: json });
    await send('/api', { type: 'application/x-www-form-urlencoded', text: form });
    await delay(100);
  }
};

/** Contracts of 80 KB that the compiler's slow pipeline must compile, as many as one client may submit. */
const compileJobs: Attack = async (isOver) => {
  for (let job = 0; job < 24 && !isOver(); job += 1) {
    const fields = new URLSearchParams({
      module: 'contract',
      action: 'verifysourcecode',
      contractaddress: UNVERIFIED,
      codeformat: 'solidity-standard-json-input',
      contractname: 'Slow.sol:Slow',
      compilerversion: `v${VERSION}`,
      sourceCode: slowInput(job),
    });
    await send('/api', { type: 'application/x-www-form-urlencoded', text: fields.toString() });
  }
};

function slowInput(salt: number): string {
  const functions = Array.from({ length: 230 }, (_, at) => {
    const steps = Array.from({ length: 5 }, (__, step) => `x = x * ${at + 3} + (x >> ${step + 1}) ^ m[x];`);
    return `function f${at}(uint256 x) public returns (uint256) { for (uint256 i; i < x; i++) { ${steps.join(' ')} m[i] = x; } return x; }`;
  });
  const content = `// ${salt}\npragma solidity ^0.8.0; contract Slow { mapping(uint256 => uint256) m; ${functions.join('\n')} }`;
  const settings = { viaIR: true, optimizer: { enabled: true, runs: 1_000_000 } };
  return JSON.stringify({ language: 'Solidity', sources: { 'Slow.sol': { content } }, settings });
}

/** The node answers with 240 MB of valid JSON. */
const floodingNode: Attack = async (isOver) => {
  while (!isOver()) {
    world.floodNext(240_000_000);
    await delay(4_000);
  }
};

/** New tokens appear on the chain, each with a symbol of one megabyte. */
const hugeSymbols: Attack = async (isOver) => {
  while (!isOver()) {
    world.mineHugeTokens(40);
    await delay(5_000);
  }
};

const NORMAL_PATHS = [
  '/api/v1/overview',
  '/api/v1/pairs',
  '/api/v1/tokens',
  '/api/v1/activity?limit=25',
  '/api/v1/logs?limit=25&to_block=140',
  '/api/v1/dexes',
  '/openapi.json',
];

async function mineOn(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    world.mine();
    await delay(1_000);
  }
}

const ATTACKS: Readonly<Record<string, Attack>> = {
  longLogs,
  pipelinedStreams,
  deepBodies,
  compileJobs,
  floodingNode,
  hugeSymbols,
};

/** ATTACKS=a,b in the environment runs only these attacks, to measure each one. */
function chosen(): readonly (readonly [string, Attack])[] {
  const only = process.env['ATTACKS']?.split(',');
  return Object.entries(ATTACKS).filter(([name]) => only?.includes(name) ?? true);
}

test('under six simultaneous attacks latency and memory stay low, and normal requests succeed', async () => {
  const { url, process: child } = world.program;
  for (const path of NORMAL_PATHS) expect([path, await send(path)]).toEqual([path, 200]);
  const probe = startHealthProbe(url, child.pid ?? 0);
  const load = startNormalLoad(url, NORMAL_PATHS);
  const end = performance.now() + ATTACK_MS;
  const isOver = (): boolean => performance.now() > end;
  const attacks = chosen();
  await Promise.all([mineOn(isOver), ...attacks.map(([, attack]) => attack(isOver))]);
  const statuses = await load.stop();
  const figures = await probe.stop();
  const busyP99 = quantile(figures.busy, 0.99);
  const show = (list: readonly number[]): string =>
    [0.5, 0.99, 1].map((share) => quantile(list, share).toFixed(1)).join(', ');
  process.stdout.write(
    `${attacks.map(([name]) => name).join(', ')}: ${figures.times.length} answers of /healthz, p50, p99, max ` +
      `${show(figures.times)} ms, the program computed for ${show(figures.busy)} ms of this; ` +
      `RSS at most ${Math.round(figures.rssMax / 1e6)} MB; normal requests ${JSON.stringify(statuses)}; ` +
      `${world.floods()} floods\n`,
  );
  expect(figures.failures).toBe(0);
  // A service on a busy machine may ask a client to try again.
  const { 200: served = 0, ...others } = statuses;
  expect(Object.keys(others).filter((status) => !status.startsWith('503 '))).toEqual([]);
  expect(served).toBeGreaterThan(Object.values(others).reduce((sum, count) => sum + count, 0));
  expect(busyP99).toBeLessThan(BUSY_P99_MAX_MS);
  expect(figures.rssMax).toBeLessThan(RSS_MAX);
});
