/**
 * Contract ABIs as JSON: validation, signatures and selectors. ABIs come from untrusted sources, so every size is
 * limited.
 */
import { id } from 'ethers';
import { z } from 'zod';

import type { Hex } from './hex';
import type { AbiEntry, AbiParameter, KnownSignature } from './verifiedContract';

/** Limit of the entries of one ABI; the largest known diamond has about 500. */
const ENTRIES_MAX = 5_000;
const PARAMETERS_MAX = 256;
/** Limit of the nesting of tuples. solc's stack limit allows far fewer levels. */
const DEPTH_MAX = 16;
const NAME_MAX = 512;
/** Signatures longer than this are not stored. No hand-written event or function is that long. */
const SIGNATURE_MAX = 4_096;

const name = z.string().max(NAME_MAX);
const ELEMENTARY =
  /^(?:address|bool|string|bytes(?:[1-9]|[12]\d|3[0-2])?|u?int(?:8|16|24|32|40|48|56|64|72|80|88|96|1[0-9]{2}|2[0-4]\d|25[0-6])?|u?fixed(?:\d{1,3}x\d{1,2})?|function)(?:\[\d{0,12}\])*$/;
const TUPLE = /^tuple((?:\[\d{0,12}\])*)$/;
/**
 * Types in the ABI of a library. Such an ABI names storage pointers, enums and contracts by their Solidity
 * types, such as `mapping(uint256 => bool) storage`.
 */
const LIBRARY_TYPE = /^[\w$.=> ()[\]]+$/;

const ENTRY_TYPES = ['function', 'constructor', 'event', 'error', 'fallback', 'receive'] as const;

const parameterShape: z.ZodType<AbiParameter> = z.lazy(() =>
  z.object({
    name: name.default(''),
    type: name,
    internalType: name.exactOptional(),
    indexed: z.boolean().exactOptional(),
    components: z.array(parameterShape).max(PARAMETERS_MAX).exactOptional(),
  }),
);

const entryShape: z.ZodType<AbiEntry> = z.object({
  type: z.enum(ENTRY_TYPES).default('function'),
  name: name.exactOptional(),
  anonymous: z.boolean().exactOptional(),
  stateMutability: name.exactOptional(),
  constant: z.boolean().exactOptional(),
  payable: z.boolean().exactOptional(),
  inputs: z.array(parameterShape).max(PARAMETERS_MAX).exactOptional(),
  outputs: z.array(parameterShape).max(PARAMETERS_MAX).exactOptional(),
});

const abiShape = z.array(entryShape).max(ENTRIES_MAX);

/** Reads an ABI from a parsed JSON value; null if invalid. Unused keys are dropped. */
export function readAbi(value: unknown): readonly AbiEntry[] | null {
  if (!Array.isArray(value) || depthOf(value, DEPTH_MAX * 2 + 4) === null) return null;
  const parsed = abiShape.safeParse(value);
  if (!parsed.success) return null;
  const areNamed = parsed.data.every((entry) => !isNamed(entry.type) || signatureOf(entry) !== null);
  return areNamed ? parsed.data : null;
}

/** Reads an ABI from JSON text; null if invalid. */
export function parseAbi(text: string): readonly AbiEntry[] | null {
  try {
    return readAbi(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Reads one ABI entry from JSON text; null if invalid. */
export function parseAbiEntry(text: string): AbiEntry | null {
  try {
    return entryShape.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function isNamed(type: string): boolean {
  return type === 'function' || type === 'event' || type === 'error';
}

/** Nesting depth of lists and objects; null if deeper than `max`. Called before a recursive parser. */
function depthOf(value: unknown, max: number): number | null {
  if (typeof value !== 'object' || value === null) return 0;
  if (max === 0) return null;
  let deepest = 0;
  for (const child of Object.values(value)) {
    const depth = depthOf(child, max - 1);
    if (depth === null) return null;
    deepest = Math.max(deepest, depth);
  }
  return deepest + 1;
}

/** The signature of an entry, such as `Transfer(address,address,uint256)`. Null if the name or a type is
 * invalid. */
function signatureOf(entry: AbiEntry): string | null {
  if (entry.name === undefined || !/^[A-Za-z_$][\w$]*$/.test(entry.name)) return null;
  const types = (entry.inputs ?? []).map(typeOf);
  return types.includes(null) ? null : `${entry.name}(${types.join(',')})`;
}

/**
 * Returns the type of a parameter as signatures write it. A tuple is written as the list of its components.
 */
function typeOf(parameter: AbiParameter): string | null {
  const { type } = parameter;
  const tuple = TUPLE.exec(type);
  if (tuple !== null) {
    const types = (parameter.components ?? []).map(typeOf);
    return types.includes(null) ? null : `(${types.join(',')})${tuple[1] ?? ''}`;
  }
  if (ELEMENTARY.test(type)) return type.replace(/^(u?int)(?!\d)/, '$1256');
  return LIBRARY_TYPE.test(type) ? type : null;
}

/** The 32-byte topic of an event. */
export function topicOf(signature: string): Hex {
  return toHex(id(signature));
}

/** The 4-byte selector of a function or error. */
export function selectorOf(signature: string): Hex {
  return toHex(id(signature).slice(0, 10));
}

function toHex(text: string): Hex {
  return `0x${text.slice(2)}`;
}

/** Lists functions, errors and events with their selectors. Anonymous events have no selector. */
export function listSignatures(abi: readonly AbiEntry[]): KnownSignature[] {
  return abi.flatMap((entry): KnownSignature[] => {
    const { type: kind } = entry;
    if (kind !== 'event' && kind !== 'function' && kind !== 'error') return [];
    const signature = entry.anonymous === true ? null : signatureOf(entry);
    if (signature === null || signature.length > SIGNATURE_MAX) return [];
    return [
      { kind, selector: kind === 'event' ? topicOf(signature) : selectorOf(signature), signature, entry },
    ];
  });
}

/** Bit i is set if parameter i of an event is indexed. */
export function indexedBits(entry: AbiEntry): number {
  const bits = (entry.inputs ?? [])
    .slice(0, 31)
    .map((input, index) => (input.indexed === true ? 2 ** index : 0));
  return bits.reduce((sum, bit) => sum + bit, 0);
}
