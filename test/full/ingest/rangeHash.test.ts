/**
 * Ingests one chain in different ways: one backfill, and step by step with reorgs and restarts. Expects equal range
 * hashes for each range of 1,000 blocks. A changed row changes only its range's hash.
 */
import { askRows } from '../../support/engine/askRows';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { printRangeHashes } from '../../../src/commands/data/verify';
import type { Database } from '../../../src/clickhouse/client/database';
import { swapsTable } from '../../../src/clickhouse/schema/tables';
import {
  hashedColumns,
  hashRanges,
  listWholeRanges,
  readRangeHashes,
} from '../../../src/ingest/repair/rangeHash';
import { Random } from '../../support/random';
import { createProgramHome, type ProgramHome } from '../../support/server/runningProgram';
import { eventually } from '../../support/eventually';

const CHAIN_ID = 369;
const BLOCKS = 2_140;
/** Last blocks of the ranges of 1,000 blocks that are complete and final. */
const WHOLE = [0, 1_000];
const SEED = Number(process.env['RANGE_HASH_SEED'] ?? 3);

let chain: StubChain;
let straight: ProgramHome;
let stepwise: ProgramHome;

async function untilNoted(database: Database): Promise<void> {
  const read = () => readRangeHashes(database, CHAIN_ID, 0, BLOCKS);
  await eventually(read, ({ size }) => size >= WHOLE.length);
}

/** Follows the chain in random steps, with occasional reorgs and restarts. */
async function followStepwise(): Promise<void> {
  const random = new Random(SEED);
  chain.setHead(300);
  let program = await stepwise.start([chain.url]);
  let reorgs = 0;
  while (chain.head < BLOCKS) {
    await program.untilBlock(chain.head, chain.blocks[chain.head]!.hash);
    if (random.chance(0.3)) {
      const depth = random.int(1, 30);
      chain.reorg(depth, depth + random.int(1, 60));
      reorgs += 1;
    } else if (random.chance(0.15)) {
      await program.stop();
      chain.setHead(Math.min(BLOCKS, chain.head + random.int(1, 120)));
      program = await stepwise.start([chain.url]);
    } else chain.setHead(Math.min(BLOCKS, chain.head + random.int(1, 300)));
  }
  if (chain.head > BLOCKS) chain.setHead(chain.head);
  await program.untilBlock(chain.head, chain.blocks[chain.head]!.hash);
  expect(reorgs).toBeGreaterThan(3);
}

beforeAll(async () => {
  chain = await startStubChain({ blocks: 300, logsPerBlock: 8, pairs: 6, seed: SEED });
  straight = await createProgramHome();
  stepwise = await createProgramHome();
  await followStepwise();
  const program = await straight.start([chain.url]);
  await program.untilBlock(chain.head, chain.blocks[chain.head]!.hash);
  await untilNoted(straight.database);
  await untilNoted(stepwise.database);
});

afterAll(async () => {
  await straight.drop();
  await stepwise.drop();
  await chain.close();
});

test('hashed ranges are 1,000 whole blocks, and only the first range omits block 0', () => {
  expect(listWholeRanges(1, 998)).toEqual([]);
  expect(listWholeRanges(1, 2_000)).toEqual([0, 1_000]);
  expect(listWholeRanges(2, 3_999)).toEqual([1_000, 2_000, 3_000]);
  expect(listWholeRanges(1_000, 1_999)).toEqual([1_000]);
});

test('a backfill and a step-by-step run with reorgs and restarts have the same range hashes', async () => {
  const [a, b] = await Promise.all(
    [straight, stepwise].map(({ database }) => readRangeHashes(database, CHAIN_ID, 0, BLOCKS)),
  );
  expect([...a!.keys()]).toEqual(WHOLE);
  expect(b).toEqual(a);
  for (const { sums, rows } of a!.values()) {
    expect([...sums.keys()]).toEqual(
      expect.arrayContaining(['blocks', 'logs', 'swaps', 'pool_states', 'token_prices']),
    );
    expect(rows).toBeGreaterThan(10_000);
  }
});

test('the stored range hash equals a row-by-row sum over the table', async () => {
  const { database } = straight;
  const rows = await askRows<{ hash: string }>(
    database,
    `SELECT toString(reinterpretAsUInt128(sipHash128(tuple(${hashedColumns('swaps', swapsTable.columns).join(', ')})))) AS hash FROM swaps
     WHERE ord < ${1_000 * 2 ** 20} LIMIT 1000000`,
  );
  const sum = rows.reduce((total, { hash }) => (total + BigInt(hash)) % 2n ** 128n, 0n);
  const noted = await readRangeHashes(database, CHAIN_ID, 0, 0);
  expect(noted.get(0)!.sums.get('swaps')).toBe(sum);
});

async function printHashes(database: Database): Promise<{ same: boolean; lines: string[] }> {
  const lines: string[] = [];
  const range = { from: 1, to: WHOLE.at(-1)! + 999 };
  const same = await printRangeHashes(database, CHAIN_ID, range, (line) => lines.push(line.trim()));
  return { same, lines };
}

test('verify prints each range with its hash, and names the range and table of a changed row', async () => {
  const { database } = stepwise;
  const before = await printHashes(database);
  expect(before.same).toBe(true);
  expect(before.lines).toHaveLength(WHOLE.length);
  for (const line of before.lines)
    expect(line).toMatch(/^range hash of blocks \d+-\d+: [0-9a-f]{32}, \d+ rows, as recorded$/);
  await database.command(
    'damage',
    `ALTER TABLE transfers UPDATE amount = amount + 1
     WHERE ord = (SELECT max(ord) FROM transfers WHERE ord < ${1_500 * 2 ** 20}) SETTINGS mutations_sync = 2`,
  );
  const after = await printHashes(database);
  expect(after.same).toBe(false);
  expect(after.lines[0]).toBe(before.lines[0]);
  expect(after.lines[1]).toContain('DIFFERENT in transfers: the recorded hash is');
});

test('a duplicate row, a missing row and a value swapped between two rows change the range hash', async () => {
  const { database } = straight;
  const hashNow = async (): Promise<string> => {
    for await (const { hash } of hashRanges(database, CHAIN_ID, [0])) return hash;
    return '';
  };
  const seen = [await hashNow()];
  await database.command('twice', 'INSERT INTO blocks SELECT * FROM blocks WHERE number = 17 LIMIT 1');
  seen.push(await hashNow());
  await database.command('less', 'ALTER TABLE blocks DELETE WHERE number = 17 SETTINGS mutations_sync = 2');
  seen.push(await hashNow());
  await database.command(
    'swapped',
    'ALTER TABLE blocks UPDATE log_count = 4061 - log_count WHERE number IN (20, 21) SETTINGS mutations_sync = 2',
  );
  seen.push(await hashNow());
  expect(new Set(seen).size).toBe(seen.length);
});
