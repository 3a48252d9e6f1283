/**
 * Declarations of request parameters. One declaration parses the text, writes the error 400 and describes the
 * parameter in OpenAPI. Unknown parameters are ignored, except a likely typing error of a known name. An invalid, empty
 * or repeated parameter is an error that names the parameter.
 */
import { z } from 'zod';

import { ADDRESS_ALLOWED, findAddress, parseAddress } from '../domain/address';
import { isHash, toLowerHex, type Hex } from '../domain/hex';
import { AppError } from '../errors';
import { refuseMistyped } from './suggestName';

/** An error shows at most this many characters of the caller's text. */
const VALUE_SHOWN_MAX = 80;

/** OpenAPI schema of the values of a parameter. */
export type ParamDoc = Readonly<
  Record<string, string | number | boolean | readonly string[] | readonly number[]>
>;

/** One parameter: its parser, its default and its description. */
export interface Param<T> {
  /** Parses the text of the parameter. If an issue has its own message, this message replaces the standard
   * error text. */
  readonly schema: z.ZodType<T, string>;
  /** The default value of the parameter, or `required`. */
  readonly absent: { readonly value: T } | 'required';
  /** The allowed values in words, for error texts. */
  readonly allowed: string;
  readonly doc: ParamDoc;
  readonly description: string;
}

export type Params = Readonly<Record<string, Param<unknown>>>;

export type ParsedOf<P extends Params> = { readonly [K in keyof P]: P[K] extends Param<infer T> ? T : never };

interface IntegerOptions {
  readonly description: string;
  readonly min: number;
  readonly max?: number;
}

function integerSchema(min: number, max: number): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^-?\d{1,20}$/)
    .transform(Number)
    .pipe(z.number().int().min(min).max(max));
}

/** A decimal integer from min to max. The default of max is 2^53 − 1. */
export function integerParam(options: IntegerOptions & { readonly absent: number }): Param<number>;
export function integerParam(options: IntegerOptions & { readonly absent: null }): Param<number | null>;
export function integerParam(
  options: IntegerOptions & { readonly absent: number | null },
): Param<number> | Param<number | null> {
  const max = options.max ?? Number.MAX_SAFE_INTEGER;
  const common = {
    allowed: `an integer from ${options.min} to ${max}`,
    description: options.description,
  };
  const doc = { type: 'integer', minimum: options.min, maximum: max };
  const schema = integerSchema(options.min, max);
  if (options.absent === null) return { ...common, doc, schema, absent: { value: null } };
  return { ...common, schema, doc: { ...doc, default: options.absent }, absent: { value: options.absent } };
}

export function oneOfParam<const T extends string>(
  values: readonly T[],
  options: { readonly absent: NoInfer<T>; readonly description: string },
): Param<T> {
  return {
    schema: z.enum(values),
    absent: { value: options.absent },
    allowed: `one of ${values.join(', ')}`,
    doc: { type: 'string', enum: values, default: options.absent },
    description: options.description,
  };
}

/** A comma list of words. Returns each word once, in the declared order. An absent parameter means all
 * words. */
export function listOfParam<const T extends string>(
  values: readonly T[],
  description: string,
): Param<readonly T[]> {
  const allowedWords: ReadonlySet<string> = new Set(values);
  return {
    schema: z
      .string()
      .transform((text) => text.split(','))
      .refine((words) => words.every((word) => allowedWords.has(word)))
      .transform((words): readonly T[] => values.filter((value) => words.includes(value))),
    absent: { value: values },
    allowed: `a comma list of ${values.join(', ')}`,
    doc: {
      type: 'string',
      pattern: `^(${values.join('|')})(,(${values.join('|')}))*$`,
      example: values[0] ?? '',
    },
    description,
  };
}

/** `true` or `false`. An absent parameter means false. */
export function flagParam(description: string): Param<boolean> {
  return {
    schema: z.enum(['true', 'false']).transform((text) => text === 'true'),
    absent: { value: false },
    allowed: 'true or false',
    doc: { type: 'boolean', default: false },
    description,
  };
}

function addressSchema(name: string): z.ZodType<Hex, string> {
  return z.string().transform((text) => parseAddress(text, name));
}

const ADDRESS_DOC = { type: 'string', pattern: '^0[xX][0-9a-fA-F]{40}$' } as const;

/** An address in any letter case; mixed case must have a valid checksum. An absent parameter is null. */
export function addressParam(name: string, description: string): Param<Hex | null> {
  const common = { allowed: ADDRESS_ALLOWED, doc: ADDRESS_DOC, description };
  return { ...common, schema: addressSchema(name), absent: { value: null } };
}

/** A required address, as in a path. */
export function requiredAddressParam(name: string, description: string): Param<Hex> {
  const common = { allowed: ADDRESS_ALLOWED, doc: ADDRESS_DOC, description };
  return { ...common, schema: addressSchema(name), absent: 'required' };
}

const POOL_DOC = { type: 'string', pattern: '^0[xX][0-9a-fA-F]{40}([0-9a-fA-F]{24})?$' } as const;
const POOL_ALLOWED = `${ADDRESS_ALLOWED}; or the id of a pool: 0x and 64 hex digits`;

/** An address, or the id of a pool without a contract. */
function poolSchema(name: string): z.ZodType<Hex, string> {
  return z.string().transform((text) => parsePool(text, name));
}

/** Parses the address or the id of a pool. Throws bad_request. */
export function parsePool(text: string, name: string): Hex {
  const id = text.replace(/^0X/, '0x');
  const pool = isHash(id) ? toLowerHex(id) : findAddress(text);
  if (pool === null) throw badParam(name, text, POOL_ALLOWED);
  return pool;
}

/** The address of a pool, or its id. An absent parameter is null. Endpoints get the address of the pool. */
export function poolParam(name: string, description: string): Param<Hex | null> {
  const common = { allowed: POOL_ALLOWED, doc: POOL_DOC, description };
  return { ...common, schema: poolSchema(name), absent: { value: null } };
}

/** The required address of a pool, or its id, as in a path. Endpoints get the address of the pool. */
export function requiredPoolParam(name: string, description: string): Param<Hex> {
  const common = { allowed: POOL_ALLOWED, doc: POOL_DOC, description };
  return { ...common, schema: poolSchema(name), absent: 'required' };
}

/** A search for an address checks its checksum too, because a wrong checksum is a typing error. */
export function checkSearched(q: string | null): void {
  const text = q ?? '';
  if (/^(?:0x)?[0-9a-f]{40}$/i.test(text)) parseAddress(/^0x/i.test(text) ? text : `0x${text}`, 'q');
}

interface TextOptions {
  readonly max: number;
  readonly description?: string;
}

/** Any text of 1 to `max` characters. An absent parameter is null. */
export function textParam(options: TextOptions): Param<string | null> {
  return {
    schema: z.string().refine((text) => [...text].length <= options.max),
    absent: { value: null },
    allowed: `a text of 1 to ${options.max} characters`,
    doc: { type: 'string', minLength: 1, maxLength: options.max },
    description: options.description ?? '',
  };
}

/** A search text. Blanks around the text are ignored; a text of blanks alone is invalid. */
export function searchParam(options: TextOptions): Param<string | null> {
  const { schema, ...otherFields } = textParam(options);
  return { ...otherFields, schema: z.string().trim().min(1).pipe(schema) };
}

/** A text for a custom parser, which returns null for an invalid text. An absent parameter is null. */
export function parsedParam<T>(options: {
  readonly parse: (text: string) => T | null;
  readonly allowed: string;
  readonly doc: ParamDoc;
  readonly description: string;
}): Param<T | null> {
  const { parse, ...otherFields } = options;
  const schema = z.string().transform((text, context): T | null => {
    const value = parse(text);
    if (value === null) context.addIssue({ code: 'custom', message: options.allowed });
    return value;
  });
  return { ...otherFields, schema, absent: { value: null } };
}

/** Makes an optional parameter required. */
export function required<T>(param: Param<T | null>): Param<T> {
  const { default: _default, ...doc } = param.doc;
  const schema = z.string().transform((text, context): T => {
    const parsed = param.schema.safeParse(text);
    if (parsed.success && parsed.data !== null) return parsed.data;
    context.addIssue({ code: 'custom', message: param.allowed });
    return z.NEVER;
  });
  return { ...param, doc, schema, absent: 'required' };
}

/** The error 400 for a parameter, with the parameter's name, its value and the allowed values. */
export function badParam(name: string, gotValue: string, allowed: string): AppError {
  const gotText = gotValue.length > VALUE_SHOWN_MAX ? `${gotValue.slice(0, VALUE_SHOWN_MAX)}…` : gotValue;
  return new AppError('bad_request', `${name}: got "${gotText}"; allowed: ${allowed}`);
}

/**
 * Parses the query parameters of a request. Throws bad_request for the first invalid parameter, and for a mistyped
 * name. `otherNames` are further names that the endpoint knows.
 */
export function parseParams<P extends Params>(
  params: P,
  request: { readonly querystring: string },
  otherNames: readonly string[] = [],
): ParsedOf<P> {
  const queryParams = new URLSearchParams(request.querystring);
  refuseMistyped(queryParams, [...Object.keys(params), ...otherNames]);
  return parseEach(params, (name) => {
    const texts = queryParams.getAll(name);
    const [text] = texts;
    if (texts.length > 1) {
      throw new AppError('bad_request', `${name}: got ${texts.length} values; allowed: one value`);
    }
    return text;
  });
}

/** Parses path parameters, already decoded. Throws bad_request for the first invalid parameter. Without
 * `params` there are no parameters. */
export function parsePath<P extends Params>(
  params: P | undefined,
  texts: Readonly<Record<string, string>>,
): ParsedOf<P> {
  return parseEach<P>(params ?? {}, (name) => texts[name]);
}

function parseEach<P extends Params>(
  params: Params,
  find: (name: string) => string | undefined,
): ParsedOf<P> {
  const values: Record<string, unknown> = {};
  for (const [name, param] of Object.entries(params)) values[name] = parseOne(name, param, find(name));
  // The parser of each declaration has made these values, so their types are right.
  return values as ParsedOf<P>;
}

function parseOne<T>(name: string, param: Param<T>, text: string | undefined): T {
  if (text === undefined) {
    if (param.absent === 'required')
      throw new AppError('bad_request', `${name} is missing; allowed: ${param.allowed}`);
    return param.absent.value;
  }
  if (text === '') throw badParam(name, text, param.allowed);
  const parsed = param.schema.safeParse(text);
  if (!parsed.success) throw badParam(name, text, param.allowed);
  return parsed.data;
}
