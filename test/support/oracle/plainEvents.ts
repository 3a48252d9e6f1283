/**
 * A plain parser of event logs by the letter of the ABI: text signatures and 32-byte words as bigints. Rejects logs
 * whose topics, length or words do not fit the event. Shares no code with the product; a test compares it with ethers.
 */
import { id } from 'ethers';

type Word = string | bigint | readonly (string | bigint)[];

export interface PlainEvent {
  readonly name: string;
  /** Values in the order of the signature. Addresses and bytes32 are lower-case hex. */
  readonly args: readonly Word[];
}

interface Parameter {
  readonly type: string;
  /** Length of an array of a fixed length, which has `type` as the type of its items. */
  readonly length: number | null;
  readonly indexed: boolean;
}

const SIGNATURES = [
  'PairCreated(address indexed,address indexed,address,uint256)',
  'PoolCreated(address indexed,address indexed,uint24 indexed,int24,address)',
  'Sync(uint112,uint112)',
  'Swap(address indexed,uint256,uint256,uint256,uint256,address indexed)',
  'Swap(address indexed,address indexed,int256,int256,uint160,uint128,int24)',
  'Swap(address indexed,address indexed,int256,int256,uint160,uint128,int24,uint128,uint128)',
  'Mint(address indexed,uint256,uint256)',
  'Burn(address indexed,uint256,uint256,address indexed)',
  'Initialize(uint160,int24)',
  'Mint(address,address indexed,int24 indexed,int24 indexed,uint128,uint256,uint256)',
  'Burn(address indexed,int24 indexed,int24 indexed,uint128,uint256,uint256)',
  'Collect(address indexed,address,int24 indexed,int24 indexed,uint128,uint128)',
  'CollectProtocol(address indexed,address indexed,uint128,uint128)',
  'Flash(address indexed,address indexed,uint256,uint256,uint256,uint256)',
  'PoolRegistered(bytes32 indexed,address indexed,uint8)',
  'TokensRegistered(bytes32 indexed,address[],address[])',
  'Swap(bytes32 indexed,address indexed,address indexed,uint256,uint256)',
  'PoolBalanceChanged(bytes32 indexed,address indexed,address[],int256[],uint256[])',
  'PoolBalanceManaged(bytes32 indexed,address indexed,address indexed,int256,int256)',
  'SwapFeePercentageChanged(uint256)',
  'AmpUpdateStopped(uint256)',
];

type Events = ReadonlyMap<string, { readonly name: string; readonly parameters: readonly Parameter[] }>;
type PlainLog = { readonly topics: readonly string[]; readonly data: string };

/** Events by their topics, from signatures by the names that results have. */
export function plainEvents(signatures: readonly (readonly [name: string, signature: string])[]): Events {
  return new Map(
    signatures.map(([name, signature]) => {
      const [, event, list] = /^(\w+)\((.*)\)$/.exec(signature)!;
      const texts = list === '' ? [] : list!.split(',');
      const parameters = texts.map((text): Parameter => {
        const [, type, length, indexed] = /^(\w+(?:\[\])?)(?:\[(\d+)\])?( indexed)?$/.exec(text)!;
        return {
          type: type!,
          length: length === undefined ? null : Number(length),
          indexed: indexed !== undefined,
        };
      });
      const topic = id(`${event}(${texts.map((text) => text.replace(' indexed', '')).join(',')})`);
      return [topic, { name, parameters }] as const;
    }),
  );
}

const EVENTS = plainEvents(
  SIGNATURES.map((signature) => [signature.slice(0, signature.indexOf('(')), signature]),
);

/** First topics of all events of V2 and V3 pairs. A log with such a topic may still be malformed. */
export const PAIR_TOPICS: ReadonlySet<string> = new Set(
  [...EVENTS].flatMap(([topic, { name, parameters }]) => {
    const isOfPair =
      !parameters.some(({ type }) => type === 'bytes32') && !/Created|Percentage|Registered|Amp/.test(name);
    return isOfPair ? [topic] : [];
  }),
);

/** Null if the log is not a well-formed event of these signatures. */
export function parsePlain(log: PlainLog, events: Events = EVENTS): PlainEvent | null {
  const event = events.get(log.topics[0] ?? '');
  if (event === undefined) return null;
  const { parameters } = event;
  if (log.topics.length !== 1 + parameters.filter(({ indexed }) => indexed).length) return null;
  const wordsInData = parameters.reduce((sum, { indexed, length }) => sum + (indexed ? 0 : (length ?? 1)), 0);
  const isStatic = !parameters.some(({ type }) => type.endsWith('[]'));
  const digits = log.data.length - 2;
  if (isStatic ? digits !== 64 * wordsInData : digits < 64 * wordsInData) return null;
  const args: Word[] = [];
  let [topicIndex, wordIndex] = [1, 0];
  for (const { type, length, indexed } of parameters) {
    if (length !== null) {
      const items = readItems(type, log.data, 2 + 64 * wordIndex, length);
      if (items === null) return null;
      args.push(items);
      wordIndex += length;
      continue;
    }
    const word = indexed
      ? log.topics[topicIndex]!.slice(2)
      : log.data.slice(2 + 64 * wordIndex, 66 + 64 * wordIndex);
    if (indexed) topicIndex += 1;
    else wordIndex += 1;
    const value = type.endsWith('[]') ? readArray(type.slice(0, -2), log.data, word) : readWord(type, word);
    if (value === null) return null;
    args.push(value);
  }
  return { name: event.name, args };
}

function readWord(type: string, word: string): string | bigint | null {
  if (type === 'bytes32') return `0x${word}`;
  if (type === 'address') return /^0{24}/.test(word) ? `0x${word.slice(24)}` : null;
  const value = BigInt(`0x${word}`);
  const bits = type === 'bool' ? 1 : Number(/\d+$/.exec(type)![0]);
  if (type === 'bool' || type.startsWith('uint')) return value >> BigInt(bits) === 0n ? value : null;
  const signed = BigInt.asIntN(256, value);
  return BigInt.asIntN(bits, signed) === signed ? signed : null;
}

function readArray(type: string, data: string, offset: string): (string | bigint)[] | null {
  const start = 2 + 2 * Number(BigInt(`0x${offset}`));
  if (start + 64 > data.length) return null;
  const length = Number(BigInt(`0x${data.slice(start, start + 64)}`));
  if (start + 64 * (length + 1) > data.length) return null;
  return readItems(type, data, start + 64, length);
}

/** `start`: the place of the first item in the text. */
function readItems(type: string, data: string, start: number, length: number): (string | bigint)[] | null {
  const items = Array.from({ length }, (_, index) =>
    readWord(type, data.slice(start + 64 * index, start + 64 * (index + 1))),
  );
  return items.some((item) => item === null) ? null : (items as (string | bigint)[]);
}
