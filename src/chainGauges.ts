/** The gauges of the stored chains: their newest block, its age, their streams, and what of them is proven. */
import type { Registry } from 'prom-client';

import { watchLabels, type ChainReads, type Labelled } from './gauges';

/** For each level of proof, the newest consecutive blocks that have this level or a stronger one. */
export type ProvenRanges = readonly { readonly level: string; readonly from: number; readonly to: number }[];

/** State of a chain. Null if a value is unknown now. */
export interface ChainFigures {
  readonly chainId: number;
  readonly block: number | null;
  readonly finalBlock: number | null;
  readonly ageSeconds: number | null;
  readonly behindBlocks: number | null;
  readonly streams: number;
  /** Bytes held for clients that read their stream too slowly. */
  readonly heldBytes: number;
}

export function watchChains(registry: Registry, read: () => readonly ChainFigures[]): void {
  const gauge = (name: string, help: string, pick: (figures: ChainFigures) => number | null): void =>
    watchLabels(registry, name, help, ['chain'], () =>
      read().flatMap((figures) => {
        const value = pick(figures);
        return value === null ? [] : [[{ chain: String(figures.chainId) }, value] as const];
      }),
    );
  gauge('head_block', 'Number of the newest indexed block', ({ block }) => block);
  gauge('final_block', 'Number of the newest indexed block that is final', (all) => all.finalBlock);
  gauge(
    'head_age_seconds',
    'Age in seconds of the newest indexed block, by its timestamp',
    (all) => all.ageSeconds,
  );
  gauge('behind_blocks', 'Number of blocks of the node that are not indexed yet', (all) => all.behindBlocks);
  gauge('sse_clients', 'Open streams', ({ streams }) => streams);
  gauge(
    'sse_held_bytes',
    'Bytes held for clients that read their stream too slowly',
    ({ heldBytes }) => heldBytes,
  );
}

export function watchProof(registry: Registry, reads: ChainReads<ProvenRanges>): void {
  const what = 'block of the newest part of the stored chain proven at this level or a stronger one';
  const labelled = (end: 'from' | 'to'): Promise<Labelled> =>
    reads.list((ranges) => ranges.map((range) => [{ level: range.level }, range[end]]));
  const labels = ['chain', 'level'];
  watchLabels(registry, 'proven_from_block', `First ${what}`, labels, () => labelled('from'));
  watchLabels(registry, 'proven_to_block', `Last ${what}`, labels, () => labelled('to'));
}
