/**
 * The chain description of a deployment: a built-in one, a file, or a file laid over a built-in one. A wrong file stops
 * the start with one message that names each wrong field.
 */
import { z } from 'zod';

import { readAddress } from '../domain/address';
import type { ChainDescription } from '../domain/chainDescription';
import type { Hex } from '../domain/hex';
import { PROTOCOL_NAMES } from '../domain/pool';
import { AppError } from '../errors';
import { findJsonFault } from './jsonFault';
import { pulsechain } from './pulsechain';
import { pulsechainTestnet } from './pulsechainTestnet';

/** The store keeps chain ids in 32 bits. */
export const CHAIN_ID_MAX = 4_294_967_295;
/** Up to here an event's ord is an exact number. */
export const BLOCK_MAX = 2 ** 33 - 1;

const DEFAULT_CHAIN_ID = 369;
const DEFAULT_CONFIRMATIONS = 64;
const CONFIRMATIONS_MAX = 1_000_000;
const ANCHORS_MAX = 32;
const MAJORS_MAX = 256;
const DEXES_MAX = 128;
const URLS_MAX = 64;
const TEXT_MAX = 64;
const FAULTS_SHOWN_MAX = 40;
const SHOWN_MAX = 80;

const BUILT_IN: readonly ChainDescription[] = [pulsechain, pulsechainTestnet];

/** The built-in description of this chain, or null. */
export function findBuiltInChain(chainId: number): ChainDescription | null {
  return BUILT_IN.find((chain) => chain.chainId === chainId) ?? null;
}

export interface ChainFile {
  /** As the setting names it; for messages only. */
  readonly path: string;
  readonly text: string;
}

/**
 * The description to run with. `chainId`: CHAIN_ID, null when unset (then the file's, else 369). Each top-level key of
 * the file replaces that key of the built-in description; for a chain without one the file must be whole. Throws
 * bad_config.
 */
export function chooseChain(chainId: number | null, file: ChainFile | null): ChainDescription {
  if (file === null) return builtInChain(chainId ?? DEFAULT_CHAIN_ID);
  const content = parseJson(file);
  const named = readChainId(content);
  if (chainId !== null && named !== null && chainId !== named) {
    throw badFile(file.path, [`chainId: got ${named}; allowed: ${chainId}, which is CHAIN_ID`]);
  }
  const builtIn = findBuiltInChain(chainId ?? named ?? DEFAULT_CHAIN_ID);
  if (builtIn === null) return complete(parseWith(wholeShape, content, file));
  return { ...builtIn, ...withoutNothing(parseWith(wholeShape.partial(), content, file)) };
}

/** The built-in description of the chain; throws bad_config for a chain that has none. */
function builtInChain(chainId: number): ChainDescription {
  const found = findBuiltInChain(chainId);
  if (found !== null) return found;
  const known = BUILT_IN.map((chain) => chain.chainId).join(', ');
  throw new AppError(
    'bad_config',
    `CHAIN_ID: got ${chainId}, which has no built-in description; allowed: ${known}, or describe it in CHAIN_CONFIG`,
  );
}

function parseJson({ path, text }: ChainFile): unknown {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  try {
    return JSON.parse(json);
  } catch (error) {
    const fault = findJsonFault(json);
    const where = fault === null ? '' : ` at line ${fault.line}, column ${fault.column}: expected ${fault.expected}`;
    throw new AppError('bad_config', `CHAIN_CONFIG ${path}: is not JSON${where}`, { cause: error });
  }
}

/** The file's chain id where it is usable; a wrong one is named by the shape. */
function readChainId(content: unknown): number | null {
  return z.looseObject({ chainId: wholeNumber(1, CHAIN_ID_MAX) }).safeParse(content).data?.chainId ?? null;
}

function parseWith<T extends z.ZodType>(shape: T, content: unknown, file: ChainFile): z.output<T> {
  const parsed = shape.safeParse(content);
  if (parsed.success) return parsed.data;
  throw badFile(file.path, [...new Set(parsed.error.issues.flatMap(faultsOf))]);
}

function faultsOf({ path, message, ...issue }: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${[...path, shorten(key)].join('.')}: unknown key`);
  }
  return [path.length === 0 ? message : `${path.join('.')}: ${message}`];
}

function badFile(path: string, faults: readonly string[]): AppError {
  const more = faults.length - FAULTS_SHOWN_MAX;
  const shown = faults.slice(0, FAULTS_SHOWN_MAX).join('; ') + (more > 0 ? `; and ${more} more` : '');
  return new AppError('bad_config', `CHAIN_CONFIG ${path}: ${shown}`);
}

/** The keys that the file has. */
function withoutNothing(part: Partial<Whole>): Partial<ChainDescription> {
  return part;
}
