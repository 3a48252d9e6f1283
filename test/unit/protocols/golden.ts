/** The golden logs: one for each event and direction, chosen by hand, with their decoded values. */
import pancakeV3Logs from '../../golden/logs/pancakeV3.json';
import uniswapV2Logs from '../../golden/logs/uniswapV2.json';
import uniswapV3Logs from '../../golden/logs/uniswapV3.json';
import { EMPTY_STATE } from '../../../src/domain/pool';
import { pancakeV3 } from '../../../src/protocols/uniswapV3/pancakeV3';
import type { PoolCreation, PoolEvent, Protocol } from '../../../src/protocols/protocol';
import { uniswapV2 } from '../../../src/protocols/uniswapV2/uniswapV2';
import { uniswapV3 } from '../../../src/protocols/uniswapV3/uniswapV3';
import { toLog, type Words } from './reference';

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
