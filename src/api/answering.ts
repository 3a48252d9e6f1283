/**
 * Shared handler of the endpoints whose answers belong to one block. Serves the answer from the byte cache and writes
 * errors in the endpoint's dialect.
 */
import { AppError } from '../errors';
import type { ByteCache } from './byteCache';
import { answerTable, chooseTableEncoding, FORMAT_PARAMS } from './formats/formats';
import type { ListTable } from './formats/listTable';
import { toJsonBody } from './jsonBody';
import { parseParams } from './params';
import type { QueryRunner } from '../clickhouse/client/namedQueries';
import type { Route, RouteContext } from './route';

/** One request, reduced to a cache key and a function that reads the answer. */
export interface Question<Answer> {
  /** Cache key, made of the parameters and the head version. If it is null, the answer is not cached. */
  readonly key: string | null;
  /** Reads the answer. The same key gives the same answer. Throws AppError or Refusal. */
  read(): Promise<Answer>;
  /**
   * Longest time in ms for which the cache keeps the answer. Null (default) means until the head changes or the cache
   * is full.
   */
  keepMs?(answer: Answer): number | null;
  /** Converts the answer to a table, for clients that ask for a table format. Absent if the answer is no list. */
  readonly asTable?: TableWriter;
  /** Waits for the next head, and prepares the same request for it. Null if the head does not change. */
  renew?(): Promise<Question<Answer> | null>;
}

interface TableWriter {
  readonly runner: QueryRunner;
  toTable(answer: unknown): ListTable;
}

/** An error body in the format of a dialect, such as Etherscan's. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown,
  ) {
    super(`the endpoint refused the call with status ${status}`);
  }
}

/**
 * The node does not have the head block any more. The request is answered at the next head. If the head does not
 * change in time, the answer is `failure`.
 */
export class HeadReplaced extends Error {
  constructor(readonly failure: AppError | Refusal) {
    super('the node does not have the head block');
  }
}

/** How often one request is answered again at the next head. Reorgs are rarely seen in more steps. */
const RENEWALS_MAX = 3;

/** Makes the handler of an endpoint. `refuse` translates an error into the format of a dialect. Without it,
 * or if it returns null, the app writes the error. */
export function answering<Answer>(
  cache: ByteCache,
  toQuestion: (ctx: RouteContext) => Question<Answer> | Promise<Question<Answer>>,
  refuse: (error: AppError) => Refusal | null = () => null,
): Route['handle'] {
  return async (ctx) => {
    try {
      await answerAtHead(cache, ctx, await toQuestion(ctx));
    } catch (error) {
      const refusal = error instanceof AppError ? refuse(error) : error;
      if (!(refusal instanceof Refusal)) throw error;
      ctx.status = refusal.status;
      ctx.type = 'application/json';
      ctx.set('Cache-Control', 'no-store');
      ctx.body = Buffer.from(JSON.stringify(refusal.body));
    }
  };
}

async function answerAtHead<Answer>(
  cache: ByteCache,
  ctx: RouteContext,
  firstQuestion: Question<Answer>,
): Promise<void> {
  let question = firstQuestion;
  for (let renewals = 0; ; renewals += 1) {
    try {
      return await answer(cache, ctx, question);
    } catch (error) {
      if (!(error instanceof HeadReplaced)) throw error;
      const nextQuestion = renewals < RENEWALS_MAX ? await question.renew?.() : null;
      if (nextQuestion == null) throw error.failure;
      question = { ...firstQuestion, ...nextQuestion };
    }
  }
}

async function answer<Answer>(
  cache: ByteCache,
  ctx: RouteContext,
  { key, read, keepMs, asTable }: Question<Answer>,
): Promise<void> {
  const tableEncoding =
    asTable === undefined ? null : chooseTableEncoding(ctx, parseParams(FORMAT_PARAMS, ctx));
  if (asTable !== undefined && tableEncoding !== null) {
    return answerTable(ctx, asTable.runner, tableEncoding, asTable.toTable(await read()));
  }
  const { body, etag } = key === null ? await toJsonBody(await read()) : await cache.get(key, read, keepMs);
  ctx.type = 'application/json';
  ctx.set('ETag', etag);
  ctx.body = body;
}
