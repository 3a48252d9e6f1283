/** The gauges of the stored chains: their newest block, its age, and what of it is proven. */
import type { Registry } from 'prom-client';

import { watch, watchLabels, type Labelled } from './gauges';

/** Reads, for each level of proof, the newest consecutive blocks that have this level or a stronger one. */
export type ReadParts = () => Promise<
  readonly { readonly level: string; readonly from: number; readonly to: number }[]
>;

/** State of a chain. Null if a value is unknown now. */
export interface ChainFigures {
  readonly chainId: number;
  readonly block: number | null;
  readonly ageSeconds: number | null;
  readonly behindBlocks: number | null;
  readonly streams: number;
}

export function watchHead(
  registry: Registry,
  read: () => { number: number; finalNumber: number; timestamp: number } | null,
): void {
  watch(registry, 'candlehouse_head_block', 'Number of the newest indexed block', () => read()?.number);
  watch(
    registry,
    'candlehouse_final_block',
    'Number of the newest indexed block that is final',
    () => read()?.finalNumber,
  );
  watch(
    registry,
    'candlehouse_head_age_seconds',
    'Age in seconds of the newest indexed block, by its timestamp',
    () => {
      const head = read();
      return head === null ? undefined : Math.max(0, Date.now() / 1000 - head.timestamp);
    },
  );
}

export function watchChains(registry: Registry, read: () => readonly ChainFigures[]): void {
  const gauge = (name: string, help: string, pick: (figures: ChainFigures) => number | null): void =>
    watchLabels(registry, `chain_${name}`, help, ['chain'], () =>
      read().flatMap((figures) => {
        const value = pick(figures);
        return value === null ? [] : [[{ chain: String(figures.chainId) }, value] as const];
      }),
    );
  gauge('head_block', 'Number of the newest indexed block, by chain', ({ block }) => block);
  gauge('head_age_seconds', 'Age in seconds of the newest indexed block, by chain', (all) => all.ageSeconds);
  gauge(
    'behind_blocks',
    'Number of blocks of the node that are not indexed yet, by chain',
    (all) => all.behindBlocks,
  );
  gauge('sse_clients', 'Open streams, by chain', ({ streams }) => streams);
}

export function watchProof(registry: Registry, read: ReadParts): void {
  const what = 'block of the newest part of the stored chain proven at this level or a stronger one';
  const labelled = async (end: 'from' | 'to'): Promise<Labelled> =>
    (await read()).map((part) => [{ level: part.level }, part[end]]);
  watchLabels(registry, 'proven_from_block', `First ${what}`, ['level'], () => labelled('from'));
  watchLabels(registry, 'proven_to_block', `Last ${what}`, ['level'], () => labelled('to'));
}
