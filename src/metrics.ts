/** The process's figures for Prometheus. One registry per process, made here and handed to whoever measures. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What an ingester counts of transfers, since its start. */
export interface TransferFigures {
  /** Logs that were left out, by why. */
  readonly skippedTransfers: Readonly<Record<'nft' | 'malformed' | 'unplaced', number>>;
  readonly balanceChecks: Readonly<
    Record<'rounds' | 'compared' | 'mismatches' | 'failures' | 'rebasing', number>
  >;
}

export interface Metrics {
  /** Others (the ingester) add their own figures here. */
  readonly registry: Registry;
  readonly contentType: string;
  observeQuery(name: string, seconds: number): void;
  /** `route`: the path with its parameters' names, never the URL, so that the number of series is bounded. */
  observeRequest(route: string, method: string, status: number, seconds: number): void;
  /** Stream messages that slow clients lost. */
  countDrops(messages: number): void;
  /** Shows the head at each scrape; called once. */
  watchHead(read: () => { number: number; finalNumber: number; timestamp: number } | null): void;
  /** Shows the number of open streams, and the bytes kept for slow ones, at each scrape; called once. */
  watchStreams(count: () => number, heldBytes: () => number): void;
  /** Shows what the process's own ingester says of transfers at each scrape; called once. */
  watchTransfers(read: () => TransferFigures): void;
  /** Shows the codes of what is wrong at each scrape; called once. */
  watchProblems(list: () => readonly string[]): void;
  /** Shows the ingester's figures at each scrape; called once. */
  watchIngest(read: () => IngestFigures): void;
  /** The text of a scrape. */
  render(): Promise<string>;
}

/** What the ingester counts and sees; null: unknown at present. */
export interface IngestFigures {
  readonly nodeHead: number | null;
  readonly indexed: number | null;
  readonly finalTo: number | null;
  /** Grow only. */
  readonly blocks: number;
  readonly logs: number;
  readonly swaps: number;
  readonly malformedLogs: number;
  readonly refills: number;
  /** Reorgs by depth; grow only. */
  readonly reorgs: ReadonlyMap<number, number>;
  /** Answers of nodes that failed verification, by what was wrong; grow only. */
  readonly mismatches: Readonly<Record<string, number>>;
  /** State of each endpoint by its name. */
  readonly endpoints: readonly { readonly name: string; readonly state: string }[];
}

const QUERY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Makes a registry with the process's defaults (CPU, memory, event loop) in it. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const queries = new Histogram({
    name: 'candlehouse_query_seconds',
    help: 'Time of a database query, by its name',
    labelNames: ['name'],
    buckets: QUERY_BUCKETS,
    registers,
  });
  const requests = new Histogram({
    name: 'candlehouse_http_request_seconds',
    help: 'Time until an answer was ready, by route, method and status',
    labelNames: ['route', 'method', 'status'],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const drops = new Counter({
    name: 'candlehouse_sse_dropped_messages_total',
    help: 'Stream messages that slow clients lost and were told of by a gap',
    registers,
  });
  return {
    registry,
    contentType: registry.contentType,
    observeQuery: (name, seconds) => queries.observe({ name }, seconds),
    observeRequest: (route, method, status, seconds) =>
      requests.observe({ route, method, status: String(status) }, seconds),
    countDrops: (messages) => drops.inc(messages),
    watchHead: (read) => watchHead(registry, read),
    watchStreams(count, heldBytes): void {
      watch(registry, 'candlehouse_sse_clients', 'Open streams', count);
      watch(
        registry,
        'candlehouse_sse_held_bytes',
        'Bytes kept for streams that are read too slowly',
        heldBytes,
      );
    },
    watchTransfers: (read) => watchTransfers(registry, read),
    watchProblems: (list) =>
      watchLabels(registry, 'problem', 'What is wrong now, as in /readyz', ['code'], () =>
        list().map((code) => [{ code }, 1]),
      ),
    watchIngest: (read) => watchIngest(registry, read),
    render: () => registry.metrics(),
  };
}

function watchHead(
  registry: Registry,
  read: () => { number: number; finalNumber: number; timestamp: number } | null,
): void {
  watch(registry, 'candlehouse_head_block', 'Newest indexed block', () => read()?.number);
  watch(registry, 'candlehouse_final_block', 'Newest final indexed block', () => read()?.finalNumber);
  watch(registry, 'candlehouse_head_age_seconds', 'Age of the newest indexed block, by its timestamp', () => {
    const head = read();
    return head === null ? undefined : Math.max(0, Date.now() / 1000 - head.timestamp);
  });
}

function watchTransfers(registry: Registry, read: () => TransferFigures): void {
  const skipped = new Gauge({
    name: 'candlehouse_skipped_transfer_logs',
    help: 'Logs of transfers and positions that were left out since the start, by why',
    labelNames: ['reason'],
    registers: [registry],
    collect(): void {
      for (const [reason, count] of Object.entries(read().skippedTransfers)) skipped.set({ reason }, count);
    },
  });
  const checks = (name: string, help: string, count: keyof TransferFigures['balanceChecks']): void =>
    watch(registry, `candlehouse_balance_${name}`, help, () => read().balanceChecks[count]);
  checks('checks', 'Comparisons of balances with the node since the start', 'rounds');
  checks('checks_failed', 'Those that got no answer', 'failures');
  checks('compared', 'Balances compared with balanceOf since the start', 'compared');
  checks('mismatches', 'Balances that the logs do not tell, since the start', 'mismatches');
  checks('rebasing_tokens', 'Tokens marked as rebasing', 'rebasing');
}

/** A gauge that is asked at each scrape; undefined: no value at present. */
function watch(registry: Registry, name: string, help: string, read: () => number | undefined): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    registers: [registry],
    collect(): void {
      const value = read();
      if (value === undefined) gauge.remove();
      else gauge.set(value);
    },
  });
}

type Labelled = readonly (readonly [Readonly<Record<string, string>>, number])[];

/** A gauge with labels that is asked at each scrape; what is not named is gone. */
function watchLabels(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
  read: () => Labelled,
): void {
  const gauge: Gauge = new Gauge({
    name: `candlehouse_${name}`,
    help,
    labelNames,
    registers: [registry],
    collect(): void {
      gauge.reset();
      for (const [labels, value] of read()) gauge.set(labels, value);
    },
  });
}

function watchIngest(registry: Registry, read: () => IngestFigures): void {
  const simple: readonly (readonly [string, string, (figures: IngestFigures) => number | null])[] = [
    ['node_head_block', 'Newest block of the node', ({ nodeHead }) => nodeHead],
    [
      'behind_blocks',
      'Blocks of the node that are not indexed yet',
      ({ nodeHead, indexed }) =>
        nodeHead === null || indexed === null ? null : Math.max(0, nodeHead - indexed),
    ],
    ['final_stored_block', 'Newest block of the final tables', ({ finalTo }) => finalTo],
    ['ingested_blocks_total', 'Blocks stored by this process', ({ blocks }) => blocks],
    ['ingested_logs_total', 'Logs stored by this process', ({ logs }) => logs],
    ['ingested_swaps_total', 'Swaps stored by this process', ({ swaps }) => swaps],
    [
      'malformed_logs_total',
      'Logs with the topic of a known event and another shape',
      (all) => all.malformedLogs,
    ],
    [
      'gaps_refilled_total',
      'Ranges below the cursor that were found incomplete and stored again',
      (all) => all.refills,
    ],
  ];
  for (const [name, help, pick] of simple) {
    watch(registry, `candlehouse_${name}`, help, () => pick(read()) ?? undefined);
  }
  watchLabels(registry, 'reorgs_total', 'Reorgs, by the largest power of two in their depth', ['depth'], () =>
    [...foldDepths(read().reorgs)].map(([depth, count]) => [{ depth: String(depth) }, count]),
  );
  watchLabels(registry, 'rpc_mismatches_total', 'Answers of nodes that failed verification', ['kind'], () =>
    Object.entries(read().mismatches).map(([kind, count]) => [{ kind }, count]),
  );
  watchLabels(
    registry,
    'rpc_endpoint',
    '1 for the state that each endpoint is in',
    ['endpoint', 'state'],
    () => read().endpoints.map(({ name, state }) => [{ endpoint: name, state }, 1]),
  );
}

/** By 1, 2, 4, 8 …, so that the number of series is bounded. */
function foldDepths(reorgs: ReadonlyMap<number, number>): Map<number, number> {
  const folded = new Map<number, number>();
  for (const [depth, count] of reorgs) {
    const power = 2 ** Math.floor(Math.log2(Math.max(1, depth)));
    folded.set(power, (folded.get(power) ?? 0) + count);
  }
  return folded;
}
