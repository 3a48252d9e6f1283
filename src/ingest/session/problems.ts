/** Lists the current problems of the ingester and its nodes, for /readyz and the log. Pure. */
import type { ChainDescription } from '../../domain/chainDescription';
import { hideHosts } from '../../node/rpc/faults/nodeFaults';
import type { EndpointHealth, EndpointState, NodeHealth } from '../../node/rpc/nodeHealth';
import type { PoolSearchStatus, IngestStatus, RangeWork } from './status';

interface IngestProblem {
  /** Stable code of the problem, for programs. */
  readonly code: string;
  /** Stays the same while the problem lasts. */
  readonly message: string;
  /** Time since the cause began, in seconds. */
  readonly age_seconds?: number;
  /** Text of the newest error, which may change at any time. */
  readonly detail?: string;
  /** Numbers that may change while the problem lasts. */
  readonly figures?: Readonly<Record<string, number>>;
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
const STALL_BLOCK_TIMES = 2.5;
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
 * Largest normal number of blocks between the last final block and the head, or twice the depth of finality of the
 * chain. On the OP Stack and on Arbitrum, the blocks of 20 minutes are not final.
 */
const UNFINAL_BLOCKS_MAX = 512;
/**
 * A wrong answer is reported for this time in ms. The only endpoint is benched for a second at a time, so without
 * this time the problem would come and go with each attempt.
 */
const WRONG_ANSWER_SHOWN_MS = 30_000;
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

/** Whether nothing is known of the node yet, because the program started this many ms ago. */
export function isNodeUntried({ lastGoodAt, endpoints }: NodeHealth, sinceStartMs: number): boolean {
  return (
    lastGoodAt === null && sinceStartMs < NODE_SILENCE_MS && endpoints.every(({ fault }) => fault === null)
  );
}

/** Lists all problems, the most important one first. */
export function listIngestProblems(
  status: IngestStatus,
  health: NodeHealth,
  times: ProblemTimes,
  { confirmations }: Pick<ChainDescription, 'confirmations'>,
): IngestProblem[] {
  const unfinalMax = Math.max(UNFINAL_BLOCKS_MAX, 2 * confirmations);
  const problems = [
    ...listFailures(status, times.now),
    ...listWork(status, times.now),
    ...listHeadProblems(status, health, times, unfinalMax),
    ...listPoolSearch(status.poolSearch),
    ...listDoubts(status),
    ...health.endpoints.flatMap((endpoint, index) =>
      listEndpointProblems(endpoint, index, health.endpoints.length === 1, times.now),
    ),
  ];
  const hide = (text: string): string => hideHosts(text, health.endpoints);
  return problems.map(({ message, detail, ...rest }) => ({
    ...rest,
    message: hide(message),
    ...(detail === undefined ? {} : { detail: hide(detail) }),
  }));
}

const secondsSince = (since: number, now: number): number => Math.max(0, Math.round((now - since) / 1000));

function listFailures(
  { problem, problemDetail, problemSince, phase }: IngestStatus,
  now: number,
): IngestProblem[] {
  if (problem === null) return [];
  return [
    {
      code: phase === 'stopped' ? 'ingest_stopped' : 'ingest_failing',
      message: problem,
      ...(problemSince === null ? {} : { age_seconds: secondsSince(problemSince, now) }),
      ...(problemDetail === null || problemDetail === problem ? {} : { detail: problemDetail }),
    },
  ];
}

function listWork({ work, indexed }: IngestStatus, now: number): IngestProblem[] {
  const problems: IngestProblem[] = [];
  const report = (
    code: string,
    message: string,
    { from, to, since }: RangeWork,
    more: Readonly<Record<string, number>> = {},
  ): void => {
    const figures = { from_block: from, to_block: to, ...more };
    problems.push({ code, message, age_seconds: secondsSince(since, now), figures });
  };
  const refill = work.get('refill');
  if (refill !== undefined)
    report('gap_refilling', 'Rows of final blocks were lost and are being stored again', refill);
  const catchUp = work.get('catch_up');
  if (catchUp !== undefined && now - catchUp.since > CATCH_UP_MIN_MS) {
    const storedFigure: Record<string, number> = indexed === null ? {} : { stored_block: indexed };
    report('catching_up', 'Missed blocks are being stored', catchUp, storedFigure);
  }
  const promotion = work.get('promotion');
  if (promotion !== undefined && now - promotion.since > PROMOTION_MAX_MS)
    report('promotion_stuck', 'Copying final blocks to the final tables takes too long', promotion);
  return problems;
}

function listPoolSearch(search: PoolSearchStatus): IngestProblem[] {
  const { state, startBlock, searchedFrom, searchTo, pools, suppliesRead } = search;
  const code = 'history_incomplete';
  if (state === 'searching') {
    const doneShare = startBlock <= searchTo ? 1 : (startBlock - searchedFrom) / (startBlock - searchTo);
    const message =
      `Pools from before the start block ${startBlock} are being searched. Lists, TVL and creation times are ` +
      'incomplete until then';
    const figures = {
      done_pct: Math.floor(doneShare * 1_000) / 10,
      searched_from_block: searchedFrom,
      pools,
    };
    return [{ code, message, figures }];
  }
  if (state === 'incomplete') {
    const message = `The node has no logs below block ${searchedFrom}, so pools from before may be missing`;
    return [{ code, message, figures: { pools } }];
  }
  if (state !== 'complete' || suppliesRead) return [];
  return [{ code, message: 'The supplies of tokens from before the start block are being read' }];
}

/** Stored values that nothing proves, or less than others. */
function listDoubts({
  disputed,
  falseSenders,
  blockLogs,
  lessProven,
  refusedPools,
}: IngestStatus): IngestProblem[] {
  const problems: IngestProblem[] = [];
  if (disputed !== null) {
    const message = 'The RPC endpoints send different logs of a final block, and no majority of them agrees';
    problems.push({ code: 'logs_disputed', message, figures: { block_number: disputed.block } });
  }
  if (falseSenders !== null) {
    const message = 'The stored sender of a transaction differs from its signature';
    problems.push({ code: 'senders_false', message, figures: { block_number: falseSenders.block } });
  }
  if (lessProven !== null) {
    const { blocks, block, reason } = lessProven;
    const message = 'Some blocks have a format that is not known, and are proven less than the others';
    problems.push({
      code: 'blocks_less_proven',
      message,
      detail: reason,
      figures: { blocks, block_number: block },
    });
  }
  if (refusedPools > 0) {
    const message = 'Pools are missing, because their ids end like those of other pools';
    problems.push({ code: 'pools_refused', message, figures: { pools: refusedPools } });
  }
  if (blockLogs > 0) {
    const message = 'Logs that belong to no transaction of their block are stored. No receipt proves them';
    problems.push({ code: 'logs_unproven', message, figures: { logs: blockLogs } });
  }
  return problems;
}

function listHeadProblems(
  status: IngestStatus,
  health: NodeHealth,
  { now, wallMs }: ProblemTimes,
  unfinalMax: number,
): IngestProblem[] {
  const { nodeHead, nodeHeadAt, nodeHeadTimestamp, finalNumber, idleSince, headSpacingMs } = status;
  if (nodeHead === null || nodeHeadAt === null || nodeHeadTimestamp === null) return [];
  const problems: IngestProblem[] = [];
  const shownMs = now - nodeHeadAt;
  // While the ingester stores blocks, it does not ask for a new head. This time does not count as waiting.
  const waitedMs = idleSince === null ? 0 : now - Math.max(nodeHeadAt, idleSince);
  if (doesNodeAnswer(health, now) && waitedMs > stallMs(headSpacingMs)) {
    const message = `The node has shown no block after ${nodeHead}`;
    const figures = { last_answer_seconds: secondsSince(health.lastGoodAt ?? 0, now) };
    problems.push({ code: 'node_stalled', message, age_seconds: secondsSince(nodeHeadAt, now), figures });
  }
  // The age of the newest block is taken at the moment when the node returned it. Later waiting is not the
  // node's fault.
  const ageSeconds = Math.round((wallMs - shownMs) / 1000) - nodeHeadTimestamp;
  if (ageSeconds > HEAD_OLD_S) {
    const message = "The node's newest block was already old when the node returned it";
    const figures = { block_number: nodeHead, block_age_seconds: ageSeconds };
    problems.push({ code: 'node_behind', message, figures });
  }
  if (ageSeconds < -HEAD_AHEAD_S) {
    const message = "The node's newest block is in the future: the clock of this machine is wrong";
    const figures = { block_number: nodeHead, seconds_ahead: -ageSeconds };
    problems.push({ code: 'clock_behind', message, figures });
  }
  if (finalNumber !== null && nodeHead - finalNumber > unfinalMax) {
    const message = "The chain's last final block is far behind its head";
    const figures = { final_block: finalNumber, behind_blocks: nodeHead - finalNumber };
    problems.push({ code: 'finality_behind', message, figures });
  }
  return problems;
}

function stallMs(spacingMs: number | null): number {
  if (spacingMs === null) return STALL_UNKNOWN_MS;
  return Math.min(STALL_MAX_MS, Math.max(STALL_MIN_MS, STALL_BLOCK_TIMES * spacingMs));
}

const STATE_TEXTS: Readonly<Record<Exclude<EndpointState, 'ok'>, string>> = {
  lagging: 'is lagging',
  slow: 'is slow',
  benched: 'is benched',
  wrong_chain: 'serves another chain',
};

/** `index` is the number of the endpoint, and `alone` means that there is no other. */
function listEndpointProblems(
  endpoint: EndpointHealth,
  index: number,
  alone: boolean,
  now: number,
): IngestProblem[] {
  const { untrusted, name } = endpoint;
  const state = listStateProblems(endpoint, index, alone, now);
  if (untrusted === null) return state;
  const message = `endpoint ${name} does not answer ${untrusted.method} for certain blocks; other methods are used`;
  const figures = { endpoint: index, block_number: untrusted.block };
  return [...state, { code: 'node_incomplete', message, figures }];
}

function listStateProblems(
  { name, state, lastError, lastWrongAnswer, wrongAnswerText, lastWrongAt, head }: EndpointHealth,
  index: number,
  alone: boolean,
  now: number,
): IngestProblem[] {
  const number = `endpoint ${name}`;
  const newest =
    lastWrongAnswer === null || lastWrongAnswer === wrongAnswerText ? {} : { detail: lastWrongAnswer };
  const wasWrong = lastWrongAt !== null && now - lastWrongAt < WRONG_ANSWER_SHOWN_MS;
  if (alone && wasWrong && (state === 'ok' || state === 'benched')) {
    const message = `${number} gave a wrong answer: ${wrongAnswerText ?? 'unknown'}`;
    return [{ code: 'node_benched', message, ...newest, figures: { endpoint: index } }];
  }
  if (state === 'ok') return [];
  const reason = state === 'benched' ? wrongAnswerText : state === 'lagging' ? null : lastError;
  const figures: Record<string, number> = {
    endpoint: index,
    ...(state === 'lagging' && head !== null ? { block_number: head } : {}),
  };
  const message = `${number} ${STATE_TEXTS[state]}${reason === null ? '' : `: ${reason}`}`;
  return [{ code: `node_${state}`, message, ...(state === 'benched' ? newest : {}), figures }];
}
