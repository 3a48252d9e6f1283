/** A table in memory against the table itself, while others write to it and the engine merges. */
import { createTableMirror } from '../../../src/query/tableMirror';
import { createRandom, type Random } from '../../support/createRandom';

interface Row {
  readonly key: number;
  readonly version: number;
}

/** As a ReplacingMergeTree: rows of a key until a merge leaves the newest. */
class Table {
  rows: Row[] = [];
  reads = { mark: 0, base: 0, newer: 0 };
  private clock = 0;

  /** `writesLate`: rows with older versions too. */
  constructor(
    private readonly random: Random,
    private readonly writesLate = false,
  ) {}

  /** Somebody writes while others wait for an answer. */
  async pause(): Promise<void> {
    for (let left = this.random.int(4); left > 0; left -= 1) await Promise.resolve();
  }

  write(): void {
    const many = this.random() < 0.02 ? 1_500 : 1 + this.random.int(5);
    const isLate = this.writesLate && this.random() < 0.2;
    for (let left = many; left > 0; left -= 1) {
      this.clock += 1;
      const version = isLate ? this.random.int(this.clock) : this.clock;
      this.rows.push({ key: this.random.int(3_000), version });
    }
  }

  merge(): void {
    this.rows = [...this.newest()].map(([key, version]) => ({ key, version }));
  }

  newest(rows = this.rows): Map<number, number> {
    const newest = new Map<number, number>();
    for (const { key, version } of rows) newest.set(key, Math.max(version, newest.get(key) ?? 0));
    return newest;
  }

  readMark = async (): Promise<{ rows: number; newestVersion: number }> => {
    this.reads.mark += 1;
    await this.pause();
    const mark = {
      rows: this.rows.length,
      newestVersion: this.rows.reduce((max, { version }) => Math.max(max, version), 0),
    };
    await this.pause();
    return mark;
  };

  readBase = async (): Promise<Map<number, number>> => {
    this.reads.base += 1;
    await this.pause();
    const newest = this.newest();
    await this.pause();
    return newest;
  };

  readNewer = async (after: number, limit: number): Promise<Row[]> => {
    this.reads.newer += 1;
    await this.pause();
    const rows = this.rows.filter(({ version }) => version > after).slice(0, limit);
    await this.pause();
    return rows;
  };
}

test.each([1, 2, 3, 4, 5, 6])('whoever reads has what was stored when they asked, seed %i', async (seed) => {
  const random = createRandom(seed);
  // Rows that are written late and others that are merged may hide each other.
  const writesLate = seed % 2 === 0;
  const table = new Table(random, writesLate);
  const mirror = createTableMirror<Map<number, number>, Row>(table, { markKeptMs: 0 });
  const asks: Promise<void>[] = [];
  for (let step = 0; step < 600; step += 1) {
    const dice = random();
    if (dice < 0.3) table.write();
    else if (dice < 0.33 && !writesLate) table.merge();
    else if (dice < 0.6) {
      const stored = table.newest();
      asks.push(
        mirror.read().then(({ base, newer }) => {
          const seen = new Map(base);
          for (const { key, version } of newer) seen.set(key, Math.max(version, seen.get(key) ?? 0));
          expect([...stored].filter(([key, version]) => (seen.get(key) ?? 0) < version)).toEqual([]);
        }),
      );
    } else await table.pause();
    if (asks.length > 3) await Promise.all(asks.splice(0));
  }
  await Promise.all(asks);
});

test('rows that follow are read alone, all of it where it holds rows that were written late or merged', async () => {
  const table = new Table(createRandom(7));
  const mirror = createTableMirror<Map<number, number>, Row>(table, { markKeptMs: 0 });
  for (let key = 0; key < 50; key += 1) table.rows.push({ key, version: key + 1 });
  const read = async (): Promise<[number, number]> => {
    const { base, newer } = await mirror.read();
    return [base.size, newer.length];
  };
  expect(await read()).toEqual([50, 0]);
  table.rows.push({ key: 60, version: 60 }, { key: 3, version: 61 });
  expect(await read()).toEqual([50, 2]);
  expect(await read()).toEqual([50, 2]);
  expect(table.reads).toMatchObject({ base: 1, newer: 1 });
  table.merge();
  expect(await read()).toEqual([51, 0]);
  table.rows.push({ key: 70, version: 5 });
  expect(await read()).toEqual([52, 0]);
  expect(table.reads.base).toBe(3);
});

test('for a moment it is not asked again, unless it is to be forgotten; a failure is not kept', async () => {
  let now = 1_000;
  const table = new Table(createRandom(8));
  const mirror = createTableMirror<Map<number, number>, Row>(table, {
    markKeptMs: 100,
    now: () => (now += 1),
  });
  table.rows.push({ key: 1, version: 1 });
  const sizes = async (): Promise<number> => {
    const { base, newer } = await mirror.read();
    return base.size + newer.length;
  };
  expect(await sizes()).toBe(1);
  table.rows.push({ key: 2, version: 2 });
  expect(await sizes()).toBe(1);
  mirror.forget();
  expect(await sizes()).toBe(2);
  table.rows.push({ key: 3, version: 3 });
  now += 100;
  expect(await sizes()).toBe(3);
  now += 100;
  const { readMark } = table;
  table.readMark = () => Promise.reject(new Error('away'));
  await expect(mirror.read()).rejects.toThrow('away');
  table.readMark = readMark;
  expect(await sizes()).toBe(3);
});
