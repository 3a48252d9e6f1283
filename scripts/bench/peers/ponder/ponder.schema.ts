import { onchainTable } from 'ponder';

export const swap = onchainTable('swap', (t) => ({
  id: t.text().primaryKey(),
  pair: t.hex().notNull(),
  block: t.integer().notNull(),
  timestamp: t.integer().notNull(),
  transaction: t.hex().notNull(),
  sender: t.hex().notNull(),
  to: t.hex().notNull(),
  amount0In: t.bigint().notNull(),
  amount1In: t.bigint().notNull(),
  amount0Out: t.bigint().notNull(),
  amount1Out: t.bigint().notNull(),
}));

export const sync = onchainTable('sync', (t) => ({
  id: t.text().primaryKey(),
  pair: t.hex().notNull(),
  block: t.integer().notNull(),
  timestamp: t.integer().notNull(),
  transaction: t.hex().notNull(),
  reserve0: t.bigint().notNull(),
  reserve1: t.bigint().notNull(),
}));
