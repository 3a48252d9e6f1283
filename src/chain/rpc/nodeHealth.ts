/** What /readyz and /metrics want to know of the nodes behind the pool. Plain facts, free of URL secrets. */
import type { MismatchKind } from '../blocks/blockMismatch';

/**
 * `lagging` endpoints and `slow` ones, which lately gave no answer in time, are used less, `benched` ones only when no other
 * is left, `wrong_chain` ones never.
 */
export type EndpointState = 'ok' | 'lagging' | 'slow' | 'benched' | 'wrong_chain';

export interface EndpointHealth {
  /** `#index host`. */
  readonly name: string;
  readonly state: EndpointState;
  /** The highest block that this endpoint has shown, null before the first. */
  readonly head: number | null;
  /** Unix ms of the last good answer. */
  readonly lastGoodAt: number | null;
  readonly lastError: string | null;
  readonly lastErrorAt: number | null;
}

/** What was asked of an endpoint; grows only, but for what is under way. */
export interface EndpointTraffic {
  readonly name: string;
  readonly calls: number;
  /** Calls without an answer yet. */
  readonly underWay: number;
  /** Failed calls by kind of error. */
  readonly errors: Readonly<Record<string, number>>;
}

export interface NodeHealth {
  /** Unix ms of the last good answer of any endpoint. */
  readonly lastGoodAt: number | null;
  /** The best head among endpoints that are believed. */
  readonly head: number | null;
  readonly endpoints: readonly EndpointHealth[];
  /** Answers that failed verification, by what was wrong; grows only. */
  readonly mismatches: Readonly<Record<MismatchKind, number>>;
}

/** Sums the endpoints up. */
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
