/** Gives the program long time limits in every test file, so that results do not depend on the load of the machine. */
import { TIME_LIMITS } from '../../../src/domain/time/timeLimits';
import { TIME_BUDGETS } from '../../../src/query/head/timeBudgets';

const LONG_MS = 600_000;

Object.assign(TIME_BUDGETS, {
  logCountMs: LONG_MS,
  logSearchMs: LONG_MS,
  regexMs: LONG_MS,
  // Nodes of some tests never answer, and the test waits for what follows.
  nodeMs: 60_000,
} satisfies typeof TIME_BUDGETS);

Object.assign(TIME_LIMITS, {
  databaseRequestMs: LONG_MS,
  engineStartMs: LONG_MS,
  engineQueryMs: LONG_MS,
  lightAttemptMs: LONG_MS,
  majorityAnswerMs: LONG_MS,
  majorityFailingMs: LONG_MS,
  handshakeMs: LONG_MS,
  nodeReadMs: LONG_MS,
  streamRefreshMs: LONG_MS,
  // A client of a test may stop reading for good, so the hub still stops waiting for it.
  hubWaitMs: 20_000,
  hubReadingMs: 2_000,
} satisfies typeof TIME_LIMITS);
