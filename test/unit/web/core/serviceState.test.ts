/** The words of the page's header for the answers of /readyz. */
import { firstProblem, isStale, proofText, stateOf } from '../../../../src/web/core/serviceState';
import type { ReadyAnswer } from '../../../../src/wire/ready';

const READY: ReadyAnswer = {
  ready: true,
  checks: {
    database: { ok: true, last_answer_seconds: 0 },
    head: { ok: true, block_number: 9, block_hash: '0x9', final_block: 1, age_seconds: 7, block_seconds: 2 },
    node: { ok: true, head: 9, behind_blocks: 0 },
  },
  backfill: null,
  proof: { level: null, proven_from: null, proven_to: null, senders_proven_to: null },
  problems: [],
};
const aged = (age_seconds: number | null, block_seconds: number | null = 2): ReadyAnswer => ({
  ...READY,
  checks: { ...READY.checks, head: { ...READY.checks.head, age_seconds, block_seconds } },
});
const away: ReadyAnswer = {
  ...READY,
  checks: { ...READY.checks, database: { ok: false, last_answer_seconds: 9 } },
  problems: [
    {
      code: 'database_away',
      message: 'The database does not answer',
      age_seconds: 9,
      detail: null,
      figures: {},
    },
  ],
};
const filling = (done_pct: number, seconds_left: number | null): ReadyAnswer => ({
  ...aged(9_000),
  backfill: { from_block: 1, to_block: 1_000, done_pct, seconds_left },
});

const KNOWN = { isReached: true, sinceSeconds: 0, hasNewerBlock: false, stream: 'live' } as const;

test.each([
  [READY, 'live', false],
  [aged(62), 'delayed by 62 s', true],
  [aged(600), 'delayed by 10 min', true],
  [aged(29, null), 'live', false],
  [aged(31, null), 'delayed by 31 s', true],
  [aged(39, 10), 'live', false],
  [aged(2_000, 600), 'live', false],
  [aged(2_400, 600), 'delayed by 40 min', true],
  [aged(null), 'no block yet', true],
  [away, 'database away', true],
  [filling(41.7, 170), 'backfilling, 41 %, 3 min left', true],
  [filling(0, null), 'backfilling, 0 %', true],
  [null, 'connecting', false],
])('the header says what /readyz says: %#', (answer, text, stale) => {
  const state = stateOf({ ...KNOWN, answer });
  expect([state.text, isStale(state)]).toEqual([text, stale]);
});

test('between two answers the delay grows, and a newer block ends it', () => {
  expect(stateOf({ ...KNOWN, answer: aged(25), sinceSeconds: 6 }).text).toBe('delayed by 31 s');
  expect(stateOf({ ...KNOWN, answer: aged(62), sinceSeconds: 1, hasNewerBlock: true }).text).toBe('live');
});

test('without an answer of the server nothing is live, and the first problem is shown', () => {
  expect(stateOf({ ...KNOWN, answer: READY, isReached: false }).text).toBe('server away');
  expect(stateOf({ ...KNOWN, answer: READY, stream: 'away' }).kind).toBe('connecting');
  expect([firstProblem(READY), firstProblem(away)]).toEqual(['', 'The database does not answer']);
});

test('the block number in the header says how far blocks are proven', () => {
  const proof = {
    level: 'receipts',
    proven_from: 17_300_000,
    proven_to: 24_000_000,
    senders_proven_to: null,
  } as const;
  expect(proofText({ ...READY, proof })).toBe('Proof: receipts since block 17,300,000');
  expect([proofText(READY), proofText(null)]).toEqual(['', '']);
});
