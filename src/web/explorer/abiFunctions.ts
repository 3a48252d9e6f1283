/** The functions and errors of an ABI with their selectors, and what a call or an error says. Pure. */
import { AbiFault, decode, readPart, type AbiPart, type AbiValue } from './abiCoder.ts';
import { keccakOfText } from './keccak.ts';

export interface AbiFunction {
  readonly name: string;
  /** Name and types, such as `transfer(address,uint256)`. */
  readonly signature: string;
  /** The first four bytes of the hash of the signature, hex with 0x. */
  readonly selector: string;
  readonly inputs: readonly AbiPart[];
  readonly outputs: readonly AbiPart[];
  /** Whether a call changes nothing on the chain. */
  readonly isRead: boolean;
}

/** A decoded call or error. */
export interface DecodedCall {
  readonly signature: string;
  readonly name: string;
  readonly parts: readonly AbiPart[];
  readonly values: readonly AbiValue[];
}

const SELECTOR_DIGITS = 10;
/** Most entries of an ABI that are read. */
const ENTRIES_MAX = 2_000;

/** The entries of this kind. Entries with types that Solidity does not have are left out. */
export function listEntries(abi: readonly unknown[], kind: 'function' | 'error'): AbiFunction[] {
  return abi.slice(0, ENTRIES_MAX).flatMap((given) => {
    try {
      return readEntry(given, kind);
    } catch (error) {
      if (error instanceof AbiFault) return [];
      throw error;
    }
  });
}

function readEntry(given: unknown, kind: string): AbiFunction[] {
  if (typeof given !== 'object' || given === null) return [];
  const entry: {
    type?: unknown;
    name?: unknown;
    inputs?: unknown;
    outputs?: unknown;
    stateMutability?: unknown;
    constant?: unknown;
  } = given;
  if (entry.type !== kind || typeof entry.name !== 'string') return [];
  const inputs = partsOf(entry.inputs);
  const signature = `${entry.name}(${inputs.map(({ type }) => type.name).join(',')})`;
  return [
    {
      name: entry.name,
      signature,
      selector: selectorOf(signature),
      inputs,
      outputs: partsOf(entry.outputs),
      // ABIs of compilers before 0.4.16 have `constant` instead.
      isRead: entry.stateMutability === 'view' || entry.stateMutability === 'pure' || entry.constant === true,
    },
  ];
}

function partsOf(given: unknown): AbiPart[] {
  return Array.isArray(given) ? given.map((part: unknown) => readPart(part)) : [];
}

function selectorOf(signature: string): string {
  return keccakOfText(signature).slice(0, SELECTOR_DIGITS);
}

/** Decodes the input of a call by the functions of an ABI; null if none of them fits. */
export function decodeCall(functions: readonly AbiFunction[], data: string): DecodedCall | null {
  const selector = data.slice(0, SELECTOR_DIGITS).toLowerCase();
  const matching = functions.find((one) => one.selector === selector);
  if (matching === undefined) return null;
  const values = tryDecode(matching.inputs, `0x${data.slice(SELECTOR_DIGITS)}`);
  if (values === null) return null;
  return { signature: matching.signature, name: matching.name, parts: matching.inputs, values };
}

/** Most inner calls of one call. */
const INNER_MAX = 50;

/** The calls that a call passes on in its parameters `bytes` and `bytes[]`, as a `multicall` does. */
export function innerCalls({ parts, values }: DecodedCall, functions: readonly AbiFunction[]): DecodedCall[] {
  const innerInputs = parts.flatMap(({ type }, index): AbiValue[] => {
    const value = values[index] ?? '';
    if (type.kind === 'bytes') return [value];
    const isList = type.kind === 'array' && type.item.kind === 'bytes' && typeof value === 'object';
    return isList ? [...value] : [];
  });
  return innerInputs
    .slice(0, INNER_MAX)
    .flatMap((data) => (typeof data === 'string' ? (decodeCall(functions, data) ?? []) : []));
}

/** The values of the parameters; null if the data does not fit. */
function tryDecode(parts: readonly AbiPart[], data: string): AbiValue[] | null {
  try {
    return decode(
      parts.map(({ type }) => type),
      data,
    );
  } catch (error) {
    if (error instanceof AbiFault) return null;
    throw error;
  }
}

/** Reads a signature without names, such as `swap(uint256,(address,bytes)[])`; null if it is none. */
export function readSignature(signature: string): AbiFunction | null {
  const [, name, list = ''] = /^([A-Za-z_$][\w$]*)\((.*)\)$/.exec(signature) ?? [];
  if (name === undefined || signature.length > 1_000) return null;
  try {
    const inputs = splitTypes(list).map((text) => readPart(parameterOf(text)));
    const selector = selectorOf(`${name}(${inputs.map(({ type }) => type.name).join(',')})`);
    return { name, signature, selector, inputs, outputs: [], isRead: false };
  } catch (error) {
    if (error instanceof AbiFault) return null;
    throw error;
  }
}

/** A JSON ABI parameter from a type without names. */
function parameterOf(text: string): unknown {
  const [, list, brackets = ''] = /^\((.*)\)((?:\[\d*\])*)$/.exec(text) ?? [];
  if (list === undefined) return { name: '', type: text };
  return { name: '', type: `tuple${brackets}`, components: splitTypes(list).map(parameterOf) };
}

/** Splits at the commas outside of brackets. */
function splitTypes(list: string): string[] {
  if (list === '') return [];
  const items: string[] = [''];
  let depth = 0;
  for (const letter of list) {
    depth += letter === '(' ? 1 : letter === ')' ? -1 : 0;
    if (letter === ',' && depth === 0) items.push('');
    else items[items.length - 1] += letter;
  }
  return items;
}

const REVERT_TEXT = readSignature('Error(string)');
const PANIC = readSignature('Panic(uint256)');
const BUILT_IN = [REVERT_TEXT, PANIC].filter((one) => one !== null);

/** Codes from https://docs.soliditylang.org/en/latest/control-structures.html#panic-via-assert-and-error-via-require. */
const PANICS: Readonly<Record<string, string>> = {
  '1': 'assertion failed',
  '17': 'arithmetic overflow or underflow',
  '18': 'division by zero',
  '33': 'value outside of its enum',
  '34': 'bytes stored wrongly',
  '49': 'pop of an empty array',
  '50': 'index outside of an array',
  '65': 'too much memory',
  '81': 'call of an empty function pointer',
};

/** Why a call reverted, by its return data; null if the data says nothing. */
export function describeRevert(data: string, errors: readonly AbiFunction[]): string | null {
  const call = decodeCall([...BUILT_IN, ...errors], data);
  if (call === null) return data.length > 2 ? `unknown error ${data.slice(0, SELECTOR_DIGITS)}` : null;
  const [first] = call.values;
  if (call.signature === 'Error(string)') return `“${String(first)}”`;
  if (call.signature === 'Panic(uint256)')
    return `panic ${String(first)}: ${PANICS[String(first)] ?? 'unknown code'}`;
  return `${call.name}(${call.values.map(plainText).join(', ')})`;
}

/** A value in one line. */
function plainText(value: AbiValue): string {
  return typeof value === 'object' ? `[${value.map(plainText).join(', ')}]` : String(value);
}
