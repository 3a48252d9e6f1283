/**
 * Time limits for searches and waits within a request. At a limit the answer is less complete: a lower bound instead
 * of a total, or null instead of a node's value. Tests raise the limits, so that answers do not depend on the speed
 * of the machine.
 */
export const TIME_BUDGETS = {
  /** Limit in ms for counting logs that match a filter. After it, the total is a lower bound. */
  logCountMs: 500,
  /** Limit in ms for searching spans of blocks for logs. After it, the page ends early and names the next
   * position. */
  logSearchMs: 3_000,
  /** Limit in ms for matching a regular expression against source files. After it, the list is incomplete, or
   * the request fails. */
  regexMs: 2_000,
  /** Limit in ms for a node's answer about a token's supply or a contract's constructor arguments. */
  nodeMs: 300,
};

/**
 * Resolves to null after `ms` milliseconds without a value, so that a slow node does not delay an answer. `answerRead` must not
 * reject.
 */
export async function orNull<T>(answerRead: Promise<T | null>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), ms)));
  try {
    return await Promise.race([answerRead, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
