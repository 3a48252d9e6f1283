/**
 * Compares each JSON answer of a test server with the OpenAPI document of its routes. An answer that does not fit
 * becomes a 500 with the reason, so the test that made the request fails.
 */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import type Koa from 'koa';

import { describeRoutes } from '../../../src/api/openapi';
import type { RequestState, Route } from '../../../src/api/route';

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema: Json }>> }>
  >;
}

/** Most faults to describe for one answer. */
const FAULTS_MAX = 5;
const BODY_CHARACTERS_SHOWN = 400;

export function checkAnswers(routes: readonly Route[]): Koa.Middleware<RequestState> {
  let validators: Validators | null = null;
  return async (ctx, next) => {
    await next();
    const text = jsonTextOf(ctx);
    if (text === null) return;
    validators ??= createValidators(routes);
    const fault = validators.check(ctx.state.route ?? null, ctx.method, ctx.status, JSON.parse(text));
    if (fault === null) return;
    ctx.status = 500;
    ctx.remove('Content-Encoding');
    ctx.type = 'text/plain';
    ctx.body = `${ctx.method} ${ctx.url} does not fit the OpenAPI document: ${fault}\n${text.slice(0, BODY_CHARACTERS_SHOWN)}`;
    process.stderr.write(`${ctx.body}\n`);
  };
}

/** The JSON text of the answer; null for another type, or without a body. */
function jsonTextOf(ctx: Koa.ParameterizedContext<RequestState>): string | null {
  const body: unknown = ctx.body;
  if (!ctx.response.is('json') || ctx.headerSent || ctx.status === 304) return null;
  if (typeof body === 'string') return body;
  if (!Buffer.isBuffer(body)) return null;
  const encoding = ctx.response.get('Content-Encoding');
  if (encoding === 'gzip') return gunzipSync(body).toString();
  if (encoding === 'br') return brotliDecompressSync(body).toString();
  return encoding === '' ? body.toString() : null;
}

interface Validators {
  /** Describes the first faults of an answer; null if it fits. `route` is null if no route matched. */
  check(route: string | null, method: string, status: number, body: unknown): string | null;
}

function createValidators(routes: readonly Route[]): Validators {
  const document = describeRoutes(routes) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: Json;
  };
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: document.components });
  const validateByKey = new Map<string, ValidateFunction | null>();
  const find = (route: string | null, method: string, status: number): ValidateFunction | null => {
    const schema =
      route === null
        ? { $ref: '#/components/schemas/Error' }
        : schemaOf(document.paths[route.replace(/:(\w+)/g, '{$1}')], method, status);
    return schema === null ? null : ajv.compile(withDocument(schema));
  };
  return {
    check(route, method, status, body) {
      const key = `${route ?? ''} ${method} ${status}`;
      const knownValidate = validateByKey.get(key);
      const validate = knownValidate === undefined ? find(route, method, status) : knownValidate;
      validateByKey.set(key, validate);
      if (validate === null) return `status ${status} has no JSON schema`;
      if (validate(body) === true) return null;
      const faults = (validate.errors ?? []).map(
        ({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
      );
      return faults.slice(0, FAULTS_MAX).join('; ');
    },
  };
}

function schemaOf(
  operations: Readonly<Record<string, Operation>> | undefined,
  method: string,
  status: number,
): Json | null {
  const operation = operations?.[method === 'POST' ? 'post' : 'get'];
  return operation?.responses[String(status)]?.content?.['application/json']?.schema ?? null;
}

function withDocument(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')) as Json;
}
