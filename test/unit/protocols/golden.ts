/** The golden logs: one for each event and direction, chosen by hand, with their decoded values. */
import { Interface } from 'ethers';
import fc from 'fast-check';

import pancakeV3Logs from '../../golden/logs/pancakeV3.json';
import uniswapV2Logs from '../../golden/logs/uniswapV2.json';
import uniswapV3Logs from '../../golden/logs/uniswapV3.json';
import { EMPTY_STATE } from '../../../src/domain/pool';
import { pancakeV3 } from '../../../src/protocols/uniswapV3/pancakeV3';
import type { PoolCreation, PoolEvent, Protocol } from '../../../src/protocols/protocol';
import { uniswapV2 } from '../../../src/protocols/uniswapV2/uniswapV2';
import { uniswapV3 } from '../../../src/protocols/uniswapV3/uniswapV3';
import { getProtocol } from '../../../src/protocols/registry';
import { runsOf } from '../../support/run/runs';
import { encode, toLog, type Words } from './reference';
import { oneDigitOff, otherLayout } from './spoiltLogs';

interface GoldenLog {
  readonly protocol: Protocol;
  /** A description of the log. */
  readonly name: string;
  /** The event as Solidity declares it. */
  readonly event: string;
  readonly log: Words;
  /** Integers as decimal strings. */
  readonly decoded: unknown;
}

export const GOLDEN_LOGS: readonly GoldenLog[] = [
  ...uniswapV2Logs.map((golden) => ({ protocol: uniswapV2, ...golden })),
  ...uniswapV3Logs.map((golden) => ({ protocol: uniswapV3, ...golden })),
  ...pancakeV3Logs.map((golden) => ({ protocol: pancakeV3, ...golden })),
];

/** The protocol's reading of these words: a creation, an event, or null. */
export function decode(protocol: Protocol, words: Words): PoolCreation | PoolEvent | null {
  const log = toLog(words);
  return protocol.decodeCreation(log) ?? protocol.decodeEvent(log, EMPTY_STATE);
}

/** In JSON form: integers as decimal strings. */
export function asJson(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? each.toString() : each)),
  );
}

/** An event as Solidity declares it, its values, and what the protocol reads. */
export type EventGolden = readonly [
  name: string,
  event: string,
  values: readonly unknown[],
  decoded: unknown,
];

/** The log that ethers encodes. */
export function wordsOf(event: string, values: readonly unknown[]): Words {
  const abi = new Interface([event]);
  return encode(abi, abi.fragments[0]!.format('sighash'), values);
}

/**
 * Tests that a protocol reads each event as it stands, and refuses a spoilt log or reads it as ethers does. A log that
 * `mayRefuse` accepts may be refused although it is whole, because no contract emits its values.
 */
export function testGoldenEvents(
  protocol: Protocol,
  goldens: readonly EventGolden[],
  mayRefuse: (event: string) => boolean,
): void {
  describe(`golden logs of ${protocol.name}`, () => {
    test.each(goldens)('%s', (_name, event, values, decoded) => {
      expect(decode(protocol, wordsOf(event, values))).toEqual(decoded);
    });

    it('cover every event, and the registry knows the protocol', () => {
      const seen = new Set(goldens.map(([, event, values]) => wordsOf(event, values).topics[0]));
      const topics = [...protocol.creationTopics, ...protocol.eventTopics];
      expect(topics.filter((topic) => !seen.has(topic))).toEqual([]);
      expect(getProtocol(protocol.name)).toBe(protocol);
    });

    test.each(goldens)('a spoilt log is refused, or read as ethers reads it: %s', (_name, event, values) => {
      const abi = new Interface([event]);
      const words = fc.constant(wordsOf(event, values));
      const isWhole = (log: Words): boolean => {
        try {
          const parsed = abi.parseLog({ ...log, topics: [...log.topics] });
          const again = parsed === null ? null : encode(abi, parsed.signature, [...parsed.args]);
          return again?.data === log.data && again.topics.join() === log.topics.join();
        } catch {
          return false;
        }
      };
      const digits = fc.property(oneDigitOff(words), (log) => {
        const read = decode(protocol, log);
        if (read !== null || !mayRefuse(event)) expect(read !== null).toBe(isWhole(log));
      });
      fc.assert(digits, { numRuns: runsOf(60) });
      const layouts = fc.property(otherLayout(words), (log) => expect(decode(protocol, log)).toBeNull());
      fc.assert(layouts, { numRuns: runsOf(30) });
    });
  });
}
