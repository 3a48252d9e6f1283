/**
 * The command `compare`: compares the stored rows of final blocks with another instance, and names the first block that
 * differs. The exit code is 1 if a block differs.
 */
import type { Config } from '../../config';
import { guardedGet } from '../../contracts/guardedGet';
import { AppError, errorText } from '../../errors';
import { HASH_BLOCKS } from '../../ingest/repair/rangeHash';
import { sumBlocks } from '../../ingest/repair/sumBlocks';
import { LogLedger } from '../../ingest/store/logLedger';
import { readStoredState } from '../../ingest/store/storedState';
import type { Logger } from '../../log';
import { rangeHashAnswerShape, type RangeHashAnswer } from '../../wire/rangeHash';
import { redactUrls } from '../../chains/redactUrls';
import type { CommandOutput } from '../data/backup';
import { openStored } from '../data/openStored';

interface Span {
  readonly from: number;
  readonly to: number;
}

type Sums = ReadonlyMap<string, string>;
/** Sums the hashes of the rows of a range, by table. */
type SumRows = (span: Span) => Promise<Sums>;

const ANSWER_BYTES_MAX = 2 ** 20;
const ANSWER_MS = 120_000;

/** Resolves to the exit code. @throws AppError `bad_config`, `unavailable` */
export async function runCompare(
  givenConfig: Config,
  log: Logger,
  signal: AbortSignal,
  url: string,
  output: CommandOutput = process.stdout,
): Promise<number> {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new AppError('bad_config', `compare: got ${redactUrls(url)}; allowed: an http or https URL`);
  const { database, config, close } = await openStored(givenConfig, log, 'compare');
  try {
    const { chainId } = config;
    const state = await readStoredState(database, chainId);
    if (state === null) throw new AppError('bad_config', 'nothing to compare: no block is stored yet');
    const ledger = new LogLedger(database);
    await ledger.load();
    const other = await ask(url, null, signal);
    if (other.chain_id !== chainId)
      throw new AppError('bad_config', `${redactUrls(url)} has the chain ${other.chain_id}, not ${chainId}`);
    const span = {
      from: Math.max(state.startBlock, other.first_block),
      to: Math.min(state.cursor.number, other.final_block),
    };
    if (span.from > span.to)
      throw new AppError(
        'bad_config',
        `blocks ${state.startBlock}-${state.cursor.number} are stored here, and ${other.first_block}-${other.final_block} ` +
          'there; allowed: common blocks',
      );
    const logsFrom = Math.max(ledger.wholeFrom(), other.logs_from_block ?? Infinity);
    if (logsFrom > span.from)
      output.write('The logs are not compared, because one of the two does not store all of them.\n');
    const withoutPartLogs = (sums: Iterable<readonly [string, string]>): Sums =>
      new Map([...sums].filter(([name]) => name !== 'logs' || logsFrom <= span.from));
    const ours: SumRows = async (part) => {
      const sums = await sumBlocks(database, chainId, part);
      return withoutPartLogs([...sums].map(([name, sum]) => [name, String(sum)]));
    };
    const theirs: SumRows = async (part) =>
      withoutPartLogs((await ask(url, part, signal)).tables.map(({ name, sum }) => [name, sum]));
    return await compareSpan(span, ours, theirs, output);
  } finally {
    await close();
  }
}

async function compareSpan(
  span: Span,
  ours: SumRows,
  theirs: SumRows,
  output: CommandOutput,
): Promise<number> {
  const listUnequal = async (part: Span): Promise<string[]> => {
    const [ourSums, theirSums] = await Promise.all([ours(part), theirs(part)]);
    return [...new Set([...ourSums.keys(), ...theirSums.keys()])]
      .filter((name) => ourSums.get(name) !== theirSums.get(name))
      .sort();
  };
  const tables = await listUnequal(span);
  const blocks = `blocks ${span.from}-${span.to}`;
  if (tables.length === 0) {
    output.write(`The stored rows of ${blocks} are equal.\n`);
    return 0;
  }
  output.write(`The rows of ${blocks} differ in ${tables.join(', ')}.\n`);
  const firstBlock = await findFirst(span, async (part) => (await listUnequal(part)).length > 0);
  const tablesOfBlock = await listUnequal({ from: firstBlock, to: firstBlock });
  output.write(`DIFFERENT block ${firstBlock} is the first that differs: in ${tablesOfBlock.join(', ')}\n`);
  return 1;
}

/**
 * The first block that differs, in a span that has one. The span is halved at a border of ranges where possible, because
 * the hashes of whole ranges are stored.
 */
async function findFirst({ from, to }: Span, isDifferent: (span: Span) => Promise<boolean>): Promise<number> {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const rangeEnd = Math.floor((middle + 1) / HASH_BLOCKS) * HASH_BLOCKS - 1;
    const end = rangeEnd >= low && rangeEnd < high ? rangeEnd : middle;
    if (await isDifferent({ from: low, to: end })) high = end;
    else low = end + 1;
  }
  return low;
}

async function ask(url: string, span: Span | null, signal: AbortSignal): Promise<RangeHashAnswer['data']> {
  const name = redactUrls(url);
  const target = new URL(`${url.replace(/\/+$/, '')}/api/v1/range-hash`);
  if (span !== null) {
    target.searchParams.set('from_block', String(span.from));
    target.searchParams.set('to_block', String(span.to));
  }
  const answer = await guardedGet(target, {
    bytesMax: ANSWER_BYTES_MAX,
    allowPrivate: true,
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof AppError) throw error;
    throw new AppError('unavailable', `${name} does not answer (${errorText(error)})`);
  });
  const text = answer.body.toString();
  if (answer.status !== 200)
    throw new AppError('unavailable', `${name} answers HTTP ${answer.status}: ${text.slice(0, 300)}`);
  try {
    return rangeHashAnswerShape.parse(JSON.parse(text)).data;
  } catch (error) {
    throw new AppError('bad_config', `${name} does not answer like this version of Candlehouse`, {
      cause: error,
    });
  }
}
