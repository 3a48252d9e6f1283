/**
 * Time limits of searches and waits within a request. After a limit the answer has less: a lower bound instead of a
 * total, or null instead of a node's value. Tests raise the limits, so that a busy machine does not change answers.
 */
export const TIME_BUDGETS = {
  /** Counting logs that match a filter. Afterwards the total is a lower bound. */
  logCountMs: 500,
  /** Searching windows of blocks for logs. Afterwards the page ends early and names the next position. */
  logSearchMs: 3_000,
  /** Matching a regular expression against source files. Afterwards the list is incomplete, or the request fails. */
  regexMs: 2_000,
  /** A node's answer about a token's supply or a contract's constructor arguments. */
  nodeMs: 300,
};
