/**
 * Decodes one log by an event of an ABI. Pure. Chain data may be anything, so a log that does not fit gives
 * null. Integers become base-10 strings, addresses and bytes lower-case hex, and tuples lists of named
 * values. Of an indexed value of dynamic type, the log has only the hash; such a value is marked `hashed`. A
 * value whose data is cut is marked `truncated`. A text that is not valid UTF-8 keeps its bytes in `raw`.
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

interface DecodedArg extends Omit<DecodedField, 'value'> {
  /** The value; null if the log has none of the value's bytes. */
  readonly value: DecodedField['value'] | null;
  /** True if the log lacks a part of the value. */
  readonly truncated?: true;
  /** Index of the parameter, from 0, among all parameters of the event. */
  readonly position: number;
  readonly indexed: boolean;
  /** True if the value is keccak256 of the indexed value, which no log contains. */
  readonly hashed?: true;
}

export interface DecodedLog {
  readonly name: string;
  readonly signature: string;
  readonly args: readonly DecodedArg[];
}

/** The parts of a log that decoding needs. */
interface LogWords {
  readonly topics: readonly Hex[];
  readonly data: Hex;
  /** Length of the whole data in bytes, if `data` has only the first bytes. */
  readonly dataBytes?: number;
}

/** An event of an ABI, prepared for decoding. */
export interface EventForm {
  readonly topic0: Hex;
  /** Number of topics in each log of this event. */
  readonly topicCount: number;
  decode(log: LogWords): DecodedLog | null;
}

const TOPICS_MAX = 4;

/**
 * Prepares an event of an ABI for decoding. Null for anonymous events, for ABI entries that are no events,
 * and for events with unknown types.
 */
export function toEventForm(entry: AbiEntry): EventForm | null {
  if (entry.type !== 'event' || entry.anonymous === true) return null;
  try {
    const fragment = EventFragment.from(entry);
    const topicCount = 1 + fragment.inputs.filter((input) => input.indexed === true).length;
    if (topicCount > TOPICS_MAX) return null;
    const topic0: Hex = `0x${fragment.topicHash.slice(2).toLowerCase()}`;
    const eventPlan = makePlan(fragment);
    return {
      topic0,
      topicCount,
      decode: (log) => (log.topics.length === topicCount ? decode(eventPlan, log) : null),
    };
  } catch {
    return null;
  }
}

/** The parts of an event that all its logs share. */
interface EventPlan {
  readonly name: string;
  readonly signature: string;
  readonly inputs: readonly {
    readonly argFacts: Pick<DecodedArg, 'position' | 'name' | 'type' | 'indexed'>;
    readonly isHashed: boolean;
    readonly readWord: WordReader | null;
  }[];
  /** The layouts of the values in the data. Null if a type is unknown. */
  readonly dataLayouts: readonly Layout[] | null;
  /**
   * Whether every value in the data is one word. Such values are read directly from the hex, which is much faster.
   */
  readonly areAllWords: boolean;
}

function makePlan(fragment: EventFragment): EventPlan {
  const inputs = fragment.inputs.map((input, position) => ({
    input,
    argFacts: { position, name: input.name, type: input.format('sighash'), indexed: input.indexed === true },
    isHashed: isHashedType(input),
    readWord: wordReaderOf(input.type),
  }));
  const dataInputs = inputs.filter(({ argFacts }) => !argFacts.indexed);
  return {
    name: fragment.name,
    signature: fragment.format('sighash'),
    inputs,
    dataLayouts: layoutsOf(dataInputs.map(({ input }) => input)),
    areAllWords: dataInputs.every(({ readWord }) => readWord !== null),
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
  { name, signature, inputs, dataLayouts, areAllWords }: EventPlan,
  { topics, data, dataBytes }: LogWords,
): DecodedLog | null {
  if (dataLayouts === null) return null;
  try {
    if (areAllWords && data.length < 2 + 64 * dataLayouts.length) return null;
    const dataBuffer = areAllWords ? null : Buffer.from(data.slice(2), 'hex');
    const values =
      dataBuffer === null ? null : readValues(dataLayouts, dataBuffer, dataBytes ?? dataBuffer.length);
    let [topicIndex, dataIndex] = [1, 0];
    const args = inputs.map(({ argFacts, isHashed, readWord }): DecodedArg => {
      if (argFacts.indexed) {
        const topic = topics[topicIndex++] ?? '0x';
        if (isHashed || readWord === null) return { ...argFacts, value: topic, hashed: true };
        return { ...argFacts, value: readWord(topic.slice(2)) };
      }
      const valueIndex = dataIndex++;
      const readValue = values?.[valueIndex];
      if (readValue !== undefined) {
        const { truncated, ...decoded } = readValue;
        return { ...argFacts, ...decoded, ...(truncated ? { truncated } : {}) };
      }
      return { ...argFacts, value: readWord?.(data.slice(2 + 64 * valueIndex, 66 + 64 * valueIndex)) ?? '' };
    });
    return { name, signature, args };
  } catch {
    return null;
  }
}

/** solc hashes indexed arrays, tuples, strings and bytes. */
function isHashedType(input: ParamType): boolean {
  return input.isArray() || input.isTuple() || input.type === 'string' || input.type === 'bytes';
}

/** The events of an ABI by topic0. Events that differ only in their indexed parameters share one topic0. */
export function eventsByTopic(abi: readonly AbiEntry[]): ReadonlyMap<Hex, readonly EventForm[]> {
  const forms = new Map<Hex, EventForm[]>();
  for (const entry of abi) {
    const form = toEventForm(entry);
    if (form === null) continue;
    const formsOfTopic = forms.get(form.topic0);
    if (formsOfTopic === undefined) forms.set(form.topic0, [form]);
    else formsOfTopic.push(form);
  }
  return forms;
}

/** Decodes the log by the first event that fits the log. Returns null if no event fits. */
export function decodeBy(forms: readonly EventForm[] | undefined, log: LogWords): DecodedLog | null {
  for (const form of forms ?? []) {
    const decoded = form.decode(log);
    if (decoded !== null) return decoded;
  }
  return null;
}
