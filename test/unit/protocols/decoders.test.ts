import { EventFragment, Interface } from 'ethers';
import fc from 'fast-check';

import { pancakeV3 } from '../../../src/protocols/uniswapV3/pancakeV3';
import type { PoolCreation, PoolEvent, Protocol } from '../../../src/protocols/protocol';
import { uniswapV2 } from '../../../src/protocols/uniswapV2/uniswapV2';
import { uniswapV3 } from '../../../src/protocols/uniswapV3/uniswapV3';
import { asJson, decode, GOLDEN_LOGS } from './golden';
import {
  encode,
  logsOf,
  PANCAKE,
  referenceV2,
  referenceV2Creation,
  referenceV3,
  referenceV3Creation,
  toLog,
  V2,
  V2_FACTORY,
  V3,
  V3_FACTORY,
  type Words,
} from './reference';
import { runsOf } from '../../support/run/runs';
import { oneDigitOff, otherLayout } from './spoiltLogs';

/** All tests together decode more than 10,000 logs per run. A failure prints its seed. */
const LOGS_PER_EVENT = runsOf(600);
const MUTANTS = runsOf(1_500);

const V2_EVENTS = ['Swap', 'Sync', 'Mint', 'Burn'];
const V3_EVENTS = ['Swap', 'Initialize', 'Mint', 'Burn', 'Collect', 'CollectProtocol', 'Flash'];
const V3_NAMES = [uniswapV3, pancakeV3];

function reference(protocol: Protocol, words: Words): PoolCreation | PoolEvent | null {
  return protocol.poolTypes[0] === 2
    ? (referenceV2Creation(words) ?? referenceV2(words))
    : (referenceV3Creation(words) ?? referenceV3(words));
}

function expectAgreement(protocol: Protocol, words: Words): void {
  expect(decode(protocol, words)).toStrictEqual(reference(protocol, words));
}

describe('golden logs of V2 and V3 are decoded to their known values', () => {
  test.each(GOLDEN_LOGS)(
    '$protocol.name decodes the golden log "$name" to its recorded values',
    ({ protocol, event, log, decoded }) => {
      expect(asJson(decode(protocol, log))).toEqual(decoded);
      expect(asJson(reference(protocol, log))).toEqual(decoded);
      const fragment = EventFragment.from(event);
      expect(log.topics[0]).toBe(fragment.topicHash);
      const again = new Interface([fragment]);
      expect(encode(again, fragment.name, [...again.decodeEventLog(fragment, log.data, log.topics)])).toEqual(
        log,
      );
    },
  );

  it('the golden logs cover every event of the protocols', () => {
    const seen = new Set(GOLDEN_LOGS.map(({ log }) => log.topics[0]));
    for (const { creationTopics, eventTopics } of [uniswapV2, uniswapV3, pancakeV3]) {
      expect([...creationTopics, ...eventTopics].filter((topic) => !seen.has(topic))).toEqual([]);
    }
  });
});

describe('random logs of V2 and V3 are decoded as by ethers', () => {
  test.each(V2_EVENTS)('a random V2 %s log is decoded as by ethers, or refused', (event) => {
    fc.assert(
      fc.property(logsOf(V2, event), (words) => expectAgreement(uniswapV2, words)),
      { numRuns: LOGS_PER_EVENT },
    );
  });

  test.each(V3_EVENTS)('both V3 protocols decode a random V3 %s log as ethers does', (event) => {
    const property = fc.property(logsOf(V3, event), fc.constantFrom(...V3_NAMES), (words, protocol) =>
      expectAgreement(protocol, words),
    );
    fc.assert(property, { numRuns: LOGS_PER_EVENT });
  });

  test('both V3 protocols decode a random Pancake Swap log as ethers does', () => {
    const property = fc.property(logsOf(PANCAKE, 'Swap'), fc.constantFrom(...V3_NAMES), (words, protocol) =>
      expectAgreement(protocol, words),
    );
    fc.assert(property, { numRuns: LOGS_PER_EVENT });
  });

  test('PairCreated and PoolCreated logs are decoded as by ethers', () => {
    const pairs = fc.property(logsOf(V2_FACTORY, 'PairCreated'), (words) =>
      expectAgreement(uniswapV2, words),
    );
    const pools = fc.property(logsOf(V3_FACTORY, 'PoolCreated'), (words) =>
      expectAgreement(uniswapV3, words),
    );
    fc.assert(pairs, { numRuns: LOGS_PER_EVENT });
    fc.assert(pools, { numRuns: LOGS_PER_EVENT });
  });
});

/** Any golden or random log of these protocols. */
const anyLog: fc.Arbitrary<Words> = fc.oneof(
  fc.constantFrom(...GOLDEN_LOGS.map(({ log }) => log)),
  ...V2_EVENTS.map((event) => logsOf(V2, event)),
  ...V3_EVENTS.map((event) => logsOf(V3, event)),
  logsOf(PANCAKE, 'Swap'),
);

const anyProtocol = fc.constantFrom(uniswapV2, uniswapV3, pancakeV3);

describe('malformed logs of V2 and V3 are refused', () => {
  test('a V2 or V3 log with one wrong digit is decoded as by ethers, or refused', () => {
    fc.assert(
      fc.property(oneDigitOff(anyLog), anyProtocol, (words, protocol) => expectAgreement(protocol, words)),
      {
        numRuns: MUTANTS,
      },
    );
  });

  test('a V2 or V3 log with another layout under a known topic is refused', () => {
    fc.assert(
      fc.property(otherLayout(anyLog), anyProtocol, (words, protocol) => expectAgreement(protocol, words)),
      {
        numRuns: MUTANTS,
      },
    );
  });

  test.each([uniswapV2, uniswapV3, pancakeV3])('the decoder of $name never throws', (protocol) => {
    const topic0 = fc.constantFrom(...protocol.creationTopics, ...protocol.eventTopics);
    const text = fc.oneof(fc.string({ maxLength: 300 }), fc.stringMatching(/^0x[0-9a-fxz-]{0,460}$/));
    const property = fc.property(topic0, fc.array(text, { maxLength: 4 }), text, (topic, rest, data) => {
      decode(protocol, { topics: [topic, ...rest], data });
      decode(protocol, { topics: rest, data });
    });
    fc.assert(property, { numRuns: MUTANTS });
  });

  test.each(GOLDEN_LOGS)(
    '$protocol.name refuses wrong variants of the golden log "$name"',
    ({ protocol, log }) => {
      const { topics, data } = log;
      const wrong: Words[] = [
        { topics: [], data },
        { topics: topics.slice(1), data },
        { topics: [...topics, `0x${'00'.repeat(32)}`], data },
        { topics: topics.slice(0, -1), data },
        { topics: [`0x${'11'.repeat(32)}`, ...topics.slice(1)], data },
        { topics, data: '0x' },
        { topics, data: '' },
        { topics, data: data.slice(0, -2) },
        { topics, data: `${data}00` },
        { topics, data: data.slice(0, -64) },
        { topics, data: data + '0'.repeat(64) },
        { topics, data: `${data.slice(0, -1)}g` },
        { topics, data: `0x-${data.slice(3)}` },
        ...topics.slice(1).map((_topic, index) => ({
          topics: topics.map((topic, place) => (place === index + 1 ? topic.slice(0, -2) : topic)),
          data,
        })),
      ];
      for (const words of wrong) expect(decode(protocol, words)).toBeNull();
    },
  );

  test.each(GOLDEN_LOGS)(
    '$protocol.name refuses "$name" with bits beyond the types of its values',
    ({ protocol, event, log }) => {
      const { inputs } = EventFragment.from(event);
      const indexed = inputs.filter((input) => input.indexed);
      const inData = inputs.filter((input) => !input.indexed);
      const dirty: Words[] = [];
      for (const [index, { type }] of indexed.entries()) {
        for (const topic of dirtyWords(type, (log.topics[index + 1] ?? '').slice(2))) {
          dirty.push({
            ...log,
            topics: log.topics.map((each, place) => (place === index + 1 ? `0x${topic}` : each)),
          });
        }
      }
      for (const [index, { type }] of inData.entries()) {
        const start = 2 + 64 * index;
        for (const word of dirtyWords(type, log.data.slice(start, start + 64))) {
          dirty.push({ ...log, data: log.data.slice(0, start) + word + log.data.slice(start + 64) });
        }
      }
      for (const words of dirty) expect(decode(protocol, words)).toBeNull();
    },
  );

  it('a V2 swap whose net amount does not fit into int256 is refused', () => {
    const huge = (1n << 256n) - 1n;
    const party = `0x${'01'.repeat(20)}`;
    expect(uniswapV2.decodeEvent(toLog(encode(V2, 'Swap', [party, huge, 0n, 0n, 1n, party])))).toBeNull();
    expect(
      uniswapV2.decodeEvent(toLog(encode(V2, 'Swap', [party, huge, 0n, huge, 1n, party]))),
    ).toMatchObject({
      amount0: 0n,
      amount1: -1n,
    });
  });
});

/**
 * Copies of the word, each with one flipped bit above the width of its type. A copy of a narrow signed value then
 * lacks a part of its sign extension.
 */
function dirtyWords(type: string, word: string): string[] {
  const [, , bitsText] = /^(u?)int(\d+)$/.exec(type) ?? [];
  const bits = type === 'address' ? 160 : Number(bitsText);
  const value = BigInt(`0x${word}`);
  return Array.from({ length: 256 - bits }, (_none, place) => {
    return (value ^ (1n << BigInt(bits + place))).toString(16).padStart(64, '0');
  });
}
