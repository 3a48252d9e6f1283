/** Logs the problems that /readyz reports: when a problem starts, while it lasts, and when it ends. */
import type { Logger } from '../log';
import { problemKey, type ReadyProblem } from '../wire/ready';

export type LoggedProblem = Pick<ReadyProblem, 'code' | 'message' | 'detail' | 'figures'>;

/** Interval between checks. A problem is logged within twice this time. */
const LOOK_EVERY_MS = 5_000;
/** Interval of reminders for a lasting problem. */
const REMIND_MS = 300_000;
/** Problems that are normal at a start, until the database answers and the missing blocks are stored. */
const STARTING_CODES: ReadonlySet<string> = new Set([
  'database_away',
  'nothing_indexed',
  'head_old',
  'catching_up',
]);

interface KnownProblem {
  readonly since: number;
  toldAt: number;
}

/** Checks at intervals until the returned function is called. `now` is a monotonic clock in ms. */
export function logProblems(
  list: () => readonly LoggedProblem[],
  log: Logger,
  now: () => number,
): () => void {
  const knownProblems = new Map<string, KnownProblem>();
  let isStarting = true;
  const checkProblems = (): void => {
    const nowMs = now();
    const current = new Map(list().map((problem) => [problemKey(problem), problem]));
    const isUsualAtStart = ({ code }: LoggedProblem): boolean =>
      STARTING_CODES.has(code.replace(/_\d+$/, ''));
    isStarting &&= [...current.values()].some(isUsualAtStart);
    // While blocks are being stored, a long start is normal.
    const isStoring = current.has('catching_up');
    for (const [key, problem] of current) {
      const isNew = !knownProblems.has(key);
      const knownProblem = knownProblems.get(key) ?? { since: nowMs, toldAt: -Infinity };
      knownProblems.set(key, knownProblem);
      if (nowMs - knownProblem.toldAt < REMIND_MS) continue;
      knownProblem.toldAt = nowMs;
      const { code, message, detail: newest, figures } = problem;
      const detail = newest === undefined || newest === null ? message : `${message} (${newest})`;
      const facts = {
        problem: code,
        forSeconds: Math.round((nowMs - knownProblem.since) / 1000),
        detail,
        ...figures,
      };
      const event = isNew ? 'a problem began' : 'a problem persists';
      // A problem that is usual at the start is a warning only if it lasts although no blocks are being stored.
      if (isStarting && isUsualAtStart(problem) && (isNew || isStoring)) log.info(facts, event);
      else log.warn(facts, event);
    }
    for (const [key, { since }] of knownProblems) {
      if (current.has(key)) continue;
      knownProblems.delete(key);
      log.info({ problem: key, forSeconds: Math.round((nowMs - since) / 1000) }, 'a problem is over');
    }
  };
  const timer = setInterval(checkProblems, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
