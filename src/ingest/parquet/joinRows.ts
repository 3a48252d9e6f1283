/**
 * Joins the rows of blocks, transactions and logs into blocks, and checks that they fit together: none is missing, none
 * is there twice. Pure.
 */
import type { BlockHeader } from '../../node/blocks/blockSource';
import {
  fileFault,
  type ParquetBlock,
  type ParquetLog,
  type PathOf,
  type ParquetTransaction,
} from './parquetRows';

/** Rows of consecutive blocks, each list in the order of its keys. */
export interface PieceRows {
  readonly blocks: readonly ParquetBlock[];
  readonly transactions: readonly ParquetTransaction[];
  readonly logs: readonly ParquetLog[];
}

export interface JoinedBlock {
  readonly row: ParquetBlock;
  readonly header: BlockHeader;
  readonly transactions: readonly ParquetTransaction[];
  readonly logs: readonly ParquetLog[];
}

/**
 * The blocks from `from` to `to`. Rows must agree with the node's headers. The header of a block without one is made of
 * its row. @throws AppError `bad_config`
 */
export function joinRows(
  { blocks, transactions, logs }: PieceRows,
  { from, to }: { readonly from: number; readonly to: number },
  headers: ReadonlyMap<number, BlockHeader>,
  pathOf: PathOf,
): JoinedBlock[] {
  const joined: JoinedBlock[] = [];
  let [nextTransaction, nextLog] = [0, 0];
  for (let number = from; number <= to; number += 1) {
    const row = blocks[number - from];
    if (row?.block !== number) throw missingBlock(blocks, number, from, pathOf);
    const ownTransactions = takeBlock(transactions, nextTransaction, number);
    const ownLogs = takeBlock(logs, nextLog, number);
    nextTransaction += ownTransactions.length;
    nextLog += ownLogs.length;
    checkTransactions(row, ownTransactions, pathOf);
    checkLogs(ownLogs, ownTransactions, number, pathOf);
    const header = headers.get(number);
    if (header !== undefined) checkHeader(row, header, ownTransactions, pathOf);
    joined.push({
      row,
      header: header ?? headerOf(row, ownTransactions.length, pathOf),
      transactions: ownTransactions,
      logs: ownLogs,
    });
  }
  return joined;
}

function takeBlock<Row extends { readonly block: number }>(
  rows: readonly Row[],
  firstRow: number,
  block: number,
): readonly Row[] {
  let end = firstRow;
  while (rows[end]?.block === block) end += 1;
  return rows.slice(firstRow, end);
}

/** The lowest block whose row is missing, or a block with two rows. */
function missingBlock(
  blocks: readonly ParquetBlock[],
  number: number,
  firstBlock: number,
  pathOf: PathOf,
): Error {
  const [previousRow, row] = [blocks[number - firstBlock - 1], blocks[number - firstBlock]];
  if (row !== undefined && row.block === previousRow?.block)
    return fileFault(pathOf(row.file), `block ${row.block} has two rows`, 'one row per block');
  const nearestRow = row ?? previousRow;
  const path = nearestRow === undefined ? 'the files of blocks' : pathOf(nearestRow.file);
  return fileFault(path, `block ${number} has no row`, 'one row per block of the range of the file');
}

function checkTransactions(block: ParquetBlock, rows: readonly ParquetTransaction[], pathOf: PathOf): void {
  let gasTotal = 0;
  for (const [position, { index, file, gasUsed }] of rows.entries()) {
    gasTotal += gasUsed;
    if (index === position) continue;
    const fault = index < position ? 'has two rows' : `has no row before transaction ${index}`;
    throw fileFault(
      pathOf(file),
      `block ${block.block}, transaction ${Math.min(index, position)} ${fault}`,
      'one row per transaction of the block',
    );
  }
  if (block.gasUsed === null || block.gasUsed === gasTotal) return;
  throw fileFault(
    pathOf(rows[0]?.file ?? block.file),
    `block ${block.block} used ${block.gasUsed} gas, but its ${rows.length} transactions used ${gasTotal}`,
    'all transactions of the block',
  );
}

function checkLogs(
  rows: readonly ParquetLog[],
  transactions: readonly ParquetTransaction[],
  block: number,
  pathOf: PathOf,
): void {
  let lastTransactionIndex = 0;
  for (const [position, log] of rows.entries()) {
    const { logIndex, transactionIndex, file } = log;
    if (logIndex !== position) {
      const fault = logIndex < position ? 'has two rows' : `has no row before log ${logIndex}`;
      const place = `block ${block}, log ${Math.min(logIndex, position)}`;
      throw fileFault(pathOf(file), `${place} ${fault}`, 'one row per log of the block');
    }
    const place = `block ${block}, log ${logIndex}`;
    if (transactionIndex < lastTransactionIndex || transactionIndex >= transactions.length)
      throw fileFault(
        pathOf(file),
        `${place}: transaction_index is ${transactionIndex}`,
        `${lastTransactionIndex} to ${transactions.length - 1}, the transactions of the block in order`,
      );
    const transaction = transactions[transactionIndex];
    if (log.transactionHash !== transaction?.hash)
      throw fileFault(
        pathOf(file),
        `${place}: transaction_hash is ${log.transactionHash}`,
        `${transaction?.hash ?? 'none'}, the hash of transaction ${transactionIndex} in ${pathOf(transaction?.file ?? file)}`,
      );
    lastTransactionIndex = transactionIndex;
  }
}

function headerOf(row: ParquetBlock, transactionCount: number, pathOf: PathOf): BlockHeader {
  const { block: number, hash, parentHash, timestamp, baseFeePerGas, logsBloom } = row;
  if (parentHash === null || logsBloom === null) {
    const column = parentHash === null ? 'parent_hash' : 'logs_bloom';
    const fault = `block ${number}: ${column} is null`;
    throw fileFault(pathOf(row.file), fault, 'a value, or a file without this column');
  }
  return { number, hash, parentHash, timestamp, baseFeePerGas, transactionCount, logsBloom };
}

/** Compares what the files say about a block with the node's header. */
function checkHeader(
  row: ParquetBlock,
  header: BlockHeader,
  transactions: readonly ParquetTransaction[],
  pathOf: PathOf,
): void {
  const compare = (column: string, got: unknown, expected: unknown): void => {
    if (got === null || got === expected) return;
    throw fileFault(
      pathOf(row.file),
      `block ${row.block}: ${column} is ${String(got)}`,
      `${String(expected)}, as the node says`,
    );
  };
  compare('block_hash', row.hash, header.hash);
  compare('parent_hash', row.parentHash, header.parentHash);
  compare('timestamp', row.timestamp, header.timestamp);
  compare('base_fee_per_gas', row.baseFeePerGas, header.baseFeePerGas);
  if (header.logsBloom !== null) compare('logs_bloom', row.logsBloom, header.logsBloom);
  if (transactions.length === header.transactionCount) return;
  throw fileFault(
    pathOf(transactions[0]?.file ?? row.file),
    `block ${row.block} has ${transactions.length} transactions`,
    `${header.transactionCount}, as the node says`,
  );
}
