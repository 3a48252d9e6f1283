/**
 * GET /readyz: whether answers are current, and if not, what is wrong, in words that name no host and no SQL. 200 when
 * the database answers and the indexed head is younger than 5 minutes or equals the node's; else 503.
 */
import { z } from 'zod';

import type { HeadSnapshot } from '../../query/head/headSnapshot';
import type { TailFacts } from '../../tail/tailLoop';
import type { Route } from '../route';

const HEAD_AGE_MAX_S = 300;
/** The tail loop asks the database many times a second; silence for longer than this means that it is away. */
const DATABASE_SILENCE_MAX_MS = 3_000;

/** Final blocks that may wait for their promotion, which takes some at a time; more of them mean that it is stuck. */
const PROMOTION_LAG_MAX = 128;
/** A block this far in the future: this machine's clock is wrong, and ages measured by it mean nothing. */
const HEAD_AHEAD_MAX_S = 60;

export interface NodeFacts {
  /** Head of the node; null while unknown. */
  readonly nodeHead: number | null;
  readonly nodeAnswers: boolean;
}

/** What the process's own ingester knows. */
export interface IngestFacts extends NodeFacts {
  /** Everything else that is wrong: a node that lies or lags, a gap being refilled, a promotion that is stuck. */
  readonly problems: readonly ReadyProblem[];
}

export interface ReadyProblem {
  /** A stable word. */
  readonly code: string;
  readonly message: string;
}

export interface ReadyzDeps {
  head(): HeadSnapshot | null;
  tail(): TailFacts;
  /** Absent or null where this process does not ingest. */
  ingest?(): IngestFacts | null;
  /** The node itself, where no ingester here watches it. */
  readonly node?: {
    /** What it last said; null: nothing of late. */
    known(): NodeFacts | null;
    /** What it says, or said a moment ago; within a second or two. */
    ask(): Promise<NodeFacts>;
  };
  /** What else is known to be wrong: with the engine that this process runs. */
  more?(): readonly ReadyProblem[];
  /** Whether the engine that this process runs is known not to run. */
  isEngineAway?(): boolean;
  /** Unix ms. */
  now?(): number;
}

const checkShape = z.object({ ok: z.boolean() });
export const readyShape = z.object({
  ready: z.boolean(),
  checks: z.object({
    database: checkShape.extend({ last_answer_seconds: z.number().nullable() }),
    head: checkShape.extend({
      block_number: z.int().nullable(),
      block_hash: z.string().nullable(),
      final_block: z.int().nullable(),
      age_seconds: z.int().nullable(),
    }),
    node: checkShape.extend({ head: z.int().nullable(), behind_blocks: z.int().nullable() }).nullable(),
  }),
  problems: z.array(z.object({ code: z.string(), message: z.string() })),
});
export type ReadyAnswer = z.infer<typeof readyShape>;

/** The answer of this moment, for the endpoint and for whoever logs what is wrong. */
export function readAnswer(deps: ReadyzDeps): ReadyAnswer {
  const answer = answerWith(deps, null);
  return needsNode(answer) ? answerWith(deps, deps.node?.known() ?? null) : answer;
}

function answerWith(deps: ReadyzDeps, node: NodeFacts | null): ReadyAnswer {
  const nowMs = deps.now?.() ?? Date.now();
  const besides = { more: deps.more?.() ?? [], node, isEngineAway: deps.isEngineAway?.() ?? false };
  return judge(deps.head(), deps.tail(), deps.ingest?.() ?? null, nowMs, besides);
}

/** Whether the node's head decides and has not been asked for. */
function needsNode({ checks: { database, head, node } }: ReadyAnswer): boolean {
  return database.ok && !head.ok && head.block_number !== null && node === null;
}

export function readyz(deps: ReadyzDeps): Route {
  return {
    path: '/readyz',
    limited: false,
    doc: { summary: 'Whether answers are current', tag: 'service', answer: readyShape, errors: [503] },
    async handle(ctx): Promise<void> {
      if (needsNode(answerWith(deps, null))) await deps.node?.ask();
      const answer = readAnswer(deps);
      ctx.status = answer.ready ? 200 : 503;
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'application/json';
      ctx.body = JSON.stringify(answer);
    },
  };
}

/** What is known besides the head and the ingester. */
export interface Besides {
  readonly more?: readonly ReadyProblem[];
  /** What the node says where there is no ingester to say it. */
  readonly node?: NodeFacts | null;
  readonly isEngineAway?: boolean;
}

/** The answer from the facts. `nowMs`: unix ms by the machine's clock, which may be set back and forth. Pure. */
export function judge(
  head: HeadSnapshot | null,
  tail: TailFacts,
  ingest: IngestFacts | null,
  nowMs: number,
  { more = [], node: asked = null, isEngineAway = false }: Besides = {},
): ReadyAnswer {
  const told = ingest ?? asked;
  const { silenceMs } = tail;
  // Its end is known before it is silent for long.
  const database = !isEngineAway && silenceMs !== null && silenceMs <= DATABASE_SILENCE_MAX_MS;
  const byClock = head === null ? null : Math.floor(nowMs / 1000) - head.timestamp;
  // A block is at least as old as this process has known it, whatever the clock says.
  const ageSeconds = byClock === null ? null : Math.max(byClock, Math.floor((tail.headKnownMs ?? 0) / 1000));
  const nodeHead = told?.nodeHead ?? null;
  const atNodeHead = head !== null && told?.nodeAnswers === true && head.number === nodeHead;
  const current = ageSeconds !== null && (ageSeconds < HEAD_AGE_MAX_S || atNodeHead);
  const node =
    told === null
      ? null
      : {
          ok: told.nodeAnswers,
          head: nodeHead,
          behind_blocks: nodeHead === null || head === null ? null : Math.max(0, nodeHead - head.number),
        };
  const facts = { database, isEngineAway, current, ageSeconds, node };
  return {
    ready: database && current,
    checks: {
      database: {
        ok: database,
        last_answer_seconds: silenceMs === null ? null : Math.round(silenceMs) / 1000,
      },
      head: {
        ok: current,
        block_number: head?.number ?? null,
        block_hash: head?.hash ?? null,
        final_block: head?.finalNumber ?? null,
        age_seconds: ageSeconds,
      },
      node,
    },
    problems: [
      ...listProblems(head, tail, facts, ingest === null ? byClock : null),
      ...(ingest?.problems ?? []),
      ...more,
    ],
  };
}

interface Judged {
  readonly database: boolean;
  readonly isEngineAway: boolean;
  readonly current: boolean;
  readonly ageSeconds: number | null;
  readonly node: ReadyAnswer['checks']['node'];
}

/** `byClock`: age of the head by the machine's clock, seconds; null where the ingester looks after it. */
function listProblems(
  head: HeadSnapshot | null,
  { silenceMs, lastError }: TailFacts,
  { database, isEngineAway, current, ageSeconds, node }: Judged,
  byClock: number | null,
): ReadyProblem[] {
  const problems: ReadyProblem[] = [];
  const report = (wrong: boolean, code: string, message: string): void => {
    if (wrong) problems.push({ code, message });
  };
  const waiting = head === null ? 0 : head.finalNumber - head.finalTo;
  report(!database, 'database_away', isEngineAway ? 'The database does not run' : silenceText(silenceMs));
  report(
    database && lastError !== null,
    'head_unreadable',
    'The database has not answered the last question',
  );
  report(head === null, 'nothing_indexed', 'No block is indexed yet');
  report(head !== null && !current, 'head_old', oldText(head?.number ?? 0, ageSeconds ?? 0, node));
  report(
    waiting > PROMOTION_LAG_MAX,
    'promotion_behind',
    `${waiting} final blocks wait to be moved to the final tables`,
  );
  report(node !== null && !node.ok, 'node_away', 'The chain node does not answer');
  if (byClock !== null && byClock < -HEAD_AHEAD_MAX_S) {
    const message = `The newest indexed block is ${-byClock} s in the future: this machine's clock is wrong`;
    problems.push({ code: 'clock_behind', message });
  }
  return problems;
}

function silenceText(silenceMs: number | null): string {
  if (silenceMs === null) return 'The database has not answered yet';
  return `The database has not answered for ${Math.round(silenceMs / 1000)} s`;
}

function oldText(number: number, ageSeconds: number, node: { behind_blocks: number | null } | null): string {
  const behind = node?.behind_blocks ?? null;
  const tail = behind === null ? '' : `, ${behind} blocks behind the node`;
  return `The newest indexed block, ${number}, is ${ageSeconds} s old${tail}`;
}
