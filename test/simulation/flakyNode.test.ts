/** One endpoint whose calls fail often, in ten ways. Every block still arrives, in virtual time. */
import { createBlockSource } from '../../src/node/blocks/blockSource';
import { BloomBuilder } from '../../src/node/blocks/bloom';
import { BlockProver } from '../../src/node/proof/blockProof';
import { EndpointPool } from '../../src/node/rpc/endpointPool';
import { RpcError } from '../../src/node/rpc/rpcError';
import { isRecord, type RpcAnswer, type RpcCall, type RpcTransport } from '../../src/node/rpc/rpcTransport';
import { fetchAhead } from '../../src/ingest/session/fetchAhead';
import { createLog } from '../../src/log';
import { FakeChain, type Json } from '../support/node/fakeChain';
import { FakeNode } from '../support/node/fakeNode';
import { Random } from '../support/random';
import { VirtualClock } from './virtualClock';

const BLOCKS = 4_000;
/** Latency of a request, plus time per call, as for a node in a nearby data centre. */
const REQUEST_MS = 10;
const CALL_MS = 0.5;
const SEED = 20_261_125;

const chain = new FakeChain(SEED);
chain.mineMany(BLOCKS, 4);

const REQUEST_FAULTS: readonly (() => RpcError)[] = [
  () => new RpcError('rate_limited', 'HTTP 429', { httpStatus: 429 }),
  () => new RpcError('network', 'HTTP 503', { httpStatus: 503 }),
  () => new RpcError('network', 'ECONNRESET'),
  () => new RpcError('bad_answer', 'the answer is not JSON'),
];

const isReceipts = (result: unknown): result is Json[] => Array.isArray(result);

/** Failures of one call in a request. `other` is the answer for another block. */
const CALL_FAULTS: readonly ((result: unknown, other: unknown) => RpcAnswer)[] = [
  () => ({ error: new RpcError('other', 'internal error', { rpcCode: -32603 }) }),
  () => ({ error: new RpcError('too_large', 'block range is too wide') }),
  () => ({ result: null }),
  (result) => ({ result: isReceipts(result) ? result.slice(0, -1) : null }),
  (result, other) => ({ result: isReceipts(result) ? other : null }),
  () => ({ error: new RpcError('unknown_block', 'header not found') }),
];

const FAULTS = REQUEST_FAULTS.length + CALL_FAULTS.length;

interface Run {
  /** Hashes of the received blocks, in order. */
  readonly hashes: readonly string[];
  readonly virtualMs: number;
  /** Share of the calls that failed. */
  readonly failedShare: number;
}

interface Plan {
  /** Share of failing calls, drawn for each call. Four of ten failures spoil the whole request. */
  readonly failingShare: number;
  /** A block whose answers always lack a receipt or its logs. */
  readonly lieAt?: number;
  /** False for a node that has logs only. */
  readonly hasReceipts?: boolean;
  readonly blocks?: number;
}

/** Leaves a receipt or the logs of block `lieAt` out, whatever the method. */
function lieAbout({ method, params }: RpcCall, answered: unknown, lieAt: number): unknown {
  if (isReceipts(answered) && Number(params[0]) === lieAt) return answered.slice(1);
  const isLied = (item: unknown): boolean => isRecord(item) && Number(item['blockNumber']) === lieAt;
  if (method === 'eth_getLogs' && Array.isArray(answered)) return answered.filter((log) => !isLied(log));
  return method === 'eth_getTransactionReceipt' && isLied(answered) ? null : answered;
}

async function run({
  failingShare,
  lieAt = -1,
  hasReceipts = true,
  blocks: count = BLOCKS,
}: Plan): Promise<Run> {
  const random = new Random(SEED);
  const clock = new VirtualClock(1_700_000_000_000, random);
  let [calls, failed] = [0, 0];
  const node = new FakeNode({ chain });
  node.hasReceipts = hasReceipts;
  const answer = (call: RpcCall): unknown => {
    const answered = node.perform(call);
    return 'result' in answered ? answered.result : null;
  };
  const isMissing = ({ method }: RpcCall): boolean => !node.hasReceipts && method === 'eth_getBlockReceipts';
  const transport: RpcTransport = {
    name: '#0 flaky',
    async send(requested: readonly RpcCall[], signal?: AbortSignal): Promise<RpcAnswer[]> {
      await clock.sleep(REQUEST_MS + CALL_MS * requested.length, signal);
      calls += requested.length;
      const faults = requested.map(() => (random.chance(failingShare) ? random.int(0, FAULTS - 1) : null));
      const requestFault = faults.find((fault) => fault !== null && fault < REQUEST_FAULTS.length);
      if (typeof requestFault === 'number') {
        failed += requested.length;
        throw REQUEST_FAULTS[requestFault]!();
      }
      return requested.map((call, index) => {
        if (isMissing(call)) return { error: new RpcError('method_missing', 'Method not found') };
        const trueResult = answer(call);
        const result = lieAbout(call, trueResult, lieAt);
        const fault = faults[index] ?? null;
        if (fault === null) return { result };
        failed += 1;
        const otherResult = answer({
          ...call,
          params: [`0x${random.int(1, BLOCKS - 1).toString(16)}`, false],
        });
        return CALL_FAULTS[fault - REQUEST_FAULTS.length]!(result, otherResult);
      });
    },
    close: () => Promise.resolve(),
  };
  const log = createLog('silent', false);
  const pool = new EndpointPool({ transports: [transport], chainId: null, log, clock });
  const source = createBlockSource({ pool, log, clock });
  const hashes: string[] = [];
  const startedAt = clock.now();
  await clock.run(
    (async () => {
      const { signal } = new AbortController();
      for await (const blocks of fetchAhead(source, 1, count, { signal }))
        for (const { hash } of blocks) hashes.push(hash);
    })(),
  );
  return { hashes, virtualMs: clock.now() - startedAt, failedShare: failed / calls };
}

let goodRun: Run;

beforeAll(async () => {
  // Compiles the WebAssembly before the simulation, because the virtual clock does not wait for the compilation.
  await Promise.all([BloomBuilder.create(), BlockProver.create()]);
  goodRun = await run({ failingShare: 0 });
});

const expectedHashes = chain.blocks.slice(1).map(({ hash }) => hash);

test('with 30 % failing calls every block arrives, at half the speed or more', async () => {
  const flaky = await run({ failingShare: 0.3 });
  expect(goodRun.hashes).toEqual(expectedHashes);
  expect(flaky.hashes).toEqual(expectedHashes);
  expect(flaky.failedShare).toBeGreaterThan(0.25);
  expect(goodRun.virtualMs / flaky.virtualMs).toBeGreaterThan(0.5);
});

test('with 60 % failing calls every block arrives', async () => {
  const flaky = await run({ failingShare: 0.6 });
  expect(flaky.hashes).toEqual(expectedHashes);
  expect(flaky.failedShare).toBeGreaterThan(0.4);
  expect(goodRun.virtualMs / flaky.virtualMs).toBeGreaterThan(0.15);
});

test.each([0.3, 0.6])(
  'with a share of %f failing calls every block arrives from a node without receipts',
  async (failingShare) => {
    const { hashes } = await run({ failingShare, hasReceipts: false, blocks: 400 });
    expect(hashes).toEqual(expectedHashes.slice(0, 400));
  },
);

test('a block that the node always answers wrongly is an error, even if other calls fail too', async () => {
  const lieAt = chain.blocks.findIndex(({ number, logs }) => number > 2_000 && logs.length > 0);
  await expect(run({ failingShare: 0.3, lieAt })).rejects.toThrow(new RegExp(`block ${lieAt}\\b`));
});
