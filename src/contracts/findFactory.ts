/**
 * Finds the contract that created another contract in a transaction, from a trace. Tries the usual trace methods.
 * Many nodes have none of them. Some nodes refuse them with unusual errors, which have the same meaning here.
 */
import { z } from 'zod';

import type { Endpoint } from '../node/rpc/endpoint';
import type { EndpointPool } from '../node/rpc/endpointPool';
import { RpcError, type RpcErrorKind } from '../node/rpc/rpcError';
import { isAddress, toLowerHex, type Hex } from '../domain/hex';

export type TraceRpc = Pick<EndpointPool, 'run'>;

/** Errors of a node that is away. After any other error, the node is one that cannot trace. */
const AWAY_KINDS: ReadonlySet<RpcErrorKind> = new Set(['network', 'rate_limited']);
/** Largest number of calls (frames) of one trace that are read. */
const FRAMES_MAX = 100_000;

interface Tracer {
  readonly method: string;
  readonly options: readonly unknown[];
  read(trace: unknown, contract: Hex): Hex | null;
}

/** Trace methods in the order in which they are tried. The first method that the node has is used. */
const TRACERS: readonly Tracer[] = [
  { method: 'debug_traceTransaction', options: [{ tracer: 'callTracer' }], read: readFrames },
  { method: 'trace_transaction', options: [], read: readTraces },
];

/**
 * The contract that created `contract` in a transaction. Null if the trace does not create the contract,
 * undefined if no node can trace. Rejects when the signal aborts.
 */
export async function findFactory(
  rpc: TraceRpc,
  transaction: Hex,
  contract: Hex,
  signal: AbortSignal,
): Promise<Hex | null | undefined> {
  try {
    return await rpc.run(
      (endpoint, linkedSignal) => findInTrace(endpoint, transaction, contract, linkedSignal),
      {
        signal,
        roundsMax: 1,
      },
    );
  } catch (error) {
    if (error instanceof RpcError && !signal.aborted) return undefined;
    throw error;
  }
}

/** Calls the endpoint directly. A node that cannot trace is not faulty, so it must keep its rank in the pool. */
async function findInTrace(
  endpoint: Endpoint,
  transaction: Hex,
  contract: Hex,
  signal: AbortSignal,
): Promise<Hex | null | undefined> {
  for (const { method, options, read } of TRACERS) {
    const calls = [{ method, params: [transaction, ...options] }];
    const [answer] = await endpoint.attempt(calls, (result) => read(result, contract), signal);
    if (answer === undefined) continue;
    if ('value' in answer) return answer.value;
    const { error } = answer;
    if (AWAY_KINDS.has(error.kind) && error.rpcCode === null) throw error;
  }
  return undefined;
}

const frameShape = z.object({
  type: z.string(),
  from: z.custom<Hex>(isAddress),
  to: z.custom<Hex>(isAddress).nullish(),
  error: z.string().nullish(),
  calls: z.array(z.unknown()).nullish(),
});

/** Reads the tree of the call tracer. A call that failed, and the calls inside it, created nothing. */
function readFrames(trace: unknown, contract: Hex): Hex | null {
  const unreadFrames = [trace];
  for (let framesRead = 0; framesRead < unreadFrames.length && framesRead < FRAMES_MAX; framesRead += 1) {
    const parsed = frameShape.safeParse(unreadFrames[framesRead]);
    if (!parsed.success) throw new Error('the answer of the node is not a call trace');
    const { type, from, to, error, calls } = parsed.data;
    if (error != null) continue;
    if (type.startsWith('CREATE') && to != null && toLowerHex(to) === contract) return toLowerHex(from);
    for (const call of calls ?? []) unreadFrames.push(call);
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

/**
 * Reads Parity's list of traces. An attempt that failed later is also valid, because the contract's address
 * determines its factory.
 */
function readTraces(trace: unknown, contract: Hex): Hex | null {
  const parsed = tracesShape.safeParse(trace);
  if (!parsed.success) throw new Error('the answer of the node is not a list of traces');
  for (const { type, action, result } of parsed.data.slice(0, FRAMES_MAX)) {
    const createdContract = result?.address;
    if (
      type === 'create' &&
      createdContract != null &&
      action.from != null &&
      toLowerHex(createdContract) === contract
    )
      return toLowerHex(action.from);
  }
  return null;
}
