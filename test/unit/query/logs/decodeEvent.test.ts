/** Compares the decoding of logs with ethers' parseLog, over random values of real and made-up events. */
import { Interface, hexlify, type EventFragment, type ParamType, type Result } from 'ethers';

import type { Hex } from '../../../../src/domain/hex';
import type { AbiEntry } from '../../../../src/domain/verifiedContract';
import { decodeBy, eventsByTopic, toEventForm } from '../../../../src/query/logs/decodeEvent';
import { createRandom, type Random } from '../../../support/createRandom';
import { SEED } from '../../../support/run/seed';

const ROUNDS = 20;

const artifacts = [
  '@uniswap/v2-core/build/UniswapV2Pair.json',
  '@uniswap/v2-core/build/UniswapV2Factory.json',
  '@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json',
  '@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json',
  '@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json',
  '@openzeppelin/contracts/build/contracts/ERC721.json',
  '@openzeppelin/contracts/build/contracts/ERC1155.json',
  '@openzeppelin/contracts/build/contracts/TimelockController.json',
];

const MADE_UP = [
  'event DiamondCut(tuple(address facet, uint8 action, bytes4[] selectors)[] cuts, address init, bytes data)',
  'event Named(string indexed name, string name2, bytes indexed blob, uint256[] indexed list)',
  'event Deep(tuple(uint256 a, tuple(string s, int64[2] pair)[] inner, bool flag) indexed hidden, tuple(int8 x, tuple(bytes3 b, address c) y) shown)',
  'event Unnamed(address indexed, int256, bytes32, bool)',
  'event Small(int8 indexed a, uint24 b, bytes1 indexed c, int136 d, bool indexed e)',
  'event Fixed(uint16[3] a, address[2][] b, string[] c)',
  'event Nothing()',
];

function entriesOf(abi: unknown): AbiEntry[] {
  return JSON.parse(new Interface(abi as string[]).formatJson()) as AbiEntry[];
}

function randomValue(type: ParamType, random: Random): unknown {
  if (type.isArray()) {
    const length = type.arrayLength === -1 ? random.int(4) : type.arrayLength;
    return Array.from({ length: length! }, () => randomValue(type.arrayChildren!, random));
  }
  if (type.isTuple()) return type.components!.map((component) => randomValue(component, random));
  const name = type.type;
  if (name === 'bool') return random() < 0.5;
  if (name === 'string') return ['', 'ä€😀', 'x'.repeat(random.int(80)), '\u202e"\\'][random.int(4)];
  const bytes = (count: number): string => hexlify(Uint8Array.from({ length: count }, () => random.int(256)));
  if (name === 'address') return bytes(20);
  if (name === 'bytes') return bytes(random.int(70));
  const fixed = /^bytes(\d+)$/.exec(name)?.[1];
  if (fixed !== undefined) return bytes(Number(fixed));
  const [, unsigned, bits] = /^(u?)int(\d+)$/.exec(name)!;
  const value = random.big(Number(bits));
  return unsigned === 'u' ? BigInt.asUintN(Number(bits), value) : BigInt.asIntN(Number(bits), value);
}

/** A value of parseLog in the format of the API. */
function plainValue(type: ParamType, value: unknown): unknown {
  if (type.isArray()) return [...(value as Result)].map((item) => plainValue(type.arrayChildren!, item));
  if (type.isTuple()) {
    return type.components!.map((component, index) => ({
      name: component.name,
      type: component.format('sighash'),
      value: plainValue(component, (value as Result)[index]),
    }));
  }
  if (typeof value === 'bigint') return String(value);
  if (type.type === 'string' || typeof value === 'boolean') return value;
  return (value as string).toLowerCase();
}

const dynamic = (type: ParamType): boolean =>
  type.isArray() || type.isTuple() || type.type === 'string' || type.type === 'bytes';

function check(iface: Interface, fragment: EventFragment, entries: AbiEntry[], random: Random): void {
  const values = fragment.inputs.map((input) => randomValue(input, random));
  const plainOnes = fragment.inputs.filter((input) => input.indexed !== true);
  const data = iface.getAbiCoder().encode(
    plainOnes,
    values.filter((_, index) => fragment.inputs[index]!.indexed !== true),
  );
  const topics = [fragment.topicHash as Hex];
  fragment.inputs.forEach((input, index) => {
    if (input.indexed !== true) return;
    // The topic of an indexed dynamic type is a hash, so it may be any word.
    const word = dynamic(input)
      ? hexlify(Uint8Array.from({ length: 32 }, () => random.int(256)))
      : iface.getAbiCoder().encode([input], [values[index]]);
    topics.push(word as Hex);
  });
  const log = { topics, data: data as Hex };
  const parsed = iface.parseLog(log)!;
  const decoded = decodeBy(eventsByTopic(entries).get(topics[0]!), log);
  let topicAt = 1;
  expect(decoded).toEqual({
    name: parsed.name,
    signature: parsed.signature,
    args: fragment.inputs.map((input, position) => {
      const { name, indexed } = input;
      const head = { position, name, type: input.format('sighash'), indexed: indexed === true };
      const topic = input.indexed === true ? topics[topicAt++] : undefined;
      if (input.indexed === true && dynamic(input)) return { ...head, value: topic, hashed: true };
      return { ...head, value: plainValue(input, parsed.args[position]) };
    }),
  });
}

const real = artifacts.map((path): [string, unknown] => [path, require(path).abi]);

test.each([...real, ['a made-up ABI', MADE_UP] as [string, unknown]])(
  'random logs of every event of %s are decoded as by ethers',
  (_path, abi) => {
    const random = createRandom(SEED);
    const entries = entriesOf(abi);
    const iface = new Interface(entries);
    let events = 0;
    iface.forEachEvent((fragment) => {
      events += 1;
      for (let round = 0; round < ROUNDS; round += 1) {
        try {
          check(iface, fragment, entries, random);
        } catch (error) {
          throw new Error(`seed ${SEED}, ${fragment.format()}`, { cause: error });
        }
      }
    });
    expect(events).toBeGreaterThan(0);
  },
);

test('of several events with the same topic0, the event whose topic count fits the log is used', () => {
  const erc20 = entriesOf(['event Transfer(address indexed from, address indexed to, uint256 value)']);
  const erc721 = entriesOf(['event Transfer(address indexed src, address indexed dst, uint256 indexed id)']);
  const forms = eventsByTopic([...erc20, ...erc721]);
  const [topic0] = [...forms.keys()];
  const word = `0x${'00'.repeat(12)}${'11'.repeat(20)}` as Hex;
  const names = (topics: Hex[], data: Hex) =>
    decodeBy(forms.get(topic0!), { topics, data })?.args.map(({ name }) => name);
  expect(names([topic0!, word, word], word)).toEqual(['from', 'to', 'value']);
  expect(names([topic0!, word, word, word], '0x')).toEqual(['src', 'dst', 'id']);
  expect(names([topic0!, word], word)).toBeUndefined();
});

test('data that does not fit the event is not decoded: too short, wrong offsets, dirty address', () => {
  const random = createRandom(SEED);
  const entries = entriesOf([...MADE_UP, 'event Plain(address a, uint256 b)']);
  for (const entry of entries) {
    const form = toEventForm(entry)!;
    const topics = [form.topic0, ...Array.from({ length: form.topicCount - 1 }, () => form.topic0)];
    for (let round = 0; round < 50; round += 1) {
      const bytes = Uint8Array.from({ length: random.int(300) }, () =>
        random() < 0.5 ? 0 : random.int(256),
      );
      const decode = () => form.decode({ topics, data: hexlify(bytes) as Hex });
      expect(decode).not.toThrow();
    }
    if (form.topicCount <= (entry.inputs?.length ?? 0)) {
      expect(form.decode({ topics, data: '0x' })).toBeNull();
    }
  }
  const plain = toEventForm(entries.at(-1)!)!;
  const long = `0x01${'00'.repeat(63)}` as Hex;
  expect(plain.decode({ topics: [plain.topic0], data: long })).toBeNull();
});

/** Bytes that are not valid UTF-8, and bytes that only seem invalid. */
const TEXTS: readonly (readonly [hex: string, text: string, isValid: boolean])[] = [
  ['fffe', '\ufffd\ufffd', false],
  ['61ff62', 'a\ufffdb', false],
  ['c3', '\ufffd', false],
  ['eda080', '\ufffd\ufffd\ufffd', false],
  ['f5808080', '\ufffd\ufffd\ufffd\ufffd', false],
  ['', '', true],
  ['efbfbd', '\ufffd', true],
  ['efbbbf61', '\ufeffa', true],
  ['c3a4', 'ä', true],
];

test('a text that is not valid UTF-8 keeps its bytes in `raw`, also in an array and in a tuple', () => {
  const event = 'event Text(string s, tuple(string t, uint8 n)[] pairs, string[][] lists, bytes b)';
  const [entry] = entriesOf([event]);
  const form = toEventForm(entry!)!;
  const coder = new Interface([event.replaceAll('string', 'bytes')]).getAbiCoder();
  const types = ['bytes', 'tuple(bytes t, uint8 n)[]', 'bytes[][]', 'bytes'];
  for (const [hex, text, isValid] of TEXTS) {
    const bytes = `0x${hex}`;
    const data = coder.encode(types, [bytes, [[bytes, 1]], [['0x61', bytes], []], bytes]) as Hex;
    const raw = isValid ? {} : { raw: bytes };
    const head = (position: number, name: string, type: string) => ({ position, name, type, indexed: false });
    expect(form.decode({ topics: [form.topic0], data })?.args).toEqual([
      { ...head(0, 's', 'string'), value: text, ...raw },
      {
        ...head(1, 'pairs', '(string,uint8)[]'),
        value: [
          [
            { name: 't', type: 'string', value: text, ...raw },
            { name: 'n', type: 'uint8', value: '1' },
          ],
        ],
      },
      {
        ...head(2, 'lists', 'string[][]'),
        value: [['a', text], []],
        ...(isValid ? {} : { raw: [[null, bytes], null] }),
      },
      { ...head(3, 'b', 'bytes'), value: bytes },
    ]);
  }
});

test('a cut text keeps its bytes in `raw` only if the part before the cut is not valid UTF-8', () => {
  const form = toEventForm(entriesOf(['event Text(string s)'])[0]!)!;
  const argOf = (text: string) => {
    const data = `0x${'20'.padStart(64, '0')}${'40'.padStart(64, '0')}${text}` as Hex;
    return form.decode({ topics: [form.topic0], data, dataBytes: 128 })?.args[0];
  };
  expect(argOf('61c3')).toMatchObject({ value: 'a', truncated: true });
  expect(argOf('61c3')).not.toHaveProperty('raw');
  expect(argOf('61ffc3')).toMatchObject({ value: 'a\ufffd\ufffd', raw: '0x61ffc3', truncated: true });
});

test('an anonymous event, a function and an event with an unknown type are not used to decode logs', () => {
  const inputs = [{ name: 'a', type: 'uint256' }];
  expect(toEventForm({ type: 'event', name: 'Hidden', anonymous: true, inputs })).toBeNull();
  expect(toEventForm({ type: 'function', name: 'f', inputs: [] })).toBeNull();
  expect(toEventForm({ type: 'event', name: 'Bad', inputs: [{ name: 'x', type: 'nonsense' }] })).toBeNull();
});
