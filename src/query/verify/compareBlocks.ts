/** Compares the stored rows of blocks with the blocks as they were proven. Names each difference. Pure. */
import type { BlockRow } from '../../clickhouse/schema/tables';
import type { ChainBlock, ChainLog } from '../../domain/block';
import { blockOfOrd, logIndexOfOrd } from '../../domain/ord';
import type { Dex } from '../../domain/pool';
import { findProtocol } from '../../protocols/registry';
import type { ComparedLog, StoredRows, StoredSwap } from './storedRows';

export interface BlockDifference {
  readonly block: number;
  /** The field, for example `log 3 data`. */
  readonly field: string;
  readonly stored: string;
  readonly proven: string;
}

interface Compared {
  readonly dexes: readonly Dex[];
  /** First block whose logs are all kept. Below, pruned logs are missing on purpose. */
  readonly logsFrom: number;
}

type Value = string | number | bigint | null;
type Fields = Readonly<Record<string, readonly [stored: Value, proven: Value]>>;

const NONE = 'none';

export function compareBlocks(
  blocks: readonly ChainBlock[],
  rows: StoredRows,
  { dexes, logsFrom }: Compared,
): BlockDifference[] {
  const decoders = new Map(dexes.map((dex) => [dex.name, findProtocol(dex.protocol)]));
  const stored = {
    blocks: groupBy(rows.blocks, ({ number }) => number),
    logs: groupBy(rows.logs, ({ ord }) => blockOfOrd(ord)),
    swaps: groupBy(rows.swaps, ({ ord }) => blockOfOrd(ord)),
  };
  return blocks.flatMap((block) => {
    const { number } = block;
    return [
      ...compareHeader(block, stored.blocks.get(number) ?? []),
      ...(number < logsFrom ? [] : compareLogs(block, stored.logs.get(number) ?? [])),
      ...(stored.swaps.get(number) ?? []).flatMap((swap) =>
        compareSwap(block, swap, (log) => decoders.get(swap.dex)?.decodeEvent(log) ?? null),
      ),
    ];
  });
}

function compareHeader(block: ChainBlock, rows: readonly BlockRow[]): BlockDifference[] {
  const { number, transactions } = block;
  const [row] = rows;
  if (row === undefined || rows.length > 1)
    return [{ block: number, field: 'rows', stored: String(rows.length), proven: '1' }];
  const listed = (stored: readonly Value[], proven: readonly Value[]): [Value, Value] =>
    // Lists that the store lacks, or of which a value is unknown, count as equal: a node without receipts
    // does not give them.
    stored.length === 0 || proven.includes(null) ? [null, null] : [stored.join(' '), proven.join(' ')];
  return differing(number, '', {
    hash: [row.hash, block.hash],
    parent_hash: [row.parent_hash, block.parentHash],
    timestamp: [row.timestamp, block.timestamp],
    base_fee: [row.base_fee, block.baseFeePerGas],
    transaction_count: [row.transaction_count, block.transactionCount],
    log_count: [row.log_count, block.logs.length],
    gas_prices: listed(
      row.gas_prices,
      transactions.map((one) => one.effectiveGasPrice),
    ),
    gas_used: listed(
      row.gas_used,
      transactions.map((one) => one.gasUsed),
    ),
  });
}

function compareLogs(block: ChainBlock, rows: readonly ComparedLog[]): BlockDifference[] {
  const { number, logs, timestamp } = block;
  const byIndex = groupBy(rows, ({ ord }) => logIndexOfOrd(ord));
  const differences: BlockDifference[] = [];
  for (const [index, log] of logs.entries()) {
    const sameIndex = byIndex.get(index) ?? [];
    byIndex.delete(index);
    const [row] = sameIndex;
    if (row === undefined)
      differences.push({ block: number, field: `log ${index}`, stored: NONE, proven: describe(log) });
    else
      differences.push(
        ...differing(number, `log ${index} `, {
          rows: [sameIndex.length, 1],
          address: [row.address, log.address],
          ...topicFields(row, log),
          data: [row.data, log.data],
          tx_hash: [row.tx_hash, log.transactionHash],
          tx_index: [row.tx_index, log.transactionIndex],
          timestamp: [row.timestamp, timestamp],
        }),
      );
  }
  for (const [index, own] of byIndex)
    for (const row of own)
      differences.push({
        block: number,
        field: `log ${index}`,
        stored: describe({ ...row, transactionHash: row.tx_hash }),
        proven: NONE,
      });
  return differences;
}

function topicFields(row: Pick<ComparedLog, 'topics'>, log: ChainLog): Fields {
  const places = Array.from({ length: Math.max(row.topics.length, log.topics.length) }, (_, place) => place);
  return Object.fromEntries(
    places.map((place) => [`topic${place}`, [row.topics[place] ?? null, log.topics[place] ?? null]]),
  );
}

type Decode = (log: ChainLog) => ReturnType<NonNullable<ReturnType<typeof findProtocol>>['decodeEvent']>;

/** The pools of a vault have no events of their own, so only the transaction of their swaps is compared. */
function compareSwap(block: ChainBlock, row: StoredSwap, decode: Decode): BlockDifference[] {
  const index = logIndexOfOrd(row.ord);
  const log = block.logs[index];
  if (log === undefined)
    return [{ block: block.number, field: `swap ${index}`, stored: `swap of ${row.pair}`, proven: NONE }];
  const maker = block.transactions[log.transactionIndex]?.from ?? null;
  const event = decode(log);
  const swap = event?.kind === 'swap' ? event : null;
  return differing(block.number, `swap ${index} `, {
    tx_hash: [row.tx_hash, log.transactionHash],
    tx_index: [row.tx_index, log.transactionIndex],
    // The sender is compared only if the node gave receipts or bodies, which contain it.
    maker: maker === null ? [null, null] : [row.maker, maker],
    ...(swap === null
      ? {}
      : {
          pair: [row.pair, log.address],
          sender: [row.sender, swap.sender],
          recipient: [row.recipient, swap.recipient],
          amount0: [row.amount0, swap.amount0],
          amount1: [row.amount1, swap.amount1],
        }),
    ...(swap === null || swap.after === null
      ? {}
      : {
          sqrt_price_x96: [row.sqrt_price_x96, swap.after.sqrtPriceX96],
          liquidity: [row.liquidity, swap.after.liquidity],
          tick: [row.tick, swap.after.tick],
        }),
  });
}

function differing(block: number, prefix: string, fields: Fields): BlockDifference[] {
  return Object.entries(fields).flatMap(([name, values]) => {
    const [stored, proven] = values.map((value) => (value === null ? NONE : String(value)));
    return stored === proven || stored === undefined || proven === undefined
      ? []
      : [{ block, field: `${prefix}${name}`, stored, proven }];
  });
}

function describe({ address, transactionHash }: Pick<ChainLog, 'address' | 'transactionHash'>): string {
  return `log of ${address} in transaction ${transactionHash}`;
}

function groupBy<T>(rows: readonly T[], keyOf: (row: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}
