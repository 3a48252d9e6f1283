/** Samples holders in the real store by size and at random, and asks a node about them. */
import type { Database } from '../../src/clickhouse/client/database';
import { createQueryRunner } from '../../src/clickhouse/client/namedQueries';
import { insertRows } from '../../src/clickhouse/rows/inserter';
import { transfersTable, type TransferRow } from '../../src/clickhouse/schema/tables';
import { ZERO_ADDRESS, type Hex } from '../../src/domain/hex';
import { toOrd } from '../../src/domain/ord';
import {
  findBalanceChecks,
  inventsTransfers,
  type BalanceChecks,
} from '../../src/query/holders/balanceChecks';
import {
  addHead,
  answerTruly,
  BLOCKS,
  closeWorlds,
  HOLDERS,
  openChecker,
  plainBalance,
  storeWorld,
  TOKENS,
  word,
} from '../support/worlds/balanceWorld';

afterAll(closeWorlds);

describe('holders of pool tokens are sampled by size and at random', () => {
  const [invented, real, fresh] = [`0x${'e'.repeat(40)}`, TOKENS[0]!, `0x${'f'.repeat(40)}`] as const;
  const addressOf = (index: number): Hex =>
    `0x${(index * 7_919 + 1).toString(16).padStart(8, '0').repeat(5)}`;
  const mint = (token: Hex, block: number, index: number, amount = 1n): TransferRow => ({
    ord: toOrd(block, 100 + index),
    timestamp: 1,
    token,
    sender: ZERO_ADDRESS,
    recipient: addressOf(index),
    amount,
    kind: 'transfer',
    tx_index: 0,
  });
  const addPool = (db: Database, pool: string, a: Hex, b: Hex): Promise<void> =>
    db.command(
      'add pool',
      'INSERT INTO pools (ord, address, token0, token1) SELECT 1, unhex(repeat({pool:String}, 20)), unhex({a:String}), unhex({b:String})',
      { pool, a: a.slice(2), b: b.slice(2) },
    );
  const checksOf = (db: Database, token: Hex): Promise<BalanceChecks | null> =>
    findBalanceChecks(createQueryRunner(db), token);

  test('the first check finds a token with invented Transfer logs, even long after these logs', async () => {
    const db = await storeWorld(1, BLOCKS - 10);
    const mints = Array.from({ length: 300 }, (_, index) => mint(invented, 1, index));
    await insertRows(db, transfersTable, mints);
    await addPool(db, 'ab', invented, real);
    const { checker } = openChecker(db, (asked) => (asked.to === invented ? null : answerTruly(asked)));
    expect(await checksOf(db, invented)).toBeNull();
    expect(await checker.check()).toEqual({ isOpen: true });
    expect(await checksOf(db, invented)).toMatchObject({
      heldChecked: 8,
      unconfirmed: 8,
      sampledHolders: 300,
    });
    expect(inventsTransfers(await checksOf(db, invented))).toBe(true);
    expect(inventsTransfers(await checksOf(db, real))).toBe(false);
    const held = HOLDERS.filter((holder) => plainBalance(real, holder, BLOCKS - 10) > 0n);
    expect(await checksOf(db, real)).toMatchObject({ sampledHolders: held.length });
  });

  test('a sample has the largest holders and others, also for transfers of head blocks', async () => {
    const db = await storeWorld(1, BLOCKS);
    const minted = Array.from({ length: 50 }, (_, index) =>
      mint(fresh, BLOCKS, index, BigInt(index < 4 ? 1_000 : 1)),
    );
    await insertRows(db, transfersTable, minted, { commit: BLOCKS });
    await addPool(db, 'cd', fresh, fresh);
    const asked = new Set<string>();
    const { checker } = openChecker(db, (call) => {
      if (call.to !== fresh) return answerTruly(call);
      asked.add(`0x${call.data.slice(-40)}`);
      return word(1n);
    });
    await checker.check();
    for (const index of [0, 1, 2, 3]) expect(asked).toContain(addressOf(index));
    expect(asked.size).toBeGreaterThanOrEqual(8);
    expect(await checksOf(db, fresh)).toMatchObject({ sampledHolders: 50 });
  });

  test('a token with many new recipients is sampled before tokens whose last sample is older', async () => {
    const db = await storeWorld(1, BLOCKS - 1);
    await addPool(db, 'ab', TOKENS[0]!, TOKENS[1]!);
    await addPool(db, 'ac', TOKENS[2]!, TOKENS[3]!);
    await addPool(db, 'ad', TOKENS[4]!, real);
    const { checker } = openChecker(db, answerTruly);
    await checker.check();
    const before = (await checksOf(db, real))!.sampledHolders;
    await addHead(db, BLOCKS, BLOCKS);
    const minted = Array.from({ length: 40 }, (_, index) => mint(real, BLOCKS, index));
    await insertRows(db, transfersTable, minted, { commit: BLOCKS });
    await checker.check();
    expect((await checksOf(db, real))!.sampledHolders).toBeGreaterThanOrEqual(before + 30);
  });
});
