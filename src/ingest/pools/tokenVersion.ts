/**
 * The version of a stored token row. The first reading of a token has the number of its block. Later rows count up, so
 * that they win over every earlier row, also if a reorg removed the block of the earlier one. Such a version also holds
 * the decimals that were valid before, because ClickHouse deletes the earlier row.
 */
const [BLOCKS, DECIMALS, UNKNOWN] = [2 ** 32, 128, 127];
/** Largest number of later rows of one token. The version stays an integer that JavaScript holds exactly. */
export const SEQ_MAX = 2 ** 13 - 1;

export interface TokenVersion {
  /** Number of the row among the rows of its token. */
  readonly seq: number;
  /** Block at whose end the metadata was read. */
  readonly block: number;
  /** Decimals in the blocks up to `block`. The first row holds for all blocks. */
  readonly before: number | null;
  /** Whether the decimals changed from one number to another, so that they are unknown for ever. */
  readonly changed: boolean;
}

export function toVersion({ seq, block, before, changed }: TokenVersion): number {
  if (seq === 0) return block;
  return ((seq * DECIMALS + (before ?? UNKNOWN)) * 2 + (changed ? 1 : 0)) * BLOCKS + block;
}

export function fromVersion(version: number): TokenVersion {
  const block = version % BLOCKS;
  const flags = Math.floor(version / BLOCKS);
  const hasChanged = flags % 2 === 1;
  const word = Math.floor(flags / 2);
  const decimalsBefore = word % DECIMALS;
  return {
    seq: Math.floor(word / DECIMALS),
    block,
    before: decimalsBefore === UNKNOWN ? null : decimalsBefore,
    changed: hasChanged,
  };
}
