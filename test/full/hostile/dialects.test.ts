/**
 * Sends hostile values to the dialects of other services, in URLs, forms and JSON bodies, and hostile paths. The actions
 * of Etherscan and their parameters are those of the OpenAPI document; a parameter without a good value fails the test.
 * The program is a process of its own, with a node and a queue of verifications.
 */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';

import { z } from 'zod';

import { startAttackWorld, UNVERIFIED, type AttackWorld } from '../../support/hostile/attackWorld';
import { LEAKS, ODD_PATHS, PAYLOADS, WRONG_TYPES } from '../../support/hostile/httpPayloads';
import { IS_FULL_ATTACK } from '../../support/run/runs';

/** Each field gets every PAYLOAD_STEP-th payload. The next field starts with another payload. */
const PAYLOAD_STEP = IS_FULL_ATTACK ? 1 : 12;
const PARALLEL = 8;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const HASH = `0x${'ab'.repeat(32)}`;
const TOKEN = `0x01${'0'.repeat(38)}`;
const INPUT = { language: 'Solidity', sources: { 'a.sol': { content: 'contract A {}' } }, settings: {} };

let world: AttackWorld;

beforeAll(async () => {
  world = await startAttackWorld({ longLogs: 0 });
});

afterAll(() => world?.stop());

interface Call {
  readonly path: string;
  readonly type?: string;
  readonly body?: string | Buffer;
}

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Sends the path as it is, without the changes that `fetch` makes. */
async function send({ path, type, body }: Call): Promise<Reply> {
  const { hostname, port } = new URL(world.program.url);
  const call = request({
    hostname,
    port,
    path,
    method: body === undefined ? 'GET' : 'POST',
    headers: type === undefined ? {} : { 'Content-Type': type },
    agent: false,
  });
  call.end(body);
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString();
  return { status: answer.statusCode ?? 0, type: String(answer.headers['content-type']), text };
}

/** Sends all calls, a few at a time. Returns the faults that `faultOf` finds, and the number of answers by status. */
async function attack(
  calls: readonly Call[],
  faultOf: (reply: Reply) => string | null,
): Promise<{ faults: string[]; statuses: Map<number, number> }> {
  const faults: string[] = [];
  const statuses = new Map<number, number>();
  const queue = [...calls];
  const work = async (): Promise<void> => {
    for (let call = queue.pop(); call !== undefined; call = queue.pop()) {
      const reply = await send(call);
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
      const leak = reply.status >= 400 || /"status":"0"/.test(reply.text) ? LEAKS.exec(reply.text) : null;
      const fault = leak !== null && leak[0] !== '__proto__' ? `leak ${leak[0]}` : faultOf(reply);
      if (fault !== null)
        faults.push(
          `${fault}: ${call.path.slice(0, 200)} ${String(call.body ?? '').slice(0, 300)} → ${reply.status} ${reply.text.slice(0, 200)}`,
        );
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return { faults, statuses };
}

/** The payloads that field number `nth` gets. */
const payloadsOf = (nth: number): readonly string[] =>
  PAYLOADS.filter((_, at) => (at + nth) % PAYLOAD_STEP === 0);

function expectUnharmed(): void {
  expect(world.program.hasEnded()).toBe(false);
  const failed = world.program
    .output()
    .split('\n')
    .filter((line) => /^\{"level":(50|60),/.test(line));
  expect(failed).toEqual([]);
}

const actionsShape = z.array(
  z.object({ module: z.string(), action: z.string(), parameters: z.array(z.object({ name: z.string() })) }),
);

/** A good value of each parameter of Etherscan's actions. */
const GOOD: Readonly<Record<string, string>> = {
  address: TOKEN,
  blockno: '1000000',
  boolean: 'true',
  closest: 'before',
  codeformat: 'solidity-standard-json-input',
  compilerversion: 'v0.8.30',
  constructorArguements: '',
  contractaddress: UNVERIFIED,
  contractaddresses: TOKEN,
  contractname: 'a.sol:A',
  data: '0x',
  endblock: '100',
  evmversion: 'default',
  expectedimplementation: TOKEN,
  filter: 'verified',
  from: TOKEN,
  fromBlock: '0',
  gas: '0x5208',
  gasPrice: '0x1',
  gasprice: '1000000000',
  guid: 'ab'.repeat(25),
  index: '0x0',
  licenseType: '3',
  offset: '10',
  optimizationUsed: '0',
  page: '1',
  position: '0x0',
  runs: '200',
  sort: 'asc',
  sourceCode: JSON.stringify(INPUT),
  startblock: '0',
  tag: 'latest',
  timestamp: '1700000100',
  to: TOKEN,
  toBlock: '100',
  topic0: HASH,
  topic0_1_opr: 'or',
  topic1: HASH,
  topic2: HASH,
  topic3: HASH,
  txhash: HASH,
  value: '0x0',
};
/** Parameters that every action takes, and one of the pairs of topics. */
const COMMON = ['chainid', 'apikey', 'topic2_3_opr'];

/** Etherscan's answers have status 200 and one of two forms. */
function dialectFault({ status, type, text }: Reply): string | null {
  if (status !== 200 || !type.startsWith(JSON_TYPE)) return `status ${status} ${type}`;
  const answer = JSON.parse(text) as Record<string, unknown>;
  if (answer['jsonrpc'] === '2.0') return 'result' in answer || 'error' in answer ? null : 'no result';
  if (text.includes('server too busy')) return 'an internal error';
  const isKnown = answer['status'] === '0' || answer['status'] === '1';
  if (!isKnown || typeof answer['message'] !== 'string' || !('result' in answer)) return 'another form';
  return answer['status'] === '0' && text.length > 2_000 ? 'a refusal that repeats all it was sent' : null;
}

test('every parameter of every action of Etherscan takes hostile values in the URL, in a form and in JSON', async () => {
  const document_ = JSON.parse((await send({ path: '/openapi.json' })).text) as {
    paths: { '/api': { get: { 'x-actions': unknown } } };
  };
  const actions = actionsShape.parse(document_.paths['/api'].get['x-actions']);
  const named = new Set(actions.flatMap(({ parameters }) => parameters.map(({ name }) => name)));
  expect([...named].sort()).toEqual(Object.keys(GOOD).sort());
  const calls: Call[] = [];
  for (const [at, { module, action, parameters }] of actions.entries()) {
    const names = parameters.map(({ name }) => name);
    const good = { module, action, ...Object.fromEntries(names.map((name) => [name, GOOD[name] ?? ''])) };
    for (const [nth, name] of [...names, 'module', 'action', ...COMMON].entries()) {
      for (const payload of payloadsOf(at + nth)) {
        const asked = { ...good, [name]: payload };
        const text = new URLSearchParams(asked).toString();
        calls.push({ path: `/api?${text}` }, { path: '/api', type: FORM_TYPE, body: text });
        calls.push({ path: '/api', type: JSON_TYPE, body: JSON.stringify(asked) });
      }
      const wrong = WRONG_TYPES.filter((_, index) => IS_FULL_ATTACK || (index + nth) % 4 === 0);
      for (const value of wrong)
        calls.push({ path: '/api', type: JSON_TYPE, body: JSON.stringify({ ...good, [name]: value }) });
    }
  }
  const { faults } = await attack(calls, dialectFault);
  process.stdout.write(`${calls.length} calls of ${actions.length} actions with ${named.size} parameters\n`);
  expect(faults).toEqual([]);
  expectUnharmed();
});

/** Texts that are no JSON object, or an object that a careless reader would trust. */
const BODIES: readonly (string | Buffer)[] = [
  '',
  'null',
  '[]',
  '"x"',
  '1e999',
  '{',
  '{"a":1}{"b":2}',
  '\ufeff{}',
  '{"__proto__":{"module":"logs"},"constructor":{"prototype":{}}}',
  '{"module":"logs","module":{"a":1}}',
  `{"stdJsonInput":${'['.repeat(40)}${']'.repeat(40)}}`,
  `{"a":"${'\\u0000'.repeat(2_000)}"}`,
  `{"a":"\\ud800"}`,
  `{"metadata":{"__proto__":null},"sources":{"__proto__":"x"}}`,
  Buffer.from('7b2261223a22fffe80c0af227d', 'hex'),
  'a=1&a[]=2&a[b]=3&__proto__[x]=1&%',
  `${'&'.repeat(2_000)}a=1`,
];

test.each([
  [
    'standard JSON',
    '',
    {
      stdJsonInput: INPUT,
      compilerVersion: '0.8.30',
      contractIdentifier: 'a.sol:A',
      creationTransactionHash: HASH,
    },
  ],
  [
    'metadata',
    '/metadata',
    {
      metadata: {
        compiler: { version: '0.8.30' },
        language: 'Solidity',
        output: { abi: [] },
        settings: { compilationTarget: { 'a.sol': 'A' } },
        sources: { 'a.sol': { keccak256: HASH, content: 'contract A {}' } },
      },
      sources: { 'a.sol': 'contract A {}' },
      creationTransactionHash: HASH,
    },
  ],
  ['similarity', '/similarity', { creationTransactionHash: HASH }],
])(
  "every field of Sourcify's verification with %s takes hostile values, and so do its address, chain and job",
  async (_, kind, good) => {
    const path = `/v2/verify${kind}/369/${UNVERIFIED}`;
    const bodies = listPaths(good).flatMap((place, nth) =>
      [...payloadsOf(nth), ...WRONG_TYPES].map((value) => JSON.stringify(withValue(good, place, value))),
    );
    const hostile = PAYLOADS.map((payload) => encodeURIComponent(payload.replace(/[\ud800-\udfff]/g, '')));
    const body = JSON.stringify(good);
    const calls: Call[] = [
      ...[...bodies, ...BODIES].map((each) => ({ path, type: JSON_TYPE, body: each })),
      ...BODIES.map((each) => ({ path, type: FORM_TYPE, body: each })),
      ...hostile.map((text) => ({ path: `/v2/verify${kind}/369/${text}`, type: JSON_TYPE, body })),
      ...hostile.map((text) => ({ path: `/v2/verify${kind}/${text}/${UNVERIFIED}`, type: JSON_TYPE, body })),
      ...hostile.map((text) => ({ path: `/v2/verify/${text}` })),
    ];
    const { faults, statuses } = await attack(calls, ({ status, text }) => {
      if (![202, 400, 404, 405, 409, 429].includes(status)) return `status ${status}`;
      const answer = JSON.parse(text) as Record<string, unknown>;
      const keys = status === 202 ? ['verificationId'] : ['customCode', 'message', 'errorId'];
      return keys.every((key) => typeof answer[key] === 'string') || 'code' in answer ? null : 'another form';
    });
    expect(faults).toEqual([]);
    expect(statuses.get(400)).toBeGreaterThan(20);
    expectUnharmed();
  },
);

/** The places of all values in a JSON object, as lists of keys. */
function listPaths(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [...(at.length === 0 ? [] : [at]), ...inner.flatMap(([key, each]) => listPaths(each, [...at, key]))];
}

function withValue(value: unknown, [key, ...rest]: readonly string[], hostile: unknown): unknown {
  if (key === undefined) return hostile;
  const fields = value as Readonly<Record<string, unknown>>;
  return { ...fields, [key]: withValue(fields[key], rest, hostile) };
}

test('bodies that are no call are refused in the dialect of their path', async () => {
  const calls = [
    '/api',
    '/v2/api?chainid=369',
    '/369/api',
    '/api?module=contract&action=verifysourcecode',
  ].flatMap((path) =>
    [JSON_TYPE, FORM_TYPE, 'text/plain', 'multipart/form-data'].flatMap((type) =>
      BODIES.map((body) => ({ path, type, body })),
    ),
  );
  expect((await attack(calls, dialectFault)).faults).toEqual([]);
  expectUnharmed();
});

test('files of the server, and names of the language, are no paths', async () => {
  const calls = ODD_PATHS.map((path) => ({ path }));
  const { faults } = await attack(calls, ({ status, type, text }) => {
    // A server may read the part before `#` alone, which is the page.
    if (status === 200) return type.startsWith('text/html') && text.includes('<title>') ? null : 'an answer';
    return [400, 404].includes(status) ? null : `status ${status}`;
  });
  expect(faults).toEqual([]);
  expectUnharmed();
});

test('an event that no contract has is an empty list, a name that is no parameter is ignored, and 0x0 is no address', async () => {
  const pairs = JSON.parse((await send({ path: '/api/v1/pairs' })).text) as { data: { address: string }[] };
  const ticks = `/api/v1/pairs/${pairs.data[0]?.address}/ticks?timeframe=1h`;
  const statusOf = async (path: string): Promise<unknown> => {
    const { status, text } = await send({ path });
    const { data, meta } = JSON.parse(text) as { data?: unknown[]; meta?: { total_relation?: string } };
    return status === 200 ? [data?.length, meta?.total_relation] : status;
  };
  for (const event of ['Nope', 'Nope(uint256)', HASH])
    for (const path of ['/api/v1/logs?', `/api/v1/contracts/${TOKEN}/events?`])
      expect([event, path, await statusOf(`${path}event=${event}`)]).toEqual([event, path, [0, 'eq']]);
  expect(await statusOf('/api/v1/logs?event=Nope(')).toBe(400);
  for (const value of [UNVERIFIED, '0x0', '__proto__'])
    expect([value, await statusOf(`${ticks}&base=${value}`)]).toEqual([value, 400]);
  const lists = [
    '/api/v1/pairs?',
    '/api/v1/tokens?',
    '/api/v1/logs?to_block=9&',
    '/api/v1/contracts?',
    `${ticks}&`,
  ];
  for (const list of lists)
    for (const unknown of [
      'base_token=0x0',
      'gte=1',
      'limit[gte]=1',
      '$gte=',
      '__proto__=1',
      'constructor[a]=1',
    ])
      expect([list, unknown, await statusOf(list + unknown)]).toEqual([list, unknown, await statusOf(list)]);
  for (const address of ['0x0', '0x', '0', `${TOKEN}0`, TOKEN.slice(0, -1), TOKEN.replace('0x', '')])
    for (const path of ['contracts', 'tokens', 'pairs', 'portfolio'])
      expect([path, address, await statusOf(`/api/v1/${path}/${address}`)]).toEqual([path, address, 400]);
});
