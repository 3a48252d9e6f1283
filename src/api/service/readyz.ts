/**
 * GET /readyz: reports whether answers are current, and lists problems. Messages contain no host names and no
 * SQL. The status is 200 if the database answers, and the newest indexed block is younger than 5 minutes or
 * equals the node's. Otherwise it is 503.
 */
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import type { TailFacts } from '../../stream/tailLoop';
import type { WriterFacts } from '../../stream/writerState';
import type { WriterWatch } from '../../stream/writerWatch';
import type { Proof } from '../../wire/proof';
import { problemKey, readyShape, type ReadyAnswer, type ReadyProblem } from '../../wire/ready';
import type { Route } from '../route';

const HEAD_AGE_MAX_S = 300;
/**
 * Time in ms without an answer after which the database counts as not available. The tail loop queries the database
 * many times a second.
 */
const DATABASE_SILENCE_MAX_MS = 3_000;

/**
 * Largest normal number of final blocks that wait for promotion (copying into the final tables). Promotion handles
 * several blocks at a time. If more blocks wait, it is stuck.
 */
const PROMOTION_LAG_MAX = 128;
/**
 * Largest time in seconds by which a block may be in the future. Beyond it, the machine's clock is wrong, and ages of
 * blocks are meaningless.
 */
const HEAD_AHEAD_MAX_S = 60;

type NodeFacts = Pick<WriterFacts, 'nodeHead' | 'nodeAnswers' | 'nodeFaults'>;

export interface ReadyzDeps {
  head(): HeadSnapshot | null;
  tail(): TailFacts;
  /** State of the ingester in this process. Absent or null if this process does not ingest. */
  ingest?(): WriterFacts | null;
  /** State of the ingester in another process. Only a process without an ingester has this watch. */
  readonly writer?: Pick<WriterWatch, 'view' | 'databaseNow'>;
  /** Access to the node, for a process without an ingester. */
  readonly node?: {
    /** The last answer of the node; null if there is no recent answer. */
    known(): NodeFacts | null;
    /** Asks the node, or returns a very recent answer. Takes at most a second or two. */
    ask(): Promise<NodeFacts>;
  };
  /** Other known problems, for example of the embedded database server. */
  more?(): readonly ReadyProblem[];
  /** Whether the embedded database server is known to have ended. */
  isEngineAway?(): boolean;
  /** Which part of the stored chain is proven at which level. */
  proof?(): Promise<Proof>;
  /** Adds ages to problems that have none. */
  readonly ages?: ProblemAges;
  /** The machine's clock: returns unix time in milliseconds. */
  now?(): number;
}

/** The problem of a node that gives no other reason for its silence. */
const NODE_AWAY: ReadyProblem = { code: 'node_away', message: 'The chain node does not answer' };
export const NO_PROOF: Proof = { level: null, proven_from: null, proven_to: null, senders_proven_to: null };

/** The current answer without the proof, for the endpoint and for the log. */
export function readReadiness(deps: ReadyzDeps): ReadyAnswer {
  const answerWithoutNode = answerWith(deps, null);
  const answer = needsNode(answerWithoutNode)
    ? answerWith(deps, deps.node?.known() ?? null)
    : answerWithoutNode;
  return deps.ages === undefined ? answer : { ...answer, problems: deps.ages.add(answer.problems) };
}

function answerWith(deps: ReadyzDeps, node: NodeFacts | null): ReadyAnswer {
  const nowMs = deps.now?.() ?? Date.now();
  const { writer } = deps;
  const view = writer?.view() ?? null;
  const otherFacts = {
    more: [...(view?.problems ?? []), ...(deps.more?.() ?? [])],
    node,
    isEngineAway: deps.isEngineAway?.() ?? false,
    reader: writer === undefined ? null : { databaseNowMs: writer.databaseNow() },
  };
  return judge(deps.head(), deps.tail(), deps.ingest?.() ?? view?.facts ?? null, nowMs, otherFacts);
}

/** True if the result depends on the node's newest block, and no answer of the node is known. */
function needsNode({ checks: { database, head, node } }: ReadyAnswer): boolean {
  return database.ok && !head.ok && head.block_number !== null && node?.ok !== true;
}

export function readyz(deps: ReadyzDeps): Route {
  return {
    path: '/readyz',
    limited: false,
    doc: {
      summary: 'Whether answers are current: 200 if they are, else 503',
      description:
        'The newest indexed block, the progress of a backfill, and every problem that makes answers old. Use it for load balancers and alerts.',
      tag: 'service',
      answer: readyShape,
      dialectErrors: { 503: readyShape },
    },
    async handle(ctx): Promise<void> {
      if (needsNode(answerWith(deps, null))) await deps.node?.ask();
      const answer = { ...readReadiness(deps), proof: (await deps.proof?.()) ?? NO_PROOF };
      ctx.status = answer.ready ? 200 : 503;
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'application/json';
      ctx.body = JSON.stringify(answer);
    },
  };
}

/** Facts about the database server, and about a process without an ingester. */
interface OtherFacts {
  readonly more?: readonly ReadyProblem[];
  /** The state of the node, in a process without an ingester. */
  readonly node?: NodeFacts | null;
  readonly isEngineAway?: boolean;
  /** For a process without an ingester: unix time in ms by the clock of the database, or null. */
  readonly reader?: { readonly databaseNowMs: number | null } | null;
}

/** Computes the answer from the facts. `nowMs` is unix time in ms by the machine's clock, which may jump.
 * Pure. */
export function judge(
  head: HeadSnapshot | null,
  tail: TailFacts,
  ingest: WriterFacts | null,
  nowMs: number,
  { more: moreProblems = [], node: askedNode = null, isEngineAway = false, reader = null }: OtherFacts = {},
): ReadyAnswer {
  const chosenNode = chooseNode(ingest, askedNode);
  const { silenceMs } = tail;
  // If the database server has ended, the database is not available, even if it answered a moment ago.
  const isDatabaseUp = !isEngineAway && silenceMs !== null && silenceMs <= DATABASE_SILENCE_MAX_MS;
  const ageSeconds = ageOf(head, tail, reader?.databaseNowMs ?? nowMs);
  const isHeadCurrent = isCurrent(ageSeconds) || isNodeHead(head, chosenNode);
  const node = nodeCheck(head, chosenNode);
  const facts = {
    nodeFaults: listFaults(ingest ?? askedNode),
    database: isDatabaseUp,
    isEngineAway,
    current: isHeadCurrent,
    ageSeconds,
    node,
  };
  return {
    ready: isDatabaseUp && isHeadCurrent,
    checks: {
      database: databaseCheck(isDatabaseUp, silenceMs),
      head: headCheck(head, isHeadCurrent, ageSeconds),
      node,
    },
    backfill: ingest?.backfill ?? null,
    proof: NO_PROOF,
    problems: dropRepeated([
      ...listProblems(head, tail, facts, checksClock(ingest, reader) ? ageBy(head, nowMs) : null),
      ...(ingest?.problems ?? []),
      ...moreProblems,
      ...(reader !== null && isHeadCurrent ? listLateHead(head, ageSeconds) : []),
    ]).map(completeProblem),
  };
}

/** If the ingester's node does not answer, the node of this process may. */
function chooseNode(ingest: NodeFacts | null, askedNode: NodeFacts | null): NodeFacts | null {
  return askedNode?.nodeAnswers === true ? askedNode : (ingest ?? askedNode);
}

function isCurrent(ageSeconds: number | null): boolean {
  return ageSeconds !== null && ageSeconds < HEAD_AGE_MAX_S;
}

/** Whether the clock of this machine is compared with the head here. An ingester compares it with the node's head. */
function checksClock(ingest: NodeFacts | null, reader: OtherFacts['reader']): boolean {
  return ingest === null || (reader ?? null) !== null;
}

/** Age in seconds by a clock; null without a block. */
function ageBy(head: HeadSnapshot | null, clockMs: number): number | null {
  return head === null ? null : Math.floor(clockMs / 1000) - head.timestamp;
}

/** A block is at least as old as the time since this process first saw it, even if the clock is wrong. */
function ageOf(head: HeadSnapshot | null, { headKnownMs }: TailFacts, clockMs: number): number | null {
  const ageSeconds = ageBy(head, clockMs);
  return ageSeconds === null ? null : Math.max(ageSeconds, Math.floor((headKnownMs ?? 0) / 1000));
}

/** This process and the ingester may report the same problem. */
function dropRepeated(problems: readonly ReadyProblem[]): ReadyProblem[] {
  const problemByKey = new Map<string, ReadyProblem>();
  for (const problem of problems)
    if (!problemByKey.has(problemKey(problem))) problemByKey.set(problemKey(problem), problem);
  return [...problemByKey.values()];
}

function completeProblem({
  code,
  message,
  age_seconds = null,
  detail = null,
  figures = {},
}: ReadyProblem): ReadyAnswer['problems'][number] {
  return { code, message, age_seconds, detail, figures };
}

/** Why the node gives no usable answers. Empty if it gives some. */
export function listFaults(node: NodeFacts | null): readonly ReadyProblem[] {
  return node === null || node.nodeAnswers ? [] : (node.nodeFaults ?? [NODE_AWAY]);
}

function isNodeHead(head: HeadSnapshot | null, node: NodeFacts | null): boolean {
  return head !== null && node?.nodeAnswers === true && head.number === node.nodeHead;
}

function databaseCheck(ok: boolean, silenceMs: number | null): ReadyAnswer['checks']['database'] {
  return { ok, last_answer_seconds: silenceMs === null ? null : Math.round(silenceMs) / 1000 };
}

function headCheck(
  head: HeadSnapshot | null,
  ok: boolean,
  ageSeconds: number | null,
): ReadyAnswer['checks']['head'] {
  return {
    ok,
    block_number: head?.number ?? null,
    block_hash: head?.hash ?? null,
    final_block: head?.finalNumber ?? null,
    age_seconds: ageSeconds,
    block_seconds: head === null ? null : meanBlockSeconds(head),
  };
}

function nodeCheck(head: HeadSnapshot | null, node: NodeFacts | null): ReadyAnswer['checks']['node'] {
  if (node === null) return null;
  const { nodeAnswers, nodeHead } = node;
  return {
    ok: nodeAnswers,
    head: nodeHead,
    behind_blocks: nodeHead === null || head === null ? null : Math.max(0, nodeHead - head.number),
  };
}

interface JudgedFacts {
  readonly database: boolean;
  readonly nodeFaults: readonly ReadyProblem[];
  readonly isEngineAway: boolean;
  readonly current: boolean;
  readonly ageSeconds: number | null;
  readonly node: ReadyAnswer['checks']['node'];
}

/**
 * `clockAgeSeconds` is the age of the head in seconds by the machine's clock. It is null if an ingester in this
 * process checks the clock.
 */
function listProblems(
  head: HeadSnapshot | null,
  { silenceMs, lastError }: TailFacts,
  { database, isEngineAway, current, ageSeconds, node, nodeFaults }: JudgedFacts,
  clockAgeSeconds: number | null,
): ReadyProblem[] {
  const problems: ReadyProblem[] = [];
  const report = (
    isWrong: boolean,
    code: string,
    message: string,
    moreFacts: Partial<ReadyProblem> = {},
  ): void => {
    if (isWrong) problems.push({ code, message, ...moreFacts });
  };
  const silenceAge = silenceMs === null ? {} : { age_seconds: Math.round(silenceMs / 1000) };
  const unpromotedBlocks = head === null ? 0 : head.finalNumber - head.finalTo;
  report(!database, 'database_away', awayText(isEngineAway, silenceMs), silenceAge);
  report(database && lastError !== null, 'head_unreadable', 'The last read of the newest block failed');
  report(head === null, 'nothing_indexed', 'No block is indexed yet');
  const behindBlocks = node?.behind_blocks ?? 0;
  report(head !== null && !current, 'head_old', 'The newest indexed block is older than 5 minutes', {
    age_seconds: ageSeconds,
    figures: {
      block_number: head?.number ?? 0,
      ...(behindBlocks > 0 ? { behind_blocks: behindBlocks } : {}),
    },
  });
  report(
    unpromotedBlocks > PROMOTION_LAG_MAX,
    'promotion_behind',
    'Final blocks are not in the final tables yet',
    {
      figures: { blocks: unpromotedBlocks },
    },
  );
  problems.push(...nodeFaults);
  const secondsAhead = -(clockAgeSeconds ?? 0);
  const futureText = 'The newest indexed block is in the future: the clock of this machine is wrong';
  report(secondsAhead > HEAD_AHEAD_MAX_S, 'clock_behind', futureText, {
    figures: { seconds_ahead: secondsAhead },
  });
  return problems;
}

function awayText(isEngineAway: boolean, silenceMs: number | null): string {
  if (isEngineAway) return 'The database is not running';
  return silenceMs === null ? 'The database has not answered yet' : 'The database does not answer';
}

/** The head counts as late after this many mean block times, but within these limits in seconds. */
const LATE_BLOCK_TIMES = 4;
const LATE_MIN_S = 30;
const LATE_MAX_S = 300;
/** Number of the newest blocks from which the mean block time is computed, at least and at most. */
const BLOCKS_MIN = 3;
const BLOCKS_MAX = 64;

/** The problem `head_late`, or nothing. `ageSeconds` is the age of the head. */
function listLateHead(head: HeadSnapshot | null, ageSeconds: number | null): ReadyProblem[] {
  const blockSeconds = head === null ? null : meanBlockSeconds(head);
  if (blockSeconds === null || ageSeconds === null) return [];
  if (ageSeconds <= Math.min(LATE_MAX_S, Math.max(LATE_MIN_S, LATE_BLOCK_TIMES * blockSeconds))) return [];
  const figures = { block_number: head?.number ?? 0, block_seconds: blockSeconds };
  const message = 'The newest indexed block is older than usual for this chain';
  return [{ code: 'head_late', message, age_seconds: ageSeconds, figures }];
}

/** Mean time in seconds between the newest blocks, with one decimal place; null if too few blocks are known. */
function meanBlockSeconds({ blocks }: HeadSnapshot): number | null {
  const newestBlocks = blocks.slice(-BLOCKS_MAX);
  const [firstBlock] = newestBlocks;
  const lastBlock = newestBlocks.at(-1);
  if (firstBlock === undefined || lastBlock === undefined || newestBlocks.length < BLOCKS_MIN) return null;
  return Math.round(((lastBlock.timestamp - firstBlock.timestamp) / (newestBlocks.length - 1)) * 10) / 10;
}

type Problems = ReadyAnswer['problems'];

interface ProblemAges {
  /** Returns the current problems, all with an age. A problem that was not in the last call begins now. */
  add(problems: Problems): Problems;
}

/** `now` is a monotonic clock in ms. */
export function createProblemAges(now: () => number): ProblemAges {
  let startByProblem: ReadonlyMap<string, number> = new Map();
  return {
    add(problems) {
      const nowMs = now();
      const startOf = (problem: Problems[number]): number => startByProblem.get(problemKey(problem)) ?? nowMs;
      startByProblem = new Map(problems.map((problem) => [problemKey(problem), startOf(problem)]));
      return problems.map((problem) => ({
        ...problem,
        age_seconds: problem.age_seconds ?? Math.floor((nowMs - startOf(problem)) / 1000),
      }));
    },
  };
}
