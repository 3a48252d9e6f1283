/** GET /metrics: the process metrics in Prometheus' text format. */
import type { Metrics } from '../../metrics';
import type { Route } from '../route';

export function metrics(deps: { readonly metrics: Metrics }): Route {
  return {
    path: '/metrics',
    limited: false,
    doc: { summary: 'Metrics for Prometheus', tag: 'service', mediaType: 'text/plain' },
    async handle(ctx): Promise<void> {
      ctx.set('Cache-Control', 'no-store');
      ctx.set('Content-Type', deps.metrics.contentType);
      ctx.body = await deps.metrics.render();
    },
  };
}
