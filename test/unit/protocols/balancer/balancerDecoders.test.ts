import { AbiCoder, EventFragment, id } from 'ethers';
import fc from 'fast-check';

import type { Hex } from '../../../../src/domain/hex';
import { readArrays } from '../../../../src/protocols/abiArrays';
import {
  decodeBalancerEvent,
  POOL_REGISTERED,
  POOL_TOPICS,
  VAULT_TOPICS,
  type BalancerEvent,
} from '../../../../src/protocols/balancerV2/decodeBalancerEvent';
import GOLDEN_LOGS from '../../../golden/logs/balancerV2.json';
import { BALANCER, BALANCER_EVENTS, balancerLogsOf, referenceBalancer } from './balancerReference';
import { asJson } from '../golden';
import { encode, toLog, type Words } from '../reference';
import { runsOf } from '../../../support/run/runs';
import { oneDigitOff, otherLayout } from '../spoiltLogs';

/** All tests together decode 14,000 logs per run. A failure prints its seed. */
const LOGS_PER_EVENT = runsOf(1_000);
const MUTANTS = runsOf(3_000);

function decode(words: Words): BalancerEvent | null {
  return decodeBalancerEvent(toLog(words));
}

/** The test also counts the valid events, because agreement on zero events would prove nothing. */
function expectAgreement(logs: fc.Arbitrary<Words>, numRuns: number, eventsMin: number): void {
  let events = 0;
  const property = fc.property(logs, (words) => {
    const expected = referenceBalancer(words);
    if (expected !== null) events += 1;
    expect(decode(words)).toStrictEqual(expected);
  });
  fc.assert(property, { numRuns });
  expect(events).toBeGreaterThanOrEqual(eventsMin);
}

describe('golden logs of Balancer V2 are decoded to their known values', () => {
  test.each(GOLDEN_LOGS)(
    'the golden log "$name" is decoded to its recorded values',
    ({ event, log, decoded }) => {
      expect(asJson(decode(log))).toEqual(decoded);
      expect(asJson(referenceBalancer(log))).toEqual(decoded);
      expect(log.topics[0]).toBe(EventFragment.from(event).topicHash);
    },
  );

  it('the golden logs cover every decoded event of Balancer V2', () => {
    const seen = new Set<string>(GOLDEN_LOGS.map(({ log }) => log.topics[0]!));
    expect([...VAULT_TOPICS, ...POOL_TOPICS].filter((topic) => !seen.has(topic))).toEqual([]);
  });
});

test('the decoded topics are the hashes of the event signatures, and PoolRegistered creates a pool', () => {
  const topicOf = (event: string): string => BALANCER.getEvent(event)!.topicHash;
  const vaultEvents = BALANCER_EVENTS.slice(0, VAULT_TOPICS.size);
  const poolEvents = BALANCER_EVENTS.slice(VAULT_TOPICS.size);
  expect([...VAULT_TOPICS].sort()).toEqual(vaultEvents.map(topicOf).sort());
  expect([...POOL_TOPICS].sort()).toEqual(poolEvents.map(topicOf).sort());
  expect(POOL_REGISTERED).toBe(id('PoolRegistered(bytes32,address,uint8)'));
});

describe('random logs of Balancer V2 are decoded as by ethers', () => {
  test.each(BALANCER_EVENTS)(
    'a random %s log of Balancer V2 is decoded as by ethers, or refused',
    (event) => {
      expectAgreement(balancerLogsOf(event), LOGS_PER_EVENT, LOGS_PER_EVENT / 4);
    },
  );
});

const anyLog: fc.Arbitrary<Words> = fc.oneof(
  fc.constantFrom(...GOLDEN_LOGS.map(({ log }) => log)),
  ...BALANCER_EVENTS.map(balancerLogsOf),
);
const arrayLog: fc.Arbitrary<Words> = fc.oneof(
  balancerLogsOf('TokensRegistered'),
  balancerLogsOf('PoolBalanceChanged'),
);

const wordsOf = (data: string): string[] => data.slice(2).match(/.{64}/g) ?? [];
const toData = (words: readonly string[]): string => `0x${words.join('')}`;
const toWord = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, '0');

/** Replaces offsets and lengths of arrays: near, far, huge, swapped, shared, and with gaps that the ABI would
 * allow. */
const otherArrays = fc
  .tuple(
    arrayLog,
    fc.constantFrom('head', 'any word', 'swap heads', 'share', 'gap', 'turn tails'),
    fc.nat(),
    fc.oneof(
      fc.bigInt({ min: -4n, max: 4n }).map((words) => words * 32n),
      fc.bigInt({ min: -3n, max: 3n }),
      fc.constantFrom(1n << 53n, (1n << 64n) - 32n, (1n << 255n) - 1n, (1n << 256n) - 32n),
    ),
  )
  .map(([{ topics, data }, change, where, shift]): Words => {
    const words = wordsOf(data);
    const heads = topics.length === 2 ? 2 : 3;
    const add = (index: number): void => {
      words[index] = toWord(BigInt(`0x${words[index]}`) + shift);
    };
    switch (change) {
      case 'head':
        add(where % heads);
        break;
      case 'any word':
        add(where % words.length);
        break;
      case 'swap heads':
        [words[0], words[heads - 1]] = [words[heads - 1]!, words[0]!];
        break;
      case 'share': {
        const start = Number(BigInt(`0x${words[heads - 1]}`)) / 32;
        words[heads - 1] = words[heads - 2]!;
        words.length = start;
        break;
      }
      case 'gap':
        for (let head = 0; head < heads; head += 1) words[head] = toWord(BigInt(`0x${words[head]}`) + 32n);
        words.splice(heads, 0, toWord(shift));
        break;
      default: {
        const [first, second] = [Number(BigInt(`0x${words[0]}`)) / 32, Number(BigInt(`0x${words[1]}`)) / 32];
        const end = heads === 2 ? words.length : Number(BigInt(`0x${words[2]}`)) / 32;
        const turned = [...words.slice(second, end), ...words.slice(first, second)];
        words.splice(first, turned.length, ...turned);
        words[0] = toWord(BigInt(32 * (first + end - second)));
        words[1] = toWord(BigInt(32 * first));
      }
    }
    return { topics, data: toData(words) };
  });

describe('malformed logs of Balancer V2 are refused', () => {
  test('a Balancer log with one wrong digit is decoded as by ethers, or refused', () => {
    expectAgreement(oneDigitOff(anyLog), MUTANTS / 3, MUTANTS / 60);
  });

  test('a Balancer log with another layout under a known topic is refused', () => {
    expectAgreement(otherLayout(anyLog), MUTANTS / 3, 0);
  });

  test('arrays of a Balancer log are decoded only at the offsets that Solidity writes', () => {
    expectAgreement(otherArrays, MUTANTS, MUTANTS / 60);
  });

  test('a layout of a Balancer log that the ABI allows but Solidity never writes is refused', () => {
    const list = [`0x${'01'.repeat(20)}`, `0x${'02'.repeat(20)}`];
    const { topics, data } = encode(BALANCER, 'TokensRegistered', [`0x${'aa'.repeat(32)}`, list, list]);
    const words = wordsOf(data);
    const shared = toData([words[0]!, words[0]!, ...words.slice(2, 5)]);
    const read = BALANCER.decodeEventLog('TokensRegistered', shared, [...topics]).toArray(true) as unknown[];
    expect(read.slice(1)).toEqual([list, list]);
    expect(decode({ topics, data })).not.toBeNull();
    expect(decode({ topics, data: shared })).toBeNull();
  });

  test('a Balancer log with an array of more than 50 words is refused, even beside a short array', () => {
    const lists = (first: number, second: number): Hex =>
      AbiCoder.defaultAbiCoder().encode(
        ['uint256[]', 'uint256[]'],
        [Array<bigint>(first).fill(7n), Array<bigint>(second).fill(8n)],
      ) as Hex;
    expect(readArrays(lists(50, 1), 2)?.map(({ length }) => length)).toEqual([50, 1]);
    expect(readArrays(lists(51, 1), 2)).toBeNull();
    expect(readArrays(lists(1, 51), 2)).toBeNull();
  });

  test('the Balancer decoder never throws', () => {
    const topic0 = fc.constantFrom(...VAULT_TOPICS, ...POOL_TOPICS);
    const text = fc.oneof(fc.string({ maxLength: 300 }), fc.stringMatching(/^0x[0-9a-fxz-]{0,640}$/));
    const property = fc.property(topic0, fc.array(text, { maxLength: 4 }), text, (topic, rest, data) => {
      decode({ topics: [topic, ...rest], data });
      decode({ topics: rest, data });
    });
    fc.assert(property, { numRuns: MUTANTS });
  });

  test.each(GOLDEN_LOGS)('wrong variants of the golden log "$name" are refused', ({ log }) => {
    const { topics, data } = log;
    const wrong: Words[] = [
      { topics: [], data },
      { topics: topics.slice(1), data },
      { topics: topics.slice(0, -1), data },
      { topics: [...topics, toData([toWord(0n)])], data },
      { topics: [toData(['11'.repeat(32)]), ...topics.slice(1)], data },
      ...['0x', '', data.slice(0, -2), `${data}00`, data.slice(0, -64), data + toWord(0n)].map((other) => ({
        topics,
        data: other,
      })),
      { topics, data: `${data.slice(0, -1)}g` },
      { topics, data: `0x-${data.slice(3)}` },
      ...topics.slice(1).map((_topic, index) => ({
        topics: topics.map((topic, place) => (place === index + 1 ? topic.slice(0, -2) : topic)),
        data,
      })),
    ];
    for (const words of wrong) expect(decode(words)).toBeNull();
  });
});
