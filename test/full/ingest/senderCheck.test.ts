/** A node named false senders in blocks that were otherwise proven: the check of senders finds and corrects them. */
import { BlockMismatch } from '../../../src/node/blocks/blockMismatch';
import type { EndpointPool } from '../../../src/node/rpc/endpointPool';
import { readOperations, SENDERS_CHECKED } from '../../../src/clickhouse/schema/operations';
import type { ChainBlock } from '../../../src/domain/block';
import { reindexBlocks } from '../../../src/ingest/repair/reindexBlocks';
import { SenderCheck } from '../../../src/ingest/repair/senderCheck';
import { newIngestStatus, type IngestStatus } from '../../../src/ingest/session/status';
import { createLog } from '../../../src/log';
import { SimChain, SIM_CHAIN_ID } from '../../simulation/chain/simChain';
import { SIM_DESCRIPTION } from '../../simulation/chain/simDescription';
import { headerOf, simSource, type Branch } from '../../simulation/chain/simNode';
import { calmCalls } from '../../simulation/compare/straightRun';
import { findDifferences, openCalmSession } from '../../simulation/harness';
import { askRows } from '../../support/engine/askRows';
import { openTestStore, type TestStore } from '../../support/engine/testStore';

const BLOCKS = 60;
const WRONG = `0x${'77'.repeat(20)}` as const;
const log = createLog('silent', false);
const { signal } = new AbortController();

let chain: SimChain;
let store: TestStore;
/** The last block with events and the false sender of its events. */
let falseBlock: number;

const calls = () => calmCalls(chain, (at) => (at === 'latest' ? chain.head : chain.at(Number(at)))?.hash);
const withSender = (block: ChainBlock): ChainBlock => ({
  ...block,
  transactions: block.transactions.map((one) => ({ ...one, from: WRONG })),
});

/** The chain with proven blocks. `change` changes some of them. */
const proven = (change: (block: ChainBlock) => ChainBlock = (block) => block): Branch => ({
  head: chain.head,
  at: (number) => {
    const block = chain.at(number);
    return block === undefined ? undefined : change({ ...block, proof: 'full' });
  },
});

const lying = (): Branch => proven((block) => (block.number === falseBlock ? withSender(block) : block));

async function storeFrom(view: Branch): Promise<void> {
  const options = {
    depth: 0,
    commitSeed: 1,
    rpc: calls(),
    base: chain.at(0)!,
    limits: { promoteMinBlocks: 1 },
  };
  const session = await openCalmSession(view, store.db, options);
  await session.advanceTo(headerOf(chain.head));
  await session.promoted();
  await session.close();
}

interface Check {
  readonly check: SenderCheck;
  readonly status: IngestStatus;
  readonly repaired: string[];
  /** Pauses in ms. */
  readonly pauses: number[];
  /** How often progress was published. */
  readonly published: () => number;
}

/** A check of senders through a node that shows one chain after another, one at each fetch. */
function checkWith(views: readonly Branch[], isRepairable = true): Check {
  const status = { ...newIngestStatus(), phase: 'follow' as const, finalTo: BLOCKS };
  const [repaired, pauses]: [string[], number[]] = [[], []];
  const [first, ...others] = views;
  let view = first!;
  const source = {
    ...simSource({
      get head() {
        return chain.head;
      },
      at: (number) => view.at(number),
    }),
    // Recovering a sender gives the one of the real chain.
    checkSenders: (block: ChainBlock, indexes: ReadonlySet<number>): Promise<void> => {
      const real = chain.at(block.number)!;
      const wrong = [...indexes].some((at) => block.transactions[at]?.from !== real.transactions[at]?.from);
      if (!wrong) return Promise.resolve();
      view = others.shift() ?? view;
      return Promise.reject(new BlockMismatch('proof', block.number, 'false sender'));
    },
  };
  let [now, published] = [0, 0];
  const check = new SenderCheck({
    database: store.db,
    source,
    chainId: SIM_CHAIN_ID,
    status,
    log,
    clock: {
      now: () => (now += 1),
      sleep: (ms) => Promise.resolve(void pauses.push(ms)),
      turn: () => Promise.resolve(),
      random: () => 0,
    },
    callsPerSecond: 1_000_000,
    onChange: () => void (published += 1),
    repair: isRepairable
      ? async (from, to) => {
          repaired.push(`${from}-${to}`);
          const rpc = calls() as unknown as EndpointPool;
          await reindexBlocks(
            { database: store.db, rpc, source, chain: SIM_DESCRIPTION, log, signal },
            { from, to, replace: true },
          );
        }
      : null,
  });
  return { check, status, repaired, pauses, published: () => published };
}

async function finish({ check }: Check): Promise<void> {
  while (await check.step(signal));
}

const reached = async (): Promise<number | undefined> =>
  (await readOperations(store.db, [SENDERS_CHECKED])).get(SENDERS_CHECKED);

beforeEach(async () => {
  chain = new SimChain(17);
  chain.mine(BLOCKS);
  store = await openTestStore();
  await storeFrom(proven());
  const [row] = await askRows<{ block: string }>(
    store.db,
    'SELECT max(bitShiftRight(ord, 20)) AS block FROM events WHERE maker IS NOT NULL',
  );
  falseBlock = Number(row!.block);
});

afterEach(() => store.close());

test('true senders are all recovered, with pauses of 19 times the work, and a restart checks nothing again', async () => {
  const one = checkWith([proven()]);
  await finish(one);
  expect([one.repaired, await reached()]).toEqual([[], BLOCKS]);
  // A tick of the clock for each slice of work.
  expect(new Set(one.pauses)).toEqual(new Set([19]));
  expect(one.published()).toBeGreaterThan(1);
  const again = checkWith([proven()]);
  await finish(again);
  expect([again.pauses, again.published()]).toEqual([[], 0]);
});

describe('with a stored false sender', () => {
  beforeEach(async () => {
    await store.close();
    store = await openTestStore();
    await storeFrom(lying());
    expect(await findDifferences(chain, store.db)).not.toEqual([]);
  });

  test('the sender is found and corrected, without further pauses', async () => {
    const one = checkWith([proven()]);
    await finish(one);
    expect([one.repaired, await reached()]).toEqual([[`${falseBlock}-${BLOCKS}`], BLOCKS]);
    expect(await findDifferences(chain, store.db)).toEqual([]);
    expect(one.status.falseSenders).toBeNull();
  });

  test('a node that still names it is refused, and another node corrects it', async () => {
    const one = checkWith([lying(), proven()]);
    await expect(finish(one)).rejects.toThrow('false sender');
    expect(await reached()).toBeLessThan(falseBlock);
    await finish(one);
    expect(await findDifferences(chain, store.db)).toEqual([]);
  });

  test('a storage that allows no repair names the block as a problem', async () => {
    const one = checkWith([proven()], false);
    await finish(one);
    expect(one.status.falseSenders).toEqual({ block: falseBlock });
  });
});
