/** Reads the value of a parameter from the text of an input field. Pure. */
import type { AbiPart, AbiType, AbiValue } from './abiCoder';

/** The text is no value of the type. The message names the parameter, the text and what is allowed. */
export class InputFault extends Error {}

/** Functions of other modules that the reader needs. They are parameters, so that the reader imports nothing. */
interface InputTools {
  rangeOf(bits: number, signed: boolean): readonly [min: bigint, max: bigint];
  toChecksum(address: string): string;
}

const SHOWN_MAX = 80;
/** Most items of a list in an input. */
const ITEMS_MAX = 1_000;

/** Describes the allowed texts, for the message and for the empty field. */
export function allowedFor(type: AbiType): string {
  if (type.kind === 'int')
    return type.signed
      ? `an integer from −2^${type.bits - 1} to 2^${type.bits - 1} − 1`
      : `an integer from 0 to 2^${type.bits} − 1`;
  if (type.kind === 'address') return 'an address: 0x and 40 hex digits';
  if (type.kind === 'bool') return 'true or false';
  if (type.kind === 'fixedBytes') return `0x and ${type.size * 2} hex digits`;
  if (type.kind === 'bytes') return '0x and an even number of hex digits';
  if (type.kind === 'string') return 'any text';
  if (type.kind === 'tuple')
    return `a list of ${type.parts.length} values: [${type.parts.map((part) => labelledType(part)).join(', ')}]`;
  const count = type.length === null ? '' : `${type.length} `;
  return `a list of ${count}values, such as [${type.item.name}, …]`;
}

const labelledType = ({ label, type }: AbiPart): string =>
  label === '' ? type.name : `${type.name} ${label}`;

/** The value of a whole field. `name` is the name of the parameter in messages. */
export function readInput(type: AbiType, text: string, name: string, tools: InputTools): AbiValue {
  if (type.kind !== 'array' && type.kind !== 'tuple') return readPlain(type, text, name, tools);
  return readNested(type, parseList(text, name, type), name, tools);
}

/**
 * Parses a list. Numbers and hex may stand without quotes. They become texts first, because JSON.parse rounds large
 * integers.
 */
function parseList(text: string, name: string, type: AbiType): unknown {
  const quotedText = text.replace(/"(?:[^"\\]|\\.)*"|-?[\w.+]+/g, (token) =>
    token.startsWith('"') || token === 'true' || token === 'false' ? token : JSON.stringify(token),
  );
  try {
    return JSON.parse(quotedText);
  } catch {
    throw inputFault(name, text, allowedFor(type));
  }
}

function readNested(type: AbiType, parsedValue: unknown, name: string, tools: InputTools): AbiValue {
  if (type.kind !== 'array' && type.kind !== 'tuple') {
    if (typeof parsedValue === 'boolean' && type.kind === 'bool') return parsedValue;
    if (typeof parsedValue !== 'string')
      throw inputFault(name, JSON.stringify(parsedValue), allowedFor(type));
    return readPlain(type, parsedValue, name, tools);
  }
  const partCount = type.kind === 'tuple' ? type.parts.length : type.length;
  if (
    !Array.isArray(parsedValue) ||
    parsedValue.length > ITEMS_MAX ||
    (partCount !== null && parsedValue.length !== partCount)
  )
    throw inputFault(name, JSON.stringify(parsedValue), allowedFor(type));
  return parsedValue.map((item: unknown, index) => {
    if (type.kind === 'array') return readNested(type.item, item, `${name}[${index}]`, tools);
    const part = type.parts[index];
    if (part === undefined) throw inputFault(name, JSON.stringify(parsedValue), allowedFor(type));
    return readNested(part.type, item, `${name}.${part.label === '' ? index : part.label}`, tools);
  });
}

function readPlain(type: AbiType, text: string, name: string, tools: InputTools): AbiValue {
  if (type.kind === 'string') return text;
  const trimmed = text.trim().replace(/^0X/, '0x');
  const allowed = allowedFor(type);
  if (type.kind === 'int') {
    if (!/^(-?\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(trimmed)) throw inputFault(name, text, allowed);
    const value = BigInt(trimmed);
    const [min, max] = tools.rangeOf(type.bits, type.signed);
    if (value < min || value > max) throw inputFault(name, text, allowed);
    return value;
  }
  if (type.kind === 'bool') {
    if (trimmed !== 'true' && trimmed !== 'false') throw inputFault(name, text, allowed);
    return trimmed === 'true';
  }
  if (type.kind === 'address') return readAddress(trimmed, text, name, tools);
  const hasRightLength =
    type.kind === 'fixedBytes' ? trimmed.length === 2 + type.size * 2 : trimmed.length % 2 === 0;
  if (!/^0x[0-9a-fA-F]*$/.test(trimmed) || !hasRightLength) throw inputFault(name, text, allowed);
  return trimmed.toLowerCase();
}

function readAddress(trimmed: string, text: string, name: string, tools: InputTools): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(trimmed)) throw inputFault(name, text, 'an address: 0x and 40 hex digits');
  const lowerCase = trimmed.toLowerCase();
  const isSingleCase = trimmed === lowerCase || trimmed.slice(2) === trimmed.slice(2).toUpperCase();
  if (!isSingleCase && tools.toChecksum(lowerCase) !== trimmed)
    throw inputFault(name, text, 'an address with the checksum of EIP-55, or one in lower case');
  return lowerCase;
}

function inputFault(name: string, text: string, allowed: string): InputFault {
  const shownText = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
  return new InputFault(`${name}: got "${shownText}"; allowed: ${allowed}`);
}
