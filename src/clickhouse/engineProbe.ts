/** One statement to the embedded engine over a connection of its own, for start-up checks; everyone else uses database.ts. */
import { request } from 'node:http';

import { AppError } from '../errors';
import type { EngineUser } from './engineConfig';

const ANSWER_BYTES_MAX = 65_536;

/** The answer's text without its last newline. Throws `unavailable` on any answer but 200, and after `timeoutMs`. */
export function askEngine(port: number, user: EngineUser, sql: string, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (message: string, cause?: unknown): void =>
      reject(new AppError('unavailable', `embedded ClickHouse: ${message}`, { cause }));
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
          if (text.length > ANSWER_BYTES_MAX) answer.destroy(new Error('answer too long'));
        });
        answer.on('error', (error) => fail(error.message, error));
        answer.on('end', () => {
          if (answer.statusCode === 200) resolve(text.trimEnd());
          else fail(`status ${answer.statusCode ?? 0}: ${text.slice(0, 500)}`);
        });
      },
    );
    call.on('timeout', () => call.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    call.on('error', (error) => fail(error.message, error));
    call.end(sql);
  });
}

/** Whether the engine answers a statement at all within `timeoutMs`: an error is an answer too. Never rejects. */
export function isAnswering(port: number, user: EngineUser, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { 'X-ClickHouse-User': user.name, 'X-ClickHouse-Key': user.password };
    const path = `/?query=${encodeURIComponent('SELECT 1')}`;
    const call = request(
      { host: '127.0.0.1', port, path, headers, agent: false, timeout: timeoutMs },
      (answer) => {
        answer.resume();
        resolve(true);
      },
    );
    call.on('timeout', () => call.destroy());
    call.on('error', () => resolve(false));
    call.on('close', () => resolve(false));
    call.end();
  });
}
