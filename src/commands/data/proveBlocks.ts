/**
 * The command `verify --proof`: reads blocks from the node, proves them, and compares the stored rows with them. The
 * exit code is 1 if a stored value differs, or if the command was stopped.
 */
import { createBlockSource, type BlockSource } from '../../node/blocks/blockSource';
import { checkChainId } from '../../node/rpc/checkChainId';
import { systemClock } from '../../node/rpc/clock';
import { createEndpointPool, type EndpointPool } from '../../node/rpc/endpointPool';
import { createQueryRunner, type QueryRunner } from '../../clickhouse/client/namedQueries';
import { addRange, type ProofRange } from '../../clickhouse/schema/proofRanges';
import type { Config } from '../../config';
import type { ChainBlock, ProofOptions } from '../../domain/block';
import { blockOfOrd, logIndexOfOrd } from '../../domain/ord';
import { createSlices } from '../../domain/time/slices';
import { AppError, errorText } from '../../errors';
import { LogLedger, someLogsText } from '../../ingest/store/logLedger';
import { readFloors } from '../../ingest/store/retention';
import { fetchAhead } from '../../ingest/session/fetchAhead';
import type { Logger } from '../../log';
import { readHead } from '../../query/head/headState';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import { compareBlocks, type BlockDifference } from '../../query/verify/compareBlocks';
import { readStoredRows, type StoredRows } from '../../query/verify/storedRows';
import { needNodeUrls } from '../chains';
import type { CommandOutput } from './backup';
import { linkToTrusted } from './linkToTrusted';
import { openStored } from './openStored';

/** First or last block to prove; null means the first or last stored block. */
interface AskedRange {
  readonly from: number | null;
  readonly to: number | null;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Number of logs whose stored rows are compared at once. */
const LOGS_AT_ONCE = 5_000;
const LINE_EVERY_MS = 5_000;
/** Largest number of differences that are printed. */
const PRINTED_MAX = 10_000;
/** Largest number of characters that are printed of a value. They begin shortly before the first difference. */
const SHOWN = 160;
/**
 * Number of times that a block above the last final block is compared, and that reading blocks from a failing
 * node is tried.
 */
const ATTEMPTS = 5;
const PAUSE_MS = 500;

interface ProofWork {
  readonly config: Config;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly runner: QueryRunner;
  readonly source: BlockSource;
  readonly output: CommandOutput;
  /** First block whose logs are all still stored: `prune` has deleted logs of earlier blocks. */
  readonly logsFrom: number;
}

interface Findings {
  differences: number;
  blocks: number;
  logs: number;
  levels: readonly ProofRange[];
}

/** Resolves to the exit code. @throws AppError `bad_config`, `node_failed` */
export async function proveBlocks(
  givenConfig: Config,
  log: Logger,
  signal: AbortSignal,
  range: AskedRange,
  output: CommandOutput = process.stdout,
): Promise<number> {
  if (range.from !== null && range.to !== null && range.from > range.to)
    throw new AppError(
      'bad_config',
      `--from ${range.from} is after --to ${range.to}; allowed: a block up to --to`,
    );
  const { database, config, close } = await openStored(givenConfig, log, 'verify');
  let rpc: EndpointPool | null = null;
  try {
    const runner = createQueryRunner(database);
    const span = cutRange(range, await readHead(runner, config.chainId), output);
    const urls = needNodeUrls(config, 'a node that has these blocks');
    rpc = createEndpointPool({ urls, chainId: config.chainId, log });
    await checkChainId(rpc, config.chainId, signal);
    const prunedTo = (await readFloors(database)).get('logs') ?? 0;
    if (prunedTo > span.from)
      output.write(`Logs of blocks before ${prunedTo} were pruned and are not compared.\n`);
    const logs = new LogLedger(database);
    await logs.load();
    if (logs.wholeFrom() > span.from) output.write(someLogsText(logs.wholeFrom()));
    const logsFrom = Math.max(prunedTo, logs.wholeFrom());
    const source = createBlockSource({ pool: rpc, log, proof: proofOf(config) });
    return await prove({ config, log, signal, runner, source, output, logsFrom }, span);
  } finally {
    await rpc?.close();
    await close();
  }
}

/** Replaces a weaker setting of PROOF by `auto`, so that blocks are proven as far as the chain allows. */
function proofOf({ proof }: Config): ProofOptions {
  return { ...proof, mode: proof.mode === 'full' ? 'full' : 'auto' };
}

function cutRange(range: AskedRange, head: HeadSnapshot | null, output: CommandOutput): Span {
  if (head === null) throw new AppError('bad_config', 'nothing to verify: no block is stored yet');
  const storedSpan = { from: head.startBlock, to: head.number };
  const from = Math.max(range.from ?? storedSpan.from, storedSpan.from);
  const to = Math.min(range.to ?? storedSpan.to, storedSpan.to);
  if (from > to)
    throw new AppError(
      'bad_config',
      `none of the requested blocks is stored: blocks ${storedSpan.from}-${storedSpan.to} are stored`,
    );
  if ((range.from ?? from) < from || (range.to ?? to) > to)
    output.write(`Of the requested blocks, only ${from}-${to} are stored.\n`);
  return { from, to };
}

async function prove(work: ProofWork, span: Span): Promise<number> {
  const { signal, output } = work;
  const findings: Findings = { differences: 0, blocks: 0, logs: 0, levels: [] };
  try {
    const ends = await proveAll(work, span, findings);
    const anchor = await linkToTrusted(work.source, work.config.proof.trusted, ends, signal);
    report(output, span, findings, anchor);
  } catch (error) {
    if (!signal.aborted) throw error;
    report(output, { from: span.from, to: span.from + findings.blocks - 1 }, findings, null);
    return 1;
  }
  return findings.differences === 0 ? 0 : 1;
}

/** Compares all blocks of `span` with the stored rows. Returns the first and the last block that the node sent. */
async function proveAll(
  work: ProofWork,
  span: Span,
  findings: Findings,
): Promise<{ readonly first: ChainBlock; readonly last: ChainBlock }> {
  const { log, signal } = work;
  let firstBlock: ChainBlock | null = null;
  let lastBlock: ChainBlock | null = null;
  let shownAt = performance.now();
  for (let failures = 0; ;) {
    const from: number = lastBlock === null ? span.from : lastBlock.number + 1;
    try {
      for await (const blocks of fetchAhead(work.source, from, span.to, { signal })) {
        const [head] = blocks;
        if (lastBlock !== null && head !== undefined && head.parentHash !== lastBlock.hash)
          throw new AppError('node_failed', unlinkedText(lastBlock, head), { retryable: true });
        for (const part of splitByLogs(blocks)) {
          await comparePart(work, part, findings);
          firstBlock ??= part[0] ?? null;
          lastBlock = part.at(-1) ?? lastBlock;
        }
        failures = 0;
        if (performance.now() - shownAt < LINE_EVERY_MS) continue;
        shownAt = performance.now();
        log.info(
          { block: lastBlock?.number, to: span.to, differences: findings.differences },
          'proving stored blocks',
        );
      }
      if (firstBlock === null || lastBlock === null)
        throw new AppError('node_failed', 'the node returned no block');
      return { first: firstBlock, last: lastBlock };
    } catch (error) {
      failures += 1;
      const isFinal = !(error instanceof AppError) || !error.retryable || failures >= ATTEMPTS;
      if (isFinal || signal.aborted) throw error;
      log.warn({ error: errorText(error), block: from }, 'reading blocks to prove failed; retrying');
      await systemClock().sleep(PAUSE_MS, signal);
    }
  }
}

const unlinkedText = (last: ChainBlock, next: ChainBlock): string =>
  `the parentHash of block ${next.number} is ${next.parentHash}, but block ${last.number} has the hash ${last.hash}`;

/** Divides consecutive blocks into parts with at most LOGS_AT_ONCE logs each, but at least one block. */
function splitByLogs(blocks: readonly ChainBlock[]): ChainBlock[][] {
  const blockParts: ChainBlock[][] = [];
  let logs = Infinity;
  for (const block of blocks) {
    logs += block.logs.length;
    if (logs > LOGS_AT_ONCE) {
      blockParts.push([]);
      logs = block.logs.length;
    }
    blockParts.at(-1)?.push(block);
  }
  return blockParts;
}

async function comparePart(
  work: ProofWork,
  proven: readonly ChainBlock[],
  findings: Findings,
): Promise<void> {
  const differences = await compareStored(work, proven);
  for (const { block, field, stored, proven: provenValue } of differences) {
    findings.differences += 1;
    if (findings.differences > PRINTED_MAX) continue;
    const [storedText, provenText] = cutBoth(stored, provenValue);
    work.output.write(`DIFFERENT block ${block} ${field}: stored ${storedText}, proven ${provenText}\n`);
  }
  findings.blocks += proven.length;
  findings.logs += proven.reduce((sum, { logs }) => sum + logs.length, 0);
  for (const { number, proof = 'bloom' } of proven)
    findings.levels = addRange(findings.levels, { from: number, to: number, level: proof });
}

/** A difference in blocks that are not final may be a reorg between the two reads, so both are read again. */
async function compareStored(work: ProofWork, proven: readonly ChainBlock[]): Promise<BlockDifference[]> {
  const { runner, config, source, signal, logsFrom } = work;
  const [from, to] = [proven[0]?.number ?? 0, proven.at(-1)?.number ?? 0];
  let blocks = proven;
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    const head = await readHead(runner, config.chainId);
    if (head === null) throw new AppError('unavailable', 'the stored blocks have gone');
    const logCount = blocks.reduce((sum, block) => sum + block.logs.length, 0);
    const rows = await readStoredRows(runner, config.chainId, head, { from, to, logCount });
    const differences = compareBlocks(blocks, rows, { dexes: config.chain.dexes, logsFrom });
    await checkMakers(source, blocks, rows);
    if (differences.length === 0 || to <= head.finalNumber || attempt === ATTEMPTS) return differences;
    await systemClock().sleep(PAUSE_MS, signal);
    blocks = await source.fetchRange(from, to, { signal });
  }
}

/** The sender of a transaction is not part of its encoding, so it is compared with the signature. */
async function checkMakers(
  source: BlockSource,
  blocks: readonly ChainBlock[],
  { swaps }: StoredRows,
): Promise<void> {
  const slices = createSlices();
  for (const block of blocks) {
    const blockSwaps = swaps.filter(({ ord }) => blockOfOrd(ord) === block.number);
    const indexes = blockSwaps.flatMap(({ ord }) => block.logs[logIndexOfOrd(ord)]?.transactionIndex ?? []);
    if (block.proof === 'full') await source.checkSenders(block, new Set(indexes));
    await slices.step();
  }
}

/**
 * The stored and the proven value for one line of output. Long values are cut: the text begins shortly before the
 * first difference.
 */
function cutBoth(stored: string, proven: string): [string, string] {
  if (Math.max(stored.length, proven.length) <= SHOWN) return [stored, proven];
  let sameLength = 0;
  while (sameLength < stored.length && stored[sameLength] === proven[sameLength]) sameLength += 1;
  const shownFrom = Math.max(0, sameLength - 8);
  const cutText = (text: string): string => {
    const ellipsis = shownFrom + SHOWN < text.length ? '…' : '';
    return `${shownFrom === 0 ? '' : '…'}${text.slice(shownFrom, shownFrom + SHOWN)}${ellipsis} (${text.length} characters)`;
  };
  return [cutText(stored), cutText(proven)];
}

function report(output: CommandOutput, { from, to }: Span, findings: Findings, anchor: string | null): void {
  if (findings.differences > PRINTED_MAX)
    output.write(`Only the first ${PRINTED_MAX} differences are shown.\n`);
  for (const range of findings.levels)
    output.write(`Blocks ${range.from}-${range.to} are proven at the level ${range.level}.\n`);
  if (anchor === null) output.write(`Stopped before block ${to + 1}.\n`);
  else output.write(`${anchor}\n`);
  if (findings.blocks === 0) return;
  const counts = `${findings.blocks} blocks with ${findings.logs} logs`;
  output.write(
    findings.differences === 0
      ? `The stored rows of blocks ${from}-${to} equal the proven blocks: ${counts}.\n`
      : `${findings.differences} differences in blocks ${from}-${to}: ${counts}.\n`,
  );
}
