/**
 * Reads the node's head for processes without an ingester, when a request needs it. Requests are short, and
 * results are cached.
 */
import { errorText } from '../../errors';
import type { Logger } from '../../log';
import { systemClock, withDeadline, type Clock } from '../rpc/clock';
import { parseBlockNumber, type EndpointPool } from '../rpc/endpointPool';
import { faultOfError, type NodeFault } from '../rpc/faults/nodeFaults';
import { RpcError } from '../rpc/rpcError';

/** Time limit in ms of one request, over all endpoints. */
const ASK_MS = 1_500;
/** Time limit in ms of one endpoint, so that another endpoint can still answer. */
const ATTEMPT_MS = 700;
/** Time in ms for which a result, even a failure, is reused. */
const FRESH_MS = 1_000;
/** `known` returns results up to this age in ms. */
const KNOWN_MS = 15_000;

interface ProbedHead {
  /** The head of the node; null if unknown. */
  readonly nodeHead: number | null;
  readonly nodeAnswers: boolean;
  /** Why the node gave no usable answer. Absent if it gave one. */
  readonly nodeFaults?: readonly NodeFault[];
}

interface HeadProbe {
  /**
   * Returns the last result without waiting, or null if that result is too old. Also starts a new request.
   */
  known(): ProbedHead | null;
  /** Asks the node for its head, or returns a recent result. Never rejects. */
  ask(): Promise<ProbedHead>;
}

interface HeadProbeOptions {
  readonly rpc: Pick<EndpointPool, 'call' | 'health'>;
  readonly log: Logger;
  readonly clock?: Clock;
}

export function createHeadProbe({ rpc, log, clock = systemClock() }: HeadProbeOptions): HeadProbe {
  let lastResult: { readonly readAtMs: number; readonly facts: ProbedHead } | null = null;
  let asking: Promise<ProbedHead> | null = null;
  const read = async (): Promise<ProbedHead> => {
    try {
      const timeoutError = (): Error =>
        new RpcError('timeout', `the node did not answer within ${ASK_MS} ms`);
      const nodeHead = await withDeadline(clock, ASK_MS, undefined, timeoutError, (signal) =>
        rpc.call('eth_blockNumber', [], parseBlockNumber, { signal, roundsMax: 1, attemptMs: ATTEMPT_MS }),
      );
      return { nodeHead, nodeAnswers: true };
    } catch (error) {
      log.debug({ error: errorText(error) }, 'reading the head from the node failed');
      const nodeFaults = [faultOfError(error, rpc.health().endpoints)];
      return { nodeHead: null, nodeAnswers: false, nodeFaults };
    }
  };
  const begin = async (): Promise<ProbedHead> => {
    const facts = await read();
    lastResult = { readAtMs: clock.now(), facts };
    asking = null;
    return facts;
  };
  const ask = (): Promise<ProbedHead> => {
    if (asking !== null) return asking;
    if (lastResult !== null && clock.now() - lastResult.readAtMs < FRESH_MS)
      return Promise.resolve(lastResult.facts);
    asking = begin();
    return asking;
  };
  return {
    known() {
      void ask();
      return lastResult !== null && clock.now() - lastResult.readAtMs < KNOWN_MS ? lastResult.facts : null;
    },
    ask,
  };
}
