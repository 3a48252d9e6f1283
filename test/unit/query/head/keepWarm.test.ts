/** Tables are built ahead of demand, and only while there is demand. */
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { createWarmer } from '../../../../src/query/head/keepWarm';
import { finalHead } from '../../../support/finalHead';

/** Tables that finish when the test calls `finish`. */
function slowTables() {
  const asked: number[] = [];
  const finish: (() => void)[] = [];
  const at = (head: HeadSnapshot): Promise<void> => {
    asked.push(head.number);
    return new Promise((resolve) => finish.push(resolve));
  };
  return { asked, finish, at };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('nothing is made while nobody asks', () => {
  const tables = slowTables();
  const warmer = createWarmer(() => 1_000_000, 0);
  warmer.watch(tables);
  warmer.onHead(finalHead(1));
  expect(tables.asked).toEqual([]);
});

test('after a request each new head is made, one at a time, the newest next', async () => {
  const tables = slowTables();
  const warmer = createWarmer(() => 1_000_000, 0);
  const watched = warmer.watch(tables);
  void watched.at(finalHead(1));
  for (const number of [2, 3, 4]) warmer.onHead(finalHead(number));
  expect(tables.asked).toEqual([1, 2]);
  tables.finish[1]!();
  await settle();
  expect(tables.asked).toEqual([1, 2, 4]);
});

test('the tables of a head are made one after the other, a moment after it came', async () => {
  const [first, second] = [slowTables(), slowTables()];
  const warmer = createWarmer(() => 1_000_000, 20);
  void warmer.watch(first).at(finalHead(1));
  warmer.watch(second);
  warmer.onHead(finalHead(2));
  warmer.onHead(finalHead(3));
  expect(first.asked).toEqual([1]);
  while (first.asked.length < 2) await settle();
  expect([first.asked, second.asked]).toEqual([[1, 3], []]);
  first.finish[1]!();
  while (second.asked.length < 1) await settle();
  expect(second.asked).toEqual([3]);
});

test('tables that nobody asked for within a minute are not kept warm', () => {
  let time = 0;
  const tables = slowTables();
  const warmer = createWarmer(() => time, 0);
  void warmer.watch(tables).at(finalHead(1));
  time = 61_000;
  warmer.onHead(finalHead(2));
  expect(tables.asked).toEqual([1]);
});

test('tables are kept warm after a failure', async () => {
  const asked: number[] = [];
  const warmer = createWarmer(() => 0, 0);
  const watched = warmer.watch({
    at(head: HeadSnapshot) {
      asked.push(head.number);
      return head.number === 2 ? Promise.reject(new Error('away')) : Promise.resolve();
    },
  });
  await watched.at(finalHead(1));
  warmer.onHead(finalHead(2));
  await settle();
  warmer.onHead(finalHead(3));
  await settle();
  expect(asked).toEqual([1, 2, 3]);
});
