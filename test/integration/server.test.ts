import { createClient } from '@clickhouse/client';

import { createTestDatabase } from '../support/engine';

test('thin', async () => {
  const db = await createTestDatabase();
  const w = createClient({ url: db.writerUrl });
  await w.command({ query: 'CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a' });
  await w.insert({ table: 't', values: [{ a: 1 }], format: 'JSONEachRow' });
  const r = createClient({ url: db.readerUrl, compression: { response: true } });
  const x = await r.query({ query: 'SELECT a, {a:UInt8} AS b FROM t', query_params: { a: 1 }, format: 'JSONEachRow' });
  console.log(await x.json());
  await r.close();
  await w.close();
  await db.drop();
});
