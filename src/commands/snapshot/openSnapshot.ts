/** Opens the snapshot of `fill --snapshot`, and logs which blocks it has. */
import { redactUrls } from '../../chains/redactUrls';
import type { Config } from '../../config';
import { steadyNow } from '../../domain/time/steadyTime';
import { AppError } from '../../errors';
import { BucketFiles } from '../../ingest/parquet/bucketFiles';
import { createParquetSource, type ParquetSource } from '../../ingest/parquet/parquetSource';
import { RowProver } from '../../ingest/parquet/rowProver';
import { Staging } from '../../ingest/parquet/staging';
import { readRangeHashes } from '../../ingest/repair/rangeHash';
import type { DayManifest } from '../../ingest/snapshot/manifest';
import { openPlace } from '../../ingest/snapshot/snapshotPlace';
import { SnapshotFiles } from '../../ingest/snapshot/snapshotSource';
import { readStoredState } from '../../ingest/store/storedState';
import type { Logger } from '../../log';
import type { OpenBlocks } from '../backfillFiles';
import type { Storage } from '../storage';

interface Places {
  readonly config: Config;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Value of `--snapshot`. */
  readonly root: string;
}

/** @throws AppError `bad_config` if the index or a manifest cannot be used */
export async function openSnapshot(
  { config, log, signal, root }: Places,
  storage: Storage,
  wanted: { readonly from?: number | undefined; readonly to?: number | undefined },
): Promise<OpenBlocks> {
  const { chainId } = config;
  const ending = new AbortController();
  const going = AbortSignal.any([signal, ending.signal]);
  const place = openPlace(root, new BucketFiles(config.bucket));
  const stored = await readStoredState(storage.writer, chainId);
  const to = wanted.to ?? Infinity;
  const wantedRange = { from: Math.min(stored?.cursor.number ?? wanted.from ?? 0, to), to };
  const files = await SnapshotFiles.open(place, chainId, wantedRange, going);
  const { plan, manifests } = files;
  const [first, last] = [plan.covered[0], plan.covered.at(-1)];
  const span = { from: wanted.from ?? first?.from ?? 0, to: wanted.to ?? last?.to ?? 0 };
  if (span.from > span.to)
    throw new AppError(
      'bad_config',
      `--from ${span.from} is after the last block of the snapshot, ${span.to}`,
    );
  const blocks = plan.countCovered(span.from, span.to);
  log.info(
    {
      snapshot: /^https?:/i.test(root) ? redactUrls(root) : root,
      days: manifests.length,
      files: plan.files.length,
      ...span,
      blocks,
      nodeBlocks: span.to - span.from + 1 - blocks,
    },
    'reading blocks from a snapshot; the node sends the other blocks',
  );
  const prover = await RowProver.create({ hasThreads: true });
  const staging = await Staging.open(storage.url, chainId, files.placeOf);
  let source: ParquetSource | null = null;
  return {
    ...span,
    wrapSource: (node) => {
      source = createParquetSource({
        node,
        plan,
        staging: files.openStaging(staging, prover, node),
        proof: config.proof.mode,
        prover,
        lastBlock: span.to,
        log,
        signal: going,
        timeOfDay: () => steadyNow() / 1_000,
      });
      return source;
    },
    compare: ({ writer }) => compareHashes(writer, chainId, manifests, log),
    close: async () => {
      ending.abort();
      await source?.idle();
      await Promise.all([staging.close(), prover.close()]);
      if (source === null) return;
      const { files: snapshot, node } = source.counts;
      log.info({ snapshot, node }, 'blocks were read from the snapshot and from the node');
    },
  };
}

/** The blocks are proven. So a different range hash tells of other prices, settings or versions, or of a wrong manifest. */
async function compareHashes(
  database: Storage['writer'],
  chainId: number,
  manifests: readonly DayManifest[],
  log: Logger,
): Promise<void> {
  const listed = manifests.flatMap((manifest) => manifest.range_hashes);
  const rangeStarts = listed.map((range) => range.from_block);
  const ownHashes = await readRangeHashes(
    database,
    chainId,
    Math.min(...rangeStarts, 0),
    Math.max(...rangeStarts, 0),
  );
  const commonRanges = listed.filter((range) => ownHashes.has(range.from_block));
  const differentRange = commonRanges.find((range) => ownHashes.get(range.from_block)?.hash !== range.hash);
  const facts = { ranges: listed.length, compared: commonRanges.length };
  if (differentRange === undefined) log.info(facts, 'the range hashes equal those of the snapshot');
  else
    log.warn(
      { ...facts, from: differentRange.from_block, exporterStart: manifests[0]?.start_block },
      'a range hash differs from the snapshot; prices depend on the first block of a database',
    );
}
