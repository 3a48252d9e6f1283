/**
 * Converts events to columns for the table formats: one column for each field of any event kind, and one
 * column for each field of a token.
 */
import type { QueryParams } from '../../clickhouse/client/database';
import { isDecoded, type ActivityAnswer, type ActivityEntry } from '../../wire/activity';
import { bitsOrNull, type AnswerTable } from './formats';

/** Fields that only some kinds of events have; null for other kinds. */
const TEXTS = [
  ...['side', 'token_in', 'token_out', 'amount_in', 'amount_out', 'amount0', 'amount1', 'price', 'price_usd'],
  ...[
    'execution_price',
    'sender',
    'recipient',
    'sqrt_price_x96',
    'liquidity_raw',
    'owner',
    'reserve0',
    'reserve1',
  ],
];
const INTEGERS = ['tick', 'tick_lower', 'tick_upper'];
const FLOATS = ['amount_usd', 'fee_usd', 'amount0_usd', 'amount1_usd'];

export function tableOfEvents({ data, meta }: ActivityAnswer): AnswerTable {
  const fields = data.map((item) => new Map<string, unknown>(Object.entries(item)));
  const columns: Record<string, QueryParams[string]> = {
    ...commonColumns(data),
    limit: Math.max(1, data.length),
  };
  for (const name of TEXTS) columns[name] = fields.map((item) => textOf(item.get(name)));
  for (const name of INTEGERS) columns[name] = fields.map((item) => numberOf(item.get(name)));
  for (const name of FLOATS)
    columns[`${name}_bits`] = fields.map((item) => bitsOrNull(numberOf(item.get(name))));
  return {
    query: 'formats/list_events',
    columns,
    next: meta.next_cursor === null ? null : { cursor: meta.next_cursor },
  };
}

/** An event whose stored row cannot be read has only its position. */
function commonColumns(data: readonly ActivityEntry[]): QueryParams {
  const read = data.map((item) => (isDecoded(item) ? item : null));
  return {
    id: data.map(({ id }) => id),
    event_type: data.map(({ event_type }) => event_type),
    block_number: data.map(({ block_number }) => block_number),
    timestamp: read.map((item) => item?.timestamp ?? null),
    tx_hash: read.map((item) => item?.tx_hash ?? null),
    log_index: data.map(({ log_index }) => log_index),
    pair_address: read.map((item) => item?.pair_address ?? null),
    dex_name: read.map((item) => item?.dex_name ?? null),
    pool_type: read.map((item) => item?.pool_type ?? null),
    token0_address: read.map((item) => item?.token0.address ?? null),
    token0_symbol: read.map((item) => item?.token0.symbol ?? null),
    token0_decimals: read.map((item) => item?.token0.decimals ?? null),
    token1_address: read.map((item) => item?.token1.address ?? null),
    token1_symbol: read.map((item) => item?.token1.symbol ?? null),
    token1_decimals: read.map((item) => item?.token1.decimals ?? null),
    maker: read.map((item) => item?.maker ?? null),
    finalized: data.map(({ finalized }) => Number(finalized)),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
