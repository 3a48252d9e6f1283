/** Opens the Parquet files of a backfill, and logs which blocks they have and which parts they cannot prove. */
import type { BlockSource } from '../node/blocks/blockSource';
import type { Config } from '../config';
import type { ProofMode } from '../domain/block';
import { steadyNow } from '../domain/time/steadyTime';
import { AppError } from '../errors';
import { BucketFiles, isBucketPath } from '../ingest/parquet/bucketFiles';
import type { FilePlace } from '../ingest/parquet/filePlace';
import type { FilePlan } from '../ingest/parquet/filePlan';
import { listFiles, planFiles } from '../ingest/parquet/openFiles';
import { LOCAL_FILES } from '../ingest/parquet/localFiles';
import { createParquetSource, needsNodeHeaders, type ParquetSource } from '../ingest/parquet/parquetSource';
import { Staging } from '../ingest/parquet/staging';
import type { Logger } from '../log';
import type { Storage } from './storage';

interface FilesContext {
  readonly config: Config;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly patterns: readonly string[];
}

/** Where a backfill takes its blocks from, if not only from the node. */
export interface OpenBlocks {
  /** First and last block to store. */
  readonly from: number;
  readonly to: number;
  wrapSource(node: BlockSource): BlockSource;
  /** Compares the stored rows with what the source says about them. Called when all blocks are stored. */
  compare?(storage: Storage): Promise<void>;
  close(): Promise<void>;
}

/** @throws AppError `bad_config` if a file cannot be used, or if PROOF asks for more than files can prove */
export async function openParquet(
  { config, log, signal, patterns }: FilesContext,
  storage: Storage,
  askedSpan: { readonly from?: number | undefined; readonly to?: number | undefined },
): Promise<OpenBlocks> {
  const { mode } = config.proof;
  if (mode === 'full' || mode === 'receipts')
    throw new AppError(
      'bad_config',
      `PROOF is ${mode}, but Parquet files cannot prove receipts; allowed with --parquet: auto, none, bloom or headers`,
    );
  const runEnd = new AbortController();
  const runSignal = AbortSignal.any([signal, runEnd.signal]);
  const bucket = new BucketFiles(config.bucket);
  const placeOf = (path: string): FilePlace => (isBucketPath(path) ? bucket : LOCAL_FILES);
  const paths = await listFiles(patterns, placeOf, signal);
  const staging = await Staging.open(storage.url, config.chainId, placeOf);
  let source: ParquetSource | null = null;
  const close = async (): Promise<void> => {
    runEnd.abort();
    await source?.idle();
    if (source !== null) log.info(source.counts, 'blocks were read from files and from the node');
    await staging.close();
  };
  try {
    const plan = await planFiles(staging, paths, placeOf, runSignal);
    const span = spanOf(plan, askedSpan);
    sayPlan(plan, span, mode, log);
    const timeOfDay = (): number => steadyNow() / 1_000;
    return {
      ...span,
      wrapSource: (node) => {
        const options = {
          node,
          plan,
          staging,
          proof: mode,
          lastBlock: span.to,
          log,
          signal: runSignal,
          timeOfDay,
        };
        source = createParquetSource(options);
        return source;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function spanOf(
  plan: FilePlan,
  askedSpan: { readonly from?: number | undefined; readonly to?: number | undefined },
): { from: number; to: number } {
  const [first, last] = [plan.covered[0], plan.covered.at(-1)];
  if (first === undefined || last === undefined)
    throw new AppError(
      'bad_config',
      '--parquet: no block is covered by a file of blocks, a file of logs and a file of transactions at once',
    );
  const { from = first.from, to = last.to } = askedSpan;
  if (from > to)
    throw new AppError('bad_config', `--from ${from} is after the last block of the files, ${to}`);
  return { from, to };
}

function sayPlan(
  plan: FilePlan,
  { from, to }: { readonly from: number; readonly to: number },
  mode: ProofMode,
  log: Logger,
): void {
  const blocks = plan.countCovered(from, to);
  const rows = plan.files.reduce((sum, file) => sum + file.rows, 0);
  const facts = { files: plan.files.length, rows, from, to, blocks, nodeBlocks: to - from + 1 - blocks };
  log.info(facts, 'reading blocks from Parquet files; the node sends the other blocks');
  const fromNode = plan.files.some((file) => needsNodeHeaders(file, mode));
  log.warn(
    { level: mode === 'headers' ? 'headers' : 'bloom', headers: fromNode ? 'node' : 'files' },
    'files do not prove amounts and senders; verify --proof proves the stored blocks',
  );
}
