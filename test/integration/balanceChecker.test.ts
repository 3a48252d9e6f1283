/** Compares balances in the real store with the answers of nodes that are honest, lie, lag, fail or report
 * reorgs. */
import type { Database } from '../../src/clickhouse/client/database';
import { insertRows } from '../../src/clickhouse/rows/inserter';
import { headBlocksTable, transfersTable } from '../../src/clickhouse/schema/tables';
import { RpcError } from '../../src/node/rpc/rpcError';
import { systemClock } from '../../src/node/rpc/clock';
import type { Hex } from '../../src/domain/hex';
import { toOrd } from '../../src/domain/ord';
import { BalanceChecker } from '../../src/ingest/balances/balanceChecker';
import { newIngestStatus, type IngestStatus } from '../../src/ingest/session/status';
import { createQueryRunner } from '../../src/clickhouse/client/namedQueries';
import { listRebasing } from '../../src/query/holders/rebasing';
import { answeringCalls } from '../support/node/vaultSetup';
import {
  addHead,
  answerTruly,
  blocks,
  BLOCKS,
  CHAIN_ID,
  closeWorlds,
  ELASTIC,
  FINAL,
  hashOf,
  headRow,
  log,
  openChecker,
  patientClock,
  storeWorld,
  UNTOLD,
  word,
} from '../support/worlds/balanceWorld';

afterAll(closeWorlds);

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
      ...inner,
      async batchOutcomes(calls, parse) {
        await meanwhile(db);
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
