import { AppError, cutText, ERROR_BYTES_MAX, errorText } from '../../src/errors';
import { createLog, LOG_LINE_BYTES_MAX } from '../../src/log';

const MIB = 2 ** 20;
const HOSTILE: readonly (readonly [string, string])[] = [
  ['letters', 'x'.repeat(MIB)],
  ['quotes, which JSON escapes', '"\\'.repeat(MIB / 2)],
  ['control characters, which JSON writes as six characters', '\x01'.repeat(MIB)],
  ['characters of four bytes', '\u{1f600}'.repeat(MIB / 4)],
  ['lone surrogates', '\ud83d'.repeat(MIB)],
];

/** The log lines that `write` produces. */
function linesOf(write: (log: ReturnType<typeof createLog>) => void): string[] {
  const lines: string[] = [];
  write(createLog('debug', false, { write: (line: string) => void lines.push(line) }));
  return lines;
}

describe.each(HOSTILE)('a text of a megabyte of %s', (_, text) => {
  test('an error, field, list or message of a megabyte gives one log line of at most 2 kB', () => {
    const cause = new Error(text);
    const lines = linesOf((log) => {
      log.error({ err: new AppError('internal', text, { cause }), requestId: 'r-1' }, 'a request failed');
      log.error({ err: Object.assign(cause, { body: text }), requestId: 'r-1' }, 'a request failed');
      log.warn({ requestId: 'r-1', url: text, list: [text, text], deep: { a: { b: text } } }, 'a field');
      log.warn({ requestId: 'r-1', wide: Array.from({ length: 100 }, () => text.slice(0, 1_000)) }, 'wide');
      log.info({ requestId: 'r-1', [text.slice(0, 100_000)]: 1 }, text);
      log.child({ requestId: 'r-1', text }).info('a child');
    });
    expect(lines.length).toBe(6);
    for (const line of lines) {
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(LOG_LINE_BYTES_MAX);
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(JSON.parse(line)).toMatchObject({
        level: expect.any(Number),
        time: expect.any(Number),
        msg: expect.any(String),
        requestId: 'r-1',
      });
    }
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'a request failed', err: { type: 'AppError' } });
  });

  test('the message of an AppError keeps the beginning of a long text, at most 2 kB', () => {
    const { message } = new AppError('internal', `why: ${text}`);
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(ERROR_BYTES_MAX);
    expect(message.length).toBeGreaterThan(400);
    expect(message.startsWith('why: ')).toBe(true);
    expect(message.endsWith('…')).toBe(true);
    expect(Buffer.byteLength(errorText(new Error(text)))).toBeLessThanOrEqual(ERROR_BYTES_MAX);
    expect(Buffer.byteLength(errorText(text))).toBeLessThanOrEqual(ERROR_BYTES_MAX);
  });
});

test('the log writes short lines and texts unchanged', () => {
  const [line = ''] = linesOf((log) => log.info({ url: '/a', count: 3 }, 'as it is'));
  expect(JSON.parse(line)).toEqual({
    level: 30,
    time: expect.any(Number),
    url: '/a',
    count: 3,
    msg: 'as it is',
  });
  expect(new AppError('internal', 'short').message).toBe('short');
  for (const text of ['', 'a', 'ä'.repeat(1_024), '\u{1f600}'.repeat(512)])
    expect(cutText(text, ERROR_BYTES_MAX)).toBe(text);
});

test('the log never cuts a text inside a character', () => {
  for (let length = 0; length < 8; length += 1) {
    const cut = cutText(`${'a'.repeat(length)}${'\u{1f600}'.repeat(20)}`, 40);
    expect(cut).toMatch(/^a*(\u{1f600})+…$/u);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(40);
    expect(Buffer.byteLength(cut)).toBeGreaterThan(33);
  }
});
