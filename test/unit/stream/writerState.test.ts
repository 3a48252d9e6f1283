/** Tests what a process without an ingester reports of the ingester, from its sign of life and its state. */
import { encodeWriterState, viewWriter, type WriterFacts } from '../../../src/stream/writerState';

const STALLED = {
  code: 'node_stalled',
  message: 'The node has shown no block after 100',
  age_seconds: 62,
  detail: null,
  figures: { last_answer_seconds: 1 },
};
const FACTS: WriterFacts = {
  nodeHead: 100,
  nodeAnswers: true,
  nodeFaults: [],
  problems: [STALLED],
  backfill: { from_block: 1, to_block: 900, done_pct: 12.5, seconds_left: null },
};
const ALIVE = { ended: false, silentMs: 3_900, state: encodeWriterState(FACTS), stateAgeMs: 3_900 };
const problemsOf = (...call: Parameters<typeof viewWriter>) =>
  viewWriter(...call).problems.map(({ code, message }) => `${code}: ${message}`);

test('the state of a running writer arrives whole, and the ages of its problems grow', () => {
  const stalled = { ...STALLED, age_seconds: 68 };
  expect(viewWriter(ALIVE, 2_000)).toEqual({ facts: { ...FACTS, problems: [stalled] }, problems: [] });
});

test('a writer without a sign of life for 20 s is away, and its last state counts no longer', () => {
  expect(viewWriter(ALIVE, 15_900).problems).toEqual([]);
  const view = viewWriter(ALIVE, 16_100);
  expect(view.facts).toBeNull();
  expect(view.problems).toMatchObject([{ code: 'writer_away', age_seconds: 20 }]);
  expect(problemsOf(ALIVE, 16_100)).toEqual(problemsOf(ALIVE, 600_000));
});

test('a writer that has ended is away at once, and a fatal error is named beside', () => {
  const ended = 'writer_away: The ingester has ended, so no new blocks are stored';
  expect(problemsOf({ ...ALIVE, ended: true }, 0)).toEqual([ended]);
  const state = encodeWriterState({
    ...FACTS,
    problems: [STALLED, { code: 'ingest_stopped', message: 'a reorg beyond finality' }],
  });
  expect(problemsOf({ ...ALIVE, state, ended: true }, 0)).toEqual([
    ended,
    'ingest_stopped: a reorg beyond finality',
  ]);
});

test('a database that no ingester has written is reported', () => {
  expect(problemsOf(null, 0)).toEqual(['writer_away: No ingester has written this database yet']);
});

test('a running writer whose state is missing or foreign counts as running, without facts', () => {
  for (const state of ['', 'not json', '[]', '{"problems":[{"code":7}]}'])
    expect(viewWriter({ ...ALIVE, state }, 0)).toEqual({ facts: null, problems: [] });
});

test('a state of another version with missing and additional fields can be read', () => {
  const state = JSON.stringify({
    nodeHead: 5,
    nodeAnswers: false,
    problems: [{ code: 'node_slow', message: 'slow', colour: 'red' }],
    mood: 'good',
  });
  expect(viewWriter({ ...ALIVE, state }, 0).facts).toMatchObject({
    nodeHead: 5,
    problems: [{ code: 'node_slow', message: 'slow', age_seconds: null, figures: {} }],
  });
});

test('a writer with many problems stores the first 64 of them', () => {
  const problems = Array.from({ length: 100 }, (_, index) => ({ code: `p${index}`, message: 'x' }));
  const state = encodeWriterState({ ...FACTS, problems });
  const view = viewWriter({ ...ALIVE, state }, 0);
  expect(view.facts?.problems.map(({ code }) => code)).toEqual(problems.slice(0, 64).map(({ code }) => code));
});
