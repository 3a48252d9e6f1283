/**
 * The Prometheus metrics of the process, in one registry. Other modules record values or add their own
 * metrics.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Transfer counters of an ingester since its start. */
interface TransferFigures {
  /** Skipped logs by reason. */
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
  /** Records a statement of a writer. `name`: the table of an insert, otherwise the statement's name. */
  observeStatement(
    kind: 'insert' | 'command' | 'select',
    name: string,
    seconds: number,
    failed: boolean,
  ): void;
  /** `route`: the path with parameter names, never the URL, so that the number of series is bounded. */
  observeRequest(route: string, method: string, status: number, seconds: number): void;
  /** Stream messages that slow clients lost. */
  countDrops(messages: number): void;
  /** Reads the head at each scrape. Call once. */
  watchHead(read: () => { number: number; finalNumber: number; timestamp: number } | null): void;
  /** Reads the number of open streams and the bytes held for slow clients at each scrape. Call once. */
  watchStreams(count: () => number, heldBytes: () => number): void;
  /** Reads the transfer counters of the local ingester at each scrape. Call once. */
  watchTransfers(read: () => TransferFigures): void;
  /** Reads the length of a queue at each scrape. Call once per name. */
  watchQueue(queue: string, depth: () => number): void;
  /** Reads the RPC counters at each scrape. Call once per user. */
  watchRpc(user: string, read: () => readonly RpcFigures[]): void;
  /** Reads the codes of current problems at each scrape. Call once. */
  watchProblems(list: () => readonly string[]): void;
  /** Reads the ingester's figures at each scrape. Call once. */
  watchIngest(read: () => IngestFigures): void;
  /** The text of a scrape. */
  render(): Promise<string>;
}

/** Calls to one endpoint by one user. Only grows. */
interface RpcFigures {
  readonly name: string;
  readonly calls: number;
  /** Failed calls by kind. */
  readonly errors: Readonly<Record<string, number>>;
}

/** Counters and positions of the ingester. Null: currently unknown. */
export interface IngestFigures {
  readonly nodeHead: number | null;
  readonly indexed: number | null;
  readonly finalTo: number | null;
  /** These counters only grow. */
  readonly blocks: number;
  readonly logs: number;
  readonly swaps: number;
  readonly malformedLogs: number;
  readonly refills: number;
  readonly mends: number;
  /** Reorgs by depth. Only grows. */
  readonly reorgs: ReadonlyMap<number, number>;
  /** Failed verifications of node answers, by kind. Only grows. */
  readonly mismatches: Readonly<Record<string, number>>;
  /** State of each endpoint by name. */
  readonly endpoints: readonly { readonly name: string; readonly state: string }[];
}

const QUERY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Creates a registry with the default process metrics (CPU, memory, event loop). */
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
  watchLabels(registry, 'queue_depth', 'Waiting or running work, by queue', ['queue'], () =>
    [...queues].map(([queue, depth]) => [{ queue }, depth()]),
  );
  const nodes = new Map<string, () => readonly RpcFigures[]>();
  watchNodes(registry, nodes);
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
        'Bytes held for clients that read their stream too slowly',
        heldBytes,
      );
    },
    watchTransfers: (read) => watchTransfers(registry, read),
    watchProblems: (list) =>
      watchLabels(registry, 'problem', '1 for each current problem of /readyz', ['code'], () =>
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
    'Calls to each endpoint, by user: the ingester or the API',
    ['user', 'endpoint'],
    () => all().map(({ user, figures: { name, calls } }) => [{ user, endpoint: name }, calls]),
  );
  watchLabels(
    registry,
    'rpc_errors_total',
    'Failed calls to each endpoint, by user and kind of error',
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
    help: 'Skipped logs of transfers and positions since the start, by reason',
    labelNames: ['reason'],
    registers: [registry],
    collect(): void {
      for (const [reason, count] of Object.entries(read().skippedTransfers)) skipped.set({ reason }, count);
    },
  });
  const checks = (name: string, help: string, count: keyof TransferFigures['balanceChecks']): void =>
    watch(registry, `candlehouse_balance_${name}`, help, () => read().balanceChecks[count]);
  checks('checks', 'Comparisons of balances with the node since the start', 'rounds');
  checks('checks_failed', 'Comparisons of balances that failed since the start', 'failures');
  checks('compared', 'Balances compared with balanceOf since the start', 'compared');
  checks('mismatches', 'Balances that differ from the transfer logs, since the start', 'mismatches');
  checks('rebasing_tokens', 'Tokens marked as rebasing', 'rebasing');
}

/** A gauge that is read at each scrape. Undefined: no value now. */
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

/** A gauge with labels that is read at each scrape. Missing labels disappear. */
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
      'Logs with the topic of a known event but a different layout',
      (all) => all.malformedLogs,
    ],
    [
      'gaps_refilled_total',
      'Incomplete ranges below the cursor that were stored again',
      (all) => all.refills,
    ],
    [
      'aggregates_mended_total',
      'Rebuilds of aggregates that differed from the stored rows',
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
    '1 for the current state of each endpoint',
    ['endpoint', 'state'],
    () => read().endpoints.map(({ name, state }) => [{ endpoint: name, state }, 1]),
  );
}

/** Groups depths by powers of two, so that the number of series is bounded. */
function foldDepths(reorgs: ReadonlyMap<number, number>): Map<number, number> {
  const folded = new Map<number, number>();
  for (const [depth, count] of reorgs) {
    const power = 2 ** Math.floor(Math.log2(Math.max(1, depth)));
    folded.set(power, (folded.get(power) ?? 0) + count);
  }
  return folded;
}
