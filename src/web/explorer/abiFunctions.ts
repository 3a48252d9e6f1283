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

/** 0x and the eight hex digits of a selector. */
const SELECTOR_LENGTH = 10;
/** Most entries of an ABI that are read. */
const ENTRIES_MAX = 2_000;

/** The entries of this kind. Entries with types that Solidity does not have are left out. */
export function listEntries(abi: readonly unknown[], kind: 'function' | 'error'): AbiFunction[] {
  return abi.slice(0, ENTRIES_MAX).flatMap((entry) => {
    try {
      return readEntry(entry, kind);
    } catch (error) {
      if (error instanceof AbiFault) return [];
      throw error;
    }
  });
}

function readEntry(abiEntry: unknown, kind: string): AbiFunction[] {
  if (typeof abiEntry !== 'object' || abiEntry === null) return [];
  const entry: {
    type?: unknown;
    name?: unknown;
    inputs?: unknown;
    outputs?: unknown;
    stateMutability?: unknown;
    constant?: unknown;
  } = abiEntry;
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

function partsOf(parameters: unknown): AbiPart[] {
  return Array.isArray(parameters) ? parameters.map((part: unknown) => readPart(part)) : [];
}

function selectorOf(signature: string): string {
  return keccakOfText(signature).slice(0, SELECTOR_LENGTH);
}

/** Decodes the input of a call by the functions of an ABI; null if none of them fits. */
export function decodeCall(functions: readonly AbiFunction[], data: string): DecodedCall | null {
  const selector = data.slice(0, SELECTOR_LENGTH).toLowerCase();
  const calledFunction = functions.find((abiFunction) => abiFunction.selector === selector);
  if (calledFunction === undefined) return null;
  const values = tryDecode(calledFunction.inputs, `0x${data.slice(SELECTOR_LENGTH)}`);
  if (values === null) return null;
  return {
    signature: calledFunction.signature,
    name: calledFunction.name,
    parts: calledFunction.inputs,
    values,
  };
}

/** Most inner calls of one call. */
const INNER_CALLS_MAX = 50;

/** The calls that a call passes on in its parameters `bytes` and `bytes[]`, as a `multicall` does. */
export function innerCalls({ parts, values }: DecodedCall, functions: readonly AbiFunction[]): DecodedCall[] {
  const innerInputs = parts.flatMap(({ type }, index): AbiValue[] => {
    const value = values[index] ?? '';
    if (type.kind === 'bytes') return [value];
    const isList = type.kind === 'array' && type.item.kind === 'bytes' && typeof value === 'object';
    return isList ? [...value] : [];
  });
  return innerInputs
    .slice(0, INNER_CALLS_MAX)
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
  const [, name, typeList = ''] = /^([A-Za-z_$][\w$]*)\((.*)\)$/.exec(signature) ?? [];
  if (name === undefined || signature.length > 1_000) return null;
  try {
    const inputs = splitTypes(typeList).map((text) => readPart(parameterOf(text)));
    const selector = selectorOf(`${name}(${inputs.map(({ type }) => type.name).join(',')})`);
    return { name, signature, selector, inputs, outputs: [], isRead: false };
  } catch (error) {
    if (error instanceof AbiFault) return null;
    throw error;
  }
}

/** A JSON ABI parameter from a type without names. */
function parameterOf(text: string): unknown {
  const [, typeList, brackets = ''] = /^\((.*)\)((?:\[\d*\])*)$/.exec(text) ?? [];
  if (typeList === undefined) return { name: '', type: text };
  return { name: '', type: `tuple${brackets}`, components: splitTypes(typeList).map(parameterOf) };
}

/** Splits at the commas outside of brackets. */
function splitTypes(typeList: string): string[] {
  if (typeList === '') return [];
  const items: string[] = [''];
  let depth = 0;
  for (const letter of typeList) {
    depth += letter === '(' ? 1 : letter === ')' ? -1 : 0;
    if (letter === ',' && depth === 0) items.push('');
    else items[items.length - 1] += letter;
  }
  return items;
}

const TEXT_ERROR = readSignature('Error(string)');
const PANIC_ERROR = readSignature('Panic(uint256)');
const BUILT_IN_ERRORS = [TEXT_ERROR, PANIC_ERROR].filter((builtIn) => builtIn !== null);

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
  const call = decodeCall([...BUILT_IN_ERRORS, ...errors], data);
  if (call === null) return data.length > 2 ? `unknown error ${data.slice(0, SELECTOR_LENGTH)}` : null;
  const [firstValue] = call.values;
  if (call.signature === 'Error(string)') return `“${String(firstValue)}”`;
  if (call.signature === 'Panic(uint256)')
    return `panic ${String(firstValue)}: ${PANICS[String(firstValue)] ?? 'unknown code'}`;
  return `${call.name}(${call.values.map(plainText).join(', ')})`;
}

/** A value in one line. */
function plainText(value: AbiValue): string {
  return typeof value === 'object' ? `[${value.map(plainText).join(', ')}]` : String(value);
}
