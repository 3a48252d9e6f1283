import { openDatabase } from '../../src/clickhouse/database';
import { migrate } from '../../src/clickhouse/migrate';
import { createLog } from '../../src/log';
import { createQueryRunner } from '../../src/clickhouse/namedQueries';
import { createTestDatabase } from '../support/engine';
import { startApi } from './api/apiServer';
import { makeWorld, storeWorld, FIRST_BLOCK } from './api/world';
import { wholeSnapshot } from './api/transferWorld';

test('bench', async () => {
  const test_ = await createTestDatabase();
  const db = openDatabase({ url: test_.writerUrl, requestTimeoutMs: 300000 });
  await migrate(db, createLog('silent', false));
  const world = makeWorld({ seed: 4, blocks: 160, pools: 40, spacing: 20, events: 5 });
  const final = FIRST_BLOCK + 90;
  await storeWorld(db, world, { storedTo: final, headFrom: final + 1, inserts: 2 });
  const tip = final + 64;
  const all = wholeSnapshot(world, final, tip + 4);
  for (let part = 0; part < 6; part += 1) {
    await db.command('x', `INSERT INTO transfers SELECT ${final} * 1048576 - 100000000 + number, 1, unhex(lpad(hex(number % 5000 + 100), 40, '0')), toFixedString('', 20), substring(sipHash128(number + ${part * 1e6})||sipHash128(number+7),1,20), 1000000, 'transfer', 1 FROM numbers(400000)`);
    await db.command('x', `INSERT INTO transfers SELECT ${final} * 1048576 - 90000000 + number, 1, if(number % 500 < 40, unhex(concat('bb', lpad(hex(number % 500), 38, '0'))), if(number % 500 < 46, unhex(concat('aa', lpad(hex(number % 500 - 40), 38, '0'))), unhex(lpad(hex(number % 500 + 100), 40, '0')))), toFixedString('', 20), unhex(lpad(hex(intDiv(number, 500) + 7000000), 40, '0')), 1000000, 'transfer', 1 FROM numbers(50000)`);
  }
  for (const block of all.blocks) await db.command('x', `INSERT INTO transfers_head SELECT ${block.commit}, ${block.number} * 1048576 + number, 1, if(number < 3, unhex(concat('aa', lpad('0', 38, '0'))), unhex(lpad(hex(number % 50 + 100), 40, '0'))), substring(sipHash128(number),1,20), unhex(lpad(hex(number % 100 + 7000000), 40, '0')), 3, 'transfer', 1 FROM numbers(400)`);
  for (let part = 0; part < 4; part += 1) await db.command('x', `INSERT INTO transfers SELECT ${final} * 1048576 - 80000000 + number, 1, unhex(concat('aa', lpad('0', 38, '0'))), toFixedString('', 20), substring(sipHash128(number + ${part * 250000})||sipHash128(number+7),1,20), 1000000, 'transfer', 1 FROM numbers(250000)`);
  const reader = openDatabase({ url: test_.readerUrl, requestTimeoutMs: 300000 });
  let per: Record<string, number[]> = {};
  const runner = createQueryRunner(reader, { checkRows: false, observe: (name, s) => void (per[name] ??= []).push(s * 1000) });
  let head = wholeSnapshot(world, final, tip);
  const api = await startApi(runner, () => head);
  let at = performance.now();
  await api.get('/api/v1/tokens?sort=holders');
  console.log('first tokens', performance.now() - at);
  const q = (list: number[]): string => { const s = [...list].sort((a, b) => a - b); return `p50 ${s[s.length >> 1]!.toFixed(1)} p90 ${s[Math.floor(s.length * 0.9)]!.toFixed(1)} p99 ${s[Math.floor(s.length * 0.99)]!.toFixed(1)}`; };
  let v = 0;
  for (const name of ['unmerged', 'merged']) {
    if (name === 'merged') for (const t of ['holder_balances', 'token_balances']) await db.command('m', `OPTIMIZE TABLE ${t} FINAL`);
    v += 1;
    head = wholeSnapshot(world, final, tip + v);
    per = {};
    at = performance.now();
    await api.get('/api/v1/tokens?sort=holders');
    console.log('tokens of the next block, whose token of 1M holders moved', performance.now() - at, JSON.stringify(Object.fromEntries(Object.entries(per).filter(([n]) => /balances|holders/.test(n)).map(([n, l]) => [n, q(l)]))));
    per = {};
    const [times, floor, t2]: [number[], number[], number[]] = [[], [], []];
    let shape = '';
    for (let i = 0; i < 100; i += 1) {
      at = performance.now();
      await reader.select('one', 'SELECT 1');
      floor.push(performance.now() - at);
      at = performance.now();
      const a = await api.get('/api/v1/portfolio/0x' + (7000000 + i).toString(16).padStart(40, '0'), {});
      times.push(performance.now() - at);
      shape = `${(a.json['data']!['tokens'] as unknown as []).length} tokens ${(a.json['data']!['positions'] as unknown as []).length} positions`;
      if (i < 30) { at = performance.now(); await api.get('/api/v1/tokens/0xaa00000000000000000000000000000000000000?x=' + i); t2.push(performance.now() - at); }
    }
    console.log(name, shape, 'portfolio', q(times), 'SELECT 1', q(floor), 'token of 1M holders', q(t2));
    console.log(JSON.stringify(Object.fromEntries(Object.entries(per).filter(([n]) => /balances|portfolio/.test(n)).map(([n, l]) => [n, q(l)])), null, 1));
  }
  await api.close(); await db.close(); await reader.close(); await test_.drop();
}, 600000);
