/**
 * The tables of block data, each with a head table. This one list is used for counting, encoding, promoting and
 * sharding. Promotion follows this order: a table comes after the tables that its rows refer to.
 */
import { createdContractsTable } from './explorerTables';
import {
  blocksTable,
  eventsTable,
  liquidityEventsTable,
  logsTable,
  poolEpochsTable,
  poolsTable,
  poolStatesTable,
  positionEventsTable,
  swapsTable,
  tokenPricesTable,
  tokenRoutesTable,
  transfersTable,
} from './tables';

/** `shardBy` is an SQL expression: rows with the same value are on the same shard. */
export const EVENT_TABLES = {
  blocks: { table: blocksTable, shardBy: 'cityHash64(chain_id, number)' },
  pools: { table: poolsTable, shardBy: 'cityHash64(address)' },
  logs: { table: logsTable, shardBy: 'cityHash64(address)' },
  pool_states: { table: poolStatesTable, shardBy: 'cityHash64(pair)' },
  liquidity_events: { table: liquidityEventsTable, shardBy: 'cityHash64(pair)' },
  swaps: { table: swapsTable, shardBy: 'cityHash64(pair)' },
  events: { table: eventsTable, shardBy: 'cityHash64(pair)' },
  pool_epochs: { table: poolEpochsTable, shardBy: 'cityHash64(pair)' },
  token_routes: { table: tokenRoutesTable, shardBy: 'cityHash64(token)' },
  token_prices: { table: tokenPricesTable, shardBy: 'cityHash64(token)' },
  transfers: { table: transfersTable, shardBy: 'cityHash64(token)' },
  position_events: { table: positionEventsTable, shardBy: 'cityHash64(manager, token_id)' },
  created_contracts: { table: createdContractsTable, shardBy: 'cityHash64(address)' },
} as const;

export type EventTableName = keyof typeof EVENT_TABLES;

export type EventRow<Name extends EventTableName> = Parameters<
  (typeof EVENT_TABLES)[Name]['table']['writeRow']
>[1];

const isEventTable = (name: string): name is EventTableName => Object.hasOwn(EVENT_TABLES, name);

export const EVENT_TABLE_NAMES: readonly EventTableName[] = Object.keys(EVENT_TABLES).filter(isEventTable);

/** Builds a record with one value per table. */
export function forEventTables<T>(valueOf: (name: EventTableName) => T): Record<EventTableName, T> {
  return {
    blocks: valueOf('blocks'),
    pools: valueOf('pools'),
    logs: valueOf('logs'),
    pool_states: valueOf('pool_states'),
    liquidity_events: valueOf('liquidity_events'),
    swaps: valueOf('swaps'),
    events: valueOf('events'),
    pool_epochs: valueOf('pool_epochs'),
    token_routes: valueOf('token_routes'),
    token_prices: valueOf('token_prices'),
    transfers: valueOf('transfers'),
    position_events: valueOf('position_events'),
    created_contracts: valueOf('created_contracts'),
  };
}
