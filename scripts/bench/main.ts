/**
 * `npm run bench -- [group …] [--json]`: the figures that the project promises, each beside a limit measured in the same
 * run. Without a group all of them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';

import { startEmbeddedServer } from '../../src/clickhouse/server';
import { log, say, SWAPS, type Bench } from './bench';
import { printTable, type Figure } from './figure';
import { benchIngest } from './groupsOfIngest';
import { benchHoldings, benchLogs, benchReads, benchSourceSearch } from './groupsOfReads';
import { benchReorgs, benchStream, benchStreamClients } from './groupsOfStreams';
import { benchRecovery } from './recovery';

/** What runs when one of the groups is wanted. */
const RUNS: readonly (readonly [groups: readonly string[], run: (bench: Bench) => Promise<void>])[] = [
  [['decode', 'backfill', 'insert'], benchIngest],
  [['ticks', 'lists', 'hot', 'storage'], benchReads],
  [['balances'], benchHoldings],
  [['explorer'], benchLogs],
  [['sources'], benchSourceSearch],
  [['stream'], benchStream],
  [['fanout'], benchStreamClients],
  [['reorg'], benchReorgs],
  [
    ['recovery'],
    async ({ folder, figures }) => void figures.push(...(await benchRecovery(folder, SWAPS, log, say))),
  ],
];

async function main(): Promise<void> {
  const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'));
  const known = RUNS.flatMap(([groups]) => groups);
  const unknown = asked.filter((group) => !known.includes(group));
  if (unknown.length > 0) throw new Error(`no group ${unknown.join(', ')}: there are ${known.join(', ')}`);
  const wants = (group: string): boolean => asked.length === 0 || asked.includes(group);
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-bench-'));
  const figures: Figure[] = [];
  try {
    const server = await startEmbeddedServer({ dataDir: folder, log });
    const bench = { server, folder, figures, wants };
    try {
      for (const [groups, run] of RUNS) if (groups.some(wants)) await run(bench);
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  else {
    printTable(figures);
    process.stdout.write(
      `\n${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}\n`,
    );
  }
  if (figures.some((figure) => !figure.ok)) process.exitCode = 1;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
