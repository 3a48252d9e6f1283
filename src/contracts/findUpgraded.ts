/**
 * Finds contracts whose code must be read again, because they emitted an upgrade event after the last check. For
 * example, an empty proxy becomes a proxy with its first upgrade. Final logs are read once, in one range of blocks
 * per check. Head logs are read at every check.
 */
import type { QueryRunner } from '../clickhouse/client/namedQueries';
import { address, u64 } from '../clickhouse/rows/columns';
import { rowType } from '../clickhouse/rows/rowType';
import type { Hex } from '../domain/hex';
import { blockOfOrd, lastOrdOfBlock, toOrd } from '../domain/ord';
import { inChunks } from '../query/head/inChunks';
import { checkedRow } from './storeCodes';

/** Largest number of upgrades per check, separately for the head and for final blocks. */
const UPGRADES_MAX = 2_000;
/** Largest number of final blocks whose logs one check reads. */
const SPAN_BLOCKS = 500_000;

const upgradeRow = rowType({ address, ord: u64 });

interface UpgradeQuestion {
  readonly runner: QueryRunner;
  readonly chainId: number;
  /** Newest block in the head tables. */
  readonly indexed: number;
  /** First block to read in the head tables. */
  readonly headFrom: number;
  /** Last final block; null reads only the head. */
  readonly finalTo: number | null;
  /** Final logs up to this position (`ord`) are processed. */
  readonly seenTo: number;
}

/**
 * `seenTo` is the position from which the next check starts, after these contracts are read. `isComplete` is true if
 * this check has read all final blocks.
 */
export async function findUpgraded(
  question: UpgradeQuestion,
): Promise<{ readonly addresses: Hex[]; readonly seenTo: number; readonly isComplete: boolean }> {
  const { runner, chainId, indexed, headFrom, finalTo, seenTo } = question;
  const lastOrd = finalTo === null ? seenTo : lastOrdOfBlock(finalTo);
  const toOrdMax = Math.min(lastOrd, lastOrdOfBlock(blockOfOrd(seenTo) + SPAN_BLOCKS));
  const params = {
    chain_id: chainId,
    head_ord: toOrd(headFrom, 0),
    final: toOrdMax > seenTo,
    from_ord: seenTo,
    to_ord: toOrdMax,
    limit: UPGRADES_MAX,
  };
  const upgrades = await runner.run('contracts/list_upgraded_contracts', params, upgradeRow);
  const finalUpgrades = upgrades.filter(({ ord }) => ord > seenTo && ord <= toOrdMax);
  const seenToOrd = finalUpgrades.length < UPGRADES_MAX ? toOrdMax : (finalUpgrades.at(-1)?.ord ?? toOrdMax);
  // A contract may have been read on an abandoned branch. It is read again when the block at the same height is
  // final.
  const unfinalBlocks = finalTo === null ? 0 : Math.max(0, indexed - finalTo);
  const neededBlockByContract = new Map<Hex, number>();
  for (const { address, ord } of upgrades) {
    const neededBlock = blockOfOrd(ord) + (finalTo !== null && ord <= lastOrd ? unfinalBlocks : 0);
    neededBlockByContract.set(address, Math.max(neededBlockByContract.get(address) ?? 0, neededBlock));
  }
  const codes = await inChunks([...neededBlockByContract.keys()], (chunk) =>
    runner.run(
      'contracts/list_codes',
      { addresses: chunk.map((address) => address.slice(2)), limit: chunk.length },
      checkedRow,
    ),
  );
  const addresses = codes.flatMap(({ address, checked_block: checkedBlock }) =>
    checkedBlock < (neededBlockByContract.get(address) ?? 0) ? [address] : [],
  );
  return { addresses, seenTo: seenToOrd, isComplete: finalTo !== null && seenToOrd >= lastOrd };
}
