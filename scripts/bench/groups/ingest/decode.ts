/** Measures decoding of mixed logs into events and states, against JSON.parse of the same answer. */
import type { ChainLog } from '../../../../src/domain/block';
import type { Hex } from '../../../../src/domain/hex';
import { EMPTY_STATE, type PoolState } from '../../../../src/domain/pool';
import { uniswapV2 } from '../../../../src/protocols/uniswapV2/uniswapV2';
import { uniswapV3 } from '../../../../src/protocols/uniswapV3/uniswapV3';
import { median, type Figure } from '../../figure';
import type { StubChain } from '../../../../test/support/stub/stubChain';

const ROUNDS = 5;

export function benchDecode(chain: StubChain): Figure[] {
  const parseTimesMs: number[] = [];
  const decodeTimesMs: number[] = [];
  let logs = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const parseStartedAt = performance.now();
    const logsByBlock = chain.logBodies.map((body) => JSON.parse(body.toString()) as ChainLog[]);
    parseTimesMs.push(performance.now() - parseStartedAt);
    const states = new Map<Hex, PoolState>();
    const decodeStartedAt = performance.now();
    logs = 0;
    for (const blockLogs of logsByBlock) {
      for (const log of blockLogs) {
        logs += 1;
        const protocol = uniswapV2.eventTopics.has(log.topics[0] ?? '0x') ? uniswapV2 : uniswapV3;
        const event = protocol.decodeEvent(log);
        if (event === null) continue;
        states.set(log.address, protocol.applyEvent(states.get(log.address) ?? EMPTY_STATE, event));
      }
    }
    decodeTimesMs.push(performance.now() - decodeStartedAt);
  }
  const value = (median(decodeTimesMs) / logs) * 1e6;
  const limit = (median(parseTimesMs) / logs) * 1e6;
  return [
    {
      key: 'decode',
      name: `decode ${logs} mixed logs`,
      value,
      unit: 'ns/log',
      limitName: 'JSON.parse of the same logs',
      limit,
      ratio: value / limit,
      target: '<= 0.8x',
      ok: value <= 0.8 * limit,
    },
  ];
}
