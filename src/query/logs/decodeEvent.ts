/**
 * Decodes one log by an event of an ABI. Pure. What does not fit is null: data from the chain may be anything. Integers
 * become base-10 strings, addresses and bytes lower-case hex, tuples lists of named values; an indexed value of dynamic type
 * is known by its hash alone and says so. Of a log whose data is cut the values hold what is kept and say so.
 */
import { EventFragment, type ParamType } from 'ethers';

import type { Hex } from '../../domain/hex';
import type { AbiEntry } from '../../domain/verifiedContract';
import {
  layoutOf,
  readValues,
  wordReaderOf,
  type DecodedField,
  type Layout,
  type WordReader,
} from './abiValues';

export interface DecodedArg extends Omit<DecodedField, 'value'> {
  /** Null where nothing of it is kept. */
  readonly value: DecodedField['value'] | null;
  /** Some of the value is not kept. */
  readonly truncated?: true;
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
  /** Bytes of the log's data, of which `data` is the beginning; absent: all of it. */
  readonly dataBytes?: number;
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
    readonly head: Pick<DecodedArg, 'position' | 'name' | 'type' | 'indexed'>;
    readonly hashed: boolean;
    readonly word: WordReader | null;
  }[];
  /** Null where one of the types is not known. */
  readonly plain: readonly Layout[] | null;
  /** Whether each word of the data is one value: reading those out of the hex is much faster. */
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
    plain: layoutsOf(plain.map(({ input }) => input)),
    words: plain.every(({ word }) => word !== null),
  };
}

function layoutsOf(types: readonly ParamType[]): Layout[] | null {
  try {
    return types.map(layoutOf);
  } catch {
    return null;
  }
}

function decode(
  { name, signature, inputs, plain, words }: EventPlan,
  { topics, data, dataBytes }: LogWords,
): DecodedLog | null {
  if (plain === null) return null;
  try {
    if (words && data.length < 2 + 64 * plain.length) return null;
    const kept = words ? null : Buffer.from(data.slice(2), 'hex');
    const values = kept === null ? null : readValues(plain, kept, dataBytes ?? kept.length);
    let [topicAt, plainAt] = [1, 0];
    const args = inputs.map(({ head, hashed, word }): DecodedArg => {
      if (head.indexed) {
        const topic = topics[topicAt++] ?? '0x';
        if (hashed || word === null) return { ...head, value: topic, hashed: true };
        return { ...head, value: word(topic.slice(2)) };
      }
      const at = plainAt++;
      const found = values?.[at];
      if (found !== undefined)
        return { ...head, value: found.value, ...(found.truncated ? { truncated: true } : {}) };
      return { ...head, value: word?.(data.slice(2 + 64 * at, 66 + 64 * at)) ?? '' };
    });
    return { name, signature, args };
  } catch {
    return null;
  }
}

/** solc hashes indexed values that do not fit a word, and all arrays and tuples. */
function isHashed(input: ParamType): boolean {
  return input.isArray() || input.isTuple() || input.type === 'string' || input.type === 'bytes';
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
