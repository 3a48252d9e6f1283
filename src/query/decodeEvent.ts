/**
 * Decodes one log by an event of an ABI, with ethers' coder. Pure. What does not fit is null: data from the chain may be
 * anything. Integers become base-10 strings, addresses and bytes lower-case hex, tuples lists of named values; an indexed
 * value of dynamic type is known by its hash alone and says so.
 */
import { AbiCoder, EventFragment, Result, type ParamType } from 'ethers';

import type { Hex } from '../domain/hex';
import type { AbiEntry } from '../domain/verifiedContract';

export type DecodedValue = string | boolean | readonly DecodedValue[] | readonly DecodedField[];

/** A component of a tuple. */
export interface DecodedField {
  readonly name: string;
  /** As in a signature. */
  readonly type: string;
  readonly value: DecodedValue;
}

export interface DecodedArg extends DecodedField {
  /** From 0, among all parameters of the event. */
  readonly position: number;
  readonly indexed: boolean;
  /** The value is keccak256 of the indexed one, which no log holds. */
  readonly hashed?: true;
}

export interface DecodedLog {
  readonly name: string;
  readonly signature: string;
  readonly args: readonly DecodedArg[];
}

/** What a log must have to be decoded. */
export interface LogWords {
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

/** An event of an ABI, ready to decode with. */
export interface EventForm {
  readonly topic0: Hex;
  /** How many topics its logs have. */
  readonly topicCount: number;
  decode(log: LogWords): DecodedLog | null;
}

const TOPICS_MAX = 4;

/** Null for what is no event that a topic0 could name: anonymous ones, other entries, types that nobody knows. */
export function toEventForm(entry: AbiEntry): EventForm | null {
  if (entry.type !== 'event' || entry.anonymous === true) return null;
  try {
    const fragment = EventFragment.from(entry);
    const topicCount = 1 + fragment.inputs.filter((input) => input.indexed === true).length;
    if (topicCount > TOPICS_MAX) return null;
    const topic0: Hex = `0x${fragment.topicHash.slice(2).toLowerCase()}`;
    const plan = planOf(fragment);
    return {
      topic0,
      topicCount,
      decode: (log) => (log.topics.length === topicCount ? decode(plan, log) : null),
    };
  } catch {
    return null;
  }
}

/** What of an event is the same for all its logs. */
interface EventPlan {
  readonly name: string;
  readonly signature: string;
  readonly inputs: readonly {
    readonly input: ParamType;
    readonly head: Pick<DecodedArg, 'position' | 'name' | 'type' | 'indexed'>;
    readonly hashed: boolean;
    readonly word: WordReader | null;
  }[];
  readonly plain: readonly ParamType[];
  /** Whether each word of the data is one value: then no coder is needed, which costs 30 times as much. */
  readonly words: boolean;
}

function planOf(fragment: EventFragment): EventPlan {
  const inputs = fragment.inputs.map((input, position) => ({
    input,
    head: { position, name: input.name, type: input.format('sighash'), indexed: input.indexed === true },
    hashed: isHashed(input),
    word: wordReaderOf(input.type),
  }));
  const plain = inputs.filter(({ head }) => !head.indexed);
  return {
    name: fragment.name,
    signature: fragment.format('sighash'),
    inputs,
    plain: plain.map(({ input }) => input),
    words: plain.every(({ word }) => word !== null),
  };
}

function decode(
  { name, signature, inputs, plain, words }: EventPlan,
  { topics, data }: LogWords,
): DecodedLog | null {
  try {
    if (words && data.length < 2 + 64 * plain.length) return null;
    const values = words ? null : AbiCoder.defaultAbiCoder().decode(plain, data);
    let [topicAt, plainAt] = [1, 0];
    const args = inputs.map(({ input, head, hashed, word }): DecodedArg => {
      if (head.indexed) {
        const topic = topics[topicAt++] ?? '0x';
        if (hashed || word === null) return { ...head, value: topic, hashed: true };
        return { ...head, value: word(topic.slice(2)) };
      }
      const at = plainAt++;
      if (values !== null) return { ...head, value: toValue(input, values[at]) };
      return { ...head, value: word?.(data.slice(2 + 64 * at, 66 + 64 * at)) ?? '' };
    });
    return { name, signature, args };
  } catch {
    return null;
  }
}

/** Reads a value out of a word, 64 lower-case hex digits. Throws where the word is none. */
type WordReader = (word: string) => string | boolean;

/** For types that are one word; unused high bits are cut off as ethers does it, except an address'. */
function wordReaderOf(type: string): WordReader | null {
  if (type === 'address') return readAddressWord;
  if (type === 'bool') return (word) => BigInt(`0x${word}`) !== 0n;
  const bytes = /^bytes(\d+)$/.exec(type)?.[1];
  if (bytes !== undefined) return (word) => `0x${word.slice(0, 2 * Number(bytes))}`;
  const [, sign, bits] = /^(u?)int(\d+)$/.exec(type) ?? [];
  if (bits === undefined) return null;
  const cut = sign === 'u' ? BigInt.asUintN : BigInt.asIntN;
  return (word) => cut(Number(bits), BigInt(`0x${word}`)).toString();
}

function readAddressWord(word: string): string {
  if (!word.startsWith('0'.repeat(24))) throw new Error('more than an address');
  return `0x${word.slice(24)}`;
}

/** solc hashes indexed values that do not fit a word, and all arrays and tuples. */
function isHashed(input: ParamType): boolean {
  return input.isArray() || input.isTuple() || input.type === 'string' || input.type === 'bytes';
}

/** `value`: what the coder made of `type`. Throws where it holds text that is none. */
function toValue(type: ParamType, value: unknown): DecodedValue {
  if (type.isArray()) return itemsOf(value).map((item) => toValue(type.arrayChildren, item));
  if (type.isTuple()) {
    const items = itemsOf(value);
    return type.components.map((component, index) => ({
      name: component.name,
      type: component.format('sighash'),
      value: toValue(component, items[index]),
    }));
  }
  if (typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value.toString();
  const text = String(value);
  return type.type === 'string' ? text : text.toLowerCase();
}

/** Items of the coder's lists. Throws where one of them is broken text. */
function itemsOf(value: unknown): unknown[] {
  if (value instanceof Result) return value.toArray();
  throw new Error('the coder gave no list');
}

/** The events of an ABI by topic0; several share one when they differ in what is indexed. */
export function eventsByTopic(abi: readonly AbiEntry[]): ReadonlyMap<Hex, readonly EventForm[]> {
  const forms = new Map<Hex, EventForm[]>();
  for (const entry of abi) {
    const form = toEventForm(entry);
    if (form === null) continue;
    const known = forms.get(form.topic0);
    if (known === undefined) forms.set(form.topic0, [form]);
    else known.push(form);
  }
  return forms;
}

/** By the first event that fits the log; null: none does. */
export function decodeBy(forms: readonly EventForm[] | undefined, log: LogWords): DecodedLog | null {
  for (const form of forms ?? []) {
    const decoded = form.decode(log);
    if (decoded !== null) return decoded;
  }
  return null;
}
