'use strict';
/** `node tables.js create` creates the squid's tables; `node tables.js count` prints their row counts as JSON. */
const { Client } = require('pg');

const SHARED =
  'id varchar PRIMARY KEY, pair text NOT NULL, block int4 NOT NULL, timestamp int4 NOT NULL, transaction text NOT NULL';
const CREATE = `
  CREATE TABLE swap (${SHARED}, sender text NOT NULL, "to" text NOT NULL, amount0_in numeric NOT NULL,
    amount1_in numeric NOT NULL, amount0_out numeric NOT NULL, amount1_out numeric NOT NULL);
  CREATE TABLE sync (${SHARED}, reserve0 numeric NOT NULL, reserve1 numeric NOT NULL);`;
const COUNT = 'SELECT (SELECT count(*) FROM swap)::int AS swaps, (SELECT count(*) FROM sync)::int AS syncs';

async function main() {
  const client = new Client({ connectionString: process.env.DB_URL });
  await client.connect();
  const { rows } = await client.query(process.argv[2] === 'create' ? CREATE : COUNT);
  await client.end();
  if (process.argv[2] === 'count') process.stdout.write(JSON.stringify(rows[0]));
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
