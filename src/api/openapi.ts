/** GET /openapi.json: the OpenAPI document, made from the same declarations that parse requests and check answers. */
import { z } from 'zod';

import { errorShape } from '../wire/primitives';
import type { Param, ParamDoc, Params } from './params';
import type { Route } from './route';

type Json = Record<string, unknown>;

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'A parameter is bad: the text names it, what it got and what is allowed',
  404: 'There is no such thing',
  405: 'Only GET, HEAD and OPTIONS',
  429: 'Too many calls; Retry-After says how many seconds to wait',
  500: 'Something went wrong on our side',
  503: 'The database is away, or nothing is indexed yet',
};
const ALWAYS = [405, 429, 500] as const;

const HEADERS: Json = {
  'X-Indexed-Block': {
    description: 'Number of the block that the answer is as of',
    schema: { type: 'integer' },
  },
  'X-Indexed-Block-Hash': { description: 'Its hash', schema: { type: 'string' } },
  'X-Request-Id': { description: 'Names the request in the log', schema: { type: 'string' } },
  'X-RateLimit-Remaining': { description: 'Calls left', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'Seconds until all calls are there again',
    schema: { type: 'integer' },
  },
  ETag: {
    description: 'Send it back as If-None-Match: an unchanged answer is a 304',
    schema: { type: 'string' },
  },
};

export function openapi(routes: readonly Route[]): Route {
  let body: Buffer | null = null;
  const own: Route = {
    path: '/openapi.json',
    doc: { summary: 'This document', tag: 'service', answer: z.record(z.string(), z.unknown()) },
    handle(ctx) {
      body ??= Buffer.from(JSON.stringify(describeRoutes([...routes, own])));
      ctx.type = 'application/json';
      ctx.body = body;
    },
  };
  return own;
}

/** The document of a list of routes (OpenAPI 3.1). */
export function describeRoutes(routes: readonly Route[]): Json {
  const schemas: Json = { Error: toSchema(errorShape, {}) };
  const paths: Json = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { get: describeRoute(route, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Candlehouse',
      version: '1',
      description:
        'DEX analytics of one chain. Prices and amounts are decimal strings; USD sums, percentages, counts and bars ' +
        'are numbers; times are unix seconds, UTC; unknown is null. Every answer is as of one block.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    paths,
    components: { schemas },
  };
}

function describeRoute({ path, doc }: Route, schemas: Json): Json {
  const mediaType = doc.mediaType ?? 'application/json';
  const schema = doc.answer === undefined ? { type: 'string' } : toSchema(doc.answer, schemas);
  const responses: Json = {
    200: { description: doc.summary, headers: HEADERS, content: { [mediaType]: { schema } } },
    304: { description: 'Unchanged since the ETag that was sent' },
  };
  for (const status of [...(doc.errors ?? []), ...ALWAYS]) {
    responses[status] = {
      description: DESCRIPTIONS[status] ?? '',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    };
  }
  return {
    operationId: operationId(path),
    summary: doc.summary,
    tags: [doc.tag],
    ...(doc.description === undefined ? {} : { description: doc.description }),
    parameters: [...describeParams('path', doc.path ?? {}), ...describeParams('query', doc.query ?? {})],
    responses,
  };
}

/** `/api/v1/pairs/:address/ticks` → `pairs_address_ticks`. */
function operationId(path: string): string {
  return path.replace('/api/v1/', '').replace(/\W+/g, '_').replace(/^_|_$/g, '');
}

function describeParams(where: 'path' | 'query', params: Params): Json[] {
  return Object.entries(params).map(([name, param]) => ({
    name,
    in: where,
    required: isRequired(param),
    description: param.description === '' ? param.allowed : param.description,
    schema: schemaOfDoc(param.doc),
  }));
}

function isRequired(param: Param<unknown>): boolean {
  return param.absent === 'required';
}

function schemaOfDoc(doc: ParamDoc): Json {
  return { ...doc };
}

/** JSON Schema of a shape; shapes that have an id become shared schemas of the document. */
function toSchema(shape: z.ZodType, shared: Json): Json {
  const { $schema, $defs, ...schema } = z.toJSONSchema(shape, {
    target: 'draft-2020-12',
    io: 'output',
  });
  void $schema;
  for (const [name, definition] of Object.entries($defs ?? {})) shared[name] = moveRefs(definition);
  return moveRefs(schema);
}

/** References inside one schema, as references inside the document. */
function moveRefs(schema: unknown): Json {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/');
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}
