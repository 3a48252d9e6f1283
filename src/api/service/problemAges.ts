/** Measures how long this process has seen each problem, for problems whose beginning is unknown. */
import { problemKey, type ReadyAnswer } from '../../wire/ready';

type Problems = ReadyAnswer['problems'];

export interface ProblemAges {
  /** Returns the current problems, all with an age. A problem that was not in the last call begins now. */
  add(problems: Problems): Problems;
}

/** `now` is a monotonic clock in ms. */
export function createProblemAges(now: () => number): ProblemAges {
  let sinceByProblem: ReadonlyMap<string, number> = new Map();
  return {
    add(problems) {
      const nowMs = now();
      const since = (problem: Problems[number]): number => sinceByProblem.get(problemKey(problem)) ?? nowMs;
      sinceByProblem = new Map(problems.map((problem) => [problemKey(problem), since(problem)]));
      return problems.map((problem) => ({
        ...problem,
        age_seconds: problem.age_seconds ?? Math.floor((nowMs - since(problem)) / 1000),
      }));
    },
  };
}
