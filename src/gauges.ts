/** Gauges of /metrics whose values are read when a client asks for them. */
import { Gauge, type Registry } from 'prom-client';

/** A gauge whose value each scrape reads. Undefined means that there is no value now. */
export function watch(registry: Registry, name: string, help: string, read: () => number | undefined): void {
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

export type Labelled = readonly (readonly [Readonly<Record<string, string>>, number])[];

/** A gauge with labels. Each scrape reads the values of all labels. A label that is not among them disappears. */
export function watchLabels(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
  read: () => Labelled | Promise<Labelled>,
): void {
  const gauge: Gauge = new Gauge({
    name: `candlehouse_${name}`,
    help,
    labelNames,
    registers: [registry],
    async collect(): Promise<void> {
      const values = await read();
      gauge.reset();
      for (const [labels, value] of values) gauge.set(labels, value);
    },
  });
}
