/**
 * Sends one statement to the embedded engine over a connection of its own, for start-up checks and the watchdog. All
 * other code uses database.ts.
 */
import { request } from 'node:http';

import { AppError } from '../../errors';
import type { EngineUser } from './engineConfig';

const ANSWER_BYTES_MAX = 65_536;

/** The answer without its final newline. Throws `unavailable` for any status other than 200, and after
 * `timeoutMs`. */
export async function askEngine(
  port: number,
  user: EngineUser,
  sql: string,
  timeoutMs: number,
): Promise<string> {
  const { status, text } = await send(port, user, sql, timeoutMs);
  if (status !== 200) throw unavailable(`status ${status}: ${text.slice(0, 500)}`);
  return text.trimEnd();
}

/** Whether the engine answers within `timeoutMs`. An error counts as an answer. Never rejects. */
export function isAnswering(port: number, user: EngineUser, timeoutMs: number): Promise<boolean> {
  return send(port, user, 'SELECT 1', timeoutMs).then(
    () => true,
    () => false,
  );
}

function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('unavailable', `embedded ClickHouse: ${message}`, { cause });
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

function send(port: number, user: EngineUser, sql: string, timeoutMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(unavailable(error.message, error));
    const headers = {
      'X-ClickHouse-User': user.name,
      'X-ClickHouse-Key': user.password,
      'Content-Length': Buffer.byteLength(sql),
    };
    const call = request(
      { host: '127.0.0.1', port, method: 'POST', path: '/', headers, agent: false, timeout: timeoutMs },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => {
          text += chunk;
          if (text.length > ANSWER_BYTES_MAX)
            answer.destroy(new Error(`the answer is longer than ${ANSWER_BYTES_MAX} characters`));
        });
        answer.on('error', fail);
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    call.on('timeout', () => call.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    call.on('error', fail);
    call.end(sql);
  });
}
