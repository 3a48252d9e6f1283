/**
 * GET /openapi.json: the OpenAPI document. It is generated from the declarations that parse requests and check
 * answers. The examples are real answers of this service.
 */
import { z } from 'zod';

import { errorShape } from '../wire/primitives';
import type { Example, Examples, ExampleSource } from './examples';
import type { Param, ParamDoc, Params } from './params';
import type { Route } from './route';

type Json = Record<string, unknown>;

interface ErrorDoc {
  readonly description: string;
  readonly code: string;
  readonly error: string;
}

const ERROR_DOCS: Readonly<Record<number, ErrorDoc>> = {
  400: {
    description: 'A parameter is invalid. The message names the parameter, the value and the allowed values',
    code: 'bad_request',
    error: 'limit: got "0"; allowed: an integer from 1 to 100',
  },
  404: {
    description:
      'The object does not exist. With the code logs_not_kept: the service runs with EXPLORER=off and does not keep ' +
      'the raw logs that the answer needs',
    code: 'not_found',
    error: 'there is no pair 0x0000000000000000000000000000000000000001',
  },
  405: {
    description: 'The method is not allowed on this path. The Allow header lists the allowed methods',
    code: 'method_not_allowed',
    error: 'POST is not allowed; allowed: GET, HEAD, OPTIONS',
  },
  409: {
    description: 'The object exists already',
    code: 'already_verified',
    error: 'the contract is already verified',
  },
  429: {
    description: 'Too many calls. Retry-After gives the seconds to wait',
    code: 'rate_limited',
    error: 'more than 600 calls per minute; retry in 1 s',
  },
  500: {
    description: 'A fault of the service',
    code: 'internal',
    error: 'internal error; the X-Request-Id header identifies the log entry',
  },
  503: {
    description:
      'The database or the node does not answer, or no block is indexed yet. Retry-After gives the ' +
      'seconds to wait',
    code: 'unavailable',
    error: 'the database or the node does not answer, or no block is indexed yet; retry later',
  },
};
const ALWAYS_ERRORS = [405, 429, 500] as const;

const HEADER_DOCS: Json = {
  'X-Indexed-Block': {
    description: 'Number of the newest block that the answer includes',
    schema: { type: 'integer' },
  },
  'X-Indexed-Block-Hash': {
    description: 'Hash of the newest block that the answer includes',
    schema: { type: 'string' },
  },
  'X-Request-Id': { description: 'Identifies the request in the log', schema: { type: 'string' } },
  'X-RateLimit-Limit': { description: 'Allowed calls per minute', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Calls left', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'Seconds until all calls are available again',
    schema: { type: 'integer' },
  },
  ETag: {
    description: 'Version of the answer. Send it as If-None-Match to get a 304 for an unchanged answer',
    schema: { type: 'string' },
  },
};

/** Body of a POST in the Etherscan dialect. It may contain the same parameters as the query. */
const FORM_BODY: Json = {
  description: 'The parameters of the call. Parameters in the query override parameters in the body',
  content: Object.fromEntries(
    ['application/x-www-form-urlencoded', 'application/json'].map((type) => [
      type,
      { schema: { type: 'object', additionalProperties: { type: 'string' } } },
    ]),
  ),
};

const TAGS = [
  { name: 'market', description: 'Tokens, pairs, bars, DEXes, wallets and events' },
  { name: 'stream', description: 'Events as server-sent events, as soon as they are indexed' },
  { name: 'explorer', description: 'Contracts, logs, verified sources and search' },
  {
    name: 'etherscan',
    description: "The explorer in Etherscan's dialect. All answers have status 200, even errors",
  },
  {
    name: 'udf',
    description: 'TradingView\'s Universal Data Feed. Refusals are {s: "error"} with status 200',
  },
  { name: 'dexscreener', description: 'Adapter for DEX Screener, specification v1.1' },
  { name: 'service', description: 'State and description of this service' },
];

/**
 * `examples` provides the examples. Without this function, and until a block is indexed, the document has no
 * examples. `chainId` is the chain of the document if paths may name a chain, else null.
 */
export function openapi(
  routes: readonly Route[],
  examples?: (routes: readonly Route[]) => ExampleSource,
  chainId: number | null = null,
): Route {
  const exampleSource = examples?.(routes);
  let newestDocument: { readonly examples: Examples; readonly body: Buffer } | null = null;
  const noExamples: Examples = new Map();
  const ownRoute: Route = {
    path: '/openapi.json',
    doc: {
      summary: 'This OpenAPI document',
      tag: 'service',
      description:
        'Every endpoint with its parameters, answers and errors, in the format of OpenAPI 3.1. Its examples are real answers of this service.',
      answer: z.record(z.string(), z.unknown()),
    },
    async handle(ctx) {
      const { head } = ctx.state;
      const currentExamples =
        exampleSource === undefined || head === null ? noExamples : await exampleSource.at(head);
      if (newestDocument?.examples !== currentExamples)
        newestDocument = {
          examples: currentExamples,
          body: Buffer.from(
            JSON.stringify({
              ...describeRoutes([...routes, ownRoute], currentExamples),
              servers: listServers(chainId),
            }),
          ),
        };
      ctx.type = 'application/json';
      ctx.body = newestDocument.body;
    },
  };
  return ownRoute;
}

/** The server of all paths. With several chains also the server of each chain, whose URL begins with the chain. */
function listServers(chainId: number | null): Json[] {
  const chain = { default: String(chainId), description: 'Id or slug of a chain of /api/v1/chains' };
  const ofChain = { url: '/{chain}', description: 'Another chain', variables: { chain } };
  return [{ url: '/' }, ...(chainId === null ? [] : [ofChain])];
}

/** Builds the OpenAPI 3.1 document of a list of routes. */
export function describeRoutes(routes: readonly Route[], examples: Examples = new Map()): Json {
  const schemas: Json = {};
  // The error shape has an id, so toSchema adds it to the shared schemas.
  toSchema(errorShape, schemas);
  const paths: Json = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    const get = describeRoute(route, schemas, examples.get(route.path) ?? null);
    const post = { ...get, operationId: `post_${operationId(route.path)}`, requestBody: FORM_BODY };
    if (route.method === 'post') paths[path] = { post: { ...get, requestBody: bodyOf(route.doc, schemas) } };
    else paths[path] = route.takesForms === true ? { get, post } : { get };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Candlehouse',
      version: '1',
      description:
        'DEX analytics. A path describes one chain: /api/v1/{chain}/… with an id or slug of /api/v1/chains that chain, ' +
        '/api/v1/… the first chain. Prices and token amounts are decimal strings in whole tokens. Raw ' +
        'units are the smallest units of a token. USD sums, percentages, counts and bars are numbers. ' +
        'Times are unix seconds, UTC. An unknown value is null. Every answer describes the chain at one block. "24 h" ' +
        'means the 86,400 seconds up to the newest indexed block. An anchor is a token with a configured ' +
        'USD price. Every other price follows a path of at most 4 hops through pools to an anchor, the deepest ' +
        'path first. A hop is the mean price of its pools, weighted by their depth; outliers are left out. A ' +
        'pool counts if it holds 50 USD of a token with a price and changed within 30 days. ' +
        '/tokens/{address}/audit shows the path, and price_reason says why a price is missing. ' +
        'A USD price is trusted if its confidence is medium or high. A swap is tracked if at ' +
        'least one of its tokens has a trusted price. Volumes and fees in USD count tracked swaps only. ' +
        'Unknown parameters are ignored, except a likely typing error of a known name. A known parameter ' +
        'that is invalid, empty or repeated is a 400 that names the parameter.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: listServers(null),
    // No endpoint needs credentials.
    security: [],
    tags: TAGS.filter(({ name }) => routes.some(({ doc }) => doc.tag === name)),
    paths,
    components: { schemas },
  };
}

function describeRoute({ path, doc }: Route, schemas: Json, example: Example | null): Json {
  const params = example?.params ?? {};
  const responses: Json = {
    [doc.status ?? 200]: {
      description: doc.summary,
      headers: HEADER_DOCS,
      content: describeContent(doc, schemas, example),
    },
    304: { description: 'The answer still has the ETag of If-None-Match' },
  };
  for (const status of [...(doc.errors ?? []), ...alwaysErrorsOf(doc)])
    responses[status] = describeError(status);
  for (const [status, shape] of Object.entries(doc.dialectErrors ?? {}))
    responses[status] = describeDialectError(Number(status), toSchema(shape, schemas));
  return {
    operationId: operationId(path),
    summary: doc.summary,
    tags: [doc.tag],
    ...(doc.description === undefined ? {} : { description: doc.description }),
    parameters: [
      ...describeParams('path', doc.path ?? {}, params),
      ...describeParams('query', doc.query ?? {}, params),
    ],
    responses,
    ...(example === null ? {} : { 'x-example-call': example.call }),
    ...(doc.actions === undefined ? {} : { 'x-actions': doc.actions }),
    ...(doc.aliasOf === undefined ? {} : { 'x-alias-of': doc.aliasOf }),
  };
}

function describeContent(doc: Route['doc'], schemas: Json, example: Example | null): Json {
  const mediaType = doc.mediaType ?? 'application/json';
  const schema = doc.answer === undefined ? { type: 'string' } : toSchema(doc.answer, schemas);
  const exampleField = example === null ? {} : { example: example.answer };
  const otherTypes = (doc.otherTypes ?? []).map((type) => [
    type,
    { schema: { type: 'string', format: 'binary' } },
  ]);
  return { [mediaType]: { schema, ...exampleField }, ...Object.fromEntries(otherTypes) };
}

/** The dialect of Etherscan answers its errors with status 200, except on paths and methods that do not exist. */
function alwaysErrorsOf({ tag }: Route['doc']): readonly number[] {
  return tag === 'etherscan' ? [405] : ALWAYS_ERRORS;
}

function describeDialectError(status: number, schema: Json): Json {
  const description = ERROR_DOCS[status]?.description ?? 'The request is invalid';
  return { description, content: { 'application/json': { schema } } };
}

function describeError(status: number): Json {
  const { description, code, error } = ERROR_DOCS[status] ?? { description: '', code: 'internal', error: '' };
  const content = {
    schema: { $ref: '#/components/schemas/Error' },
    example: { success: false, error, code },
  };
  return { description, content: { 'application/json': content } };
}

function bodyOf({ body }: Route['doc'], schemas: Json): Json {
  const schema = body === undefined ? { type: 'object' } : toSchema(body, schemas);
  return { required: true, content: { 'application/json': { schema } } };
}

/** The id of an operation: `/api/v1/pairs/:address/ticks` becomes `pairs_address_ticks`. */
function operationId(path: string): string {
  return path.replace('/api/v1/', '').replace(/\W+/g, '_').replace(/^_|_$/g, '');
}

function describeParams(
  location: 'path' | 'query',
  params: Params,
  examples: Readonly<Record<string, string>>,
): Json[] {
  return Object.entries(params).map(([name, param]) => ({
    name,
    in: location,
    required: location === 'path' || isRequired(param),
    description: param.description === '' ? param.allowed : param.description,
    schema: schemaOfDoc(param.doc, location),
    ...(examples[name] === undefined ? {} : { example: exampleOf(param.doc, examples[name]) }),
  }));
}

/** Converts an example to the parameter's type. */
function exampleOf({ type }: ParamDoc, text: string): string | number {
  return type === 'integer' ? Number(text) : text;
}

function isRequired(param: Param<unknown>): boolean {
  return param.absent === 'required';
}

/** A parameter in a path has no default, because the path always contains a value. */
function schemaOfDoc(doc: ParamDoc, location: 'path' | 'query'): Json {
  const { default: defaultValue, ...schema } = doc;
  return location === 'path' || defaultValue === undefined ? schema : doc;
}

/** JSON Schema of a shape. Shapes with an id become shared schemas of the document. */
function toSchema(shape: z.ZodType, sharedSchemas: Json): Json {
  const { $schema, $defs, ...schema } = z.toJSONSchema(shape, {
    target: 'draft-2020-12',
    io: 'output',
  });
  void $schema;
  for (const [name, definition] of Object.entries($defs ?? {})) sharedSchemas[name] = moveRefs(definition);
  return moveRefs(schema);
}

/** Rewrites references inside one schema to references inside the document. */
function moveRefs(schema: unknown): Json {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/');
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}
