/**
 * Simulates a mirror that changes a row, a file, a manifest or a header of a snapshot. Reads the blocks as a fill does, up to
 * an error. snapshot.test.ts stores them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { RowWriter } from '../../../src/clickhouse/rows/rowWriter';
import { runExport } from '../../../src/commands/snapshot/export';
import type { ChainBlock } from '../../../src/domain/block';
import { BucketFiles } from '../../../src/ingest/parquet/bucketFiles';
import { createParquetSource, type ParquetSource } from '../../../src/ingest/parquet/parquetSource';
import { RowProver } from '../../../src/ingest/parquet/rowProver';
import { Staging } from '../../../src/ingest/parquet/staging';
import { openPlace } from '../../../src/ingest/snapshot/snapshotPlace';
import { SnapshotFiles } from '../../../src/ingest/snapshot/snapshotSource';
import { encodeBlocks } from '../../../src/ingest/staged/blockCodec';
import { createBlockSource } from '../../../src/node/blocks/blockSource';
import { createEndpointPool } from '../../../src/node/rpc/endpointPool';
import { silent } from '../../support/engine/embedded';
import { HostileMirror, HOSTILE_KINDS } from '../../support/node/hostileMirror';
import { SEED } from '../../support/run/seed';
import { startStubChain } from '../../support/stub/stubChain';
import { StubFills } from '../../support/stub/stubFills';

const CHAIN_ID = 369;
/** Number of seeds. With each, the mirror makes one change of each kind. */
const SEEDS = Number(process.env['SNAPSHOT_SEEDS'] ?? 20);
const SEEDS_SHOWN = 50;
const BLOCK_SECONDS = 3_600;
const FIRST_DAY = '2024-03-01';
const LAST_DAY = '2024-03-02';
const DAYS = { from: FIRST_DAY, to: LAST_DAY };
/** The first day has 12 blocks, because the chain begins in it; the second has 24. */
const LAST = 12 + 24;
/** Blocks that are read at once. */
const PIECE = 12;
const { signal } = new AbortController();

test(`in ${SEEDS} seeds, no altered block gets from a mirror to the ingester, and the error names the file`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'snapshot-seeds-'));
  const chain = await startStubChain({
    blocks: LAST + 200,
    logsPerBlock: 8,
    pairs: 12,
    seed: 4,
    provable: true,
    transactionsMin: 2,
    genesisTime: Date.parse(LAST_DAY) / 1_000 - 13 * BLOCK_SECONDS,
    blockSeconds: BLOCK_SECONDS,
  });
  const fills = new StubFills(chain.url);
  const target = await fills.openTarget();
  await fills.fill(target, { from: 1, to: LAST + 20 });
  const [honest, hostile] = [join(folder, 'small'), join(folder, 'simulated')];
  const config = fills.configOf(target);
  await runExport(config, silent, signal, { days: DAYS, out: honest }, { write: () => undefined });
  const mirror = await HostileMirror.open(honest, hostile, target.test.writerUrl);
  const pool = createEndpointPool({ urls: [chain.url], chainId: CHAIN_ID, log: silent });
  const proof = { mode: 'full', trusted: null } as const;
  const node = createBlockSource({ pool, log: silent, proof });
  const real = await node.fetchRange(1, LAST);
  const prover = await RowProver.create();
  let files: SnapshotFiles;
  const staging = await Staging.open(target.test.writerUrl, CHAIN_ID, () => files.placeOf());
  /** Reads the blocks as a fill does, up to an error. */
  const read = async (from: string): Promise<{ blocks: ChainBlock[]; failure: string }> => {
    const blocks: ChainBlock[] = [];
    const reading = new AbortController();
    let source: ParquetSource | null = null;
    try {
      const place = openPlace(from, new BucketFiles(config.bucket));
      files = await SnapshotFiles.open(place, CHAIN_ID, { from: 1, to: LAST }, signal);
      const open = { plan: files.plan, staging: files.openStaging(staging, prover, node), prover, node };
      const rest = { log: silent, signal: reading.signal, timeOfDay: () => chain.timeOf(LAST) };
      source = createParquetSource({ ...open, ...rest, proof: 'auto', lastBlock: LAST });
      for (let first = 1; first <= LAST; first += PIECE)
        blocks.push(...(await source.fetchRange(first, Math.min(LAST, first + PIECE - 1))));
      return { blocks, failure: 'no error' };
    } catch (error) {
      return { blocks, failure: String(error) };
    } finally {
      reading.abort();
      await source?.idle();
    }
  };
  const bytesOf = (blocks: readonly ChainBlock[]): string => {
    const writer = new RowWriter();
    encodeBlocks(writer, blocks);
    return writer.view().toString('latin1');
  };
  expect(bytesOf((await read(honest)).blocks)).toBe(bytesOf(real));
  let kept = 0;
  for (let seed = SEED; seed < SEED + SEEDS; seed += 1) {
    if ((seed - SEED) % SEEDS_SHOWN === 0) process.stdout.write(`seed ${seed}\n`);
    for (const kind of HOSTILE_KINDS) {
      const { path, description, block } = await mirror.change(kind, seed);
      const { blocks, failure } = await read(hostile);
      const told = `seed ${seed}: ${kind}, ${description}: ${failure}`;
      expect([told, failure.includes(path), blocks.length < block]).toEqual([told, true, true]);
      expect([told, bytesOf(blocks)]).toEqual([told, bytesOf(real.slice(0, blocks.length))]);
      kept += blocks.length;
    }
  }
  expect(kept).toBeGreaterThan(0);
  await mirror.close();
  await staging.close();
  await pool.close();
  await fills.close();
  await chain.close();
  rmSync(folder, { recursive: true, force: true });
});
