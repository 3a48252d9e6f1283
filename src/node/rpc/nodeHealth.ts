/** Health and traffic of the endpoints, for /readyz and /metrics. Contains no secrets of URLs. */
import type { MismatchKind } from '../blocks/blockMismatch';
import type { FaultFacts } from './faults/endpointFaults';

/**
 * State of an endpoint. `slow` means a recent timeout. Endpoints that are `lagging` or `slow` are used less.
 * `benched` endpoints are used only if there is no other. `wrong_chain` endpoints are never used.
 */
export type EndpointState = 'ok' | 'lagging' | 'slow' | 'benched' | 'wrong_chain';

/** A method that fails for certain blocks, although other methods of the endpoint return them. */
export interface Untrusted {
  readonly method: string;
  /** The newest such block. */
  readonly block: number;
}

export interface EndpointHealth extends FaultFacts {
  /** Name of the endpoint: `#index host`. */
  readonly name: string;
  readonly state: EndpointState;
  /** Last head that this endpoint reported. Null before the first answer. */
  readonly head: number | null;
  /** Time of the last good answer, in ms of the clock. */
  readonly lastGoodAt: number | null;
  /** Null if no method is known to fail for certain blocks. */
  readonly untrusted: Untrusted | null;
}

/** Counters of one endpoint. All except `underWay` never decrease. */
export interface EndpointTraffic {
  readonly name: string;
  readonly calls: number;
  /** Number of calls that have no answer yet. */
  readonly underWay: number;
  /** Number of failed calls, by kind of error. */
  readonly errors: Readonly<Record<string, number>>;
}

export interface NodeHealth {
  /** Time of the last good answer of any endpoint, in ms of the clock. */
  readonly lastGoodAt: number | null;
  /** The best head of all endpoints, without benched endpoints and endpoints of another chain. */
  readonly head: number | null;
  readonly endpoints: readonly EndpointHealth[];
  /** Number of failed verifications by kind. It never decreases. */
  readonly mismatches: Readonly<Record<MismatchKind, number>>;
}

export function toNodeHealth(
  endpoints: readonly EndpointHealth[],
  mismatches: ReadonlyMap<MismatchKind, number>,
): NodeHealth {
  const goodTimes = endpoints.flatMap((endpoint) => endpoint.lastGoodAt ?? []);
  const heads = endpoints.filter(isBelieved).flatMap((endpoint) => endpoint.head ?? []);
  const count = (kind: MismatchKind): number => mismatches.get(kind) ?? 0;
  return {
    lastGoodAt: goodTimes.length === 0 ? null : Math.max(...goodTimes),
    head: heads.length === 0 ? null : Math.max(...heads),
    endpoints,
    mismatches: {
      block_identity: count('block_identity'),
      parent_link: count('parent_link'),
      transactions: count('transactions'),
      log_index: count('log_index'),
      removed_log: count('removed_log'),
      bloom: count('bloom'),
      proof: count('proof'),
      majority: count('majority'),
      timestamp: count('timestamp'),
      malformed: count('malformed'),
    },
  };
}

function isBelieved(endpoint: EndpointHealth): boolean {
  return endpoint.state !== 'benched' && endpoint.state !== 'wrong_chain';
}
