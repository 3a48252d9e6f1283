/** Tests the ingester's list of problems, made from its own state and two clocks. The operator may change one
 * of the clocks. */
import { toNodeHealth, type EndpointHealth, type NodeHealth } from '../../../../src/node/rpc/nodeHealth';
import { keepText } from '../../../../src/errors';
import { doesNodeAnswer, isNodeUntried, listIngestProblems } from '../../../../src/ingest/session/problems';
import {
  beginWork,
  endWork,
  newIngestStatus,
  noteHead,
  type IngestStatus,
} from '../../../../src/ingest/session/status';

const WALL = 1_700_000_000_000;
/** Time on the ingester's monotonic clock, in ms. */
const NOW = 5_000_000;

function healthAt(lastGoodAt: number, change: Partial<EndpointHealth> = {}): NodeHealth {
  const endpoint = {
    name: '#0 node',
    state: 'ok' as const,
    head: 100,
    lastError: null,
    lastWrongAnswer: null,
    untrusted: null,
    wrongAnswerText: null,
    fault: null,
    lastWrongAt: null,
  };
  return toNodeHealth([{ ...endpoint, lastGoodAt, ...change }], new Map());
}

/** A waiting ingester that has stored head 100. Blocks come every 10 s, the last one at NOW. */
function waiting(): IngestStatus {
  const status = newIngestStatus();
  for (let number = 97; number <= 100; number += 1) {
    noteHead(status, { number, timestamp: WALL / 1000 - (100 - number) * 10 }, NOW - (100 - number) * 10_000);
    status.idleSince = NOW - (100 - number) * 10_000 + 50;
  }
  status.indexed = 100;
  status.finalNumber = 36;
  return status;
}

type Times = Parameters<typeof listIngestProblems>[2];

function listProblems(status: IngestStatus, health: NodeHealth, times: Times, confirmations = 64) {
  return listIngestProblems(status, health, times, { confirmations });
}

function codes(status: IngestStatus, laterMs = 0, wallMs = WALL + laterMs, health = healthAt(NOW + laterMs)) {
  return listProblems(status, health, { now: NOW + laterMs, wallMs }).map(({ code }) => code);
}

test('a node with regular new blocks is no problem', () => {
  expect(codes(waiting())).toEqual([]);
  expect(codes(waiting(), 24_000)).toEqual([]);
});

test('a stalled head is reported before 30 s have passed', () => {
  expect(codes(waiting(), 27_000)).toEqual(['node_stalled']);
});

test('the problem of a stalled node has the age of its head and of its last answer as numbers', () => {
  const spaced = { ...waiting(), headSpacingMs: 1_000 };
  const problems = (lastGoodAt: number) =>
    listProblems(spaced, healthAt(lastGoodAt), { now: NOW + 20_000, wallMs: WALL + 20_000 });
  const stalled = {
    code: 'node_stalled',
    message: 'The node has shown no block after 100',
    age_seconds: 20,
  };
  expect(problems(NOW + 19_000)).toEqual([{ ...stalled, figures: { last_answer_seconds: 1 } }]);
  expect(problems(NOW + 10_000)).toEqual([{ ...stalled, figures: { last_answer_seconds: 10 } }]);
});

test('the text of every problem stays the same while the problem lasts', () => {
  const first = { ...waiting(), headSpacingMs: 1_000, problem: 'the disk is full', nodeHead: 700 };
  first.phase = 'waiting';
  first.poolSearch.state = 'searching';
  first.poolSearch.startBlock = 100;
  first.poolSearch.searchedFrom = 90;
  beginWork(first, { kind: 'promotion', from: 10, to: 41 }, NOW);
  beginWork(first, { kind: 'refill', from: 3, to: 3 }, NOW);
  beginWork(first, { kind: 'catch_up', from: 3, to: 90 }, NOW);
  const later = structuredClone(first);
  later.poolSearch.searchedFrom = 50;
  later.poolSearch.pools = 7;
  later.indexed = 130;
  later.finalNumber = 37;
  beginWork(later, { kind: 'promotion', from: 10, to: 49 }, NOW);
  beginWork(later, { kind: 'refill', from: 4, to: 9 }, NOW);
  beginWork(later, { kind: 'catch_up', from: 3, to: 95 }, NOW);
  const lagging = (head: number) => ({ state: 'lagging' as const, head });
  const at = (status: IngestStatus, ms: number, wallMs: number, head: number) =>
    listProblems(status, healthAt(NOW + ms - 20, lagging(head)), { now: NOW + ms, wallMs });
  for (const shift of [-3_600_000, 3_600_000]) {
    const before = at(first, 30_000, WALL + shift, 60);
    const after = at(later, 90_000, WALL + shift, 61);
    const texts = (problems: typeof before) => problems.map(({ code, message }) => `${code}: ${message}`);
    expect(texts(after)).toEqual(texts(before));
    expect(before.map(({ code }) => code)).toEqual([
      'ingest_failing',
      'gap_refilling',
      'catching_up',
      'promotion_stuck',
      'node_stalled',
      shift > 0 ? 'node_behind' : 'clock_behind',
      'finality_behind',
      'history_incomplete',
      'node_lagging',
    ]);
  }
});

test('a failure with other numbers keeps its text, and a failure of another kind changes the text', () => {
  const first = 'the block 5000 is after the head 57 of 0xab12';
  expect(keepText(null, first)).toBe(first);
  expect(keepText(first, 'the block 5000 is after the head 58 of 0xcd')).toBe(first);
  expect(keepText(first, 'the disk is full')).toBe('the disk is full');
});

test('a wrong answer of the only endpoint is reported for 30 s, although the endpoint is used again sooner', () => {
  const wrong = {
    lastWrongAnswer: 'block 8 is wrong',
    wrongAnswerText: 'block 7 is wrong',
    lastWrongAt: NOW,
  };
  const shown = (laterMs: number) =>
    listProblems(newIngestStatus(), healthAt(NOW, wrong), { now: NOW + laterMs, wallMs: WALL });
  expect(shown(29_000)).toEqual([
    {
      code: 'node_benched',
      message: 'endpoint #0 gave a wrong answer: block 7 is wrong',
      detail: 'block 8 is wrong',
      figures: { endpoint: 0 },
    },
  ]);
  expect(shown(30_000)).toEqual([]);
});

test('a node is not stalled while blocks are being stored', () => {
  expect(codes({ ...waiting(), idleSince: null }, 60_000)).toEqual([]);
});

test('a node without an answer for 25 s is away, and not also stalled', () => {
  const silent = healthAt(NOW);
  expect(doesNodeAnswer(silent, NOW + 24_000)).toBe(true);
  expect(doesNodeAnswer(silent, NOW + 26_000)).toBe(false);
  expect(codes(waiting(), 60_000, WALL + 60_000, silent)).toEqual([]);
});

test('a node is not called away before the program has waited 25 s for its first answer or failure', () => {
  const untried = { ...healthAt(NOW), lastGoodAt: null };
  expect([isNodeUntried(untried, 24_999), isNodeUntried(untried, 25_000)]).toEqual([true, false]);
  const failed = { ...healthAt(NOW, { fault: 'silent' }), lastGoodAt: null };
  expect(isNodeUntried(failed, 100)).toBe(false);
  expect(isNodeUntried(healthAt(NOW), 100)).toBe(false);
});

test('a node whose newest block is old when it arrives is reported as behind', () => {
  const status = waiting();
  noteHead(status, { number: 101, timestamp: WALL / 1000 - 3_600 }, NOW);
  expect(codes(status)).toEqual(['node_behind']);
});

test('a clock that was set back is reported, and hides no other problem', () => {
  const hour = 3_600_000;
  expect(codes(waiting(), 0, WALL - hour)).toEqual(['clock_behind']);
  expect(codes(waiting(), 27_000, WALL - hour)).toEqual(['node_stalled', 'clock_behind']);
  const silent = healthAt(NOW - 30_000);
  expect(doesNodeAnswer(silent, NOW)).toBe(false);
});

test('unfinished work is reported with its range, measured from its first start', () => {
  const status = waiting();
  beginWork(status, { kind: 'promotion', from: 10, to: 41 }, NOW);
  expect(codes(status, 9_000)).toEqual([]);
  beginWork(status, { kind: 'promotion', from: 10, to: 44 }, NOW + 9_000);
  expect(codes(status, 11_000)).toEqual(['promotion_stuck']);
  endWork(status, 'promotion');
  beginWork(status, { kind: 'refill', from: 3, to: 3 }, NOW);
  expect(codes(status)).toEqual(['gap_refilling']);
});

test('finality that does not advance is reported, at twice the depth of a chain with late finality', () => {
  const behind = (nodeHead: number, confirmations: number) =>
    listProblems(
      { ...waiting(), nodeHead, indexed: nodeHead },
      healthAt(NOW),
      { now: NOW, wallMs: WALL },
      confirmations,
    ).map(({ code }) => code);
  expect([behind(548, 64), behind(549, 64)]).toEqual([[], ['finality_behind']]);
  expect([behind(9_636, 4_800), behind(9_637, 4_800)]).toEqual([[], ['finality_behind']]);
});

test('a failure is reported as failing while the ingester retries, and as stopped otherwise', () => {
  const status = { ...waiting(), problem: 'the disk is full' };
  expect(codes({ ...status, phase: 'waiting' })).toEqual(['ingest_failing']);
  expect(codes({ ...status, phase: 'stopped' })).toEqual(['ingest_stopped']);
});

test('an endpoint in a bad state is reported by its name', () => {
  const health = healthAt(NOW, { state: 'benched', wrongAnswerText: 'it left out logs' });
  expect(listProblems(waiting(), health, { now: NOW, wallMs: WALL })).toEqual([
    { code: 'node_benched', message: 'endpoint #0 is benched: it left out logs', figures: { endpoint: 0 } },
  ]);
});

test('no problem names the host of an endpoint, because a host may contain a key', () => {
  const lastError = '#0 key123.example.org:8545: getaddrinfo ENOTFOUND key123.example.org';
  const health = healthAt(NOW, { name: '#0 key123.example.org:8545', state: 'slow', lastError });
  const status = { ...waiting(), problem: lastError };
  expect(listProblems(status, health, { now: NOW, wallMs: WALL })).toEqual([
    { code: 'ingest_failing', message: '#0: getaddrinfo ENOTFOUND …' },
    {
      code: 'node_slow',
      message: 'endpoint #0 is slow: #0: getaddrinfo ENOTFOUND …',
      figures: { endpoint: 0 },
    },
  ]);
});

test('what cannot be proven is named: disputed logs, logs without a transaction, a method that fails for blocks', () => {
  const lessProven = { blocks: 2, block: 9, reason: 'the transaction type 0x50 is unknown' };
  const status = { ...waiting(), disputed: { block: 7 }, blockLogs: 3, lessProven };
  const health = healthAt(NOW, { untrusted: { method: 'eth_getBlockReceipts', block: 70 } });
  const problems = listProblems(status, health, { now: NOW, wallMs: WALL });
  expect(problems.map(({ code, figures }) => ({ code, figures }))).toEqual([
    { code: 'logs_disputed', figures: { block_number: 7 } },
    { code: 'blocks_less_proven', figures: { blocks: 2, block_number: 9 } },
    { code: 'logs_unproven', figures: { logs: 3 } },
    { code: 'node_incomplete', figures: { endpoint: 0, block_number: 70 } },
  ]);
});
