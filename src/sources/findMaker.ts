/**
 * Which contract made another within a transaction, as a trace tells it, by whichever of the usual methods the node has. Many
 * nodes have none, and some refuse it rudely: that is an answer too.
 */
import { z } from 'zod';

import type { EndpointPool } from '../chain/endpointPool';
import { RpcError } from '../chain/rpcError';
import { isAddress, toLowerHex, type Hex } from '../domain/hex';
import { AppError } from '../errors';

export type TraceRpc = Pick<EndpointPool, 'run'>;

/** Frames of one trace that are looked at. */
const FRAMES_MAX = 100_000;

interface Tracer {
  readonly method: string;
  readonly options: readonly unknown[];
  read(trace: unknown, contract: Hex): Hex | null;
}

/** The first that a node has is asked. */
const TRACERS: readonly Tracer[] = [
  { method: 'debug_traceTransaction', options: [{ tracer: 'callTracer' }], read: readFrames },
  { method: 'trace_transaction', options: [], read: readTraces },
];

/**
 * The maker of `contract` in a transaction; null: the trace has no creation of it; undefined: nobody tells. Rejects when the
 * signal aborts.
 */
export async function findMaker(
  rpc: TraceRpc,
  transaction: Hex,
  contract: Hex,
  signal: AbortSignal,
): Promise<Hex | null | undefined> {
  try {
    // Straight to the endpoint: what a node does not trace is no fault of it, and must not make it be used less.
    return await rpc.run(
      async (endpoint, linked) => {
        for (const { method, options, read } of TRACERS) {
          const calls = [{ method, params: [transaction, ...options] }];
          const [answer] = await endpoint.batchSettled(calls, (trace) => read(trace, contract), linked);
          if (answer !== undefined && 'value' in answer) return answer.value;
        }
        return undefined;
      },
      { signal, roundsMax: 1 },
    );
  } catch (error) {
    if (error instanceof RpcError && !signal.aborted) return undefined;
    throw error;
  }
}

const frameShape = z.object({
  type: z.string(),
  from: z.custom<Hex>(isAddress),
  to: z.custom<Hex>(isAddress).nullish(),
  error: z.string().nullish(),
  calls: z.array(z.unknown()).nullish(),
});

/** Of the call tracer: a tree. What failed made nothing, nor did what it called. */
function readFrames(trace: unknown, contract: Hex): Hex | null {
  const frames = [trace];
  for (let looked = 0; looked < frames.length && looked < FRAMES_MAX; looked += 1) {
    const parsed = frameShape.safeParse(frames[looked]);
    if (!parsed.success) throw new AppError('node_failed', 'the node answered no trace');
    const { type, from, to, error, calls } = parsed.data;
    if (error != null) continue;
    if (type.startsWith('CREATE') && to != null && toLowerHex(to) === contract) return toLowerHex(from);
    for (const call of calls ?? []) frames.push(call);
  }
  return null;
}

const tracesShape = z.array(
  z.object({
    type: z.string(),
    action: z.object({ from: z.custom<Hex>(isAddress).nullish() }),
    result: z.object({ address: z.custom<Hex>(isAddress).nullish() }).nullish(),
  }),
);

/** Of Parity's traces: a list. The address of a contract tells its maker, whatever became of this attempt to make it. */
function readTraces(trace: unknown, contract: Hex): Hex | null {
  const parsed = tracesShape.safeParse(trace);
  if (!parsed.success) throw new AppError('node_failed', 'the node answered no traces');
  for (const { type, action, result } of parsed.data.slice(0, FRAMES_MAX)) {
    const made = result?.address;
    if (type === 'create' && made != null && action.from != null && toLowerHex(made) === contract)
      return toLowerHex(action.from);
  }
  return null;
}
