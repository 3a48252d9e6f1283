/**
 * Compares the OpenAPI document with a real service: its examples must be valid answers, and the service must have
 * its bounds and errors.
 */
import { z } from 'zod';

import { ERROR_STATUS } from '../../../src/errors';
import { startApi, type Json } from '../../support/server/apiServer';
import { snapshotOf } from '../../support/worlds/world';
import {
  makeMarketWorld,
  MARKET_PLAN,
  startMarket,
  type MarketServer,
} from '../../support/server/marketServer';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly example?: string | number;
  readonly schema: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
  readonly 'x-example-call'?: string;
}

interface Content {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example?: Json;
}

interface Document_ {
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

const marketWorld = makeMarketWorld(MARKET_PLAN);
const { world, finalTo: FINAL, tip: TIP } = marketWorld;
let document_: Document_;
let market: MarketServer;
beforeAll(async () => {
  market = await startMarket(marketWorld);
  document_ = JSON.parse((await market.api.get('/openapi.json')).text) as Document_;
});

afterAll(() => market?.close());

const operations = (): [string, Operation][] =>
  Object.entries(document_.paths).flatMap(([path, { get }]) => (get === undefined ? [] : [[path, get]]));

/** A validator for the schema, with the document's own definitions. */
function checkerOf(schema: Readonly<Record<string, unknown>>): z.ZodType {
  const whole = { ...schema, $defs: document_.components.schemas };
  const text = JSON.stringify(whole).replaceAll('"#/components/schemas/', '"#/$defs/');
  return z.fromJSONSchema(JSON.parse(text) as Parameters<typeof z.fromJSONSchema>[0]);
}

test('every endpoint has an example call, and the call returns the example answer', async () => {
  let called = 0;
  for (const [path, operation] of operations()) {
    const content = operation.responses['200']!.content!['application/json'];
    // The document must not contain an example of itself.
    if (content === undefined || path === '/openapi.json') continue;
    const call = operation['x-example-call'];
    expect([path, call]).toEqual([path, expect.stringMatching(/^\//)]);
    const answer = await market.api.get(call!);
    expect([call, answer.status]).toEqual([call, 200]);
    expect([call, JSON.parse(answer.text)]).toEqual([call, content.example]);
    expect(() => checkerOf(content.schema).parse(JSON.parse(answer.text))).not.toThrow();
    for (const parameter of operation.parameters)
      if (parameter.required) expect([path, parameter.name, parameter.example]).not.toContain(undefined);
    called += 1;
  }
  expect(called).toBeGreaterThanOrEqual(21);
});

test('no list in the examples is empty', () => {
  for (const [path, operation] of operations()) {
    const data = operation.responses['200']!.content!['application/json']?.example?.['data'];
    if (Array.isArray(data)) expect([path, data.length > 0]).toEqual([path, true]);
  }
});

test('each possible error of an endpoint has an example with the code of its status', () => {
  const error = checkerOf(document_.components.schemas['Error'] as Readonly<Record<string, unknown>>);
  for (const [path, { responses }] of operations()) {
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '304', '405', '429', '500']));
    for (const [status, { content }] of Object.entries(responses)) {
      if (Number(status) < 400) continue;
      const example = content!['application/json']!.example!;
      expect(() => error.parse(example)).not.toThrow();
      const code = String(example['code']) as keyof typeof ERROR_STATUS;
      expect([path, status, ERROR_STATUS[code]]).toEqual([path, status, Number(status)]);
    }
  }
});

test('documented bounds, enums, patterns and required parameters are enforced', async () => {
  let checks = 0;
  for (const [path, operation] of operations()) {
    const call = operation['x-example-call'];
    if (call === undefined) continue;
    const udf = path.startsWith('/udf/');
    const expectBad = async (name: string, text: string | null): Promise<void> => {
      const url = new URL(call, 'http://x');
      if (text === null) url.searchParams.delete(name);
      else url.searchParams.set(name, text);
      const answer = await market.api.get(url.pathname + url.search);
      const bad = udf ? answer.json['s'] : answer.json['code'];
      expect([path, name, text, answer.status, bad]).toEqual([
        path,
        name,
        text,
        udf ? 200 : 400,
        udf ? 'error' : 'bad_request',
      ]);
      expect(answer.text).toContain(name);
      checks += 1;
    };
    for (const { name, in: where, required, schema } of operation.parameters) {
      if (where === 'path') continue;
      if (required) await expectBad(name, null);
      const { minimum, maximum, type } = schema as { minimum?: number; maximum?: number; type: string };
      if (type === 'integer') {
        if (minimum! > Number.MIN_SAFE_INTEGER) await expectBad(name, String(minimum! - 1));
        if (maximum! < Number.MAX_SAFE_INTEGER) await expectBad(name, String(maximum! + 1));
        await expectBad(name, '9007199254740993');
        await expectBad(name, 'x');
      }
      if (type === 'boolean') await expectBad(name, '1');
      if (schema['enum'] !== undefined) await expectBad(name, 'none-of-these');
      if (schema['maxLength'] !== undefined)
        await expectBad(name, 'x'.repeat(Number(schema['maxLength']) + 1));
      if (schema['pattern'] !== undefined) {
        expect('§').not.toMatch(new RegExp(String(schema['pattern'])));
        await expectBad(name, '§');
      }
    }
  }
  expect(checks).toBeGreaterThan(80);
});

test('the document has no examples while no block is indexed, and gets them once a block is indexed', async () => {
  market.head = null;
  const fresh = await startApi(market.runner, () => market.head);
  try {
    const before = await fresh.get('/openapi.json');
    expect([before.status, before.text.includes('x-example-call')]).toEqual([200, false]);
    market.head = snapshotOf(world, FINAL, TIP);
    const after = await fresh.get('/openapi.json');
    expect(after.text).toContain('x-example-call');
    // Examples are made once, so that the document's ETag does not change with each block.
    market.head = snapshotOf(world, FINAL, TIP - 3);
    expect((await fresh.get('/openapi.json')).headers['etag']).toBe(after.headers['etag']);
  } finally {
    market.head = snapshotOf(world, FINAL, TIP);
    await fresh.close();
  }
});
