/** The program's log: pino, one child per module. Messages are sentences; facts go into fields. */
import pino, { type Logger } from 'pino';

export type { Logger };

/** Makes the root logger. Pretty on a terminal, one JSON object a line otherwise. Level: one of pino's, or `silent`. */
export function createLog(level: string, pretty = process.stdout.isTTY === true): Logger {
  const redact = { paths: ['*.password', 'password'], censor: '…' };
  if (!pretty) return pino({ level, base: null, redact });
  const target = { target: 'pino-pretty', options: { translateTime: 'HH:MM:ss', ignore: 'pid,hostname' } };
  return pino({ level, base: null, redact, transport: target });
}
