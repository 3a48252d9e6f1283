'use strict';
/** A hand-written version of the `squid codegen` output for a schema with the entities Swap and Sync. */
const { EntitySchema } = require('typeorm');

class Row {
  constructor(props) {
    Object.assign(this, props);
  }
}
class Swap extends Row {}
class Sync extends Row {}

const text = { type: 'text' };
const integer = { type: 'int4' };
const amount = {
  type: 'numeric',
  transformer: { to: (value) => value?.toString(), from: (value) => (value == null ? value : BigInt(value)) },
};
const shared = {
  id: { type: 'character varying', primary: true },
  pair: text,
  block: integer,
  timestamp: integer,
  transaction: text,
};

exports.Swap = Swap;
exports.Sync = Sync;
exports.SwapSchema = new EntitySchema({
  name: 'Swap',
  target: Swap,
  columns: {
    ...shared,
    sender: text,
    to: text,
    amount0In: amount,
    amount1In: amount,
    amount0Out: amount,
    amount1Out: amount,
  },
});
exports.SyncSchema = new EntitySchema({
  name: 'Sync',
  target: Sync,
  columns: { ...shared, reserve0: amount, reserve1: amount },
});
