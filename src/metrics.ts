/**
 * The Prometheus metrics of the process, in one registry. Other modules record values or add their own
 * metrics.
 */
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

import { watchChains, watchProof, type ChainFigures, type ProvenRanges } from './chainGauges';
import { createChainReads, watchLabels, type ChainReads, type Labelled } from './gauges';

/** Transfer counters of an ingester since its start. */
interface TransferFigures {
  /** Number of skipped logs, by reason. */
  readonly skippedTransfers: Readonly<Record<'nft' | 'malformed' | 'unplaced', number>>;
  readonly balanceChecks: Readonly<
    Record<'rounds' | 'compared' | 'mismatches' | 'failures' | 'rebasing', number>
  >;
}

export interface Metrics {
  /** Other modules may register their own metrics here. */
  readonly registry: Registry;
  readonly contentType: string;
  observeQuery(name: string, seconds: number): void;
  /** Records a statement of a writer. `name` is the table of an insert, otherwise the name of the statement. */
  observeStatement(
    kind: 'insert' | 'command' | 'select',
    name: string,
    seconds: number,
    failed: boolean,
  ): void;
  /** `route` is the path with parameter names, never the URL, so that the number of time series stays
   * small. */
  observeRequest(route: string, method: string, status: number, seconds: number): void;
  /** Counts stream messages that slow clients lost. */
  countDrops(messages: number): void;
  /** Registers a function that returns the figures of each chain; each scrape calls it. Call once. */
  watchChains(read: () => readonly ChainFigures[]): void;
  /** Registers a function that returns the proven parts of a chain; each scrape calls it. Call once per chain. */
  watchProof(chainId: number, read: () => Promise<ProvenRanges>): void;
  /** Registers a function that returns the transfer counters of a chain's local ingester; each scrape calls it.
   * Call once per chain. */
  watchTransfers(chainId: number, read: () => TransferFigures): void;
  /** Registers a function that returns the length of a queue; each scrape calls it. Queues of one name are added up. */
  watchQueue(queue: string, depth: () => number): void;
  /**
   * Registers a function that returns the RPC counters; each scrape calls it. Call once for each chain and part of the
   * program that calls nodes.
   */
  watchRpc(chainId: number, user: string, read: () => readonly RpcFigures[]): void;
  /** Registers a function that returns the codes of current problems; each scrape calls it. Call once. */
  watchProblems(list: () => readonly string[]): void;
  /** Registers a function that returns the figures of a chain's ingester; each scrape calls it. Call once per chain. */
  watchIngest(chainId: number, read: () => IngestFigures): void;
  /** The text that Prometheus reads from /metrics. */
  render(): Promise<string>;
}

/** State of an endpoint. The reason for which it was benched last names block, field and both values. */
interface EndpointFigures {
  readonly name: string;
  readonly state: string;
  readonly lastWrongAnswer: string | null;
}

/** Number of calls to one endpoint by one part of the program: the ingester or the API. It only grows. */
interface RpcFigures {
  readonly name: string;
  readonly calls: number;
  /** Number of failed calls, by kind of error. */
  readonly errors: Readonly<Record<string, number>>;
}

/** Counters and positions of the ingester. Null if a value is unknown now. */
export interface IngestFigures {
  readonly nodeHead: number | null;
  readonly finalTo: number | null;
  /** These counters only grow. */
  readonly blocks: number;
  readonly logs: number;
  readonly swaps: number;
  readonly malformedLogs: number;
  /** Progress of the search for pools from before the start block. */
  readonly poolSearch: {
    readonly state: string;
    readonly searchedFrom: number;
    readonly searchTo: number;
    readonly pools: number;
    readonly calls: number;
  };
  readonly refills: number;
  readonly mends: number;
  /** Number of reorgs by depth. It only grows. */
  readonly reorgs: ReadonlyMap<number, number>;
  /** Number of node answers that failed verification, by kind. It only grows. */
  readonly mismatches: Readonly<Record<string, number>>;
  /** State of each endpoint, by its name. */
  readonly endpoints: readonly EndpointFigures[];
}

const QUERY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Interval of the timer whose delay is the lag of the event loop. With the default of 10 ms, it takes 0.35 % of a core. */
const LOOP_INTERVAL_MS = 100;

/** Creates a registry with the default process metrics (CPU, memory, event loop). */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_INTERVAL_MS });
  const registers = [registry];
  const queries = new Histogram({
    name: 'candlehouse_query_seconds',
    help: 'Seconds that a database query takes, by its name',
    labelNames: ['name'],
    buckets: QUERY_BUCKETS,
    registers,
  });
  const requests = new Histogram({
    name: 'candlehouse_http_request_seconds',
    help: 'Seconds until an answer was ready, by route, method and status',
    labelNames: ['route', 'method', 'status'],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const statements = createStatements(registers);
  const queues: (readonly [queue: string, depth: () => number])[] = [];
  watchLabels(registry, 'queue_depth', 'Number of waiting or running tasks, by queue', ['queue'], () => {
    const depths = new Map<string, number>();
    for (const [queue, depth] of queues) depths.set(queue, (depths.get(queue) ?? 0) + depth());
    return [...depths].map(([queue, depth]) => [{ queue }, depth]);
  });
  const nodes: CallingPart[] = [];
  watchNodes(registry, nodes);
  const ingests = createChainReads<IngestFigures>((reads) => watchIngest(registry, reads));
  const transfers = createChainReads<TransferFigures>((reads) => watchTransfers(registry, reads));
  const proofs = createChainReads<ProvenRanges>((reads) => watchProof(registry, reads));
  const drops = new Counter({
    name: 'candlehouse_sse_dropped_messages_total',
    help: 'Stream messages that slow clients lost; a gap message names the lost range',
    registers,
  });
  return {
    registry,
    contentType: registry.contentType,
    observeQuery: (name, seconds) => queries.observe({ name }, seconds),
    observeStatement: statements,
    watchQueue: (queue, depth) => void queues.push([queue, depth]),
    watchRpc: (chainId, user, read) => void nodes.push({ chain: String(chainId), user, read }),
    observeRequest: (route, method, status, seconds) =>
      requests.observe({ route, method, status: String(status) }, seconds),
    countDrops: (messages) => drops.inc(messages),
    watchChains: (read) => watchChains(registry, read),
    watchProof: proofs.add,
    watchTransfers: transfers.add,
    watchProblems: (list) =>
      watchLabels(registry, 'problem', '1 for each current problem of /readyz', ['code'], () =>
        list().map((code) => [{ code }, 1]),
      ),
    watchIngest: ingests.add,
    render: () => registry.metrics(),
  };
}

function createStatements(registers: Registry[]): Metrics['observeStatement'] {
  const inserts = new Histogram({
    name: 'candlehouse_insert_seconds',
    help: 'Seconds that an insert of the ingester takes, by table',
    labelNames: ['table'],
    buckets: QUERY_BUCKETS,
    registers,
  });
  const otherSeconds = new Histogram({
    name: 'candlehouse_statement_seconds',
    help: 'Seconds that another statement of the ingester takes, by kind and name',
    labelNames: ['kind', 'name'],
    buckets: QUERY_BUCKETS,
    registers,
  });
  const failures = new Counter({
    name: 'candlehouse_statement_errors_total',
    help: 'Number of failed statements of the ingester, by kind and name',
    labelNames: ['kind', 'name'],
    registers,
  });
  return (kind, name, seconds, failed) => {
    if (kind === 'insert') inserts.observe({ table: name }, seconds);
    else otherSeconds.observe({ kind, name }, seconds);
    if (failed) failures.inc({ kind, name });
  };
}

/** A part of the program that calls the nodes of a chain: its ingester or the API. */
interface CallingPart {
  readonly chain: string;
  readonly user: string;
  readonly read: () => readonly RpcFigures[];
}

function watchNodes(registry: Registry, parts: readonly CallingPart[]): void {
  const list = (pick: (figures: RpcFigures) => Labelled): Labelled =>
    parts.flatMap(({ chain, user, read }) =>
      read().flatMap((figures) =>
        pick(figures).map(([labels, value]) => {
          return [{ chain, user, endpoint: labelOf(figures.name), ...labels }, value] as const;
        }),
      ),
    );
  watchLabels(
    registry,
    'rpc_calls_total',
    'Number of calls to each RPC endpoint, by user: the ingester or the API',
    ['chain', 'user', 'endpoint'],
    () => list(({ calls }) => [[{}, calls]]),
  );
  watchLabels(
    registry,
    'rpc_errors_total',
    'Number of failed calls to each RPC endpoint, by user and kind of error',
    ['chain', 'user', 'endpoint', 'kind'],
    () => list(({ errors }) => Object.entries(errors).map(([kind, count]) => [{ kind }, count])),
  );
}

function watchTransfers(registry: Registry, reads: ChainReads<TransferFigures>): void {
  watchLabels(
    registry,
    'skipped_transfer_logs',
    'Number of skipped logs of transfers and positions since the start, by reason',
    ['chain', 'reason'],
    () =>
      reads.list(({ skippedTransfers }) =>
        Object.entries(skippedTransfers).map(([reason, count]) => [{ reason }, count]),
      ),
  );
  const checks = (name: string, help: string, count: keyof TransferFigures['balanceChecks']): void =>
    watchLabels(registry, `balance_${name}`, help, ['chain'], () =>
      reads.list(({ balanceChecks }) => [[{}, balanceChecks[count]]]),
    );
  checks('checks', 'Number of comparisons of balances with the node since the start', 'rounds');
  checks('checks_failed', 'Number of comparisons of balances that failed since the start', 'failures');
  checks('compared', 'Number of balances compared with balanceOf since the start', 'compared');
  checks(
    'mismatches',
    'Number of balances that differ from the transfer logs, since the start',
    'mismatches',
  );
  checks(
    'rebasing_tokens',
    'Number of tokens marked as rebasing: their balances change without transfers',
    'rebasing',
  );
}

function watchIngest(registry: Registry, reads: ChainReads<IngestFigures>): void {
  const simple: readonly (readonly [string, string, (figures: IngestFigures) => number | null])[] = [
    ['node_head_block', 'Number of the newest block of the node', ({ nodeHead }) => nodeHead],
    ['final_stored_block', 'Number of the newest block in the final tables', ({ finalTo }) => finalTo],
    ['ingested_blocks_total', 'Number of blocks stored by this process', ({ blocks }) => blocks],
    ['ingested_logs_total', 'Number of logs stored by this process', ({ logs }) => logs],
    ['ingested_swaps_total', 'Number of swaps stored by this process', ({ swaps }) => swaps],
    [
      'malformed_logs_total',
      'Number of logs with the topic of a known event but a different layout',
      (all) => all.malformedLogs,
    ],
    [
      'history_complete',
      '1 if all pools from before the start block are listed, 0 while they are searched or missing',
      ({ poolSearch: { state } }) =>
        state === 'unknown' ? null : Number(state === 'whole' || state === 'complete'),
    ],
    [
      'history_blocks_left',
      'Number of blocks whose pool creations are still to be read',
      ({ poolSearch: { searchedFrom, searchTo } }) => searchedFrom - searchTo,
    ],
    [
      'history_pools',
      'Number of pools found from before the start block',
      ({ poolSearch }) => poolSearch.pools,
    ],
    [
      'history_calls_total',
      'Number of calls of the search for pools and supplies from before the start block',
      ({ poolSearch }) => poolSearch.calls,
    ],
    ['gaps_refilled_total', 'Number of block ranges whose lost rows were stored again', (all) => all.refills],
    [
      'aggregates_mended_total',
      'Number of rebuilds of aggregates that differed from the stored rows',
      (all) => all.mends,
    ],
  ];
  for (const [name, help, pick] of simple)
    watchLabels(registry, name, help, ['chain'], () =>
      reads.list((figures) => {
        const value = pick(figures);
        return value === null ? [] : [[{}, value]];
      }),
    );
  watchLabels(
    registry,
    'reorgs_total',
    'Number of reorgs, by the largest power of two in their depth',
    ['chain', 'depth'],
    () =>
      reads.list(({ reorgs }) =>
        [...foldDepths(reorgs)].map(([depth, count]) => [{ depth: String(depth) }, count]),
      ),
  );
  watchEndpoints(registry, reads);
}

function watchEndpoints(registry: Registry, reads: ChainReads<IngestFigures>): void {
  watchLabels(
    registry,
    'rpc_mismatches_total',
    'Number of node answers that failed verification',
    ['chain', 'kind'],
    () =>
      reads.list(({ mismatches }) => Object.entries(mismatches).map(([kind, count]) => [{ kind }, count])),
  );
  watchLabels(
    registry,
    'rpc_endpoint',
    '1 for the current state of each RPC endpoint',
    ['chain', 'endpoint', 'state'],
    () =>
      reads.list(({ endpoints }) =>
        endpoints.map(({ name, state }) => [{ endpoint: labelOf(name), state }, 1]),
      ),
  );
  watchLabels(
    registry,
    'rpc_last_wrong_answer',
    '1 for the last answer for which each RPC endpoint was benched; the reason names block, field and values',
    ['chain', 'endpoint', 'reason'],
    () =>
      reads.list(({ endpoints }) =>
        endpoints.flatMap(({ name, lastWrongAnswer: reason }) =>
          reason === null ? [] : [[{ endpoint: labelOf(name), reason }, 1] as const],
        ),
      ),
  );
}

/** `#2 host` as `rpc-2`. The host may contain a key, and the metrics may be public. */
function labelOf(name: string): string {
  return `rpc-${/^#(\d+)/.exec(name)?.[1] ?? 'unknown'}`;
}

/** Groups depths by powers of two, so that the number of time series stays small. */
function foldDepths(reorgs: ReadonlyMap<number, number>): Map<number, number> {
  const folded = new Map<number, number>();
  for (const [depth, count] of reorgs) {
    const power = 2 ** Math.floor(Math.log2(Math.max(1, depth)));
    folded.set(power, (folded.get(power) ?? 0) + count);
  }
  return folded;
}
