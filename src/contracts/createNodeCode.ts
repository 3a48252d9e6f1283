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
const KEPT_MAX = 5_000;
const KEPT_MS = 10_000;
/** Largest number of addresses whose code is requested in parallel. */
const ASKED_MAX = 8;
/** Time limit in ms for all requests about one address. */
const ASK_MS = 2_000;
/**
 * Longest time in ms that an API answer waits if it can do without the code. A later result is used for the next
 * request.
 */
const PATIENCE_MS = 300;
/** After a failure, an API answer that can do without the code does not ask the node for this time in ms. */
const REST_MS = 3_000;

export function createNodeCode(rpc: EthCalls, clock: Clock = systemClock()): NodeCode {
  const keptCodes = new LRUCache<
    Hex,
    { readonly at: number; readonly head: string; readonly code: Promise<ContractCode | null> }
  >({
    max: KEPT_MAX,
  });
  let underWay = 0;
  let restUntil = -Infinity;
  const ask = async (address: Hex): Promise<ContractCode | null> => {
    if (underWay >= ASKED_MAX)
      throw new AppError(
        'node_failed',
        `${ASKED_MAX} requests to the node are already running; try again later`,
      );
    underWay += 1;
    try {
      const timeoutError = (): Error =>
        new RpcError('timeout', `the node did not answer within ${ASK_MS} ms`);
      const [code] = await withDeadline(clock, ASK_MS, undefined, timeoutError, (signal) =>
        readContractCodes(rpc, [{ address, block: 'latest' }], signal),
      );
      if (code === null) throw new AppError('node_failed', 'the node gave a malformed answer about the code');
      return code === undefined ? null : toCode(code);
    } catch (error) {
      restUntil = clock.now() + REST_MS;
      throw error;
    } finally {
      underWay -= 1;
    }
  };
  const findKept = (address: Hex, head: string): Promise<ContractCode | null> | null => {
    const cached = keptCodes.get(address);
    return cached?.head === head && clock.now() - cached.at < KEPT_MS ? cached.code : null;
  };
  const get: NodeCode['get'] = (address, head = '') => {
    const cached = findKept(address, head);
    if (cached !== null) return cached;
    const code = ask(address);
    keptCodes.set(address, { at: clock.now(), head, code });
    code.catch(() => keptCodes.delete(address));
    return code;
  };
  return {
    get,
    async find(address, head = '') {
      if (clock.now() < restUntil && findKept(address, head) === null) return undefined;
      const waited = new AbortController();
      const silence = clock.sleep(PATIENCE_MS, waited.signal).then(
        () => undefined,
        () => undefined,
      );
      try {
        return await Promise.race([get(address, head).catch(() => undefined), silence]);
      } finally {
        waited.abort();
      }
    },
  };
}
