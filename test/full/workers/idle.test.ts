/** Counts the statements that the program sends to ClickHouse while the chain has no new block and nobody asks. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { startProgram, waitForBlock } from '../../support/server/program';
import { startStubChain } from '../../support/stub/stubChain';
import { stubDescription } from '../../support/stub/stubDescription';

const BLOCKS = 120;
const WINDOW_MS = 30_000;
/** A writer's sign of life is three statements, and one read compares the head with the database. Both come every 10 s. */
const STATEMENTS_MAX = 40;

/** The number of statements by name, from the metrics of the program. */
async function countStatements(url: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = text.matchAll(
    /^candlehouse_(?:query|statement)_seconds_count\{.*?name="([^"]+)".*?\} (\d+)$/gm,
  );
  return new Map([...counts].map(([, name = '', count]) => [name, Number(count)]));
}

/** The statements of a time in ms, with their number. */
async function watch(url: string, ms: number): Promise<[name: string, count: number][]> {
  const before = await countStatements(url);
  await delay(ms);
  const after = await countStatements(url);
  return [...after].flatMap(([name, count]) => {
    const sent = count - (before.get(name) ?? 0);
    return sent > 0 ? [[name, sent]] : [];
  });
}

const sum = (counts: readonly (readonly [string, number])[]): number =>
  counts.reduce((total, [, count]) => total + count, 0);

test('once the newest block is measured, an instance without a new block sends few statements, and none of them for the block', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-idle-'));
  const chain = await startStubChain({ blocks: BLOCKS, logsPerBlock: 24, pairs: 20 });
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(stubDescription()));
  const program = await startProgram('all', {
    RPC_URL: chain.wsUrl,
    CHAIN_CONFIG: join(folder, 'chain.json'),
    START_BLOCK: '0',
    DATA_DIR: join(folder, 'data'),
  });
  try {
    await waitForBlock(program.url, BLOCKS);
    while (sum(await watch(program.url, 10_000)) > STATEMENTS_MAX / 2);
    const sent = await watch(program.url, WINDOW_MS);
    const names = sent.map(([name]) => name);
    expect([sum(sent) <= STATEMENTS_MAX, sent]).toEqual([true, sent]);
    expect(names).toContain('ingest/write_writer');
    expect(
      names.filter((name) => /^(?:measure|risks|holders|ingest\/balances)\/|change_mark/.test(name)),
    ).toEqual([]);
    chain.setHead(BLOCKS + 1);
    await waitForBlock(program.url, BLOCKS + 1);
  } finally {
    await program.end('SIGTERM');
    await chain.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
