import { readdirSync, readFileSync } from 'node:fs';
import { openDatabase } from '../../src/clickhouse/database';
import { migrate } from '../../src/clickhouse/migrate';
import { createLog } from '../../src/log';
import { createTestDatabase } from '../support/engine';
import { makeWorld, storeWorld, FIRST_BLOCK } from './api/world';
import { wholeSnapshot } from './api/transferWorld';
import { snapshotParams } from '../../src/query/headSnapshot';

test('bench', async () => {
  const test_ = await createTestDatabase();
  const db = openDatabase({ url: test_.writerUrl, requestTimeoutMs: 300000 });
  await migrate(db, createLog('silent', false));
  const world = makeWorld({ seed: 4, blocks: 160, pools: 40, spacing: 20, events: 5 });
  const final = FIRST_BLOCK + 95;
  await storeWorld(db, world, { storedTo: final, headFrom: final + 1, inserts: 2 });
  const head = wholeSnapshot(world, final, FIRST_BLOCK + 159);
  for (let part = 0; part < 6; part += 1) {
    await db.command('x', `INSERT INTO transfers SELECT ${final} * 1048576 - 100000000 + number, 1, unhex(lpad(hex(number % 5000 + 100), 40, '0')), toFixedString('', 20), substring(sipHash128(number + ${part * 1e6})||sipHash128(number+7),1,20), 1000000, 'transfer', 1 FROM numbers(400000)`);
    await db.command('x', `INSERT INTO transfers SELECT ${final} * 1048576 - 90000000 + number, 1, if(number % 500 < 40, unhex(concat('bb', lpad(hex(number % 500), 38, '0'))), if(number % 500 < 46, unhex(concat('aa', lpad(hex(number % 500 - 40), 38, '0'))), unhex(lpad(hex(number % 500 + 100), 40, '0')))), toFixedString('', 20), unhex(lpad(hex(intDiv(number, 500) + 7000000), 40, '0')), 1000000, 'transfer', 1 FROM numbers(50000)`);
  }
  for (const block of head.blocks) await db.command('x', `INSERT INTO transfers_head SELECT ${block.commit}, ${block.number} * 1048576 + number, 1, unhex(lpad(hex(number % 50 + 100), 40, '0')), substring(sipHash128(number),1,20), unhex(lpad(hex(number % 100 + 7000000), 40, '0')), 3, 'transfer', 1 FROM numbers(400)`);
  const reader = openDatabase({ url: test_.readerUrl, requestTimeoutMs: 300000 });
  const q = (list: number[]): string => { const s = [...list].sort((a, b) => a - b); return `p50 ${s[s.length >> 1]!.toFixed(1)} p90 ${s[Math.floor(s.length * 0.9)]!.toFixed(1)}`; };
  const pairs = world.blocks.flatMap((b) => b.pools).filter((p) => p.pool_type === 2).map((p) => p.address.slice(2));
  const out: Record<string, number[]> = {};
  const dir = process.env['SQLDIR']!;
  for (let i = 0; i < 60; i += 1) {
    let at = performance.now();
    await reader.select('one', 'SELECT 1');
    (out['SELECT 1'] ??= []).push(performance.now() - at);
    for (const file of readdirSync(dir).filter((f) => f.endsWith('.sql'))) {
      const holder = (7000000 + i).toString(16).padStart(40, '0');
      for (const tokens of /balances/.test(file) ? [[], pairs] : [[]]) {
        at = performance.now();
        await reader.select(file, readFileSync(dir + '/' + file, 'utf8'), { ...snapshotParams(head), holder: tokens.length ? '0'.repeat(40) : holder, owner: holder, tokens, pairs, limit: 50000, ords: [1, 2] });
        (out[file + tokens.length] ??= []).push(performance.now() - at);
      }
    }
  }
  for (const [name, list] of Object.entries(out)) console.log(name, q(list));
  await db.close(); await reader.close(); await test_.drop();
}, 600000);
