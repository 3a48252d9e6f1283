/** Tests the loop of background tasks with a clock that runs by itself. */
import { systemClock, type Clock } from '../../../src/node/rpc/clock';
import { repeatStep } from '../../../src/workers/repeatStep';

test('a task without work waits for a new block, also for one that came during its step', async () => {
  let now = 0;
  let blocks = 1;
  const clock: Clock = {
    ...systemClock(),
    now: () => now,
    async sleep(ms) {
      now += ms;
      // A block comes while the task has no work.
      if (now === 56) blocks += 1;
    },
  };
  const results = [5, 'idle', 'idle', new Error('away'), 'idle', 'idle', null] as const;
  const steps: number[] = [];
  const failures: string[] = [];
  await repeatStep(
    clock,
    {
      firstMs: 1,
      failedMs: 100,
      idle: { ms: 10, input: () => blocks },
      async step() {
        const result = results[steps.length]!;
        steps.push(now);
        // A block comes during the third and the fifth step.
        if (steps.length === 3 || steps.length === 5) blocks += 1;
        if (result instanceof Error) throw result;
        return result;
      },
      onFailure: (error) => failures.push(error),
    },
    new AbortController().signal,
  );
  // Without a new block, the task looks again after five minutes.
  expect(steps).toEqual([1, 6, 56, 66, 166, 176, 300_176]);
  expect(failures).toEqual(['away']);
});
