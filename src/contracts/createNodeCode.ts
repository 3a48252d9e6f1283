/**
 * Reads the current code at single addresses from a chain's node. Results are cached, and parallel requests are
 * limited. An API answer that can do without the code never waits long.
 */
import { LRUCache } from 'lru-cache';

import type { EthCalls } from '../node/calls/askContracts';
import { systemClock, withDeadline, type Clock } from '../node/rpc/clock';
import { RpcError } from '../node/rpc/rpcError';
import type { Hex } from '../domain/hex';
import { AppError } from '../errors';
import { toCode, type ContractCode } from '../query/contracts/contractFacts';
import type { NodeCode } from '../query/contracts/nodeCode';
import { readContractCodes } from './readContractCode';

/** Number of cached results. Results end with the head or expire, because code and implementations change. */
const CODES_KEPT_MAX = 5_000;
const CODE_KEPT_MS = 10_000;
/** Largest number of addresses whose code is requested in parallel. */
const REQUESTS_MAX = 8;
/** Time limit in ms for all requests about one address. */
const REQUEST_TIMEOUT_MS = 2_000;
/**
 * Longest time in ms that an API answer waits if it can do without the code. A later result is used for the next
 * request.
 */
const WAIT_MAX_MS = 300;
/** After a failure, an API answer that can do without the code does not ask the node for this time in ms. */
const FAILURE_PAUSE_MS = 3_000;

export function createNodeCode(rpc: EthCalls, clock: Clock = systemClock()): NodeCode {
  const keptCodes = new LRUCache<
    Hex,
    { readonly askedAt: number; readonly head: string; readonly code: Promise<ContractCode | null> }
  >({
    max: CODES_KEPT_MAX,
  });
  let runningCount = 0;
  let pausedUntil = -Infinity;
  const requestCode = async (address: Hex): Promise<ContractCode | null> => {
    if (runningCount >= REQUESTS_MAX)
      throw new AppError(
        'node_failed',
        `${REQUESTS_MAX} requests to the node are already running; try again later`,
      );
    runningCount += 1;
    try {
      const timeoutError = (): Error =>
        new RpcError('timeout', `the node did not answer within ${REQUEST_TIMEOUT_MS} ms`);
      const [code] = await withDeadline(clock, REQUEST_TIMEOUT_MS, undefined, timeoutError, (signal) =>
        readContractCodes(rpc, [{ address, block: 'latest' }], signal),
      );
      if (code === null) throw new AppError('node_failed', 'the node gave a malformed answer about the code');
      return code === undefined ? null : toCode(code);
    } catch (error) {
      pausedUntil = clock.now() + FAILURE_PAUSE_MS;
      throw error;
    } finally {
      runningCount -= 1;
    }
  };
  const findCached = (address: Hex, head: string): Promise<ContractCode | null> | null => {
    const cached = keptCodes.get(address);
    return cached?.head === head && clock.now() - cached.askedAt < CODE_KEPT_MS ? cached.code : null;
  };
  const getCode: NodeCode['get'] = (address, head = '') => {
    const cached = findCached(address, head);
    if (cached !== null) return cached;
    const code = requestCode(address);
    keptCodes.set(address, { askedAt: clock.now(), head, code });
    code.catch(() => keptCodes.delete(address));
    return code;
  };
  return {
    get: getCode,
    async find(address, head = '') {
      if (clock.now() < pausedUntil && findCached(address, head) === null) return undefined;
      const waitEnd = new AbortController();
      const waitOver = clock.sleep(WAIT_MAX_MS, waitEnd.signal).then(
        () => undefined,
        () => undefined,
      );
      try {
        return await Promise.race([getCode(address, head).catch(() => undefined), waitOver]);
      } finally {
        waitEnd.abort();
      }
    },
  };
}
