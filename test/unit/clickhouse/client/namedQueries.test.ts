import { z } from 'zod';

import type { Database } from '../../../../src/clickhouse/client/database';
import { selectAll } from '../../../../src/clickhouse/client/namedQueries';

const NAME = 'ingest/store/list_tokens';
const shape = z.object({ address: z.string() });

/** A fake database with `stored` rows that answers with as many rows as the statement's LIMIT allows. */
function databaseOf(stored: number): Database {
  const refuse = (): never => {
    throw new Error('not part of this test');
  };
  return {
    cluster: null,
    rows: refuse,
    select: (_name, _sql, params = {}) =>
      Promise.resolve(
        Array.from({ length: Math.min(stored, Number(params['limit'])) }, (_, index) => ({
          address: String(index),
        })),
      ),
    selectBinary: refuse,
    command: refuse,
    insert: refuse,
    ping: refuse,
    close: refuse,
  };
}

test('a list below its limit is complete', async () => {
  expect(await selectAll(databaseOf(2), NAME, {}, shape, 3)).toEqual([{ address: '0' }, { address: '1' }]);
});

test('a list that reaches its limit is an error and is not cut', async () => {
  await expect(selectAll(databaseOf(5), NAME, {}, shape, 3)).rejects.toMatchObject({
    code: 'internal',
    message: `${NAME}: the answer reaches its limit of 3 rows`,
  });
});
