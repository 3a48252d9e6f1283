/** A node left logs of final blocks out under an unchanged block hash: the second look finds and stores them. */
import { listDifferingBlocks } from '../../../src/commands/differingBlocks';
import type { BlockSource } from '../../../src/node/blocks/blockSource';
import type { EndpointPool } from '../../../src/node/rpc/endpointPool';
import { readOperations } from '../../../src/clickhouse/schema/operations';
import type { ChainBlock } from '../../../src/domain/block';
import { SecondLook } from '../../../src/ingest/repair/secondLook';
import { reindexBlocks } from '../../../src/ingest/repair/reindexBlocks';
import { newIngestStatus, type IngestStatus } from '../../../src/ingest/session/status';
import { createLog } from '../../../src/log';
import { SimChain, SIM_CHAIN_ID } from '../../simulation/chain/simChain';
import { SIM_DESCRIPTION } from '../../simulation/chain/simDescription';
import { headerOf, simSource, type Branch } from '../../simulation/chain/simNode';
import { calmCalls } from '../../simulation/compare/straightRun';
import { findDifferences, openCalmSession } from '../../simulation/harness';
import { openTestStore, type TestStore } from '../../support/engine/testStore';

const BLOCKS = 60;
const log = createLog('silent', false);
const { signal } = new AbortController();

let chain: SimChain;
let store: TestStore;
/** A block with several logs, in the middle of the chain. */
let lossy: number;

const calls = () => calmCalls(chain, (at) => (at === 'latest' ? chain.head : chain.at(Number(at)))?.hash);
const withoutLast = (block: ChainBlock): ChainBlock => ({ ...block, logs: block.logs.slice(0, -1) });

/** The chain as a node shows it that leaves out the last log of one block. */
const seenLossy = (): Branch => ({
  head: chain.head,
  at: (number) => {
    const block = chain.at(number);
    return block === undefined || number !== lossy ? block : withoutLast(block);
  },
});

beforeEach(async () => {
  chain = new SimChain(17);
  chain.mine(BLOCKS);
  lossy = Array.from({ length: 20 }, (_, index) => 20 + index).find((at) => chain.at(at)!.logs.length > 5)!;
  store = await openTestStore();
  const options = {
    depth: 0,
    commitSeed: 1,
    rpc: calls(),
    base: chain.at(0)!,
    limits: { promoteMinBlocks: 1 },
  };
  const session = await openCalmSession(seenLossy(), store.db, options);
  await session.advanceTo(headerOf(chain.head));
  await session.promoted();
  expect(session.finalTo).toBe(BLOCKS);
  await session.close();
  expect(await findDifferences(chain, store.db)).not.toEqual([]);
});

afterEach(() => store.close());

interface Look {
  readonly look: SecondLook;
  readonly status: IngestStatus;
  readonly benched: number[];
  readonly repaired: string[];
}

/** A second look at endpoints that each show one chain. */
function lookAt(views: readonly Branch[]): Look {
  const status = { ...newIngestStatus(), phase: 'follow' as const, finalTo: BLOCKS };
  const [benched, repaired]: [number[], string[]] = [[], []];
  const pool = { endpoints: views.map((_, id) => ({ id })), reject: (id: number) => void benched.push(id) };
  const sources = views.map(simSource);
  // Without the name of an endpoint, the first one that is not benched answers.
  const sourceOf = (id: number | undefined): BlockSource =>
    sources[id ?? views.findIndex((_, at) => !benched.includes(at))]!;
  const source: BlockSource = {
    ...sources[0]!,
    fetchRange: (from, to, options) => sourceOf(options?.endpoint).fetchRange(from, to, options),
  };
  let now = 0;
  const look = new SecondLook({
    database: store.db,
    pool: pool as unknown as EndpointPool,
    source,
    chainId: SIM_CHAIN_ID,
    status,
    log,
    clock: {
      now: () => (now += 1),
      sleep: () => Promise.resolve(),
      turn: () => Promise.resolve(),
      random: () => 0,
    },
    callsPerSecond: 1_000,
    listDiffering: (blocks) => listDifferingBlocks(store.db, SIM_DESCRIPTION, blocks),
    repair: async (from, to) => {
      repaired.push(`${from}-${to}`);
      const deps = {
        database: store.db,
        rpc: calls() as unknown as EndpointPool,
        source,
        chain: SIM_DESCRIPTION,
        log,
      };
      await reindexBlocks({ ...deps, signal }, { from, to, replace: true });
    },
  });
  return { look, status, benched, repaired };
}

async function finish({ look }: Look): Promise<void> {
  while (await look.step(signal));
}

test('a log that the only endpoint left out is stored when the endpoint sends it', async () => {
  const one = lookAt([chain]);
  await finish(one);
  expect(one.repaired).toEqual([`${lossy}-${BLOCKS}`]);
  expect(await findDifferences(chain, store.db)).toEqual([]);
  expect((await readOperations(store.db, ['second_look'])).get('second_look')).toBe(BLOCKS);
});

test('an endpoint whose logs contradict the majority is benched, and the logs of the majority are stored', async () => {
  const three = lookAt([seenLossy(), chain, chain]);
  await finish(three);
  expect(three.benched).toEqual([0]);
  expect(three.repaired).toEqual([`${lossy}-${BLOCKS}`]);
  expect(await findDifferences(chain, store.db)).toEqual([]);
});

test('if two endpoints contradict each other, nothing is replaced, and the block is named', async () => {
  const two = lookAt([seenLossy(), chain]);
  await finish(two);
  expect(two).toMatchObject({ benched: [], repaired: [], status: { disputed: { block: lossy } } });
});

test('a restart continues after the last block that was asked for a second time', async () => {
  await finish(lookAt([seenLossy()]));
  const later = lookAt([chain]);
  await finish(later);
  expect(later.repaired).toEqual([]);
});
