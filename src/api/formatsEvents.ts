/** Events as columns: one for each field that any kind of event has, tokens taken apart. */
import type { QueryParams } from '../clickhouse/database';
import type { ActivityAnswer, ActivityItem } from '../wire/activity';
import { bitsOrNull, type Table } from './formats';

/** Fields that not every kind of event has; null where one has it not. */
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

export function tableOfEvents({ data, meta }: ActivityAnswer): Table {
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

function commonColumns(data: readonly ActivityItem[]): QueryParams {
  return {
    id: data.map(({ id }) => id),
    event_type: data.map(({ event_type }) => event_type),
    block_number: data.map(({ block_number }) => block_number),
    timestamp: data.map(({ timestamp }) => timestamp),
    tx_hash: data.map(({ tx_hash }) => tx_hash),
    log_index: data.map(({ log_index }) => log_index),
    pair_address: data.map(({ pair_address }) => pair_address),
    dex_name: data.map(({ dex_name }) => dex_name),
    pool_type: data.map(({ pool_type }) => pool_type),
    token0_address: data.map(({ token0 }) => token0.address),
    token0_symbol: data.map(({ token0 }) => token0.symbol),
    token0_decimals: data.map(({ token0 }) => token0.decimals),
    token1_address: data.map(({ token1 }) => token1.address),
    token1_symbol: data.map(({ token1 }) => token1.symbol),
    token1_decimals: data.map(({ token1 }) => token1.decimals),
    maker: data.map(({ maker }) => maker),
    finalized: data.map(({ finalized }) => Number(finalized)),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
