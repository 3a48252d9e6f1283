import { growthOf } from '../../../src/commands/heapGrowth';

test('the JavaScript heap may grow by 56 MB or by half its size, but never by more than 400 %', () => {
  const mb = (count: number): number => growthOf(count * 2 ** 20);
  expect([mb(0), mb(10), mb(28), mb(56), mb(70), mb(250)]).toEqual([400, 400, 200, 100, 80, 50]);
});
