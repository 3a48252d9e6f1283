/** Request bodies of the Etherscan dialect: size limits per action, JSON depth, and forms that arrive as sent. */
import type { VerificationQueue, VerificationRequest } from '../../../../src/domain/verificationQueue';
import { isWithin } from '../../../../src/domain/texts/jsonShape';
import { SEED } from '../../../support/run/seed';
import { notOk } from './etherscanWorld';
import { explorerDeps, startExplorer, type ExplorerServer } from '../explorer/explorerServer';
import { createRandom } from '../../../support/createRandom';

const VERSION = '0.8.30';
const LARGE = notOk(
  'Error! The request body is larger than 64 KiB; only the action verifysourcecode accepts a larger body',
);
const BAD = notOk('Error! Invalid request body');
const VERIFY = {
  module: 'contract',
  action: 'verifySourceCode',
  contractaddress: `0x${'11'.repeat(20)}`,
  contractname: 'A',
  compilerversion: VERSION,
};

let api: ExplorerServer;
let requests: VerificationRequest[];

beforeAll(async () => {
  const queue: VerificationQueue = {
    listCompilers: () => Promise.resolve([VERSION]),
    submit(request) {
      requests.push(request);
      return Promise.resolve({ kind: 'queued', guid: 'ticket' });
    },
    status: () => null,
    job: () => null,
    idOf: (guid) => guid,
    isOpen: () => false,
    refuse: () => 'ticket',
    draftFromMetadata: () => Promise.resolve({ input: {}, compilerVersion: '', contractName: '' }),
    draftFromRecord: () => ({ input: {}, compilerVersion: '', contractName: '' }),
    close: () => Promise.resolve(),
  };
  const deps = explorerDeps(null, () => null, { verifications: () => queue });
  api = await startExplorer(deps, () => null);
});

beforeEach(() => {
  requests = [];
});

afterAll(() => api.close());

async function post(body: string, type: 'form' | 'json', query = '') {
  const types = { form: 'application/x-www-form-urlencoded', json: 'application/json' };
  const headers = { 'Content-Type': types[type] };
  return (await api.ask(`/api${query}`, { method: 'POST', headers, body })).json;
}

const bodies = (fields: Record<string, string>): readonly (readonly [string, 'form' | 'json'])[] => [
  [new URLSearchParams(fields).toString(), 'form'],
  [JSON.stringify(fields), 'json'],
];

function sourceOf(request: VerificationRequest | undefined): unknown {
  return request?.input;
}

test('a body of 64 KiB is accepted for every action, and a larger one only for verifysourcecode', async () => {
  for (const [body, type] of bodies({ module: 'contract', action: 'checkverifystatus', guid: 'g' })) {
    const pad = (length: number): string =>
      type === 'form' ? `${body}&x=`.padEnd(length, 'x') : body.padEnd(length, ' ');
    expect(await post(pad(65_536), type)).toEqual(notOk('Unknown UID'));
    expect(await post(pad(65_537), type)).toEqual(LARGE);
    expect(await post(pad(4_800_000), type)).toEqual(LARGE);
    const named = await post('x'.repeat(70_000), type, '?module=contract&action=checkverifystatus&guid=g');
    expect(named).toEqual(LARGE);
  }
});

test('a large body that mentions verifysourcecode in another field is refused', async () => {
  const fields = { module: 'logs', action: 'getLogs', x: '{"action":"verifysourcecode"}'.repeat(4_000) };
  for (const [body, type] of bodies(fields)) expect(await post(body, type)).toEqual(LARGE);
  const twice = 'action=getLogs&module=logs&action=verifysourcecode&x=';
  expect(await post(twice.padEnd(70_000, 'x'), 'form')).toEqual(LARGE);
});

test('verifysourcecode accepts megabytes, with its action in the query or anywhere in the body', async () => {
  const content = `contract A {} // ${'é€😀 +&=% "\\\n'.repeat(40_000)}`;
  const { action, module, ...rest } = VERIFY;
  const { sourceCode } = { sourceCode: content };
  const orders = [
    { ...VERIFY, sourceCode },
    { sourceCode, ...VERIFY },
  ];
  for (const fields of orders) {
    for (const [body, type] of bodies(fields)) {
      expect(await post(body, type)).toEqual({ status: '1', message: 'OK', result: 'ticket' });
    }
  }
  for (const [body, type] of bodies({ sourceCode, ...rest }))
    await post(body, type, `?module=${module}&action=${action}`);
  expect(requests).toHaveLength(6);
  for (const request of requests)
    expect(sourceOf(request)).toMatchObject({ sources: { 'A.sol': { content } } });
});

test('a long form is parsed like URLSearchParams parses it, with valid and invalid escapes', async () => {
  const random = createRandom(SEED);
  const whole = ['a', '+', '%41', '%C3%A9', '%e2%82%ac', '%F0%9F%98%80', '='];
  const kinds = [
    [...whole, '😀', 'é'],
    // Malformed escapes are tested without raw characters outside of ASCII, because Node's URLSearchParams garbles a
    // text that has both.
    [...whole, '%', '%4', '%FF', '%82'],
  ];
  for (let round = 0; round < 6; round += 1) {
    const parts = kinds[round % 2]!;
    let value = '';
    while (value.length < 150_000) value += parts[random.int(parts.length)]!.repeat(1 + random.int(3));
    const body = `${new URLSearchParams(VERIFY).toString()}&sourceCode=${value}`;
    await post(body, 'form');
    const wanted = new URLSearchParams(body).get('sourceCode');
    const input = sourceOf(requests.pop()) as { sources: Record<string, { content: string }> };
    expect({ seed: SEED, round, same: input.sources['A.sol']!.content === wanted }).toEqual({
      seed: SEED,
      round,
      same: true,
    });
  }
});

test('JSON that is deeply nested or has too many parts is refused before it is parsed', async () => {
  const nested = (depth: number): string => `{"module":"x","a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  const module = notOk('Error! Missing Or invalid Module name');
  expect(await post(nested(7), 'json')).toEqual(module);
  expect(await post(nested(8), 'json')).toEqual(BAD);
  expect(await post(`{"module":"x"${',"a":1'.repeat(2_000)}}`, 'json')).toEqual(BAD);
  const verify = JSON.stringify(VERIFY).slice(0, -1);
  expect(await post(`${verify},"a":${'['.repeat(2_300_000)}${']'.repeat(2_300_000)}}`, 'json')).toEqual(BAD);
  expect(await post(`a&`.repeat(2_000), 'form')).toEqual(BAD);
  // Brackets in the name of a form field have no special meaning.
  expect(await post(`module=x&a${'[a]'.repeat(20_000)}=1`, 'form')).toEqual(module);
});

test('a deeply nested standard JSON input is refused', async () => {
  const fields = { ...VERIFY, codeformat: 'solidity-standard-json-input', contractname: 'A.sol:A' };
  const inputs = { fine: '{"settings":{"a":[[[1]]]}}', deep: `{"a":${'['.repeat(500_000)}` };
  for (const [body, type] of bodies({ ...fields, sourceCode: inputs.fine }))
    expect(await post(body, type)).toMatchObject({ status: '1' });
  for (const [body, type] of bodies({ ...fields, sourceCode: inputs.deep }))
    expect(await post(body, type)).toEqual(notOk(expect.stringMatching(/nested too deeply/)));
});

test('the scan that measures depth and parts of JSON agrees with a parser', () => {
  const random = createRandom(SEED);
  const signs = ['{', '}', '[', ']', ',', '"', '\\', '\\"', 'x', ':'];
  const value = (depth: number): unknown => {
    const kind = depth === 0 ? 0 : random.int(3);
    if (kind === 0)
      return Array.from({ length: random.int(6) }, () => signs[random.int(signs.length)]).join('');
    const items = Array.from({ length: random.int(3) }, () => value(depth - 1));
    return kind === 1 ? items : Object.fromEntries(items.map((item, at) => [`"${at}{`, item]));
  };
  const depthOf = (of: unknown): number =>
    typeof of !== 'object' || of === null ? 0 : 1 + Math.max(0, ...Object.values(of).map(depthOf));
  for (let round = 0; round < 300; round += 1) {
    const made = value(random.int(6));
    const text = JSON.stringify(made);
    const depth = depthOf(made);
    const partsMax = Number.MAX_SAFE_INTEGER;
    expect({ text, fits: isWithin(text, { depthMax: depth, partsMax }) }).toEqual({ text, fits: true });
    if (depth > 0)
      expect({ text, fits: isWithin(text, { depthMax: depth - 1, partsMax }) }).toEqual({
        text,
        fits: false,
      });
  }
});
