/** Tests what the market page says about pools from before the first indexed block. */
import { historyNote } from '../../../../src/web/market/historyNote';

const SEARCHING = {
  complete: false,
  searching: true,
  start_block: 23_991_360,
  searched_from_block: 18_210_000,
  done_pct: 24.1,
  older_pools: 5_120,
};

test('while older pools are searched, the note says how far the search is in percent', () => {
  expect(historyNote(SEARCHING)).toMatch(
    /before block 23991360 are being searched, 24 % done, 5,120 found so far/,
  );
  expect(historyNote({ ...SEARCHING, done_pct: 99.9 })).toContain(' 99 % done');
});

test('the note does not claim a search that has ended without the older logs, and ends with a complete one', () => {
  const ended = historyNote({ ...SEARCHING, searching: false });
  expect(ended).toContain('the node has no older logs');
  expect(ended).not.toContain('being searched');
  expect(historyNote({ ...SEARCHING, searching: false, complete: true })).toBe('');
});
