import { Hono } from 'hono';
import { count } from 'ponder';
import { db } from 'ponder:api';
import { swap, sync } from 'ponder:schema';

const app = new Hono();

app.get('/rows', async (c) => {
  const [swaps] = await db.select({ rows: count() }).from(swap);
  const [syncs] = await db.select({ rows: count() }).from(sync);
  return c.json({ swaps: swaps?.rows, syncs: syncs?.rows });
});

export default app;
