import { systemClock, TimeSlices, type Clock } from '../../../../src/chain/rpc/clock';

/** A clock that only advances when the test calls `pass`, and counts the turns of the event loop. */
function countingClock(): { clock: Clock; pass(ms: number): void; turns(): number } {
  let now = 0;
  let turns = 0;
  const clock: Clock = {
    ...systemClock(),
    now: () => now,
    turn: async () => {
      turns += 1;
      now += 50;
    },
  };
  return { clock, pass: (ms) => void (now += ms), turns: () => turns };
}

test('work yields to the event loop after 5 ms of its own time', async () => {
  const { clock, pass, turns } = countingClock();
  const slices = new TimeSlices(clock);
  for (let step = 0; step < 10; step += 1) {
    await slices.step();
    pass(2);
  }
  // Work yields before steps 4, 7 and 10, each time after three steps of 2 ms.
  expect(turns()).toBe(3);
});

test('a due timer runs within two turns of the event loop, and not while promises resolve', async () => {
  const { turn } = systemClock();
  let ran = false;
  setTimeout(() => (ran = true), 0);
  for (const until = performance.now() + 5; performance.now() < until;);
  for (let promise = 0; promise < 100; promise += 1) await Promise.resolve();
  expect(ran).toBe(false);
  await turn();
  await turn();
  expect(ran).toBe(true);
});
