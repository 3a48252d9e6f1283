/** The process's figures for Prometheus. One registry per process, made here and handed to whoever measures. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

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
  /** Shows the number of open streams at each scrape; called once. */
  watchStreams(count: () => number): void;
  /** The text of a scrape. */
  render(): Promise<string>;
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
    watchStreams(count): void {
      watch(registry, 'candlehouse_sse_clients', 'Open streams', count);
    },
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
