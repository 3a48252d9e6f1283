/** Lists the current problems of the ingester and its nodes, for /readyz and the log. Pure: no clock, no I/O. */
import type { EndpointHealth, EndpointState, NodeHealth } from '../../chain/rpc/nodeHealth';
import type { IngestStatus, RangeWork } from './status';

interface IngestProblem {
  /** Stable: clients may compare it. */
  readonly code: string;
  readonly message: string;
}

/** The ingester asks at least every 20 seconds, so a longer silence means that the node is unreachable. */
const NODE_SILENCE_MS = 25_000;
/** The head counts as stalled after 2.5 mean block times, within these two bounds. */
const STALL_MIN_MS = 15_000;
const STALL_MAX_MS = 300_000;
const SPACINGS_OF_STALL = 2.5;
/** The head is polled every second, so a longer silence means that the node does not answer. */
const ANSWERS_WITHIN_MS = 6_000;
/** Used until the mean block time is known. */
const STALL_UNKNOWN_MS = 25_000;
/** A newest block older than this means that the node is behind. */
const HEAD_OLD_S = 120;
/** A newest block this far in the future means that the local clock is wrong. */
const HEAD_AHEAD_S = 60;
const PROMOTION_MAX_MS = 10_000;
/** Blocks above the last final block. Chains with finality stay below 100. */
const UNFINAL_BLOCKS_MAX = 512;
/** A shorter catch-up is not reported. */
const CATCH_UP_MIN_MS = 3_000;

interface ProblemTimes {
  /** Ingester clock, ms. */
  readonly now: number;
  /** System clock, unix ms. Compared with block timestamps. */
  readonly wallMs: number;
}

/** Whether any endpoint answered recently. */
export function doesNodeAnswer(health: NodeHealth, now: number): boolean {
  return health.lastGoodAt !== null && now - health.lastGoodAt < NODE_SILENCE_MS;
}

/** All problems, most important first. */
export function listIngestProblems(
  status: IngestStatus,
  health: NodeHealth,
  times: ProblemTimes,
): IngestProblem[] {
  return [
    ...listFailures(status),
    ...listWork(status, times.now),
    ...listHeadProblems(status, health, times),
    ...health.endpoints.flatMap(endpointProblem),
  ];
}

function listFailures({ problem, phase }: IngestStatus): IngestProblem[] {
  if (problem === null) return [];
  return [{ code: phase === 'stopped' ? 'ingest_stopped' : 'ingest_failing', message: problem }];
}

function listWork({ work, indexed }: IngestStatus, now: number): IngestProblem[] {
  const problems: IngestProblem[] = [];
  const refill = work.get('refill');
  if (refill !== undefined) {
    const message = `Rows of blocks ${rangeOf(refill)} were lost and are being stored again`;
    problems.push({ code: 'gap_refilling', message });
  }
  const catchUp = work.get('catch_up');
  if (catchUp !== undefined && now - catchUp.since > CATCH_UP_MIN_MS) {
    const done = indexed === null ? '' : `; the newest stored block is ${indexed}`;
    const message = `Blocks ${rangeOf(catchUp)} are being stored${done}`;
    problems.push({ code: 'catching_up', message });
  }
  const promotion = work.get('promotion');
  if (promotion !== undefined && now - promotion.since > PROMOTION_MAX_MS) {
    const seconds = Math.round((now - promotion.since) / 1000);
    const message = `Copying final blocks ${rangeOf(promotion)} to the final tables has taken ${seconds} s so far`;
    problems.push({ code: 'promotion_stuck', message });
  }
  return problems;
}

function rangeOf({ from, to }: RangeWork): string {
  return from === to ? String(from) : `${from}-${to}`;
}

function listHeadProblems(
  status: IngestStatus,
  health: NodeHealth,
  { now, wallMs }: ProblemTimes,
): IngestProblem[] {
  const { nodeHead, nodeHeadAt, nodeHeadTimestamp, finalNumber, idleSince, headSpacingMs } = status;
  if (nodeHead === null || nodeHeadAt === null || nodeHeadTimestamp === null) return [];
  const problems: IngestProblem[] = [];
  const shownMs = now - nodeHeadAt;
  // While the ingester stores blocks, it does not wait for a new head.
  const waitedMs = idleSince === null ? 0 : now - Math.max(nodeHeadAt, idleSince);
  if (doesNodeAnswer(health, now) && waitedMs > stallMs(headSpacingMs)) {
    const seconds = Math.round(shownMs / 1000);
    const silent = now - (health.lastGoodAt ?? 0) > ANSWERS_WITHIN_MS;
    const node = silent ? 'The node does not answer now. It' : 'The node answers, but';
    const message = `${node} has shown no block after ${nodeHead} for ${seconds} s`;
    problems.push({ code: 'node_stalled', message });
  }
  // The age counts up to the moment the node showed the block, because later waiting is not the node's fault.
  const ageSeconds = Math.round((wallMs - shownMs) / 1000) - nodeHeadTimestamp;
  if (ageSeconds > HEAD_OLD_S) {
    const message = `The node's newest block, ${nodeHead}, was already ${ageSeconds} s old when the node returned it`;
    problems.push({ code: 'node_behind', message });
  }
  if (ageSeconds < -HEAD_AHEAD_S) {
    const message = `The node's newest block, ${nodeHead}, is ${-ageSeconds} s in the future: the clock of this machine is wrong`;
    problems.push({ code: 'clock_behind', message });
  }
  if (finalNumber !== null && nodeHead - finalNumber > UNFINAL_BLOCKS_MAX) {
    const message = `The chain's last final block, ${finalNumber}, is ${nodeHead - finalNumber} blocks behind its head`;
    problems.push({ code: 'finality_behind', message });
  }
  return problems;
}

function stallMs(spacingMs: number | null): number {
  if (spacingMs === null) return STALL_UNKNOWN_MS;
  return Math.min(STALL_MAX_MS, Math.max(STALL_MIN_MS, SPACINGS_OF_STALL * spacingMs));
}

const STATE_TEXTS: Readonly<Record<Exclude<EndpointState, 'ok'>, string>> = {
  lagging: 'is lagging',
  slow: 'is slow',
  benched: 'is benched',
  wrong_chain: 'serves another chain',
};

function endpointProblem({ name, state, lastError, head }: EndpointHealth): IngestProblem[] {
  if (state === 'ok') return [];
  const why =
    state === 'lagging' ? ` at block ${head ?? 'unknown'}` : lastError === null ? '' : `: ${lastError}`;
  return [{ code: `node_${state}`, message: `endpoint ${name} ${STATE_TEXTS[state]}${why}` }];
}
