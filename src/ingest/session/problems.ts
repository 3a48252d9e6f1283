/** Lists the current problems of the ingester and its nodes, for /readyz and the log. Pure. */
import type { EndpointHealth, EndpointState, NodeHealth } from '../../chain/rpc/nodeHealth';
import type { HistoryStatus, IngestStatus, RangeWork } from './status';

interface IngestProblem {
  /** Stable code of the problem, for programs. */
  readonly code: string;
  readonly message: string;
}

/**
 * A node that has not answered for this time in ms counts as unreachable. The ingester calls the node at
 * least every 20 seconds.
 */
const NODE_SILENCE_MS = 25_000;
/**
 * Limits in ms for the time without a new head after which the head counts as stalled. Between them, this
 * time is 2.5 mean block times.
 */
const STALL_MIN_MS = 15_000;
const STALL_MAX_MS = 300_000;
const SPACINGS_OF_STALL = 2.5;
/** A node that has not answered for this time in ms counts as silent. The head is polled every second. */
const ANSWERS_WITHIN_MS = 6_000;
/**
 * Time without a new head in ms after which the head counts as stalled, while the mean block time is unknown.
 */
const STALL_UNKNOWN_MS = 25_000;
/** The node counts as behind if its newest block is older than this, in seconds. */
const HEAD_OLD_S = 120;
/** If the node's newest block is this far in the future, in seconds, the clock of this machine is wrong. */
const HEAD_AHEAD_S = 60;
const PROMOTION_MAX_MS = 10_000;
/**
 * Largest normal number of blocks between the last final block and the head. Chains with finality stay below
 * 100.
 */
const UNFINAL_BLOCKS_MAX = 512;
/** Catching up is reported as a problem only if it takes longer than this time in ms. */
const CATCH_UP_MIN_MS = 3_000;

interface ProblemTimes {
  /** The ingester's own clock, in ms. */
  readonly now: number;
  /** The system clock, unix time in ms. It is compared with the times of blocks. */
  readonly wallMs: number;
}

/** Whether any RPC endpoint answered recently. */
export function doesNodeAnswer(health: NodeHealth, now: number): boolean {
  return health.lastGoodAt !== null && now - health.lastGoodAt < NODE_SILENCE_MS;
}

/** Lists all problems, the most important one first. */
export function listIngestProblems(
  status: IngestStatus,
  health: NodeHealth,
  times: ProblemTimes,
): IngestProblem[] {
  const problems = [
    ...listFailures(status),
    ...listWork(status, times.now),
    ...listHeadProblems(status, health, times),
    ...listHistory(status.history),
    ...health.endpoints.flatMap(endpointProblem),
  ];
  return problems.map(({ code, message }) => ({ code, message: hideHosts(message, health.endpoints) }));
}

/**
 * Hides host names in a message, because /readyz is public and a host name may contain an API key. The
 * endpoint's number remains.
 */
function hideHosts(message: string, endpoints: NodeHealth['endpoints']): string {
  let text = message;
  for (const { name } of endpoints) {
    const [number = '', host = ''] = name.split(' ');
    text = text.replaceAll(name, number);
    // A host without a dot is a name in the operator's own network. It is not hidden, because it may be a
    // common word.
    for (const part of [host, host.replace(/:\d+$/, '')])
      if (part.includes('.')) text = text.replaceAll(part, '…');
  }
  return text;
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

function listHistory(history: HistoryStatus): IngestProblem[] {
  const { state, startBlock, searchedFrom, searchTo, pools, suppliesRead } = history;
  const code = 'history_incomplete';
  if (state === 'searching') {
    const done = startBlock <= searchTo ? 1 : (startBlock - searchedFrom) / (startBlock - searchTo);
    const message =
      `Pools from before the start block ${startBlock} are being searched: ${Math.floor(done * 100)} % of the ` +
      `blocks are read, down to block ${searchedFrom}, and ${pools} pools are found. Lists, TVL and creation ` +
      'times are incomplete until then';
    return [{ code, message }];
  }
  if (state === 'incomplete') {
    const message =
      `The node has no logs below block ${searchedFrom}, so pools from before may be missing; ${pools} older ` +
      'pools are found';
    return [{ code, message }];
  }
  if (state !== 'complete' || suppliesRead) return [];
  return [{ code, message: 'The supplies of tokens from before the start block are being read' }];
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
  // While the ingester stores blocks, it does not ask for a new head. This time does not count as waiting.
  const waitedMs = idleSince === null ? 0 : now - Math.max(nodeHeadAt, idleSince);
  if (doesNodeAnswer(health, now) && waitedMs > stallMs(headSpacingMs)) {
    const seconds = Math.round(shownMs / 1000);
    const silent = now - (health.lastGoodAt ?? 0) > ANSWERS_WITHIN_MS;
    const node = silent ? 'The node does not answer now. It' : 'The node answers, but';
    const message = `${node} has shown no block after ${nodeHead} for ${seconds} s`;
    problems.push({ code: 'node_stalled', message });
  }
  // The age of the newest block is taken at the moment when the node returned it. Later waiting is not the
  // node's fault.
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
