/** Tests the ingester's list of problems, made from its own state and two clocks. The operator may change one
 * of the clocks. */
import { toNodeHealth, type EndpointHealth, type NodeHealth } from '../../../../src/chain/rpc/nodeHealth';
import { doesNodeAnswer, listIngestProblems } from '../../../../src/ingest/session/problems';
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

function codes(status: IngestStatus, laterMs = 0, wallMs = WALL + laterMs, health = healthAt(NOW + laterMs)) {
  return listIngestProblems(status, health, { now: NOW + laterMs, wallMs }).map(({ code }) => code);
}

test('a node with regular new blocks is no problem', () => {
  expect(codes(waiting())).toEqual([]);
  expect(codes(waiting(), 24_000)).toEqual([]);
});

test('a stalled head is reported before 30 s have passed', () => {
  expect(codes(waiting(), 27_000)).toEqual(['node_stalled']);
});

test('the message about a stalled node does not claim that the node answered in the last 10 s', () => {
  const spaced = { ...waiting(), headSpacingMs: 1_000 };
  const messages = (lastGoodAt: number) =>
    listIngestProblems(spaced, healthAt(lastGoodAt), { now: NOW + 20_000, wallMs: WALL + 20_000 });
  const stalled = 'has shown no block after 100 for 20 s';
  expect(messages(NOW + 19_000)).toEqual([
    { code: 'node_stalled', message: `The node answers, but ${stalled}` },
  ]);
  expect(messages(NOW + 10_000)).toEqual([
    { code: 'node_stalled', message: `The node does not answer now. It ${stalled}` },
  ]);
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

test('finality that does not advance is reported', () => {
  expect(codes({ ...waiting(), nodeHead: 600, indexed: 600 })).toEqual(['finality_behind']);
});

test('a failure is reported as failing while the ingester retries, and as stopped otherwise', () => {
  const status = { ...waiting(), problem: 'the disk is full' };
  expect(codes({ ...status, phase: 'waiting' })).toEqual(['ingest_failing']);
  expect(codes({ ...status, phase: 'stopped' })).toEqual(['ingest_stopped']);
});

test('an endpoint in a bad state is reported by its name', () => {
  const health = healthAt(NOW, { state: 'benched', lastError: 'it left out logs' });
  expect(listIngestProblems(waiting(), health, { now: NOW, wallMs: WALL })).toEqual([
    { code: 'node_benched', message: 'endpoint #0 is benched: it left out logs' },
  ]);
});

test('no problem names the host of an endpoint, because a host may contain a key', () => {
  const lastError = '#0 key123.example.org:8545: getaddrinfo ENOTFOUND key123.example.org';
  const health = healthAt(NOW, { name: '#0 key123.example.org:8545', state: 'slow', lastError });
  const status = { ...waiting(), problem: lastError };
  expect(listIngestProblems(status, health, { now: NOW, wallMs: WALL })).toEqual([
    { code: 'ingest_failing', message: '#0: getaddrinfo ENOTFOUND …' },
    { code: 'node_slow', message: 'endpoint #0 is slow: #0: getaddrinfo ENOTFOUND …' },
  ]);
});
