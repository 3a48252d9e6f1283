/** Tests the limits of one client in the verification queue: open jobs, their order, and failures that are
 * not repeated. */
import type { VerificationQueue, VerificationState } from '../../../src/domain/verificationQueue';
import type { Hex } from '../../../src/domain/hex';
import { AppError } from '../../../src/errors';
import { createLog, type Logger } from '../../../src/log';
import { createVerifyQueue } from '../../../src/contracts/verifyQueue';
import type { CompilerAnswer } from '../../../src/contracts/verify/compilers';
import { until } from '../../support/eventually';

const OK_OUTPUT = { contracts: {} };
const addressOf = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`;

/** A compiler that runs one compilation at a time and ends it when the test calls `end`. */
class HeldCompiler {
  listVersions = (): Promise<string[]> => Promise.resolve(['0.8.30']);
  /** Names of the sources in the order of their compilation. */
  readonly seen: string[] = [];
  private finish: ((error: AppError | null) => void) | null = null;

  compile(_version: string, input: unknown): Promise<CompilerAnswer> {
    const [path = ''] = Object.keys((input as { sources: Record<string, unknown> }).sources);
    this.seen.push(path);
    return new Promise((resolve, reject) => {
      this.finish = (error) => {
        if (error !== null) reject(error);
        else resolve({ version: '0.8.30+commit.00000000', output: OK_OUTPUT, size: 16 });
      };
    });
  }

  /** Ends the running compilation, if there is one. */
  release(): void {
    this.finish?.(null);
    this.finish = null;
  }

  async end(error: AppError | null = null): Promise<void> {
    const before = this.seen.length;
    await until(() => this.finish !== null);
    const end = this.finish!;
    this.finish = null;
    end(error);
    expect(this.seen.length).toBe(before);
  }
}

function queueOver(
  compiler: HeldCompiler,
  code: (address: Hex) => Hex = () => '0x6000',
  log: Logger = createLog('silent', false),
): VerificationQueue {
  return createVerifyQueue({
    compilers: compiler,
    chain: {
      knows: () => true,
      getCode: async ({ address }) => code(address),
      listCodes: async () => [],
      findCreationCode: async () => null,
      findRecentCreation: async () => null,
    },
    reader: { listOwn: async () => [null] } as never,
    store: { store: async () => ({ stored: 0 }) } as never,
    findCreationTransaction: async () => null,
    log,
  });
}

/** A job: `path` names the source, `letters` is its length. */
const requestOf = (path: string, letters = 10, address = 1) => ({
  chainId: 369,
  address: addressOf(address),
  input: { language: 'Solidity', sources: { [path]: { content: 'x'.repeat(letters) } } },
  contractName: 'A',
  compilerVersion: '0.8.30',
  license: null,
});

const guidOf = async (queue: VerificationQueue, path: string, client: string, letters = 10) => {
  const submission = await queue.submit(requestOf(path, letters), client);
  if (submission.kind !== 'queued') throw new Error(submission.kind);
  return submission.guid;
};
const finished = async (queue: VerificationQueue, guid: string): Promise<VerificationState> => {
  await until(() => queue.status(guid)?.state !== 'pending');
  return queue.status(guid)!;
};

let compiler: HeldCompiler;
let queue: VerificationQueue;

beforeEach(() => {
  compiler = new HeldCompiler();
  queue = queueOver(compiler);
});
afterEach(async () => {
  const closing = queue.close();
  compiler.release();
  await closing;
});

test('a client may have two open verifications, and a third is refused until one ends', async () => {
  const [first, second] = [await guidOf(queue, 'a', 'one'), await guidOf(queue, 'b', 'one')];
  expect(await queue.submit(requestOf('c'), 'one')).toEqual({ kind: 'client_busy', openMax: 2 });
  // A client that repeats a request for an open job gets the same ticket. Other clients are still served.
  expect(await guidOf(queue, 'b', 'one')).toBe(second);
  await guidOf(queue, 'c', 'another');
  await compiler.end();
  expect((await finished(queue, first)).state).toBe('failed');
  await guidOf(queue, 'd', 'one');
});

test('simultaneous verification requests count towards the limit of open jobs', async () => {
  const kinds = await Promise.all(
    ['a', 'b', 'c', 'd'].map(async (path) => (await queue.submit(requestOf(path), 'one')).kind),
  );
  expect(kinds.sort()).toEqual(['client_busy', 'client_busy', 'queued', 'queued']);
});

test('a verification request that is not queued does not count towards the limit', async () => {
  const none = queueOver(compiler, () => '0x');
  for (let index = 0; index < 5; index += 1)
    expect(await none.submit(requestOf('a', 10, index), 'one')).toEqual({ kind: 'no_code' });
});

test('clients take turns in the verification queue, and within a round the shortest source goes first', async () => {
  await guidOf(queue, 'running', 'z');
  await until(() => compiler.seen.length === 1);
  await guidOf(queue, 'one long', 'one', 5_000);
  await guidOf(queue, 'one short', 'one', 20);
  await guidOf(queue, 'two middle', 'two', 500);
  await guidOf(queue, 'three short', 'three', 50);
  for (let count = 1; count <= 5; count += 1) {
    await compiler.end();
    if (count === 1) await guidOf(queue, 'late', 'four', 10);
    await until(() => compiler.seen.length === Math.min(6, count + 1));
  }
  // Each client's oldest job comes first. The job "one long" waits for the shorter jobs of its round, but not for
  // "late", which came after the round began.
  expect(compiler.seen).toEqual(['running', 'three short', 'two middle', 'one long', 'late', 'one short']);
});

test('a failing source is compiled once, and repeated requests get the same failure', async () => {
  const failure = new AppError('bad_request', 'the compiler exceeded 30 s of processor time');
  const guid = await guidOf(queue, 'slow', 'one');
  await until(() => compiler.seen.length === 1);
  await compiler.end(failure);
  const state = await finished(queue, guid);
  expect(state).toEqual({ state: 'failed', reason: failure.message, fault: 'compiler_error' });
  expect(await guidOf(queue, 'slow', 'another')).toBe(guid);
  const other = await queue.submit(requestOf('slow', 10, 2), 'another');
  if (other.kind !== 'queued') throw new Error(other.kind);
  expect(await finished(queue, other.guid)).toEqual(state);
  expect(compiler.seen).toEqual(['slow']);
});

test('a failure caused by the machine is not remembered', async () => {
  const guid = await guidOf(queue, 'a', 'one');
  await until(() => compiler.seen.length === 1);
  await compiler.end(new AppError('unavailable', 'the machine is busy'));
  expect(await finished(queue, guid)).toMatchObject({ reason: expect.stringMatching(/try again later/) });
  expect(await guidOf(queue, 'a', 'one')).not.toBe(guid);
  await until(() => compiler.seen.length === 2);
});

test('a failing source is compiled again after the code at the address changes', async () => {
  let code: Hex = '0x6000';
  const changing = queueOver(compiler, () => code);
  const guid = await guidOf(changing, 'a', 'one');
  await until(() => compiler.seen.length === 1);
  await compiler.end();
  await finished(changing, guid);
  expect(await guidOf(changing, 'a', 'one')).toBe(guid);
  code = '0x6001';
  expect(await guidOf(changing, 'a', 'one')).not.toBe(guid);
  await changing.close();
});

test('at most 32 MiB of sources wait in the queue', async () => {
  const kinds: string[] = [];
  for (let index = 0; index < 12; index += 1) {
    const submitted = queue.submit(requestOf(`${index}`, 9 * 2 ** 20), `client ${index}`);
    kinds.push(await submitted.then(({ kind }) => kind).catch((error: AppError) => error.code));
  }
  // One job is being compiled, and 32 MiB wait.
  expect(kinds).toEqual([...Array<string>(4).fill('queued'), ...Array<string>(8).fill('unavailable')]);
});

test.each([
  ['while the service runs is logged as an error', false, 1],
  ['because the service stops is no error', true, 0],
])('a compilation that ends %s', async (_, stops, errors) => {
  const lines: string[] = [];
  const log = createLog('error', false, { write: (line) => void lines.push(line) });
  const logged = queueOver(compiler, undefined, log);
  const guid = await guidOf(logged, 'a', 'one');
  await until(() => compiler.seen.length > 0);
  const closing = stops ? logged.close() : null;
  await compiler.end(new AppError('unavailable', 'the compilation was stopped'));
  await finished(logged, guid);
  await (closing ?? logged.close());
  expect(lines).toHaveLength(errors);
});
