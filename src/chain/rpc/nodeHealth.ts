/** Health and traffic of the endpoints, for /readyz and /metrics. Contains no URL secrets. */
import type { MismatchKind } from '../blocks/blockMismatch';

/**
 * `slow`: a recent timeout. `lagging` and `slow` endpoints are used less, `benched` ones only if no other is
 * left, `wrong_chain` ones never.
 */
export type EndpointState = 'ok' | 'lagging' | 'slow' | 'benched' | 'wrong_chain';

export interface EndpointHealth {
  /** `#index host`. */
  readonly name: string;
  readonly state: EndpointState;
  /** Last head of this endpoint. Null before the first answer. */
  readonly head: number | null;
  /** Clock time of the last good answer, ms. */
  readonly lastGoodAt: number | null;
  readonly lastError: string | null;
}

/** Counters of one endpoint. All but `underWay` only grow. */
export interface EndpointTraffic {
  readonly name: string;
  readonly calls: number;
  /** Calls without an answer yet. */
  readonly underWay: number;
  /** Failed calls by kind of error. */
  readonly errors: Readonly<Record<string, number>>;
}

export interface NodeHealth {
  /** Clock time of the last good answer of any endpoint, ms. */
  readonly lastGoodAt: number | null;
  /** The best head. Benched endpoints and endpoints of another chain do not count. */
  readonly head: number | null;
  readonly endpoints: readonly EndpointHealth[];
  /** Failed verifications by kind. Only grows. */
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
      malformed: count('malformed'),
    },
  };
}

function isBelieved(endpoint: EndpointHealth): boolean {
  return endpoint.state !== 'benched' && endpoint.state !== 'wrong_chain';
}
