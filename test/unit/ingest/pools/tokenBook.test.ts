import { id } from 'ethers';

import type { PoolRow, TokenRow } from '../../../../src/clickhouse/schema/tables';
import type { ChainBlock } from '../../../../src/domain/block';
import type { Hex } from '../../../../src/domain/hex';
import { RENEWAL_TOPICS, TokenBook, fromVersion, toVersion } from '../../../../src/ingest/pools/tokenBook';

const T: Hex = `0x${'7'.repeat(40)}`;
const read = (decimals: number | null, symbol: string | null = null, name = symbol): TokenRow => ({
  address: T,
  symbol,
  name,
  decimals,
  version: 0,
});
/** A pool of the token. */
const POOL = { token0: T, token1: T, tokens: [] } as unknown as PoolRow;
const at = (book: TokenBook, block: number): number | null => {
  book.moveTo(block);
  return book.decimalsOf(T);
};

/** The rows that ClickHouse keeps: the row with the largest version. */
function stored(...rows: readonly (TokenRow | null)[]) {
  const kept = rows.flatMap((row) => row ?? []).sort((a, b) => b.version - a.version)[0];
  if (kept === undefined) return [];
  const complete = kept.symbol !== null && kept.name !== null && kept.decimals !== null;
  return [{ ...kept, complete: complete || fromVersion(kept.version).changed }];
}

function emit(book: TokenBook, number: number, topic: Hex): void {
  const log = { address: T, topics: [topic] };
  book.noteEvents({ number, logs: [log] } as unknown as ChainBlock);
}

describe('metadata that a token gets after its first pool', () => {
  it.each([
    ['reverts', read(null)],
    ['is 0 without symbol and name', read(0)],
  ])('decimals hold from the next block on, if decimals() %s at first', (_, first) => {
    const book = new TokenBook();
    const row = book.addFirst(first, 100, false);
    expect(row).toMatchObject({ decimals: null, version: 100 });
    expect(book.takeDue(107, 40)).toEqual([]);
    expect(book.takeDue(108, 40)).toEqual([T]);
    expect(book.addLater(first, 108, false)).toBeNull();
    expect(book.takeDue(123, 40)).toEqual([]);
    expect(book.takeDue(124, 40)).toEqual([T]);
    const later = book.addLater(read(18, 'NEW'), 124, false);
    expect(later).toMatchObject({ symbol: 'NEW', name: 'NEW', decimals: 18 });
    expect([at(book, 124), at(book, 125)]).toEqual([null, 18]);
    expect(book.takeDue(100_000, 40)).toEqual([]);
    const restarted = new TokenBook();
    restarted.load(stored(row, later), 200, []);
    expect([at(restarted, 124), at(restarted, 125)]).toEqual([null, 18]);
  });

  it.each([...RENEWAL_TOPICS])('the event %s of a token is a reason to ask again', (topic) => {
    const book = new TokenBook();
    book.addFirst(read(6, 'OLD'), 100, false);
    emit(book, 101, topic);
    expect(book.takeDue(101, 40)).toEqual([T]);
    expect(book.takeDue(102, 40)).toEqual([]);
    expect(book.addLater(read(6, 'NEW'), 101, false)).toMatchObject({ symbol: 'NEW', decimals: 6 });
    expect([at(book, 100), at(book, 102)]).toEqual([6, 6]);
  });

  it('the events are those of proxies and of initialised contracts', () => {
    const names = [
      'Initialized(uint8)',
      'Initialized(uint64)',
      'Upgraded(address)',
      'BeaconUpgraded(address)',
    ];
    expect(new Set(names.map((name) => id(name)))).toEqual(RENEWAL_TOPICS);
  });

  it.each(['noteTrade', 'noteRequest'] as const)(
    'the first event of an incomplete token (%s) is a reason to ask again, and no later one',
    (note) => {
      const book = new TokenBook();
      book.addFirst(read(null), 100, false);
      book[note](T);
      expect(book.takeDue(101, 40)).toEqual([T]);
      book[note](T);
      expect(book.takeDue(102, 40)).toEqual([]);
    },
  );

  it('an incomplete token is asked again after a restart, and one reading asks a bounded number of tokens', () => {
    const rows = Array.from({ length: 100 }, (_, index) => ({
      ...read(null),
      address: `0x${index.toString(16).padStart(40, '0')}` as const,
      version: 5,
      complete: false,
    }));
    const book = new TokenBook();
    book.load(rows, 100, []);
    const asked = [book.takeDue(108, 40), book.takeDue(109, 40), book.takeDue(110, 40)];
    expect(asked.map(({ length }) => length)).toEqual([40, 40, 20]);
    expect(new Set(asked.flat()).size).toBe(100);
  });

  it('decimals of 0 without symbol and name are believed only after a later reading', () => {
    const book = new TokenBook();
    book.addFirst(read(0), 100, false);
    expect(book.addLater(read(0), 1_123, false)).toBeNull();
    expect(at(book, 1_124)).toBeNull();
    expect(book.addLater(read(0), 1_124, false)).toMatchObject({ decimals: 0 });
    expect([at(book, 1_124), at(book, 1_125)]).toEqual([null, 0]);
  });
});

describe('metadata of a token that changes', () => {
  it('decimals that change from one number to another are unknown for ever', () => {
    const book = new TokenBook();
    const first = book.addFirst(read(6, 'A'), 100, false);
    const later = book.addLater(read(18, 'B'), 110, false);
    expect(later).toMatchObject({ symbol: 'B', decimals: null });
    expect([at(book, 110), at(book, 111)]).toEqual([6, null]);
    const restarted = new TokenBook();
    restarted.load(stored(first, later), 200, []);
    expect([at(restarted, 110), at(restarted, 111)]).toEqual([6, null]);
    expect(restarted.takeDue(1_000_000, 40)).toEqual([]);
    expect(restarted.addLater(read(18, 'C'), 300, false)).toMatchObject({ symbol: 'C', decimals: null });
    expect(at(restarted, 301)).toBeNull();
  });

  it.each([
    ['symbol', read(6, null, 'A')],
    ['name', { ...read(6, 'A'), name: null }],
    ['everything', read(null)],
  ])('a known value is not replaced by null (%s)', (_, worse) => {
    const book = new TokenBook();
    book.addFirst(read(6, 'A'), 100, false);
    expect(book.addLater(worse, 110, false)).toBeNull();
    expect(at(book, 111)).toBe(6);
  });
});

describe('metadata that was read on a branch that a reorg removed', () => {
  it('the first reading is repeated when the token appears again, and its row wins', () => {
    const book = new TokenBook();
    const dropped = book.addFirst(read(6, 'OLD'), 105, true);
    book.rewindTo(100);
    expect([book.has(T), book.takeDue(101, 40)]).toEqual([false, []]);
    const row = book.addFirst(read(18, 'NEW'), 103, true);
    expect(stored(dropped, row)).toMatchObject([{ symbol: 'NEW', decimals: 18 }]);
    expect([at(book, 101), at(book, 104)]).toEqual([18, 18]);
  });

  it.each([
    ['has none', read(null)],
    ['has other ones', read(8, 'OTHER')],
  ])('a later reading is undone and repeated, and its row wins if the new branch %s', (_, right) => {
    const book = new TokenBook();
    const first = book.addFirst(read(null), 50, false);
    const dropped = book.addLater(read(18, 'OLD'), 105, true);
    book.rewindTo(100);
    expect(at(book, 110)).toBeNull();
    expect(book.takeDue(101, 40)).toEqual([T]);
    const row = book.addLater(right, 101, true);
    expect(stored(first, dropped, row)).toMatchObject([{ symbol: right.symbol, decimals: right.decimals }]);
    expect(at(book, 102)).toBe(right.decimals);
  });

  it('after a restart, a token of a final pool with a row from after the last final block is asked again', () => {
    const book = new TokenBook();
    const first = book.addFirst(read(null), 50, false);
    const dropped = book.addLater(read(6, 'OLD'), 105, true);
    const restarted = new TokenBook();
    restarted.load(stored(first, dropped), 100, [POOL]);
    expect(restarted.takeDue(101, 40)).toEqual([T]);
    const row = restarted.addLater(read(18, 'NEW'), 101, true);
    expect(stored(dropped, row)).toMatchObject([{ symbol: 'NEW', decimals: 18 }]);
  });

  it.each([
    ['one row', (book: TokenBook) => [book.addFirst(read(6, 'OLD'), 105, true)]],
    [
      'two rows',
      (book: TokenBook) => [book.addFirst(read(null), 105, true), book.addLater(read(6), 106, true)],
    ],
  ])(
    'after a restart, a token without a final pool, with %s, is read when it appears, not before',
    (_, dropped) => {
      const rows = dropped(new TokenBook());
      const restarted = new TokenBook();
      restarted.load(stored(...rows), 100, []);
      expect([restarted.has(T), restarted.takeDue(101, 40), restarted.takeDue(1_000, 40)]).toEqual([
        false,
        [],
        [],
      ]);
      const row = restarted.addFirst(read(18, 'NEW'), 103, true);
      expect(stored(...rows, row)).toMatchObject([{ symbol: 'NEW', decimals: 18 }]);
      expect([at(restarted, 103), at(restarted, 104)]).toEqual([18, 18]);
    },
  );
});

it('a version keeps its parts, and a later row has a larger version than every earlier one', () => {
  for (const [seq, block, before, changed] of [
    [1, 0, null, false],
    [2, 4_294_967_295, 0, true],
    [8_191, 4_294_967_295, 77, true],
  ] as const) {
    const version = toVersion({ seq, block, before, changed });
    expect(Number.isSafeInteger(version)).toBe(true);
    expect(fromVersion(version)).toEqual({ seq, block, before, changed });
    expect(version).toBeGreaterThan(
      toVersion({ seq: seq - 1, block: 4_294_967_295, before: null, changed: true }),
    );
  }
});
