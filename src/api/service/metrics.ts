/**
 * GET /metrics: the process metrics in Prometheus' text format. On the address of the API, only clients on this machine
 * get them, because the figures are for the operator. METRICS_HOST and METRICS_PORT give them an address of their own.
 */
import { isLoopback } from '../../domain/networks';
import { AppError } from '../../errors';
import type { Metrics } from '../../metrics';
import type { Route, RouteContext } from '../route';

/** The clients that get the metrics: all, only clients on this machine, or none. */
export type MetricsReaders = 'all' | 'local' | 'none';

interface MetricsDeps {
  readonly metrics: Metrics;
  readonly readers: MetricsReaders;
}

export function metrics({ metrics: source, readers }: MetricsDeps): Route {
  return {
    path: '/metrics',
    limited: false,
    doc: {
      summary: 'Metrics for Prometheus, for clients on the same machine',
      description:
        'Counters and durations of requests, ingestion and the database in the text format of Prometheus. Other machines get a 404 unless a setting allows them.',
      tag: 'service',
      mediaType: 'text/plain',
      errors: [404],
    },
    async handle(ctx): Promise<void> {
      if (readers === 'none' || (readers === 'local' && !isLocal(ctx))) {
        throw new AppError('not_found', 'there is no endpoint at /metrics for this client');
      }
      ctx.set('Cache-Control', 'no-store');
      ctx.set('Content-Type', source.contentType);
      ctx.body = await source.render();
    },
  };
}

/** A request that a proxy on this machine passes on is not local. */
function isLocal(ctx: RouteContext): boolean {
  const isForwarded = ctx.get('X-Forwarded-For') !== '' || ctx.get('Forwarded') !== '';
  return !isForwarded && isLoopback(ctx.req.socket.remoteAddress ?? '');
}
