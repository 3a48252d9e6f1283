/**
 * Tests the stored proof level of each block, over restarts, reorgs, crashes and changes of the level. The stored level
 * must never be stronger than the proof that the stored rows had.
 */
import type { ProofLevel } from '../../src/domain/block';
import type { Hex } from '../../src/domain/hex';
import {
  cutRanges,
  paintRange,
  PROOF_LEVELS,
  type ProofRange,
} from '../../src/clickhouse/schema/proofRanges';
import { emptyRows } from '../../src/ingest/rows/blockRows';
import { ProofLedger } from '../../src/ingest/store/proofLedger';
import type { HeadBlock } from '../../src/domain/head/foldHead';
import type { StoredFlip } from '../../src/ingest/store/store';
import { readProof } from '../../src/query/head/provenParts';
import { askRows } from '../support/engine/askRows';
import { openTestStore, type TestStore } from '../support/engine/testStore';
import { Random } from '../support/random';
import { SEED } from '../support/run/seed';

const DONE = async (): Promise<void> => undefined;
const CRASH = (): Promise<void> => Promise.reject(new Error('crash'));

let store: TestStore;
let chainId = 100;

beforeAll(async () => {
  store = await openTestStore();
});

afterAll(async () => {
  await store?.close();
});

const hashOf = (number: number, branch = 0): Hex =>
  `0x${number.toString(16).padStart(32, '0')}${branch.toString(16).padStart(32, '0')}`;

function blockOf(number: number, branch = 0): HeadBlock {
  return {
    number,
    hash: hashOf(number, branch),
    parentHash: hashOf(number - 1),
    timestamp: number,
    commit: 1,
  };
}

/**
 * A flip that makes the blocks canonical. It stores rows of the proof level `level` for all blocks that are not known,
 * that is, not stored before.
 */
function flipTo(
  blocks: readonly HeadBlock[],
  level: ProofLevel,
  isKnown: (hash: Hex) => boolean = () => false,
): StoredFlip {
  const fresh = blocks
    .filter(({ hash }) => !isKnown(hash))
    .map((ref) => ({ rows: { ...emptyRows(ref), proof: level }, commit: 1 }));
  return { fresh, canonical: blocks, voided: [], version: 1, finalNumber: 0 };
}

/** A writer process that starts now. */
async function start(head: readonly HeadBlock[], finalTo: number, floor: number): Promise<ProofLedger> {
  const ledger = new ProofLedger(store.db, chainId);
  ledger.begin(floor);
  await ledger.load({ head, headMax: head.at(-1)?.number ?? finalTo });
  return ledger;
}

const range = (from: number, to: number, level: ProofLevel): ProofRange[] => [{ from, to, level }];

function proof(number: number) {
  const head = { startBlock: 1, number, version: '' };
  return readProof(store.runner, chainId, head as Parameters<typeof readProof>[2]);
}

const part = (level: ProofLevel, from: number, to: number) => ({ level, proven_from: from, proven_to: to });

beforeEach(() => {
  chainId += 1;
});

test('consecutive blocks of the same proof level need only one row', async () => {
  const ledger = await start([], 0, 1_000);
  expect(await proof(0)).toEqual({ level: null, proven_from: null, proven_to: null });
  await ledger.storeRange(range(1, 100, 'full'), DONE);
  for (let number = 101; number <= 110; number += 1)
    await ledger.storeHead(flipTo([blockOf(number)], 'full'), DONE);
  expect(await proof(110)).toEqual(part('full', 1, 110));
  const rows = await askRows(store.db, `SELECT from_block FROM proof_ranges WHERE chain_id = ${chainId}`);
  expect(rows).toEqual([{ from_block: 1 }]);
});

test('the proven range has the level of the newest block, and reaches back to the last block with a weaker level', async () => {
  await (await start([], 0, 1_000)).storeRange(range(1, 100, 'bloom'), DONE);
  const second = await start([], 100, 2_000);
  await second.storeRange(range(101, 200, 'full'), DONE);
  expect(await proof(200)).toEqual(part('full', 101, 200));
  const third = await start([], 200, 3_000);
  expect(await proof(200)).toEqual(part('full', 101, 200));
  await third.storeRange(range(201, 210, 'headers'), DONE);
  expect(await proof(210)).toEqual(part('headers', 101, 210));
  await (await start([], 210, 4_000)).storeRange(range(211, 211, 'bloom'), DONE);
  expect(await proof(211)).toEqual(part('bloom', 1, 211));
});

test('a batch of blocks with different proof levels keeps the level of each block', async () => {
  const ledger = await start([], 0, 1_000);
  const mixed = [...range(1, 5, 'headers'), ...range(6, 9, 'full')];
  await ledger.storeRange(mixed, DONE);
  expect(await proof(9)).toEqual(part('full', 6, 9));
  expect(await proof(5)).toEqual(part('headers', 1, 5));
});

test('a reorg replaces the proof levels of the removed blocks, and a reorg back to the stored branch restores them', async () => {
  const a = [101, 102, 103].map((number) => blockOf(number));
  const first = await start([], 100, 1_000);
  await first.storeRange(range(1, 100, 'full'), DONE);
  await first.storeHead(flipTo(a, 'bloom'), DONE);
  const second = await start(a, 100, 2_000);
  const b = [102, 103, 104].map((number) => blockOf(number, 1));
  await second.storeHead(flipTo(b, 'full'), DONE);
  expect(await proof(104)).toEqual(part('full', 102, 104));
  const back = [...a.slice(1), blockOf(104)];
  await second.storeHead(
    flipTo(back, 'full', (hash) => hash !== hashOf(104)),
    DONE,
  );
  expect(await proof(104)).toEqual(part('full', 104, 104));
  expect(await proof(103)).toEqual(part('bloom', 1, 103));
});

test('a crash after the proof level and before the blocks leaves no level that is stronger than the stored blocks', async () => {
  const first = await start([], 0, 1_000);
  await first.storeRange(range(1, 10, 'bloom'), DONE);
  await expect(first.storeHead(flipTo([blockOf(11)], 'full'), CRASH)).rejects.toThrow('crash');
  expect(await proof(10)).toEqual(part('bloom', 1, 10));
  // The next process stores the block at a lower level.
  const second = await start([], 10, 2_000);
  await second.storeHead(flipTo([blockOf(11)], 'headers'), DONE);
  expect(await proof(11)).toEqual(part('headers', 11, 11));
  // A stored block keeps its lower level until the stronger rows are stored.
  await expect(second.storeHead(flipTo([blockOf(11, 1)], 'full'), CRASH)).rejects.toThrow('crash');
  expect(await proof(11)).toEqual(part('headers', 11, 11));
});

test('rows that are stored again get the weaker of two proof levels, and rows that a reindex confirms get the stronger one', async () => {
  const ledger = await start([], 0, 1_000);
  await ledger.storeRange(range(1, 20, 'headers'), DONE);
  await ledger.storeAgain(range(5, 8, 'full'), DONE);
  expect(await proof(20)).toEqual(part('headers', 1, 20));
  await ledger.storeAgain(range(5, 8, 'bloom'), DONE);
  expect(await proof(20)).toEqual(part('headers', 9, 20));
  const reindex = new ProofLedger(store.db, chainId);
  await reindex.replace(range(1, 20, 'full'), true, DONE);
  expect(await proof(20)).toEqual(part('full', 1, 20));
  await reindex.replace(range(1, 20, 'bloom'), true, DONE);
  expect(await proof(20)).toEqual(part('full', 1, 20));
  await expect(reindex.replace(range(1, 3, 'bloom'), false, CRASH)).rejects.toThrow('crash');
  expect(await proof(20)).toEqual(part('full', 4, 20));
});

test('random writes with crashes and restarts never claim a stronger proof level than a block has', async () => {
  const seed = SEED;
  const random = new Random(seed);
  /** The level of the stored rows of each block of the head, by hash. */
  const rows = new Map<Hex, ProofLevel>();
  const final: ProofLevel[] = ['bloom'];
  let head: HeadBlock[] = [];
  let level = random.pick(PROOF_LEVELS);
  let floor = 1_000;
  let ledger = await start(head, 0, floor);
  const restart = async (): Promise<void> => {
    level = random.pick(PROOF_LEVELS);
    floor += 1_000;
    ledger = await start(head, final.length - 1, floor);
  };
  const write = async (store_: (write: () => Promise<void>) => Promise<void>, apply: () => void) => {
    const outcome = random.int(0, 9);
    try {
      await store_(() => {
        if (outcome > 0) apply();
        return outcome < 2 ? CRASH() : DONE();
      });
    } catch {
      await restart();
    }
  };
  for (let step = 0; step < 120; step += 1) {
    const cursor = final.length - 1;
    const kind = random.int(0, 9);
    if (kind === 0) await restart();
    else if (kind <= 6) {
      const fork = random.int(Math.max(cursor, cursor + head.length - 3), cursor + head.length);
      const blocks = Array.from({ length: random.int(1, 3) }, (_, at) =>
        blockOf(fork + 1 + at, random.int(0, 2)),
      );
      const flip = flipTo(blocks, level, (hash) => rows.has(hash));
      await write(
        (commit) => ledger.storeHead(flip, commit),
        () => {
          for (const { rows: one } of flip.fresh) rows.set(one.ref.hash, one.proof);
          head = [...head.slice(0, fork - cursor), ...blocks];
        },
      );
    } else if (kind === 7 && head.length > 0) {
      // A promotion: the first blocks of the head become final with their rows.
      const moved = head.splice(0, random.int(1, head.length));
      for (const { hash } of moved) final.push(rows.get(hash)!);
      ledger.forgetBelow(final.length - 1);
      for (const hash of rows.keys())
        if (Number.parseInt(hash.slice(2, 34), 16) < final.length) rows.delete(hash);
    } else if (kind === 8 && head.length === 0) {
      const to = cursor + random.int(1, 5);
      await write(
        (commit) => ledger.storeRange(range(cursor + 1, to, level), commit),
        () => {
          while (final.length <= to) final.push(level);
        },
      );
    } else if (cursor > 0) {
      const from = random.int(1, cursor);
      const to = random.int(from, cursor);
      await write(
        (commit) => ledger.storeAgain(range(from, to, level), commit),
        () => {
          for (let number = from; number <= to; number += 1)
            final[number] =
              PROOF_LEVELS[Math.min(...[final[number]!, level].map((one) => PROOF_LEVELS.indexOf(one)))]!;
        },
      );
    }
    const stored = [...final, ...head.map(({ hash }) => rows.get(hash)!)];
    const told = await askRows<{ from_block: number; to_block: number; level: ProofLevel }>(
      store.db,
      `SELECT from_block, to_block, toString(p.level) AS level FROM proof_ranges AS p
       WHERE chain_id = ${chainId} ORDER BY version`,
    );
    const ranges = told
      .map((row) => ({ from: row.from_block, to: row.to_block, level: row.level }))
      .reduce<readonly ProofRange[]>(paintRange, []);
    const wrong = stored.flatMap((real, number) => {
      const claim = cutRanges(ranges, number, number)[0]!.level;
      return number > 0 && PROOF_LEVELS.indexOf(claim) > PROOF_LEVELS.indexOf(real)
        ? [{ number, claim, real }]
        : [];
    });
    expect({ seed, step, wrong }).toEqual({ seed, step, wrong: [] });
  }
});
