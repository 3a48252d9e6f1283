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
  /** A statement of a writer ended. `name`: the table of an insert, else the statement's. */
  observeStatement(
    kind: 'insert' | 'command' | 'select',
    name: string,
    seconds: number,
    failed: boolean,
  ): void;
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
  /** Shows how much waits in a queue, or is under way, at each scrape; once per name. */
  watchQueue(queue: string, depth: () => number): void;
  /** Shows what was asked of nodes, and what failed, at each scrape; once per user. */
  watchRpc(user: string, read: () => readonly RpcFigures[]): void;
  /** Shows the codes of what is wrong at each scrape; called once. */
  watchProblems(list: () => readonly string[]): void;
  /** Shows the ingester's figures at each scrape; called once. */
  watchIngest(read: () => IngestFigures): void;
  /** The text of a scrape. */
  render(): Promise<string>;
}

/** What one endpoint was asked by one user of it; grows only. */
export interface RpcFigures {
  readonly name: string;
  readonly calls: number;
  /** Failed calls by kind. */
  readonly errors: Readonly<Record<string, number>>;
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
  readonly mends: number;
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
  const statements = createStatements(registers);
  const queues = new Map<string, () => number>();
  watchLabels(registry, 'queue_depth', 'What waits or is under way, by queue', ['queue'], () =>
    [...queues].map(([queue, depth]) => [{ queue }, depth()]),
  );
  const nodes = new Map<string, () => readonly RpcFigures[]>();
  watchNodes(registry, nodes);
  const drops = new Counter({
    name: 'candlehouse_sse_dropped_messages_total',
    help: 'Stream messages that slow clients lost and were told of by a gap',
    registers,
  });
  return {
    registry,
    contentType: registry.contentType,
    observeQuery: (name, seconds) => queries.observe({ name }, seconds),
    observeStatement: statements,
    watchQueue: (queue, depth) => void queues.set(queue, depth),
    watchRpc: (user, read) => void nodes.set(user, read),
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

function createStatements(registers: Registry[]): Metrics['observeStatement'] {
  const inserts = new Histogram({
    name: 'candlehouse_insert_seconds',
    help: 'Time of an insert of the ingester, by table',
    labelNames: ['table'],
    buckets: QUERY_BUCKETS,
    registers,
  });
  const others = new Histogram({
    name: 'candlehouse_statement_seconds',
    help: 'Time of another statement of the ingester, by kind and name',
    labelNames: ['kind', 'name'],
    buckets: QUERY_BUCKETS,
    registers,
  });
  const failures = new Counter({
    name: 'candlehouse_statement_errors_total',
    help: 'Statements of the ingester that failed, by kind and name',
    labelNames: ['kind', 'name'],
    registers,
  });
  return (kind, name, seconds, failed) => {
    if (kind === 'insert') inserts.observe({ table: name }, seconds);
    else others.observe({ kind, name }, seconds);
    if (failed) failures.inc({ kind, name });
  };
}

function watchNodes(registry: Registry, nodes: ReadonlyMap<string, () => readonly RpcFigures[]>): void {
  const all = (): { user: string; figures: RpcFigures }[] =>
    [...nodes].flatMap(([user, read]) => read().map((figures) => ({ user, figures })));
  watchLabels(
    registry,
    'rpc_calls_total',
    'Calls to each endpoint, by who asks: the ingester or the API',
    ['user', 'endpoint'],
    () => all().map(({ user, figures: { name, calls } }) => [{ user, endpoint: name }, calls]),
  );
  watchLabels(
    registry,
    'rpc_errors_total',
    'Calls to each endpoint that failed, by who asks and by kind',
    ['user', 'endpoint', 'kind'],
    () =>
      all().flatMap(({ user, figures: { name, errors } }) =>
        Object.entries(errors).map(([kind, count]) => [{ user, endpoint: name, kind }, count] as const),
      ),
  );
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
    [
      'aggregates_mended_total',
      'Times that aggregates did not hold what was stored and were made anew',
      (all) => all.mends,
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
