/**
 * A small random chain of logs for the explorer's tests. Stores the logs in the tables, with orphaned blocks beside the
 * head.
 */
import type { Database } from '../../../../src/clickhouse/client/database';
import {
  createdContractsTable,
  type CreatedContractRow,
} from '../../../../src/clickhouse/schema/explorerTables';
import { insertRows } from '../../../../src/clickhouse/rows/inserter';
import { blocksTable, logsTable, type LogRow } from '../../../../src/clickhouse/schema/tables';
import type { Hex } from '../../../../src/domain/hex';
import { toOrd } from '../../../../src/domain/ord';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { createRandom, type Random } from '../../../support/createRandom';
import { hexOf } from '../../../support/worlds/worldEvents';
import { logRow } from '../../../support/worlds/logRow';

export const LOG_CHAIN_ID = 369;
/** A block number just below the block where positions (`ord`) gain a digit, so that sorting positions as
 * text gives a wrong order. */
export const FIRST_LOG_BLOCK = 9_500;
const EMITTERS = 12;
const TOPICS = 6;
const WORDS = 4;

export interface LogBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly timestamp: number;
  readonly baseFee: bigint;
  /** Gas price of each transaction, in wei. */
  readonly gasPrices: readonly bigint[];
  readonly logs: LogRow[];
  readonly created: CreatedContractRow[];
}

export const emitterOf = (index: number): Hex => hexOf('ee', index, 40);
export const topicOf = (index: number): Hex => (index === 0 ? hexOf('00', 0, 64) : hexOf('70', index, 64));
export const wordOf = (index: number): Hex => hexOf('00', index, 64);

function makeLogs(random: Random, number: number, timestamp: number, count: number, salt: string): LogRow[] {
  let tx = -1;
  let logIndex = -1;
  return Array.from({ length: count }, (): LogRow => {
    if (tx === -1 || random() < 0.4) tx += 1;
    // Real log indexes of canonical blocks have no gaps, but no code may depend on this.
    logIndex += 1 + (random() < 0.1 ? random.int(5) : 0);
    const topicCount = random.int(5);
    const words = Array.from({ length: Math.max(0, topicCount - 1) }, () => wordOf(random.int(WORDS)));
    return logRow({
      ord: toOrd(number, logIndex),
      timestamp,
      address: emitterOf(Math.floor(random() * random() * EMITTERS)),
      topics: topicCount === 0 ? [] : [topicOf(random.int(TOPICS)), ...words],
      data: random() < 0.3 ? '0x' : `0x${hexOf('da', random.int(1_000_000), 64).slice(2)}`,
      tx_hash: hexOf(salt, number * 100 + tx, 64),
      tx_index: tx,
    });
  });
}

/** Random blocks with a mean of `events` logs each. The same seed gives the same blocks. */
export function makeLogBlocks(seed: number, blocks: number, events: number): LogBlock[] {
  const random = createRandom(seed);
  let timestamp = 1_700_000_000;
  return Array.from({ length: blocks }, (_, index): LogBlock => {
    const number = FIRST_LOG_BLOCK + index;
    timestamp += 1 + random.int(20);
    const created =
      random() < 0.2
        ? [
            {
              ord: toOrd(number, 3),
              timestamp,
              address: emitterOf(random.int(EMITTERS + 4)),
              creator: random() < 0.8 ? hexOf('0c', random.int(5), 40) : null,
              tx_hash: hexOf('cc', number, 64),
              tx_index: 3,
            },
          ]
        : [];
    const baseFee = 1_000_000_000n + BigInt(random.int(1_000_000_000));
    return {
      number,
      hash: hexOf('1b', number, 64),
      parentHash: hexOf('1b', number - 1, 64),
      timestamp,
      baseFee,
      gasPrices: Array.from({ length: random.int(6) }, () => baseFee + BigInt(random.int(3_000_000_000))),
      logs: makeLogs(random, number, timestamp, random.int(events * 2 + 1), '7a'),
      created,
    };
  });
}

const COMMITS = 50_000;
const ORPHANS = 90_000;

/** Gas used by the transaction with this index. */
export const gasUsedBy = (block: number, index: number): number => 21_000 + block * 10 + index;

async function insertBlocks(db: Database, blocks: readonly LogBlock[], commit?: number): Promise<void> {
  const options = commit === undefined ? {} : { commit };
  const rows = blocks.map((block) => ({
    chain_id: LOG_CHAIN_ID,
    number: block.number,
    hash: block.hash,
    parent_hash: block.parentHash,
    timestamp: block.timestamp,
    base_fee: block.baseFee,
    transaction_count: block.gasPrices.length,
    log_count: block.logs.length,
    gas_prices: block.gasPrices,
    gas_used: block.gasPrices.map((_, index) => gasUsedBy(block.number, index)),
  }));
  await insertRows(db, blocksTable, rows, options);
  await insertRows(
    db,
    logsTable,
    blocks.flatMap(({ logs }) => logs),
    options,
  );
  await insertRows(
    db,
    createdContractsTable,
    blocks.flatMap(({ created }) => created),
    options,
  );
}

/**
 * Stores blocks up to `storedTo` in the final tables, and blocks from `headFrom` in the head tables with
 * orphans. Any last final block within the overlap is valid.
 */
export async function storeLogBlocks(
  db: Database,
  blocks: readonly LogBlock[],
  options: { readonly storedTo: number; readonly headFrom: number; readonly inserts: number },
): Promise<void> {
  const final = blocks.filter(({ number }) => number <= options.storedTo);
  const size = Math.ceil(final.length / options.inserts);
  for (let from = 0; from < final.length; from += size)
    await insertBlocks(db, final.slice(from, from + size));
  const random = createRandom(blocks.length);
  for (const block of blocks.filter(({ number }) => number >= options.headFrom)) {
    if (random() < 0.5) {
      const logs = makeLogs(random, block.number, block.timestamp + 1, 8, '0f');
      const gasPrices = [10n ** 18n];
      const orphan = { ...block, hash: hexOf('0f', block.number, 64), gasPrices, logs, created: [] };
      await insertBlocks(db, [orphan], ORPHANS + block.number);
    }
    await insertBlocks(db, [block], COMMITS + block.number);
  }
}

/** The snapshot with this last final block and this newest block. */
export function logSnapshot(blocks: readonly LogBlock[], finalTo: number, tip: number): HeadSnapshot {
  const top = blocks[tip - FIRST_LOG_BLOCK]!;
  return {
    version: `${finalTo}.${tip}`,
    startBlock: FIRST_LOG_BLOCK,
    logsFrom: FIRST_LOG_BLOCK,
    number: tip,
    hash: top.hash,
    timestamp: top.timestamp,
    finalTo,
    finalNumber: finalTo,
    blocks: blocks
      .filter(({ number }) => number > finalTo && number <= tip)
      .map(({ number, hash, parentHash, timestamp }) => ({
        number,
        hash,
        parentHash,
        timestamp,
        commit: COMMITS + number,
      })),
  };
}
