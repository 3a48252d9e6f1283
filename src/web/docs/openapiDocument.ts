/**
 * Types and readers of the OpenAPI document for the docs page: only the parts of OpenAPI 3.1 that this service uses.
 */
import type { ActionDoc } from '../../wire/dialects/etherscan';
import { getBody } from '../core/api.ts';
import { inChain } from '../core/pageChain.ts';

export interface Schema {
  readonly type?: string | readonly string[];
  readonly $ref?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
  readonly example?: unknown;
}

interface Answer {
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Answer;
  readonly responses?: Readonly<Record<string, Answer>>;
  readonly 'x-actions'?: readonly ActionDoc[];
  /** The path that describes this operation. */
  readonly 'x-alias-of'?: string;
}

export interface OpenApi {
  readonly info: { readonly title: string; readonly description?: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

export interface Endpoint {
  readonly id: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly operation: Operation;
}

export async function loadOpenApi(signal: AbortSignal): Promise<OpenApi> {
  const body = await getBody(inChain('/openapi.json'), signal);
  if (typeof body !== 'object' || body === null || !('paths' in body))
    throw new Error('/openapi.json has no paths');
  // Our own server makes the document, and its tests check it against OpenAPI's schema, so the type is right.
  return body as OpenApi;
}

/** Endpoints in the order of the document. */
export function listEndpoints(document: OpenApi): Endpoint[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: `${method}-${path.replace(/\W+/g, '-').replace(/^-|-$/g, '')}`,
      method: method === 'post' ? 'POST' : 'GET',
      path,
      operation,
    })),
  );
}

/** Media types of the answer. */
export function answerTypes({ operation }: Endpoint): string[] {
  const { responses = {} } = operation;
  return Object.keys((responses['200'] ?? responses['202'])?.content ?? {});
}

/** Resolves a reference; returns any other schema unchanged. */
export function resolveSchema(document: OpenApi, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (document.components?.schemas?.[name] ?? {});
}

/** Names the type of a schema. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'object';
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return [...new Set(alternatives.map(typeOf))].join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === 'array')
    return `list of ${schema.items === undefined ? 'any value' : typeOf(schema.items)}`;
  if (typeof schema.type === 'string') return schema.type;
  return schema.type?.join(' or ') ?? 'any value';
}

/** The largest exact integer of JSON is not shown, because as a limit it says nothing. */
const NO_MAXIMUM = Number.MAX_SAFE_INTEGER;

/** Describes the allowed values in words. */
export function boundsOf(schema: Schema): string {
  const bounds: string[] = [];
  if (schema.enum !== undefined) bounds.push(schema.enum.map(String).join(', '));
  const { minimum, maximum = NO_MAXIMUM, minLength, maxLength, pattern } = schema;
  if (minimum !== undefined && maximum < NO_MAXIMUM) bounds.push(`${minimum} to ${maximum}`);
  else if (minimum !== undefined && minimum !== -NO_MAXIMUM) bounds.push(`from ${minimum}`);
  if (maxLength !== undefined) bounds.push(`${minLength ?? 0} to ${maxLength} characters`);
  if (pattern !== undefined) bounds.push(patternText(pattern));
  return bounds.join('; ');
}

const ADDRESS = '0[xX][0-9a-fA-F]{40}';

const POOL = `${ADDRESS}([0-9a-fA-F]{24})?`;

/** Describes known patterns in words; shows other patterns unchanged. */
function patternText(pattern: string): string {
  if (pattern === `^${ADDRESS}$`) return 'an address';
  if (pattern === `^${POOL}$`) return 'an address, or the id of a pool';
  if (pattern.startsWith(`^${POOL}(,`)) return 'addresses or ids of pools, separated by commas';
  return pattern.startsWith(`^${ADDRESS}(,`) ? 'addresses, separated by commas' : pattern;
}
