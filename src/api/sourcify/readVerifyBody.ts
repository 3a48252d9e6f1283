/** Parses the bodies of Sourcify's verification requests. Throws refusals in Sourcify's format. */
import { z } from 'zod';

import { isPrintable } from '../../domain/address';
import { isHash, toLowerHex, type Hex } from '../../domain/hex';
import { parseJsonText } from '../../domain/texts/textThread';
import { AppError } from '../../errors';
import { bodyReader } from '../bodyReader';
import { VERIFY_BODY_MAX } from '../etherscan/mounts';
import type { RouteContext } from '../route';
import { invalid, sourcifyRefusal, shortenText } from './refusals';

const JSON_BOUNDS = { depthMax: 32, partsMax: 20_000 };
const CONTRACT_NAME_MAX = 1_200;

const readBytes = bodyReader({
  mediaTypes: ['application/json', 'application/*+json'],
  bytesMax: VERIFY_BODY_MAX,
  refuse: (large) =>
    new AppError(
      'bad_request',
      large ? `the body has too many bytes; allowed: ${VERIFY_BODY_MAX}` : 'the body cannot be read',
    ),
});

/** The JSON body of a request, an object. An empty body is an empty object. */
async function readObject(ctx: RouteContext): Promise<Readonly<Record<string, unknown>>> {
  const text = (await readBytes(ctx)).toString();
  if (text === '') return {};
  const parsed = await parseJsonText(text, JSON_BOUNDS);
  if (!('value' in parsed) && parsed.fault === 'syntax')
    throw sourcifyRefusal(ctx, 400, 'invalid_json', 'the body is not valid JSON');
  if (!('value' in parsed))
    throw invalid(
      ctx,
      `the body is nested too deeply or has too many parts; allowed: ${JSON_BOUNDS.depthMax} levels, ${JSON_BOUNDS.partsMax} parts`,
    );
  if (!isObject(parsed.value)) throw invalid(ctx, 'the body must be a JSON object');
  return parsed.value;
}

/** Shapes of the bodies, for the OpenAPI document. */
export const standardJsonBodyShape = z.object({
  stdJsonInput: z.looseObject({
    language: z.string(),
    sources: z.record(z.string(), z.looseObject({ content: z.string() })),
    settings: z.record(z.string(), z.unknown()).optional(),
  }),
  compilerVersion: z.string(),
  contractIdentifier: z.string(),
  creationTransactionHash: z.string().optional(),
});
export const metadataBodyShape = z.object({
  metadata: z.record(z.string(), z.unknown()),
  sources: z.record(z.string(), z.string()),
  creationTransactionHash: z.string().optional(),
});
export const similarityBodyShape = z.object({ creationTransactionHash: z.string().optional() });

interface StandardJsonBody {
  readonly input: unknown;
  readonly compilerVersion: string;
  readonly contractName: string;
  readonly creationTransaction: Hex | null;
}

export async function readStandardJsonBody(ctx: RouteContext): Promise<StandardJsonBody> {
  const body = await readObject(ctx);
  const { stdJsonInput: input, compilerVersion, contractIdentifier } = body;
  checkInput(ctx, input);
  if (typeof contractIdentifier !== 'string' || contractIdentifier === '')
    throw invalid(ctx, 'Contract identifier is required');
  if (
    !contractIdentifier.includes(':') ||
    contractIdentifier.length > CONTRACT_NAME_MAX ||
    !isPrintable(contractIdentifier)
  )
    throw invalid(
      ctx,
      "The contractIdentifier must consist of the file path and the contract name separated by a ':'.",
    );
  if (typeof compilerVersion !== 'string' || compilerVersion === '')
    throw invalid(ctx, 'Compiler version is required.');
  const version = compilerVersion.replace(/^v/, '');
  if (!/^\d+\.\d+\.\d+(?:[+.-][\w.+-]{0,60})?$/.test(version))
    throw invalid(
      ctx,
      `Invalid Solidity compiler version format: ${shortenText(version)}. Expected format: x.y.z+commit.xxxxxxxx`,
    );
  return {
    input,
    compilerVersion: version,
    contractName: contractIdentifier,
    creationTransaction: readTransaction(ctx, body),
  };
}

function checkInput(ctx: RouteContext, input: unknown): void {
  if (!isObject(input)) throw invalid(ctx, 'Standard JSON input is required.');
  const { language, sources } = input;
  if (typeof language !== 'string') throw invalid(ctx, 'Standard JSON input must contain a language field.');
  if (language !== 'Solidity' && language !== 'Yul')
    throw sourcifyRefusal(ctx, 400, 'unsupported_language', 'The provided language is not supported.');
  if (!isObject(sources)) throw invalid(ctx, 'Standard JSON input must contain a sources field.');
  const hasContents = Object.values(sources).every(
    (source) => isObject(source) && typeof source['content'] === 'string',
  );
  if (!hasContents) throw invalid(ctx, 'Standard JSON input must contain a content field for each source.');
}

interface MetadataBody {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly sources: readonly string[];
  readonly creationTransaction: Hex | null;
}

export async function readMetadataBody(ctx: RouteContext): Promise<MetadataBody> {
  const body = await readObject(ctx);
  const { metadata, sources } = body;
  if (!isObject(metadata)) throw invalid(ctx, 'Metadata is required.');
  if (!isObject(sources)) throw invalid(ctx, 'Sources are required.');
  const contents = Object.values(sources).map((source) => {
    if (typeof source !== 'string') throw invalid(ctx, 'Each source must be a text.');
    return source;
  });
  return { metadata, sources: contents, creationTransaction: readTransaction(ctx, body) };
}

export async function readSimilarityBody(ctx: RouteContext): Promise<Hex | null> {
  return readTransaction(ctx, await readObject(ctx));
}

function readTransaction(ctx: RouteContext, body: Readonly<Record<string, unknown>>): Hex | null {
  const { creationTransactionHash: hash } = body;
  if (hash === undefined || hash === null) return null;
  if (!isHash(hash)) throw invalid(ctx, 'creationTransactionHash must be 0x and 64 hex digits');
  return toLowerHex(hash);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
