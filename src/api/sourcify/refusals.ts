/** Errors in the format of Sourcify: {customCode, message, errorId}. */
import type { RouteContext } from '../route';
import { Refusal } from '../answering';

const SHOWN_MAX = 80;

export const shortenText = (text: string): string => text.slice(0, SHOWN_MAX);

export function invalid(ctx: RouteContext, message: string): Refusal {
  return sourcifyRefusal(ctx, 400, 'invalid_parameter', message);
}

export function sourcifyRefusal(
  ctx: RouteContext,
  status: number,
  customCode: string,
  message: string,
): Refusal {
  return new Refusal(status, { customCode, message, errorId: ctx.state.requestId });
}
