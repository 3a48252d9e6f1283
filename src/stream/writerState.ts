/**
 * The state that the ingester stores with each sign of life, and what a process without an ingester concludes from it.
 * Pure.
 */
import { z } from 'zod';

import { backfillShape, problemKey, problemShape, type ReadyProblem } from '../wire/ready';

/** What an ingester knows of the node and of its own problems. */
export interface WriterFacts {
  /** Number of the node's newest block; null if unknown. */
  readonly nodeHead: number | null;
  /** Whether the node gave a usable answer recently. */
  readonly nodeAnswers: boolean;
  /** Why the node gives no usable answers. Absent: it does not answer at all. */
  readonly nodeFaults?: readonly ReadyProblem[];
  /** Other problems: a lagging node, lost rows being read again, a stuck promotion. */
  readonly problems: readonly ReadyProblem[];
  /** The backfill that is running; absent or null without a backfill. */
  readonly backfill?: z.infer<typeof backfillShape> | null;
}

/** The newest writer of the chain, as the database stores it. Times by the clock of the database. */
export interface WriterReading {
  readonly ended: boolean;
  /** Time in ms since the last sign of life. */
  readonly silentMs: number;
  /** JSON of the state; empty if the writer stored none. */
  readonly state: string;
  readonly stateAgeMs: number;
}

/** What readers report of the writer. */
export interface WriterView {
  /** The facts of a running writer; null if there is none, or if its state is unknown. */
  readonly facts: WriterFacts | null;
  /** The problem that no writer runs. */
  readonly problems: readonly ReadyProblem[];
}

/** A writer without a sign of life for this time in ms counts as dead. It gives one every 10 s. */
const SILENT_MAX_MS = 20_000;
/** Problems after this number are not stored. */
const PROBLEMS_MAX = 64;

const problemsShape = z
  .array(
    problemShape.extend({
      age_seconds: problemShape.shape.age_seconds.default(null),
      detail: problemShape.shape.detail.default(null),
      figures: problemShape.shape.figures.default({}),
    }),
  )
  .max(PROBLEMS_MAX);
const stateShape = z.object({
  nodeHead: z.int().nullable(),
  nodeAnswers: z.boolean(),
  nodeFaults: problemsShape.default([]),
  problems: problemsShape,
  backfill: backfillShape.nullable().default(null),
});

export function encodeWriterState({ problems: allProblems, nodeFaults, ...otherFacts }: WriterFacts): string {
  const faultFields = nodeFaults === undefined ? {} : { nodeFaults: nodeFaults.slice(0, PROBLEMS_MAX) };
  return JSON.stringify({ ...otherFacts, ...faultFields, problems: allProblems.slice(0, PROBLEMS_MAX) });
}

/** The part of a writer's state that readers must get at once: which problems there are, and whether a backfill runs. */
export function newsOfWriter({
  nodeAnswers,
  nodeFaults = [],
  problems: allProblems,
  backfill = null,
}: WriterFacts): string {
  const problemKeys = [...nodeFaults, ...allProblems].map(problemKey);
  return JSON.stringify([nodeAnswers, problemKeys, backfill === null]);
}

/** `reading` is null if no process has written the chain yet. `elapsedMs` is the time since the reading. */
export function viewWriter(reading: WriterReading | null, elapsedMs: number): WriterView {
  const toProblem = (message: string, otherFields: Partial<ReadyProblem> = {}): ReadyProblem => ({
    code: 'writer_away',
    message,
    ...otherFields,
  });
  if (reading === null)
    return { facts: null, problems: [toProblem('No ingester has written this database yet')] };
  const silentMs = reading.silentMs + elapsedMs;
  const facts = readState(reading.state, reading.stateAgeMs + elapsedMs);
  const ageFields = { age_seconds: Math.max(0, Math.round(silentMs / 1000)) };
  if (reading.ended) {
    const stopReasons = facts?.problems.filter(({ code }) => code === 'ingest_stopped') ?? [];
    return {
      facts: null,
      problems: [toProblem('The ingester has ended, so no new blocks are stored', ageFields), ...stopReasons],
    };
  }
  if (silentMs < SILENT_MAX_MS) return { facts, problems: [] };
  const silenceText = 'The ingester gives no sign of life, so no new blocks are stored';
  return { facts: null, problems: [toProblem(silenceText, ageFields)] };
}

/** Null if the text is empty, or if another version of the program wrote something else. */
function readState(state: string, ageMs: number): WriterFacts | null {
  const parsed = stateShape.safeParse(parseJson(state));
  if (!parsed.success) return null;
  const { problems: listedProblems, nodeFaults, ...otherFacts } = parsed.data;
  const stateAgeSeconds = Math.max(0, Math.round(ageMs / 1000));
  const withOlderAge = (problem: (typeof listedProblems)[number]): ReadyProblem =>
    problem.age_seconds === null
      ? problem
      : { ...problem, age_seconds: problem.age_seconds + stateAgeSeconds };
  return {
    ...otherFacts,
    nodeFaults: nodeFaults.map(withOlderAge),
    problems: listedProblems.map(withOlderAge),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
