/** Compares balances in the real store with the answers of nodes that are honest, lie, lag, fail or report
 * reorgs. */
import type { Database } from '../../src/clickhouse/client/database';
import { insertRows } from '../../src/clickhouse/rows/inserter';
import {
  headBlocksTable,
  transfersTable,
  type HeadBlockRow,
  type TransferRow,
} from '../../src/clickhouse/schema/tables';
import { RpcError } from '../../src/chain/rpc/rpcError';
import { systemClock, type Clock } from '../../src/chain/rpc/clock';
import { ZERO_ADDRESS, type Hex } from '../../src/domain/hex';
import { toOrd } from '../../src/domain/ord';
import { BalanceChecker } from '../../src/ingest/balances/balanceChecker';
import { newIngestStatus, type IngestStatus } from '../../src/ingest/session/status';
import { createLog } from '../../src/log';
import { createQueryRunner } from '../../src/clickhouse/client/namedQueries';
import {
  inventsTransfers,
  listBalanceChecks,
  type BalanceChecks,
} from '../../src/query/holders/balanceChecks';
import { listRebasing } from '../../src/query/holders/rebasing';
import { answeringCalls, type Asked } from '../support/node/vaultSetup';
import { createRandom } from '../support/createRandom';
import { openTestStore, type TestStore } from '../support/engine/testStore';

const SEED = 90_210;
const CHAIN_ID = 369;
const BLOCKS = 60;
const FINAL = 40;
const BALANCE_OF = '0x70a08231';
const TOKENS = Array.from({ length: 7 }, (_, index): Hex => `0x${'c'.repeat(39)}${index}`);
const HOLDERS = Array.from({ length: 12 }, (_, i): Hex => `0x${'d'.repeat(38)}${String(i).padStart(2, '0')}`);
const [ELASTIC, UNTOLD] = [TOKENS[5]!, TOKENS[6]!];
const log = createLog('silent', false);
const hashOf = (number: number, branch = 0): Hex =>
  `0x${(number * 16 + branch).toString(16).padStart(64, '0')}`;

const opened: TestStore[] = [];

afterAll(async () => {
  for (const store of opened) await store.close();
});

/** The transfers of each block, from block 1 on. */
function makeBlocks(): TransferRow[][] {
  const random = createRandom(SEED);
  return Array.from({ length: BLOCKS }, (_, index) =>
    Array.from({ length: 6 }, (__, log_): TransferRow => {
      const sender = random() < 0.4 ? ZERO_ADDRESS : random.pick(HOLDERS);
      return {
        ord: toOrd(index + 1, log_),
        timestamp: 1,
        token: random.pick(TOKENS),
        sender,
        recipient: random() < 0.1 ? sender : random.pick(HOLDERS),
        amount: random.big(random.int(100)),
        kind: 'transfer',
        tx_index: 0,
      };
    }),
  );
}
const blocks = makeBlocks();

/** The balance from the logs of all blocks up to `number`. */
function plainBalance(token: Hex, holder: Hex, number: number): bigint {
  return blocks
    .slice(0, number)
    .flat()
    .filter((row) => row.token === token && row.sender !== row.recipient)
    .reduce((sum, { sender, recipient, amount }) => {
      return sum + (recipient === holder ? amount : 0n) - (sender === holder ? amount : 0n);
    }, 0n);
}

/** The balance that the contract reports. One token's balances grow with each block, another token has more
 * than its logs show. */
function trueBalance(token: Hex, holder: Hex, number: number): bigint {
  const told = plainBalance(token, holder, number);
  if (token === ELASTIC) return told + BigInt(number);
  return token === UNTOLD ? told + 77n : told;
}

/** A store with history from block `first`, final up to FINAL, with a head up to `tip`. */
async function storeWorld(first: number, tip: number): Promise<Database> {
  const store = await openTestStore();
  opened.push(store);
  const { db } = store;
  const final = blocks.slice(first - 1, FINAL).flat();
  await insertRows(db, transfersTable, final);
  await db.command(
    'cursor',
    `INSERT INTO promotions (chain_id, seq, status, kind, from_block, to_block, to_hash, to_timestamp, counts)
     SELECT {chain:UInt32}, number, 'done', if(number = 0, 'start', 'backfill'), {first:UInt32},
       if(number = 0, {first:UInt32} - 1, {final:UInt32}), unhex({hash:String}), 1, map() FROM numbers(2)`,
    { chain: CHAIN_ID, first, final: FINAL, hash: hashOf(FINAL).slice(2) },
  );
  await addHead(db, FINAL + 1, tip);
  return db;
}

function headRow(number: number, { branch = 0, version = number } = {}): HeadBlockRow {
  return {
    chain_id: CHAIN_ID,
    number,
    hash: hashOf(number, branch),
    parent_hash: hashOf(number - 1),
    timestamp: 1,
    commit: version,
    version,
    final_number: FINAL,
  };
}

async function addHead(db: Database, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1) {
    await insertRows(db, transfersTable, blocks[number - 1]!, { commit: number });
    await insertRows(db, headBlocksTable, [headRow(number)]);
  }
}

function numberAt({ at }: Asked): number {
  if (typeof at !== 'object') throw new Error('a call without a block hash');
  return Number(BigInt(at.blockHash)) >> 4;
}

const word = (value: bigint): Hex => `0x${BigInt.asUintN(256, value).toString(16).padStart(64, '0')}`;

/** A node that answers balanceOf with the balance at the block of the requested hash. */
function answerTruly(asked: Asked): Hex | null {
  if (!asked.data.startsWith(BALANCE_OF)) return null;
  return word(trueBalance(asked.to, `0x${asked.data.slice(-40)}`, numberAt(asked)));
}

/** A clock on which no time limit passes. */
const patientClock: Clock = {
  ...systemClock(),
  sleep: (_ms, signal) => systemClock().sleep(600_000, signal),
};

function openChecker(
  db: Database,
  answer: (asked: Asked) => Hex | null | RpcError,
  hashAt: (number: number) => Hex = hashOf,
): { checker: BalanceChecker; status: IngestStatus } {
  const status = newIngestStatus();
  const random = createRandom(SEED + 1);
  const clock = { ...patientClock, random: () => random() };
  const rpc = answeringCalls(answer, hashAt);
  return {
    checker: new BalanceChecker({ database: db, rpc, chainId: CHAIN_ID, status, log, clock }),
    status,
  };
}

const rebasingIn = async (db: Database): Promise<string[]> =>
  [...(await listRebasing(createQueryRunner(db)))].sort();

test('exactly the tokens whose balances differ from their logs at two blocks are marked as rebasing', async () => {
  const db = await storeWorld(1, BLOCKS - 10);
  const { checker, status } = openChecker(db, answerTruly);
  await checker.check();
  expect(await rebasingIn(db)).toEqual([]);
  expect(status.balanceChecks.mismatches).toBeGreaterThan(0);
  // A second check of the same block finds no further mismatch.
  await checker.check();
  expect(await rebasingIn(db)).toEqual([]);
  for (let tip = BLOCKS - 9; tip <= BLOCKS; tip += 1) {
    await addHead(db, tip, tip);
    await checker.check();
  }
  expect(await rebasingIn(db)).toEqual([ELASTIC, UNTOLD]);
  expect(status.balanceChecks).toMatchObject({ rounds: 12, failures: 0, rebasing: 2 });
  expect(status.balanceChecks.compared).toBeGreaterThan(100);
  const fresh = openChecker(db, answerTruly);
  await fresh.checker.check();
  expect(fresh.status.balanceChecks).toMatchObject({ rebasing: 2, mismatches: 0 });
});

test('checks of stored holders find a token with invented Transfer logs, even long after these logs', async () => {
  const db = await storeWorld(1, BLOCKS - 10);
  const [invented, real] = [`0x${'e'.repeat(40)}`, TOKENS[0]!] as const;
  const addressOf = (index: number): Hex =>
    `0x${(index * 7_919 + 1).toString(16).padStart(8, '0').repeat(5)}`;
  const mints = Array.from({ length: 300 }, (_, index): TransferRow => ({
    ord: toOrd(1, 100 + index),
    timestamp: 1,
    token: invented,
    sender: ZERO_ADDRESS,
    recipient: addressOf(index),
    amount: 1n,
    kind: 'transfer',
    tx_index: 0,
  }));
  await insertRows(db, transfersTable, mints);
  await db.command(
    'pool of both tokens',
    'INSERT INTO pools (ord, address, token0, token1) SELECT 1, unhex(repeat({pool:String}, 20)), unhex({a:String}), unhex({b:String})',
    { pool: 'ab', a: invented.slice(2), b: real.slice(2) },
  );
  const { checker } = openChecker(db, (asked) => (asked.to === invented ? null : answerTruly(asked)));
  const found = async (): Promise<BalanceChecks | undefined> =>
    (await listBalanceChecks(createQueryRunner(db))).get(invented);
  await checker.check();
  expect(await found()).toEqual({ rebasing: false, held: 3, unconfirmed: 3 });
  await checker.check();
  expect(inventsTransfers((await found()) ?? null)).toBe(true);
  expect(inventsTransfers((await listBalanceChecks(createQueryRunner(db))).get(real) ?? null)).toBe(false);
});

test('in a history that begins late only a token whose difference changes is marked', async () => {
  const db = await storeWorld(25, BLOCKS - 12);
  const { checker } = openChecker(db, answerTruly);
  for (let tip = BLOCKS - 12; tip <= BLOCKS; tip += 1) {
    if (tip > BLOCKS - 12) await addHead(db, tip, tip);
    await checker.check();
  }
  expect(await rebasingIn(db)).toEqual([ELASTIC]);
});

test('a check during a promotion compares the same balances as before', async () => {
  const found: object[] = [];
  for (const promoted of [false, true]) {
    const db = await storeWorld(1, BLOCKS);
    // The final tables already contain the transfers of head blocks, but the last final block is not updated
    // yet.
    if (promoted) await insertRows(db, transfersTable, blocks.slice(FINAL).flat());
    const { checker, status } = openChecker(db, answerTruly);
    await checker.check();
    found.push(status.balanceChecks);
  }
  expect(found[1]).toEqual(found[0]);
  expect(found[0]).toMatchObject({ rounds: 1, failures: 0 });
});

test('a balance check does not compare rows above the head', async () => {
  const db = await storeWorld(1, BLOCKS);
  const beyond = blocks.at(-1)!.map((row, index) => ({ ...row, ord: toOrd(BLOCKS + 1, index) }));
  await insertRows(db, transfersTable, beyond);
  const { checker, status } = openChecker(db, (asked) => {
    const holder: Hex = `0x${asked.data.slice(-40)}`;
    const isBeyond = beyond.some(
      (row) => row.token === asked.to && [row.sender, row.recipient].includes(holder),
    );
    expect(isBeyond).toBe(false);
    return answerTruly(asked);
  });
  await checker.check();
  expect(status.balanceChecks.failures).toBe(0);
  expect(status.balanceChecks.compared).toBeGreaterThan(10);
});

/** Runs one check of a node with wrong balances. `meanwhile` runs before the node answers. */
async function checkDuring(meanwhile: (db: Database) => Promise<void>): Promise<IngestStatus> {
  const db = await storeWorld(1, BLOCKS);
  const status = newIngestStatus();
  const inner = answeringCalls(() => word(1n), hashOf);
  const checker = new BalanceChecker({
    ...{ database: db, chainId: CHAIN_ID, status, log, clock: patientClock },
    rpc: {
      async batchOutcomes(calls, parse) {
        if (calls.length > 1) await meanwhile(db);
        return inner.batchOutcomes(calls, parse);
      },
    },
  });
  await checker.check();
  return status;
}

const addRange = (db: Database, status: 'intent' | 'done', kind: string, to: number): Promise<void> =>
  db.command(
    'add range',
    `INSERT INTO promotions (chain_id, seq, status, kind, from_block, to_block, to_hash, to_timestamp, counts)
     SELECT {chain:UInt32}, 2, {status:String}, {kind:String}, {from:UInt32}, {to:UInt32}, unhex({hash:String}), 1, map()`,
    { chain: CHAIN_ID, status, kind, from: FINAL + 1, to, hash: hashOf(to).slice(2) },
  );

test.each<[string, (db: Database) => Promise<void>]>([
  ['a reorg', (db) => insertRows(db, headBlocksTable, [headRow(BLOCKS, { branch: 1, version: 999 })])],
  // The final tables then have rows of another branch than the head.
  ['a backfill', (db) => addRange(db, 'intent', 'backfill', BLOCKS + 5)],
])('%s during a check discards the check', async (_, meanwhile) => {
  const { balanceChecks } = await checkDuring(meanwhile);
  expect(balanceChecks).toMatchObject({ rounds: 0, compared: 0, mismatches: 0 });
});

test('a promotion of the compared block during a check keeps the check', async () => {
  const { balanceChecks } = await checkDuring((db) => addRange(db, 'done', 'promotion', BLOCKS));
  expect(balanceChecks.rounds).toBe(1);
  expect(balanceChecks.mismatches).toBeGreaterThan(10);
});

test('wrong balances at a block that the node has replaced mark no token', async () => {
  const db = await storeWorld(1, BLOCKS);
  const { checker, status } = openChecker(
    db,
    () => word(1n),
    (number) => hashOf(number, 1),
  );
  expect([await checker.check(), await checker.check()]).toEqual([{ isOpen: true }, { isOpen: true }]);
  expect(status.balanceChecks).toMatchObject({ rounds: 0, compared: 0, mismatches: 0 });
});

test('a failing node ends only the current balance check', async () => {
  const db = await storeWorld(1, BLOCKS);
  const status = newIngestStatus();
  status.phase = 'follow';
  const stop = new AbortController();
  const waits: number[] = [];
  const checker = new BalanceChecker({
    database: db,
    rpc: answeringCalls(() => new RpcError('network', 'away')),
    chainId: CHAIN_ID,
    status,
    log,
    clock: {
      ...systemClock(),
      sleep: (ms, signal) => {
        // The time limit for the node's answers never passes. All other waits of the checker end at once.
        if (ms === 5_000) return patientClock.sleep(ms, signal);
        waits.push(ms);
        if (waits.length === 4) stop.abort();
        return Promise.resolve();
      },
    },
  });
  await checker.run(stop.signal);
  expect(status.balanceChecks).toMatchObject({ failures: 3, rounds: 0 });
  expect(waits).toEqual([3_000, 30_000, 30_000, 30_000]);
});

test('no balance check runs during a backfill', async () => {
  const db = await storeWorld(1, BLOCKS);
  let asked = 0;
  const status = newIngestStatus();
  status.phase = 'backfill';
  const stop = new AbortController();
  let turns = 0;
  const checker = new BalanceChecker({
    database: db,
    rpc: answeringCalls(() => {
      asked += 1;
      return word(1n);
    }),
    chainId: CHAIN_ID,
    status,
    log,
    clock: {
      ...systemClock(),
      sleep: () => {
        turns += 1;
        if (turns === 20) stop.abort();
        return Promise.resolve();
      },
    },
  });
  const select = jest.spyOn(db, 'select');
  await checker.run(stop.signal);
  expect([asked, select.mock.calls.length]).toEqual([0, 0]);
});
