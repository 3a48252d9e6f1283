/** What pairs are called in lists, in memory, as of the newest table of them: the most liquid first. */
import { setImmediate as others } from 'node:timers/promises';

import { RowWriter } from '../clickhouse/rowWriter';
import type { Hex } from '../domain/hex';
import { ADDRESS_BYTES, findRows, readerAt, toNameBytes, type NameBytes } from './nameBytes';
import type { PairTable } from './pairTable';

/** Names written before others have their turn: some milliseconds. */
const SLICE = 5_000;
/** Of the liquidity in USD, as powers of two. */
const CLASSES = 64;

/** A pair by the name that lists show. */
export interface NamedPair {
  readonly address: Hex;
  /** `WPLS / DAI`. */
  readonly name: string;
  readonly dexName: string;
}

export interface PairNames {
  /**
   * Pairs with the text (lower case, not empty) in their name, in the order of TokenNames; none where lists were never asked for.
   * Some may have been taken back with their block since.
   */
  find(text: string, limit: number): Promise<NamedPair[]>;
}

export const NO_PAIR_NAMES: PairNames = { find: () => Promise.resolve([]) };

type Named = Pick<PairTable, 'entries' | 'pools' | 'tokens'>;

/** `table`: the newest that is made; null: there is none. */
export function createPairNames(table: () => Named | null): PairNames {
  let kept: Pick<Named, 'pools' | 'tokens'> | null = null;
  let made: Promise<NameBytes> | null = null;
  return {
    async find(text, limit) {
      const now = table();
      if (now === null) return [];
      // The same pools of the same tokens are called the same.
      if (made === null || kept?.pools !== now.pools || kept.tokens !== now.tokens) {
        kept = { pools: now.pools, tokens: now.tokens };
        made = writeNames(now.entries);
      }
      const names = await made;
      return findRows(names, text, limit)
        .flat()
        .slice(0, limit)
        .map((row) => {
          const reader = readerAt(names, row);
          const address = reader.hex0x(ADDRESS_BYTES);
          reader.slice();
          return { address, name: reader.text(), dexName: reader.text() };
        });
    },
  };
}

async function writeNames(entries: Named['entries']): Promise<NameBytes> {
  const writer = new RowWriter();
  let written = 0;
  for (const group of byLiquidity(entries))
    for (const { pool, tokens } of group) {
      writer.fixed(pool.address, ADDRESS_BYTES);
      writer.text(`\t ${tokens.name.toLowerCase()}\n`);
      writer.text(tokens.name);
      writer.text(pool.dex);
      written += 1;
      if (written % SLICE === 0) await others();
    }
  return toNameBytes(writer.view(), (row) => {
    row.slice();
    row.slice();
  });
}

/** The most liquid first, those within a factor of two in any order: sorting 100,000 would hold up others for 40 ms. */
function byLiquidity(entries: Named['entries']): Named['entries'][number][][] {
  const classes = Array.from({ length: CLASSES }, (): Named['entries'][number][] => []);
  for (const entry of entries) {
    const power = Math.floor(Math.log2(Math.max(1, entry.liquidityUsd)));
    classes[CLASSES - 1 - Math.min(CLASSES - 1, power)]?.push(entry);
  }
  return classes;
}
