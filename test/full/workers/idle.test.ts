/** Counts the statements that the program sends to ClickHouse while the chain has no new block and nobody asks. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { startProgram, waitForBlock } from '../../support/server/program';
import { sumStatements, watchStatements } from '../../support/server/statements';
import { startStubChain } from '../../support/stub/stubChain';
import { stubDescription } from '../../support/stub/stubDescription';

const BLOCKS = 120;
const WINDOW_MS = 30_000;
/** Looks of ten seconds until the background tasks have measured the newest block. */
const LOOKS_MAX = 18;
/** A writer's sign of life is one statement, every 10 s. Other work comes once a minute. */
const STATEMENTS_MAX = 30;

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
  const watchFor = (ms: number) => watchStatements(program.url, () => delay(ms));
  try {
    await waitForBlock(program.url, BLOCKS);
    for (let look = 0; look < LOOKS_MAX; look += 1)
      if (sumStatements(await watchFor(10_000)) <= STATEMENTS_MAX / 2) break;
    const sent = await watchFor(WINDOW_MS);
    const names = sent.map(([name]) => name);
    expect([sumStatements(sent) <= STATEMENTS_MAX, sent]).toEqual([true, sent]);
    expect(names).toContain('ingest/write_writer_state');
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
