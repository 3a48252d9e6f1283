/** The node's head for answers where no ingester watches it: asked when somebody wants to know, briefly, and remembered. */
import { errorText } from '../../errors';
import type { Logger } from '../../log';
import { systemClock, withDeadline, type Clock } from '../rpc/clock';
import { parseBlockNumber, type EndpointPool } from '../rpc/endpointPool';
import { RpcError } from '../rpc/rpcError';

const ASK_MS = 1_500;
/** For one endpoint, so that after one that hangs another can be asked. */
const ATTEMPT_MS = 700;
/** An answer, or that there was none, holds for so long. */
const FRESH_MS = 1_000;
/** … and tells nothing any more after so long. */
const KNOWN_MS = 15_000;

export interface NodeHeadFacts {
  /** null: unknown. */
  readonly nodeHead: number | null;
  readonly nodeAnswers: boolean;
}

export interface NodeHead {
  /** What was last said, for those who cannot wait; null when that is long ago. Has it asked again. */
  known(): NodeHeadFacts | null;
  /** Never rejects. */
  ask(): Promise<NodeHeadFacts>;
}

export interface NodeHeadOptions {
  readonly rpc: Pick<EndpointPool, 'call'>;
  readonly log: Logger;
  readonly clock?: Clock;
}

export function createNodeHead({ rpc, log, clock = systemClock() }: NodeHeadOptions): NodeHead {
  let last: { readonly at: number; readonly facts: NodeHeadFacts } | null = null;
  let asking: Promise<NodeHeadFacts> | null = null;
  const read = async (): Promise<NodeHeadFacts> => {
    try {
      const late = (): Error => new RpcError('timeout', `no answer within ${ASK_MS} ms`);
      const nodeHead = await withDeadline(clock, ASK_MS, undefined, late, (signal) =>
        rpc.call('eth_blockNumber', [], parseBlockNumber, { signal, roundsMax: 1, attemptMs: ATTEMPT_MS }),
      );
      return { nodeHead, nodeAnswers: true };
    } catch (error) {
      log.debug({ error: errorText(error) }, 'the node does not say its head');
      return { nodeHead: null, nodeAnswers: false };
    }
  };
  const begin = async (): Promise<NodeHeadFacts> => {
    const facts = await read();
    last = { at: clock.now(), facts };
    asking = null;
    return facts;
  };
  const ask = (): Promise<NodeHeadFacts> => {
    if (asking !== null) return asking;
    if (last !== null && clock.now() - last.at < FRESH_MS) return Promise.resolve(last.facts);
    asking = begin();
    return asking;
  };
  return {
    known() {
      void ask();
      return last !== null && clock.now() - last.at < KNOWN_MS ? last.facts : null;
    },
    ask,
  };
}
