/** Compares the stored rows of blocks with the blocks as they were proven. Names each difference. Pure. */
import type { BlockRow } from '../../clickhouse/schema/tables';
import type { ChainBlock, ChainLog } from '../../domain/block';
import { ZERO_ADDRESS } from '../../domain/hex';
import { blockOfOrd, logIndexOfOrd } from '../../domain/ord';
import { EMPTY_STATE, type Dex } from '../../domain/pool';
import { toLeg } from '../../protocols/manyTokenPool';
import type { LoggedSwap } from '../../protocols/manyTokenProtocol';
import type { PoolTerms, Protocol, SwapEvent } from '../../protocols/protocol';
import { findManyTokenProtocol, findProtocol } from '../../protocols/registry';
import type { ComparedLog, StoredRows, StoredSwap } from './storedRows';

export interface BlockDifference {
  readonly block: number;
  /** The field, for example `log 3 data`. */
  readonly field: string;
  readonly stored: string;
  readonly proven: string;
}

interface CompareOptions {
  readonly dexes: readonly Dex[];
  /** First block whose logs are all kept. Below, pruned logs are missing on purpose. */
  readonly logsFrom: number;
}

type Value = string | number | bigint | null;
type Fields = Readonly<Record<string, readonly [stored: Value, proven: Value]>>;

const NO_VALUE = 'none';
/** A pool of which nothing is known. */
const UNKNOWN_TERMS = {
  token0: ZERO_ADDRESS,
  token1: ZERO_ADDRESS,
  feePips: Number.NaN,
  tickSpacing: 0,
  scaleDecimals: null,
  hooks: null,
} as const;
/** Two equal values, for a field that is not compared. */
const UNCOMPARED = [null, null] as const;

export function compareBlocks(
  blocks: readonly ChainBlock[],
  rows: StoredRows,
  { dexes, logsFrom }: CompareOptions,
): BlockDifference[] {
  const dexByName = new Map(dexes.map((dex) => [dex.name, dex]));
  const storedByBlock = {
    blocks: groupBy(rows.blocks, ({ number }) => number),
    logs: groupBy(rows.logs, ({ ord }) => blockOfOrd(ord)),
    swaps: groupBy(rows.swaps, ({ ord }) => blockOfOrd(ord)),
  };
  return blocks.flatMap((block) => {
    const { number } = block;
    return [
      ...compareHeader(block, storedByBlock.blocks.get(number) ?? []),
      ...(number < logsFrom ? [] : compareLogs(block, storedByBlock.logs.get(number) ?? [])),
      ...(storedByBlock.swaps.get(number) ?? []).flatMap((swap) =>
        compareSwap(block, swap, dexByName.get(swap.dex)),
      ),
    ];
  });
}

function compareHeader(block: ChainBlock, rows: readonly BlockRow[]): BlockDifference[] {
  const { number, transactions } = block;
  const [row] = rows;
  if (row === undefined || rows.length > 1)
    return [{ block: number, field: 'rows', stored: String(rows.length), proven: '1' }];
  const listValues = (stored: readonly Value[], proven: readonly Value[]): readonly [Value, Value] =>
    // Lists that the store lacks, or of which a value is unknown, count as equal: a node without receipts
    // does not give them.
    stored.length === 0 || proven.includes(null) ? UNCOMPARED : [stored.join(' '), proven.join(' ')];
  return differencesOf(number, '', {
    hash: [row.hash, block.hash],
    parent_hash: [row.parent_hash, block.parentHash],
    timestamp: [row.timestamp, block.timestamp],
    base_fee: [row.base_fee, block.baseFeePerGas],
    transaction_count: [row.transaction_count, block.transactionCount],
    log_count: [row.log_count, block.logs.length],
    gas_prices: listValues(
      row.gas_prices,
      transactions.map((transaction) => transaction.effectiveGasPrice),
    ),
    gas_used: listValues(
      row.gas_used,
      transactions.map((transaction) => transaction.gasUsed),
    ),
  });
}

function compareLogs(block: ChainBlock, rows: readonly ComparedLog[]): BlockDifference[] {
  const { number, logs, timestamp } = block;
  const rowsByIndex = groupBy(rows, ({ ord }) => logIndexOfOrd(ord));
  const differences: BlockDifference[] = [];
  for (const [index, log] of logs.entries()) {
    const rowsAtIndex = rowsByIndex.get(index) ?? [];
    rowsByIndex.delete(index);
    const [row] = rowsAtIndex;
    if (row === undefined)
      differences.push({ block: number, field: `log ${index}`, stored: NO_VALUE, proven: describeLog(log) });
    else
      differences.push(
        ...differencesOf(number, `log ${index} `, {
          rows: [rowsAtIndex.length, 1],
          address: [row.address, log.address],
          ...topicFields(row, log),
          data: [row.data, log.data],
          tx_hash: [row.tx_hash, log.transactionHash],
          tx_index: [row.tx_index, log.transactionIndex],
          timestamp: [row.timestamp, timestamp],
        }),
      );
  }
  for (const [index, rowsOfIndex] of rowsByIndex)
    for (const row of rowsOfIndex)
      differences.push({
        block: number,
        field: `log ${index}`,
        stored: describeLog({ ...row, transactionHash: row.tx_hash }),
        proven: NO_VALUE,
      });
  return differences;
}

function topicFields(row: Pick<ComparedLog, 'topics'>, log: ChainLog): Fields {
  const topicIndexes = Array.from(
    { length: Math.max(row.topics.length, log.topics.length) },
    (_, topicIndex) => topicIndex,
  );
  return Object.fromEntries(
    topicIndexes.map((topicIndex) => [
      `topic${topicIndex}`,
      [row.topics[topicIndex] ?? null, log.topics[topicIndex] ?? null],
    ]),
  );
}

function compareSwap(block: ChainBlock, row: StoredSwap, dex: Dex | undefined): BlockDifference[] {
  const index = logIndexOfOrd(row.ord);
  const log = block.logs[index];
  if (log === undefined)
    return [{ block: block.number, field: `swap ${index}`, stored: `swap of ${row.pair}`, proven: NO_VALUE }];
  const maker = block.transactions[log.transactionIndex]?.from ?? null;
  return differencesOf(block.number, `swap ${index} `, {
    tx_hash: [row.tx_hash, log.transactionHash],
    tx_index: [row.tx_index, log.transactionIndex],
    // The sender is compared only if the node gave receipts or bodies, which contain it.
    maker: maker === null ? [null, null] : [row.maker, maker],
    ...(dex === undefined ? {} : eventFields(row, log, dex)),
  });
}

/** The fields of a swap that follow from its log, whatever the state of its pool. */
function eventFields(row: StoredSwap, log: ChainLog, dex: Dex): Fields {
  const manyTokens = findManyTokenProtocol(dex.protocol);
  if (manyTokens !== null) {
    const swap = manyTokens.decodeSwap(log);
    return swap === null ? {} : legFields(row, swap);
  }
  const protocol = findProtocol(dex.protocol);
  const swap = protocol?.decodeEvent(log, EMPTY_STATE);
  if (protocol === null || swap?.kind !== 'swap') return {};
  const key = log.address === dex.factory ? protocol.poolOf?.(log) : undefined;
  const feePips = ownFeePips(protocol, swap);
  return {
    pair: [row.pair, key ?? log.address],
    sender: [row.sender, swap.sender],
    recipient: [row.recipient, swap.recipient],
    amount0: [row.amount0, swap.amount0],
    amount1: [row.amount1, swap.amount1],
    fee_pips: feePips === null ? UNCOMPARED : [row.fee_pips, feePips],
    ...(swap.after === null
      ? {}
      : {
          sqrt_price_x96: [row.sqrt_price_x96, swap.after.sqrtPriceX96],
          liquidity: [row.liquidity, swap.after.liquidity],
          tick: [row.tick, swap.after.tick],
        }),
  };
}

/** Null if the fee depends on the pool, and not on the log of the swap alone. */
function ownFeePips(protocol: Protocol, swap: SwapEvent): number | null {
  const terms: PoolTerms = { ...UNKNOWN_TERMS, poolType: protocol.poolTypes[0] };
  const feePips = protocol.swapFeePips(terms, swap, null, EMPTY_STATE);
  return Number.isNaN(feePips) ? null : feePips;
}

/** A swap of two tokens of a pool. Its leg, or its tokens, tell which of them is token0. */
function legFields(row: StoredSwap, { pool, tokenIn, tokenOut, amountIn, amountOut }: LoggedSwap): Fields {
  const areIndexes = typeof tokenIn === 'number' && typeof tokenOut === 'number';
  const isToken0In = areIndexes ? tokenIn < tokenOut : tokenIn === row.token0;
  const [token0, token1] = isToken0In ? [tokenIn, tokenOut] : [tokenOut, tokenIn];
  return {
    pair: [row.pair, pool],
    ...(areIndexes
      ? { leg: [row.leg, toLeg(tokenIn, tokenOut).leg] }
      : { token0: [row.token0, token0], token1: [row.token1, token1] }),
    amount0: [row.amount0, isToken0In ? amountIn : -amountOut],
    amount1: [row.amount1, isToken0In ? -amountOut : amountIn],
  };
}

function differencesOf(block: number, prefix: string, fields: Fields): BlockDifference[] {
  return Object.entries(fields).flatMap(([name, values]) => {
    const [stored, proven] = values.map((value) => (value === null ? NO_VALUE : String(value)));
    return stored === proven || stored === undefined || proven === undefined
      ? []
      : [{ block, field: `${prefix}${name}`, stored, proven }];
  });
}

function describeLog({ address, transactionHash }: Pick<ChainLog, 'address' | 'transactionHash'>): string {
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
