/** Tests when /readyz reports ready, and which problems it reports otherwise. */
import { judge, readReadiness, createProblemAges } from '../../../src/api/service/readyz';
import { encodeWriterState, viewWriter, type WriterFacts } from '../../../src/stream/writerState';
import { readyShape, type ReadyAnswer } from '../../../src/wire/ready';
import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';

const NOW_MS = 1_700_000_000_000;
const NOW_S = NOW_MS / 1000;
const TAIL = { silenceMs: 40, headKnownMs: 0, lastError: null };

function headAged(ageSeconds: number, number = 500): HeadSnapshot {
  return {
    version: '1.1.ab',
    startBlock: 1,
    logsFrom: 1,
    number,
    hash: `0x${'ab'.repeat(32)}`,
    timestamp: NOW_S - ageSeconds,
    finalTo: 400,
    finalNumber: 440,
    blocks: [],
  };
}

function node(nodeHead: number | null, problems: WriterFacts['problems'] = []): WriterFacts {
  return { nodeHead, nodeAnswers: nodeHead !== null, problems };
}

function codes(...facts: Parameters<typeof judge>): { ready: boolean; codes: string[] } {
  const answer = readyShape.parse(judge(...facts));
  return { ready: answer.ready, codes: answer.problems.map((problem) => problem.code) };
}

test('the service is ready if the head is younger than five minutes, with and without an ingester', () => {
  expect(codes(headAged(299), TAIL, null, NOW_MS)).toEqual({ ready: true, codes: [] });
  expect(codes(headAged(10), TAIL, node(501), NOW_MS)).toEqual({ ready: true, codes: [] });
});

test('a head with a future timestamp is treated as young', () => {
  expect(codes(headAged(-30), TAIL, null, NOW_MS)).toEqual({ ready: true, codes: [] });
});

test('an old head stays old after the clock is set back, and /readyz reports the clock', () => {
  const frozen = { ...TAIL, headKnownMs: 400_000 };
  expect(codes(headAged(-3_200), frozen, null, NOW_MS)).toEqual({
    ready: false,
    codes: ['head_old', 'clock_behind'],
  });
  expect(codes(headAged(-3_600), TAIL, null, NOW_MS)).toEqual({ ready: true, codes: ['clock_behind'] });
});

test('an old head is ready only if the node has the same head', () => {
  expect(codes(headAged(300), TAIL, null, NOW_MS)).toEqual({ ready: false, codes: ['head_old'] });
  expect(codes(headAged(9_000), TAIL, node(500), NOW_MS)).toEqual({ ready: true, codes: [] });
  expect(codes(headAged(9_000), TAIL, node(501), NOW_MS)).toEqual({ ready: false, codes: ['head_old'] });
});

test('without an ingester, /readyz asks the node for its head', () => {
  const asked = (nodeHead: number | null) =>
    codes(headAged(9_000), TAIL, null, NOW_MS, { node: { nodeHead, nodeAnswers: nodeHead !== null } });
  expect(asked(500)).toEqual({ ready: true, codes: [] });
  expect(asked(501)).toEqual({ ready: false, codes: ['head_old'] });
  expect(asked(null)).toEqual({ ready: false, codes: ['head_old', 'node_away'] });
});

test('a node that does not answer is reported, and its last known head does not make an old head ready', () => {
  const away = { nodeHead: 500, nodeAnswers: false, problems: [] };
  expect(codes(headAged(9_000), TAIL, away, NOW_MS)).toEqual({
    ready: false,
    codes: ['head_old', 'node_away'],
  });
  expect(codes(headAged(5), TAIL, away, NOW_MS)).toEqual({ ready: true, codes: ['node_away'] });
});

test('a database that has been silent for over 3 s is reported as away', () => {
  const silent = { silenceMs: 3_001, headKnownMs: 0, lastError: 'connect ECONNREFUSED 127.0.0.1' };
  expect(codes(headAged(5), silent, null, NOW_MS)).toEqual({ ready: false, codes: ['database_away'] });
  expect(codes(null, { silenceMs: null, headKnownMs: null, lastError: null }, null, NOW_MS)).toEqual({
    ready: false,
    codes: ['database_away', 'nothing_indexed'],
  });
  expect(JSON.stringify(judge(headAged(5), silent, null, NOW_MS))).not.toContain('127.0.0.1');
});

test('a database whose engine has ended is reported as away at once', () => {
  const failed = { ...TAIL, lastError: 'read ECONNRESET' };
  expect(codes(headAged(5), failed, null, NOW_MS)).toEqual({ ready: true, codes: ['head_unreadable'] });
  const answer = judge(headAged(5), failed, null, NOW_MS, { isEngineAway: true });
  expect(answer.ready).toBe(false);
  expect(answer.checks.database.ok).toBe(false);
  expect(answer.problems.map(({ message }) => message)).toEqual(['The database is not running']);
});

test('the texts of problems stay the same while ages and numbers of blocks grow', () => {
  const at = (seconds: number) => {
    const head = { ...headAged(9_000, 500 + seconds), finalTo: 200, finalNumber: 400 + seconds };
    const tail = { silenceMs: 4_000 + seconds * 1_000, headKnownMs: 0, lastError: null };
    return judge(head, tail, node(900 + 2 * seconds), NOW_MS + seconds * 1_000).problems;
  };
  const text = ({ code, message }: { code: string; message: string }) => `${code}: ${message}`;
  expect(at(60).map(text)).toEqual(at(0).map(text));
  expect(at(60)).toMatchObject([
    { code: 'database_away', age_seconds: 64, figures: {} },
    { code: 'head_old', age_seconds: 9_060, figures: { block_number: 560, behind_blocks: 460 } },
    { code: 'promotion_behind', age_seconds: null, figures: { blocks: 260 } },
  ]);
  const ahead = (seconds: number) => judge(headAged(-seconds), TAIL, null, NOW_MS).problems;
  expect(ahead(90).map(text)).toEqual(ahead(70).map(text));
  expect(ahead(90)).toMatchObject([{ code: 'clock_behind', figures: { seconds_ahead: 90 } }]);
});

test('a problem of unknown age has the time since this process first saw the problem', () => {
  let now = 0;
  const ages = createProblemAges(() => now);
  const at = (seconds: number, codes_: readonly string[]) => {
    now = seconds * 1_000;
    const problems = codes_.map((code) => ({
      code,
      message: code,
      age_seconds: null,
      detail: null,
      figures: {},
    }));
    return ages.add(problems).map(({ code, age_seconds }) => `${code} ${age_seconds}`);
  };
  expect(at(5, ['a'])).toEqual(['a 0']);
  expect(at(9, ['b', 'a'])).toEqual(['b 0', 'a 4']);
  expect(at(10, ['b'])).toEqual(['b 1']);
  expect(at(12, ['a'])).toEqual(['a 0']);
});

/** A head whose blocks come every `spacing` seconds. */
function headOf(ageSeconds: number, spacing: number): HeadSnapshot {
  const head = headAged(ageSeconds);
  const blocks = Array.from({ length: 10 }, (_, index) => ({
    number: head.number - 9 + index,
    hash: head.hash,
    parentHash: head.hash,
    timestamp: head.timestamp - (9 - index) * spacing,
    commit: 1,
  }));
  return { ...head, blocks };
}

test('a process without an ingester judges the age of the head by the block times of the chain', () => {
  const late = (ageSeconds: number, spacing: number) =>
    codes(headOf(ageSeconds, spacing), TAIL, null, NOW_MS, { reader: { databaseNowMs: null } });
  const ready = { ready: true, codes: [] };
  const isLate = { ready: true, codes: ['head_late'] };
  expect([late(30, 1), late(31, 1)]).toEqual([ready, isLate]);
  expect([late(48, 12), late(49, 12)]).toEqual([ready, isLate]);
  expect([late(299, 900), late(301, 900).codes]).toEqual([ready, ['head_old']]);
  expect(codes(headOf(200, 1), TAIL, null, NOW_MS)).toEqual(ready);
  expect(
    codes(headOf(5, 1), { ...TAIL, headKnownMs: 31_000 }, null, NOW_MS, { reader: { databaseNowMs: null } }),
  ).toEqual(isLate);
});

test('a process without an ingester takes ages from the clock of the database, and reports its own wrong clock', () => {
  const hour = 3_600_000;
  const at = (ownMs: number) =>
    codes(headOf(5, 10), TAIL, null, NOW_MS + ownMs, { reader: { databaseNowMs: NOW_MS } });
  expect(at(hour)).toEqual({ ready: true, codes: [] });
  expect(at(-hour)).toEqual({ ready: true, codes: ['clock_behind'] });
});

test('a process without an ingester reports the problems and the node of the ingester, and then its end', () => {
  const state = encodeWriterState({
    ...node(500, [
      { code: 'node_stalled', message: 'The node has shown no block after 500' },
      { code: 'clock_behind', message: 'the clock is wrong' },
    ]),
    backfill: { from_block: 1, to_block: 900, done_pct: 12.5, seconds_left: 3 },
  });
  const read = (ended: boolean, ageSeconds: number, own: WriterFacts | null) => {
    const view = viewWriter({ ended, silentMs: 0, state, stateAgeMs: 0 }, 0);
    return readReadiness({
      head: () => headOf(ageSeconds, 10),
      tail: () => TAIL,
      writer: { view: () => view, databaseNow: () => NOW_MS },
      node: { known: () => own, ask: () => Promise.reject(new Error('not asked')) },
      now: () => NOW_MS,
    });
  };
  const codesOf = (answer: ReadyAnswer) => answer.problems.map(({ code }) => code);
  const running = read(false, 900, null);
  expect(codesOf(running)).toEqual(['node_stalled', 'clock_behind', 'head_late']);
  expect([running.ready, running.checks.node?.head, running.backfill?.done_pct]).toEqual([true, 500, 12.5]);
  const ended = read(true, 60, null);
  expect(codesOf(ended)).toEqual(['writer_away', 'head_late']);
  expect([ended.ready, ended.checks.node, ended.backfill]).toEqual([true, null, null]);
  expect(codesOf(read(true, 900, node(600)))).toEqual(['head_old', 'writer_away']);
});

test('/readyz lists the problems of the ingester', () => {
  const stuck = node(500, [{ code: 'promotion_stuck', message: 'No block became final for 20 minutes' }]);
  expect(codes(headAged(5), TAIL, stuck, NOW_MS)).toEqual({ ready: true, codes: ['promotion_stuck'] });
});

test('/readyz reports a promotion that falls behind', () => {
  const head = { ...headAged(5, 2_000), finalTo: 400, finalNumber: 529 };
  expect(codes(head, TAIL, null, NOW_MS)).toEqual({ ready: true, codes: ['promotion_behind'] });
  expect(codes({ ...head, finalNumber: 528 }, TAIL, null, NOW_MS)).toEqual({ ready: true, codes: [] });
});
