/**
 * Finds contracts whose code must be read again, because they emitted an upgrade event in a final block after the last
 * check. For example, an empty proxy becomes a proxy with its first upgrade. Final logs are read once, in one range of
 * blocks per check.
 */
import type { QueryRunner } from '../clickhouse/client/namedQueries';
import { address, u64 } from '../clickhouse/rows/columns';
import { rowType } from '../clickhouse/rows/rowType';
import type { Hex } from '../domain/hex';
import { blockOfOrd, lastOrdOfBlock } from '../domain/ord';
import { inChunks } from '../query/head/inChunks';
import { storedCodeRow } from './storeCodes';

/** Largest number of upgrades per check. */
const UPGRADES_MAX = 2_000;
/** Largest number of final blocks whose logs one check reads. */
const SPAN_BLOCKS = 500_000;

const upgradeRow = rowType({ address, ord: u64 });

interface UpgradeQuestion {
  readonly runner: QueryRunner;
  readonly chainId: number;
  /** Newest block in the head tables. */
  readonly indexed: number;
  /** Last final block. */
  readonly finalTo: number;
  /** Final logs up to this position (`ord`) are processed. */
  readonly seenTo: number;
}

/**
 * `seenTo` is the position from which the next check starts, after these contracts are read. `isComplete` is true if
 * this check has read all final blocks.
 */
export async function findUpgraded({ runner, chainId, indexed, finalTo, seenTo }: UpgradeQuestion): Promise<{
  readonly addresses: Hex[];
  readonly seenTo: number;
  readonly isComplete: boolean;
}> {
  const lastOrd = lastOrdOfBlock(finalTo);
  const toOrdMax = Math.min(lastOrd, lastOrdOfBlock(blockOfOrd(seenTo) + SPAN_BLOCKS));
  if (toOrdMax <= seenTo) return { addresses: [], seenTo, isComplete: true };
  const params = { chain_id: chainId, from_ord: seenTo, to_ord: toOrdMax, limit: UPGRADES_MAX };
  const upgrades = await runner.run('contracts/list_upgraded_contracts', params, upgradeRow);
  const seenToOrd = upgrades.length < UPGRADES_MAX ? toOrdMax : (upgrades.at(-1)?.ord ?? toOrdMax);
  // A contract may have been read on an abandoned branch. It is read again when the block at the same height is
  // final.
  const unfinalBlocks = Math.max(0, indexed - finalTo);
  const neededBlockByContract = new Map<Hex, number>();
  for (const { address, ord } of upgrades)
    neededBlockByContract.set(address, blockOfOrd(ord) + unfinalBlocks);
  const codes = await inChunks([...neededBlockByContract.keys()], (chunk) =>
    runner.run(
      'contracts/list_codes',
      { addresses: chunk.map((address) => address.slice(2)), limit: chunk.length },
      storedCodeRow,
    ),
  );
  const addresses = codes.flatMap(({ address, checked_block: checkedBlock }) =>
    checkedBlock < (neededBlockByContract.get(address) ?? 0) ? [address] : [],
  );
  return { addresses, seenTo: seenToOrd, isComplete: seenToOrd >= lastOrd };
}
