/** Tests log counts of contracts: they are exact for a snapshot while blocks are promoted, and they rank
 * search results. */
import type { Hex } from '../../src/domain/hex';
import { toOrd } from '../../src/domain/ord';
import { readEmitted, sumEmitted } from '../../src/query/logs/emitters';
import type { HeadSnapshot } from '../../src/query/head/headSnapshot';
import { createLogCounts } from '../../src/query/logs/logCounts';
import { ALL_LOGS, type LogSource } from '../../src/query/logs/logFilter';
import { countLogs } from '../../src/query/logs/logs';
import { openTestStore, type TestStore } from '../support/engine/testStore';

const CHAIN = 369;
const CONTRACTS = 50;
/** Contract n emits one log in each block whose number is a multiple of n + 1. */
const addressOf = (n: number): Hex => `0x${(n * 7 + 1).toString(16).padStart(40, '0')}`;
const nobody: Hex = `0x${'f'.repeat(40)}`;
const all = [...Array.from({ length: CONTRACTS }, (_, n) => addressOf(n)), nobody];
const truth = (blocks: number): number[] =>
  all.map((_, n) => (n === CONTRACTS ? 0 : Math.floor(blocks / (n + 1))));

let store: TestStore;
let source: LogSource;

beforeAll(async () => {
  store = await openTestStore();
  source = { runner: store.runner, chainId: CHAIN };
  await emit('logs', 1, 300);
  await emit('logs', 301, 600);
});

afterAll(() => store?.close());

async function emit(table: 'logs' | 'logs_head', from: number, to: number): Promise<void> {
  const commit = table === 'logs_head' ? ', commit' : '';
  await store.db.command(
    'emit',
    `INSERT INTO ${table} (chain_id, ord, address, topic_count${commit})
     SELECT ${CHAIN}, toUInt64(block) * 1048576 + n, toFixedString(unhex(leftPad(lower(hex(n * 7 + 1)), 40, '0')), 20), 0${commit === '' ? '' : ', block'}
     FROM (SELECT number + ${from} AS block FROM numbers(${to - from + 1})) AS b
     CROSS JOIN (SELECT number AS n FROM numbers(${CONTRACTS})) AS c WHERE block % (n + 1) = 0`,
  );
}

/** A snapshot with head `number`, which reads blocks up to `finalTo` from the final table. */
function snapshot(finalTo: number, number = finalTo): HeadSnapshot {
  const numbers = Array.from({ length: number - finalTo }, (_, i) => finalTo + 1 + i);
  const blocks = numbers.map((at) => ({
    number: at,
    hash: nobody,
    parentHash: nobody,
    timestamp: at,
    commit: at,
  }));
  return {
    version: `${number}`,
    startBlock: 1,
    logsFrom: 1,
    number,
    hash: nobody,
    timestamp: number,
    finalTo,
    finalNumber: finalTo,
    blocks,
  };
}

async function countsAt(head: HeadSnapshot, addresses = all): Promise<number[]> {
  const emitted = await readEmitted(source, head, addresses);
  return addresses.map((address) => emitted.get(address)?.logs ?? 0);
}

test('log counts match the snapshot in final rows, in head rows, and while the final table is ahead', async () => {
  await emit('logs_head', 550, 700);
  expect(await countsAt(snapshot(600))).toEqual(truth(600));
  expect(await countsAt(snapshot(600, 680))).toEqual(truth(680));
  // The blocks are already in the final table, but this reader's snapshot is older.
  expect(await countsAt(snapshot(560, 640))).toEqual(truth(640));
  for (const n of [0, 6, CONTRACTS]) {
    expect(await countsAt(snapshot(600, 680), all.slice(n, n + 1))).toEqual(truth(680).slice(n, n + 1));
    expect(await countsAt(snapshot(560, 640), all.slice(n, n + 1))).toEqual(truth(640).slice(n, n + 1));
  }
  const emitted = await readEmitted(source, snapshot(560, 640), [addressOf(6)]);
  expect(emitted.get(addressOf(6))).toEqual({ logs: 91, firstOrd: toOrd(7, 6), lastOrd: toOrd(637, 6) });
  const together = await sumEmitted(source, snapshot(600, 680), [addressOf(0), addressOf(6)]);
  expect(together).toEqual({ logs: 777, firstOrd: toOrd(1, 0), lastOrd: toOrd(680, 0) });
  expect(await sumEmitted(source, snapshot(600), [nobody])).toBeNull();
});

test('search ranks by the log counts of the indexed block, from the first search on', async () => {
  const counts = createLogCounts(source);
  const list = async (head: HeadSnapshot, from = counts): Promise<number[]> => {
    const { logsOf } = await from.at(head);
    return all.map(logsOf);
  };
  const heads = [snapshot(600), snapshot(600, 680), snapshot(560, 640), snapshot(650, 700)];
  // Counts that were read before the final table grew do not change with it.
  expect(await list(snapshot(600))).toEqual(truth(600));
  await emit('logs', 601, 650);
  for (const head of heads) {
    expect(await list(head)).toEqual(truth(head.number));
    expect(await list(head, createLogCounts(source))).toEqual(truth(head.number));
  }
});

test('contracts whose addresses share the first four bytes have separate counts', async () => {
  const [low, high, third] = ['00', '80', 'ff'].map((end) => `abcdef01${'0'.repeat(30)}${end}`);
  const rows = [low, high].map((address, index) => `${address}0${index + 1}00000000000000`).join('');
  const runner = { ...source.runner, write: () => Promise.resolve(Buffer.from(rows, 'hex')) };
  const { logsOf } = await createLogCounts({ ...source, runner }).at(snapshot(600));
  expect([low, high, third].map((address) => logsOf(`0x${address}`))).toEqual([1, 2, 0]);
});

test('the total of a list of logs is exact up to 100,000, and a lower bound above', async () => {
  const busy: Hex = `0x${'e'.repeat(40)}`;
  const count = (toBlock: number): ReturnType<typeof countLogs> =>
    countLogs(source, snapshot(650), { ...ALL_LOGS, addresses: [busy], toBlock });
  await store.db.command(
    'emit many',
    `INSERT INTO logs (chain_id, ord, address, topic_count)
     SELECT ${CHAIN}, (number % 600 + 1) * 1048576 + 1000 + number, toFixedString(unhex('${busy.slice(2)}'), 20), 0
     FROM numbers(120000)`,
  );
  expect(await count(100)).toEqual({ total: 20_000, exact: true });
  expect(await count(500)).toEqual({ total: 100_000, exact: true });
  const beyond = await count(650);
  expect(beyond).toEqual({ total: 100_001, exact: false });
});
