/** Tests how the log shows the problems that /readyz reports: texts, levels and reminders. */
import { logProblems, type LoggedProblem } from '../../../src/commands/problemLog';
import { createLog } from '../../../src/log';

const LOOK_MS = 5_000;
const [INFO, WARN] = [30, 40];

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly problem: string;
}

const problem = (code: string): LoggedProblem => ({ code, message: `the text of ${code}` });

/** Reports each list of problems in turn and returns the log lines after each. `stepMs` is the time between
 * two reports. */
function linesOf(looks: readonly (readonly string[])[], stepMs = LOOK_MS): Line[][] {
  jest.useFakeTimers();
  const lines: Line[][] = [];
  const write = (line: string): void => void lines.at(-1)?.push(JSON.parse(line));
  let now = 0;
  let codes: readonly string[] = [];
  const stop = logProblems(
    () => codes.map(problem),
    createLog('info', false, { write }),
    () => now,
  );
  for (const each of looks) {
    codes = each;
    now += stepMs;
    lines.push([]);
    jest.advanceTimersByTime(LOOK_MS);
  }
  stop();
  jest.useRealTimers();
  return lines;
}

const shown = (lines: readonly Line[]) => lines.map(({ level, msg, problem: code }) => [level, msg, code]);

test('a problem is logged when it begins and when it ends, with its message in a field', () => {
  const [, began, none, over] = linesOf([[], ['node_slow'], ['node_slow'], []]);
  expect(began).toEqual([
    expect.objectContaining({ level: WARN, msg: 'a problem began', detail: 'the text of node_slow' }),
  ]);
  expect(none).toEqual([]);
  expect(shown(over!)).toEqual([[INFO, 'a problem is over', 'node_slow']]);
});

test('a problem that lasts is repeated after five minutes', () => {
  const [, again] = linesOf([['node_slow'], ['node_slow']], 300_000);
  expect(shown(again!)).toEqual([[WARN, 'a problem persists', 'node_slow']]);
});

test('problems that are normal at a start are logged as info until they are over for the first time', () => {
  const starting = ['database_away', 'nothing_indexed', 'catching_up_943', 'node_slow'];
  const [first, , , later] = linesOf([starting, ['head_old'], [], ['head_old']]);
  expect(shown(first!)).toEqual([
    [INFO, 'a problem began', 'database_away'],
    [INFO, 'a problem began', 'nothing_indexed'],
    [INFO, 'a problem began', 'catching_up_943'],
    [WARN, 'a problem began', 'node_slow'],
  ]);
  expect(shown(later!)).toEqual([[WARN, 'a problem began', 'head_old']]);
});

test('problems of a start that lasts too long become warnings, unless blocks are being stored', () => {
  const [, stuck] = linesOf([['nothing_indexed'], ['nothing_indexed']], 300_000);
  expect(shown(stuck!)).toEqual([[WARN, 'a problem persists', 'nothing_indexed']]);
  const storing = ['head_old', 'catching_up'];
  const [, busy] = linesOf([storing, storing], 300_000);
  expect(shown(busy!).map(([level]) => level)).toEqual([INFO, INFO]);
});
