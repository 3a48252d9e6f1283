/** Solidity's standard JSON: checks inputs from users and parses outputs of compilers. */
import { z } from 'zod';

import { readAbi } from '../../domain/abi';
import { isPrintable, normaliseText } from '../../domain/address';
import { isHexOfLength, toLowerHex, type Hex } from '../../domain/hex';
import type { AbiEntry } from '../../domain/verifiedContract';
import { AppError } from '../../errors';
import type { CodeRange, CompiledCode } from './compareCode';
import type { VerificationFault } from '../../domain/verificationQueue';

/** The reason why sources cannot be verified, for clients that compare codes. */
export class SourceFault extends AppError {
  constructor(
    readonly fault: VerificationFault,
    message: string,
  ) {
    super('bad_request', message);
  }
}

const FILES_MAX = 2_000;
const SOURCE_BYTES_MAX = 10 * 2 ** 20;
const MESSAGE_MAX = 600;
const PLACE_MAX = 200;

const inputShape = z.object({
  language: z.string(),
  sources: z.record(z.string().min(1).max(1_024), z.looseObject({ content: z.string() })),
  settings: z.record(z.string(), z.unknown()).default({}),
});

export interface StandardInput {
  readonly language: 'Solidity' | 'Yul';
  readonly sources: Readonly<Record<string, { readonly content: string }>>;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Checks a standard JSON input. Throws bad_request for an invalid input, or for an input with files to
 * download. */
export function readStandardInput(value: unknown): StandardInput {
  const parsed = inputShape.safeParse(value);
  if (!parsed.success) {
    const place = parsed.error.issues[0]?.path.join('.') ?? '';
    const shownPlace = normaliseText(place, PLACE_MAX) ?? '';
    throw badRequest(
      `the standard JSON input is not valid at "${shownPlace}" (each source file needs "content")`,
    );
  }
  const { language, sources, settings } = parsed.data;
  if (language !== 'Solidity' && language !== 'Yul')
    throw badRequest(`language: got "${language.slice(0, 40)}"; allowed: Solidity, Yul`);
  const files = Object.entries(sources);
  if (files.length === 0 || files.length > FILES_MAX)
    throw badRequest(`got ${files.length} source files; allowed: 1 to ${FILES_MAX}`);
  if (!isPrintable(files.map(([path]) => path)))
    throw badRequest('the path of a source file contains control characters');
  const bytes = files.reduce((sum, [, { content }]) => sum + content.length, 0);
  if (bytes > SOURCE_BYTES_MAX)
    throw badRequest(`the sources have ${bytes} characters; allowed: ${SOURCE_BYTES_MAX}`);
  return {
    language,
    sources: Object.fromEntries(files.map(([path, { content }]) => [path, { content }])),
    settings: withoutOutputs(settings),
  };
}

function badRequest(message: string): AppError {
  return new AppError('bad_request', message);
}

/** The settings without outputs and provers, which do not affect the code. */
export function withoutOutputs(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { outputSelection, modelChecker, stopAfter, ...rest } = settings;
  void outputSelection;
  void modelChecker;
  void stopAfter;
  return rest;
}

/** The contract to verify: `path:Name`, or only `Name` if one file has it. */
interface ContractTarget {
  readonly path: string | null;
  readonly name: string;
}

export function parseTarget(text: string): ContractTarget {
  const colonIndex = text.lastIndexOf(':');
  return colonIndex < 0
    ? { path: null, name: text }
    : { path: text.slice(0, colonIndex), name: text.slice(colonIndex + 1) };
}

const OUTPUTS = [
  'abi',
  'metadata',
  'storageLayout',
  'userdoc',
  'devdoc',
  'evm.bytecode.object',
  'evm.bytecode.sourceMap',
  'evm.bytecode.linkReferences',
  'evm.deployedBytecode.object',
  'evm.deployedBytecode.sourceMap',
  'evm.deployedBytecode.linkReferences',
  'evm.deployedBytecode.immutableReferences',
];

/** The input with the outputs that the verification reads. Old compilers refuse unknown output selections. */
export function withOutputs(input: StandardInput, target: ContractTarget, version: string): unknown {
  const isOldCompiler = /^v?0\.[0-5]\./.test(version);
  const outputs = isOldCompiler
    ? OUTPUTS.filter((output) => !/(?:immutableReferences|storageLayout)$/.test(output))
    : OUTPUTS;
  const outputSelection = { [target.path ?? '*']: { [target.name]: outputs } };
  return { ...input, settings: { ...input.settings, outputSelection } };
}

/** The input with a comment appended to each file, which changes the metadata but not the code. */
export function withComments(input: StandardInput): StandardInput {
  const sources = Object.entries(input.sources).map(([path, { content }]) => {
    return [path, { content: `${content}\n//\n` }] as const;
  });
  return { ...input, sources: Object.fromEntries(sources) };
}

const rangesShape = z.array(z.object({ start: z.int().min(0), length: z.int().min(1) }));
const codeShape = z.object({
  object: z.string(),
  sourceMap: z.string().optional(),
  linkReferences: z.record(z.string(), z.record(z.string(), rangesShape)).default({}),
  immutableReferences: z.record(z.string(), rangesShape).default({}),
});
const contractShape = z.object({
  abi: z.unknown(),
  metadata: z.string().default(''),
  storageLayout: z.unknown().optional(),
  userdoc: z.unknown().optional(),
  devdoc: z.unknown().optional(),
  evm: z.object({ bytecode: codeShape, deployedBytecode: codeShape }),
});
const outputShape = z.object({
  errors: z
    .array(
      z.looseObject({
        severity: z.string(),
        message: z.string().default(''),
        formattedMessage: z.string().optional(),
      }),
    )
    .default([]),
  contracts: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
});
const metadataShape = z.object({ sources: z.record(z.string(), z.unknown()) });

export interface CompiledContract {
  readonly path: string;
  readonly name: string;
  readonly abi: readonly AbiEntry[];
  /** Source files of the contract, from its metadata. */
  readonly paths: readonly string[];
  readonly creation: CompiledCode;
  readonly runtime: CompiledCode;
  /** Further outputs, as in VerifiedReader.readOutputs. */
  readonly outputs: Readonly<Record<string, unknown>>;
}

/**
 * The contract in a compiler's output. Throws bad_request with the compiler's message, or if the contract is missing.
 */
export function readCompiled(output: unknown, target: ContractTarget): CompiledContract {
  const { errors, contracts } = outputShape.parse(output);
  const compileError = errors.find((error) => error.severity === 'error');
  if (compileError !== undefined) {
    const text = (compileError.formattedMessage ?? compileError.message).trim();
    throw new SourceFault('compiler_error', `the sources do not compile: ${text.slice(0, MESSAGE_MAX)}`);
  }
  const matches = Object.entries(contracts).flatMap(([path, byName]) => {
    const value = byName[target.name];
    return value === undefined || (target.path !== null && target.path !== path) ? [] : [{ path, value }];
  });
  const [match] = matches;
  if (match === undefined)
    throw new SourceFault(
      'contract_not_found_in_compiler_output',
      `the compiled sources do not contain the contract ${nameOf(target)}`,
    );
  if (matches.length > 1) {
    throw badRequest(
      `${matches.length} files contain a contract ${target.name}: name one as path:${target.name}`,
    );
  }
  const parsed = contractShape.safeParse(match.value);
  // Yul contracts have no ABI.
  const abi = parsed.success ? readAbi(parsed.data.abi ?? []) : null;
  if (!parsed.success || abi === null)
    throw badRequest(`the compiler returned no code for ${nameOf(target)}`);
  const { evm, metadata, storageLayout, userdoc, devdoc } = parsed.data;
  if (evm.deployedBytecode.object === '')
    throw new SourceFault(
      'compiled_bytecode_is_zero',
      `${nameOf(target)} is abstract or an interface: it has no code`,
    );
  return {
    path: match.path,
    name: target.name,
    abi,
    paths: readPaths(metadata),
    creation: toCode(evm.bytecode),
    runtime: toCode(evm.deployedBytecode),
    outputs: { metadata, storageLayout, userdoc, devdoc, evm },
  };
}

function nameOf({ path, name }: ContractTarget): string {
  return path === null ? name : `${path}:${name}`;
}

function readPaths(metadata: string): string[] {
  if (metadata === '') return [];
  const parsed = metadataShape.safeParse(JSON.parse(metadata));
  return parsed.success ? Object.keys(parsed.data.sources) : [];
}

function toCode({ object, linkReferences, immutableReferences }: z.infer<typeof codeShape>): CompiledCode {
  const links = new Map<string, readonly CodeRange[]>();
  for (const [path, byName] of Object.entries(linkReferences)) {
    for (const [name, ranges] of Object.entries(byName))
      links.set(path === '' ? name : `${path}:${name}`, ranges);
  }
  // The compiler prints a placeholder as `__$…$__`, and before 0.5 as `__name___`.
  const code = [...links.values()].flat().reduce((text, { start, length }) => {
    return text.slice(0, 2 * start) + '0'.repeat(2 * length) + text.slice(2 * (start + length));
  }, object);
  return { code: code.toLowerCase(), links, immutables: new Map(Object.entries(immutableReferences)) };
}

const librariesShape = z.record(z.string(), z.record(z.string(), z.string()));

/** Library addresses from the settings, by fully qualified name. */
export function readLibraries(settings: Readonly<Record<string, unknown>>): Record<string, Hex> {
  const parsed = librariesShape.safeParse(settings['libraries'] ?? {});
  const libraries: Record<string, Hex> = {};
  if (!parsed.success) return libraries;
  for (const [path, byName] of Object.entries(parsed.data)) {
    for (const [name, address] of Object.entries(byName)) {
      if (isHexOfLength(address, 40)) libraries[path === '' ? name : `${path}:${name}`] = toLowerHex(address);
    }
  }
  return libraries;
}
