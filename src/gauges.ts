/** Gauges of /metrics whose values are read when a client asks for them. */
import { Gauge, type Registry } from 'prom-client';

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

/** Functions that read figures, one for each chain. */
export interface ChainReads<T> {
  add(chainId: number, read: () => T | Promise<T>): void;
  /** The values of all chains, each with the label `chain`. */
  list(pick: (figures: T) => Labelled): Promise<Labelled>;
}

/** `register` registers the gauges; it is called before the first chain is added. */
export function createChainReads<T>(register: (reads: ChainReads<T>) => void): ChainReads<T> {
  const readByChain = new Map<number, () => T | Promise<T>>();
  const reads: ChainReads<T> = {
    add(chainId, read) {
      if (readByChain.size === 0) register(reads);
      readByChain.set(chainId, read);
    },
    async list(pick) {
      const lists = await Promise.all(
        [...readByChain].map(async ([chainId, read]) =>
          pick(await read()).map(
            ([labels, value]) => [{ chain: String(chainId), ...labels }, value] as const,
          ),
        ),
      );
      return lists.flat();
    },
  };
  return reads;
}
