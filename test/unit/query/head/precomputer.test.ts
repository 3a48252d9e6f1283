/** Tests that tables of a new head are built ahead of requests, and only while requests arrive. */
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { createPrecomputer } from '../../../../src/query/head/precomputer';
import { finalHead } from '../../../support/worlds/finalHead';

/** Tables whose building ends when the test calls `finish`. */
function slowTables() {
  const asked: number[] = [];
  const finish: (() => void)[] = [];
  const at = (head: HeadSnapshot): Promise<void> => {
    asked.push(head.number);
    return new Promise((resolve) => finish.push(resolve));
  };
  return { asked, finish, at };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('without requests no tables are built ahead', () => {
  const tables = slowTables();
  const precomputer = createPrecomputer(() => 1_000_000, 0);
  precomputer.watch(tables);
  precomputer.onHead(finalHead(1));
  expect(tables.asked).toEqual([]);
});

test('after a request the tables of new heads are built one at a time, the newest head next', async () => {
  const tables = slowTables();
  const precomputer = createPrecomputer(() => 1_000_000, 0);
  const watched = precomputer.watch(tables);
  void watched.at(finalHead(1));
  for (const number of [2, 3, 4]) precomputer.onHead(finalHead(number));
  expect(tables.asked).toEqual([1, 2]);
  tables.finish[1]!();
  await nextTurn();
  expect(tables.asked).toEqual([1, 2, 4]);
});

test('the tables of a head are built one after the other, after a short delay', async () => {
  const [first, second] = [slowTables(), slowTables()];
  const precomputer = createPrecomputer(() => 1_000_000, 20);
  void precomputer.watch(first).at(finalHead(1));
  precomputer.watch(second);
  precomputer.onHead(finalHead(2));
  precomputer.onHead(finalHead(3));
  expect(first.asked).toEqual([1]);
  while (first.asked.length < 2) await nextTurn();
  expect([first.asked, second.asked]).toEqual([[1, 3], []]);
  first.finish[1]!();
  while (second.asked.length < 1) await nextTurn();
  expect(second.asked).toEqual([3]);
});

test('tables without a request for a minute are no longer precomputed', () => {
  let time = 0;
  const tables = slowTables();
  const precomputer = createPrecomputer(() => time, 0);
  void precomputer.watch(tables).at(finalHead(1));
  time = 61_000;
  precomputer.onHead(finalHead(2));
  expect(tables.asked).toEqual([1]);
});

test('precomputing continues after a failure', async () => {
  const asked: number[] = [];
  const precomputer = createPrecomputer(() => 0, 0);
  const watched = precomputer.watch({
    at(head: HeadSnapshot) {
      asked.push(head.number);
      return head.number === 2 ? Promise.reject(new Error('away')) : Promise.resolve();
    },
  });
  await watched.at(finalHead(1));
  precomputer.onHead(finalHead(2));
  await nextTurn();
  precomputer.onHead(finalHead(3));
  await nextTurn();
  expect(asked).toEqual([1, 2, 3]);
});
