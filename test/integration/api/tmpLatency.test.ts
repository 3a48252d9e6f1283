import { openDatabase } from '../../../src/clickhouse/database';
import { migrate } from '../../../src/clickhouse/migrate';
import { createQueryRunner } from '../../../src/clickhouse/namedQueries';
import { createLog } from '../../../src/log';
import { readHead } from '../../../src/query/headState';
import { createTestDatabase } from '../../support/engine';
import { AuditChain, TOKENS } from './auditChain';
import { headerOf, openAuditSession, startAuditApi } from './auditWorld';

test('latency', async () => {
  const t = await createTestDatabase();
  const writer = openDatabase({ url: t.writerUrl });
  await migrate(writer, createLog('silent', false));
  const times = new Map<string, number[]>();
  const runner = createQueryRunner(openDatabase({ url: t.readerUrl }), { checkRows: false, observe: (n, s) => { times.set(n, [...(times.get(n) ?? []), s * 1000]); } });
  const chain = new AuditChain(3);
  chain.mine(250);
  const session = await openAuditSession(chain, writer, 20);
  await session.advanceTo(headerOf(chain.head));
  const head = (await readHead(runner, 369))!;
  const api = await startAuditApi(runner, () => head);
  const all: number[] = [];
  const base: number[] = [];
  for (let n = head.number; n > 60; n -= 1) {
    for (const { address } of [TOKENS.HEX, TOKENS.FOUR, TOKENS.DAI]) {
      const at = performance.now();
      await (await fetch(`${api.url}/${address}/audit?block=${n}`)).text();
      all.push(performance.now() - at);
    }
    const at = performance.now();
    await writer.select('x', 'SELECT 1');
    base.push(performance.now() - at);
  }
  const q = (xs: number[], p: number) => xs.sort((a, b) => a - b)[Math.floor(xs.length * p)]!.toFixed(1);
  console.log('audit', all.length, q(all, 0.5), q(all, 0.95), q(all, 0.99), 'SELECT 1', q(base, 0.5), q(base, 0.99));
  console.log([...times].map(([n, x]) => `${n} ${x.length} ${q(x, 0.5)} ${q(x, 0.99)}`).join('\n'));
  await api.close();
}, 200000);
